"""Linear algebra without allocation, for kernels."""
