"""``tabi report``: what a recording tells, as one page to read and to print."""
