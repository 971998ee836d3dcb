"""What people run: the command line, the page in the browser, reports."""
