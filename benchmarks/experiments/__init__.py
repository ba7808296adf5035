"""The experiments of the scheduling paper, on this engine: ``python -m benchmarks.experiments``."""
