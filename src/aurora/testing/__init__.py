"""For tests of networks: run one over rows in memory, on a clock that the test moves."""

from aurora.clock import ManualClock
from aurora.testing.memory import ListSink, ListSource
from aurora.testing.running import RunResult, run_rows

__all__ = ["ListSink", "ListSource", "ManualClock", "RunResult", "run_rows"]
