"""The interior point method for problems that Newton's method does not solve."""
