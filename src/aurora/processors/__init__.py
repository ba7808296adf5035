"""Box processors: where kernels run."""
