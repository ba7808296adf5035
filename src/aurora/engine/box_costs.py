"""What boxes cost lately: so much for a call, so much for each tuple; and how many tuples come out for one taken.

A call with n tuples takes o + c·n seconds. A scheduler has to know both, since longer trains save only on o. They are
the line through the calls of the last seconds (least squares over sums that forget). Where all trains were of one
length nothing tells o from c; so one call more is assumed, a hundredth of a real one, with no tuples and the overhead
that a call usually has. A call that was held up, by the machine and not by its tuples, would tilt the line: for its
slope no call counts more than eight times what was expected of it. But c is such that o and c together say of all
calls what they really took.
"""

from __future__ import annotations

from math import exp2, inf

import numpy as np
import numpy.typing as npt

from aurora.qos.smoothing import HALF_LIFE_S, RESOLUTION_US, per_second

Floats = npt.NDArray[np.float64]

USUAL_OVERHEAD_S = 30e-6
USUAL_COST_S = 1e-6
LEAST_KEPT = 0.9
"""From one call to the next at most a tenth of what was known is forgotten: a box that is called once a minute is known
by its last ten calls and not by its last one."""
ASSUMED = 0.01
MOST_BELIEVED = 8.0
RISE = 0.1
"""The least time of a call is forgotten at a tenth of the speed."""
_HARDLY_ANY = 1e-6
_FEW = 8
"""So many calls are looked at one by one, for a start."""


class BoxCosts:
    """Arrays by box number, kept up to date by ``note``; a scheduler reads them where they are.

    >>> costs = BoxCosts(1)
    >>> for tuples in (1, 10, 100):
    ...     costs.note(0, tuples, tuples // 2, 50e-6 + tuples * 2e-6, now_us=0)
    >>> [f"{seconds * 1e6:.1f} µs" for seconds in (costs.overhead_s[0], costs.cost_s[0])]
    ['50.0 µs', '2.0 µs']
    """

    def __init__(
        self,
        boxes: int,
        *,
        half_life_s: float = HALF_LIFE_S,
        overhead_s: float = USUAL_OVERHEAD_S,
        began_us: int = 0,
    ) -> None:
        self.cost_s: Floats = np.full(boxes, USUAL_COST_S)
        self.overhead_s: Floats = np.full(boxes, overhead_s)
        self.selectivity: Floats = np.full(boxes, 1.0)
        self._boxes = [_Sums(overhead_s, began_us) for _ in range(boxes)]
        self._began_us = began_us
        self._tick = -1e-6 / half_life_s

    def note(self, box: int, tuples_in: int, tuples_out: int, seconds: float, now_us: int) -> None:
        """A call of the box took so many tuples and seconds. The arrays change every some milliseconds at most."""
        sums = self._boxes[box]
        if now_us >= sums.next_us:
            sums.forget(exp2((now_us - sums.at_us) * self._tick))
            sums.at_us = now_us
            sums.next_us = now_us + RESOLUTION_US
            sums.due = True
        most_s = MOST_BELIEVED * (sums.overhead_s + sums.cost_s * tuples_in)
        believed_s = seconds if seconds < most_s else most_s
        sums.calls += 1.0
        sums.made += tuples_out
        sums.tuples_in += tuples_in
        sums.tuples_out += tuples_out
        sums.squares += tuples_in * tuples_in
        sums.recently_busy_s += seconds
        sums.seconds += seconds
        sums.believed_s += believed_s
        sums.tuple_seconds += tuples_in * believed_s
        if seconds < sums.least_s:
            sums.least_s = seconds
        if sums.due:
            sums.due = sums.calls < _FEW
            self._renew(box, sums)

    def _renew(self, box: int, sums: _Sums) -> None:
        if sums.tuples_in > _HARDLY_ANY:
            sums.fit()
            self.overhead_s[box] = sums.overhead_s
            self.cost_s[box] = sums.cost_s
            self.selectivity[box] = sums.tuples_out / sums.tuples_in
        else:
            # Calls that only brought word of progress: they say what a call costs, and no more.
            self.overhead_s[box] = sums.seconds / sums.calls

    def made(self, box: int) -> int:
        """Tuples that came out of the box so far."""
        return self._boxes[box].made

    def made_per_s(self, box: int, now_us: int) -> float:
        sums = self._boxes[box]
        recently_made = sums.recently_made + sums.made - sums.noted_made
        return per_second(recently_made, sums.at_us, self._began_us, now_us, self._tick)

    def load(self, box: int, now_us: int) -> float:
        """Seconds of work per second."""
        sums = self._boxes[box]
        return per_second(sums.recently_busy_s, sums.at_us, self._began_us, now_us, self._tick)


class _Sums:
    """``believed_s`` and ``tuple_seconds`` (the sum of n times seconds) are those for the slope.

    What is called recent is for rates, and is forgotten by time alone.
    """

    __slots__ = (
        "at_us",
        "believed_s",
        "calls",
        "cost_s",
        "due",
        "least_s",
        "made",
        "next_us",
        "noted_made",
        "overhead_s",
        "recently_busy_s",
        "recently_made",
        "seconds",
        "squares",
        "tuple_seconds",
        "tuples_in",
        "tuples_out",
        "usual_s",
    )

    def __init__(self, usual_s: float, began_us: int) -> None:
        self.at_us = began_us
        self.next_us = began_us + RESOLUTION_US
        self.due = True
        self.made = self.noted_made = 0
        self.recently_made = self.recently_busy_s = 0.0
        self.usual_s = usual_s
        self.least_s = self.overhead_s = inf
        self.calls = self.tuples_in = self.tuples_out = self.squares = 0.0
        self.seconds = self.believed_s = self.tuple_seconds = self.cost_s = 0.0

    def forget(self, kept: float) -> None:
        self.recently_made = (self.recently_made + self.made - self.noted_made) * kept
        self.noted_made = self.made
        self.recently_busy_s *= kept
        if kept < LEAST_KEPT:
            kept = LEAST_KEPT
        self.calls *= kept
        self.tuples_in *= kept
        self.tuples_out *= kept
        self.squares *= kept
        self.seconds *= kept
        self.believed_s *= kept
        self.tuple_seconds *= kept
        self.least_s *= 1 + RISE * (1 - kept)

    def fit(self) -> None:
        """No call takes less than the overhead, and no tuple less than nothing."""
        tuples, least_s = self.tuples_in, self.least_s
        usual_s = self.usual_s if self.usual_s < least_s else least_s
        calls = self.calls + ASSUMED
        spread = calls * self.squares - tuples * tuples
        slope_s = (calls * self.tuple_seconds - tuples * (self.believed_s + ASSUMED * usual_s)) / spread
        overhead_s = (self.believed_s - slope_s * tuples) / self.calls
        if overhead_s > least_s:
            overhead_s = least_s
        elif overhead_s < 0.0:
            overhead_s = 0.0
        cost_s = (self.seconds - overhead_s * self.calls) / tuples
        self.overhead_s = overhead_s
        self.cost_s = cost_s if cost_s > 0.0 else 0.0
