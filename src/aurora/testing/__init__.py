"""For tests of networks: run one over rows in memory, on a clock that the test moves."""

from aurora.clock import ManualClock
from aurora.testing.running import run_rows

__all__ = ["ManualClock", "run_rows"]
