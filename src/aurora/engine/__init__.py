"""The engine: the loop that takes tuples in, has boxes run, and hands answers out."""

from aurora.engine.run import Run
from aurora.engine.statistics import RunStatistics

__all__ = ["Run", "RunStatistics"]
