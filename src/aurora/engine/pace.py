"""How much work an engine gets done where all boxes run as one step.

A step costs something whatever it carries, on Spark tens of milliseconds. While little is to be done steps follow each
other with little in them, and the engine is always busy; when more comes, steps only get longer. So the time that
steps take by themselves is told apart from that which work takes, as it is for the calls of boxes.
"""

from __future__ import annotations

import time

from aurora.engine.box_costs import BoxCosts

LONG_S = 0.5
"""Steps may get as long as this before it hurts."""
USUAL_STEP_S = 0.03
"""What a step costs by itself, before any is measured."""


class Pace:
    """``capacity`` is how many seconds of work get done in a second of long steps; 0 before the first step.

    Steps are long when they take ``long_s``.
    """

    def __init__(self, now_us: int, long_s: float = LONG_S) -> None:
        self.long_s = long_s
        self._steps = BoxCosts(1, overhead_s=USUAL_STEP_S, began_us=now_us)
        self._busy_s = 0.0
        self._began_s: float | None = None
        self.capacity = 0.0

    def begin(self) -> None:
        self._began_s = time.perf_counter()

    def end(self, work_s: float, now_us: int) -> None:
        """A step is over in which boxes worked for so long."""
        assert self._began_s is not None
        took_s = time.perf_counter() - self._began_s
        self._began_s = None
        self._steps.note(0, round(1e6 * work_s), 0, took_s, now_us)
        self._steps.catch_up()
        if work_s > 0:
            each_s = 1e6 * float(self._steps.cost_s[0])
            overhead_s = min(float(self._steps.overhead_s[0]), self.long_s / 2)
            self.capacity = (1 - overhead_s / self.long_s) / each_s if each_s > 0 else work_s / took_s
            self._busy_s += min(took_s, work_s / self.capacity)

    def busy_s(self) -> float:
        """For how long there was so much to do that steps could not have been shorter."""
        began_s = self._began_s
        if began_s is None:
            return self._busy_s
        return self._busy_s + max(0.0, time.perf_counter() - began_s - float(self._steps.overhead_s[0]))
