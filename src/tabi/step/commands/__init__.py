"""Commands of controllers: checks, target ranges, and controllers that are kernels."""
