"""Applications: the command line, the page in the browser, reports."""
