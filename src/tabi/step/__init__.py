"""The compiled step: kernels, the tables they own, and the object that calls them."""
