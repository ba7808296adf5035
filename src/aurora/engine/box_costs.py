"""What boxes cost lately: so much for a call, so much for each tuple; and how many tuples come out for one taken.

A call with n tuples takes o + c·n seconds. A scheduler has to know both, since longer trains save only on o. They are
the line through the calls of the last seconds (least squares over sums that forget). Where all trains were of one
length nothing tells o from c; so one call more is assumed, a hundredth of a real one, with no tuples and the overhead
that a call had when lengths differed, or usually has. A call that was held up, by the machine and not by its tuples,
would tilt the line: for its slope no call counts more than eight times what was expected of it. But c is such that o
and c together say of all calls what they really took.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aurora.qos.smoothing import HALF_LIFE_S, RESOLUTION_US, per_second

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

USUAL_OVERHEAD_S = 30e-6
USUAL_COST_S = 1e-6
LEAST_KEPT = 0.9
"""From one call to the next at most a tenth of what was known is forgotten: a box that is called once a minute is known
by its last ten calls, and not by its last one. (Calls that follow each other within RESOLUTION_US are as one here.)"""
ASSUMED = 0.01
MOST_BELIEVED = 8.0
RISE = 0.1
"""The least time of a call is forgotten at a tenth of the speed."""
DIFFER = 0.1
"""From this variance of lengths on, as a share of the squared mean, the line is believed, and remembered."""
_HARDLY_ANY = 1e-6
_MOST_PENDING = 40_000


class BoxCosts:
    """Arrays by box number, which a scheduler reads where they are; they change every twentieth of a second at most.

    >>> costs = BoxCosts(1)
    >>> for tuples in (1, 10, 100):
    ...     costs.note(0, tuples, tuples // 2, 50e-6 + tuples * 2e-6, now_us=0)
    >>> costs.catch_up()
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
        self._usual_s = overhead_s
        self._remembered_s = np.full(boxes, overhead_s)
        self._began_us = began_us
        self._tick = -1e-6 / half_life_s
        self._pending: list[float] = []
        self._pending_us = began_us
        self._next_us = began_us
        self._made = np.zeros(boxes)
        self._at_us = np.full(boxes, began_us)
        self._sums = np.zeros((len(_Sums._fields), boxes))
        self._recent = np.zeros((2, boxes))
        self._least_s = np.full(boxes, np.inf)
        # The overhead, as far as calls have shown it; before the first call anything is believed.
        self._fitted_s = np.full(boxes, np.inf)

    def note(self, box: int, tuples_in: int, tuples_out: int, seconds: float, now_us: int) -> None:
        """A call of the box took so many tuples and seconds. It is worked out later, with others."""
        if now_us >= self._next_us or len(self._pending) >= _MOST_PENDING:
            self.catch_up()
            self._pending_us = max(now_us, self._pending_us)
            self._next_us = self._pending_us + RESOLUTION_US
        self._pending.extend((box, tuples_in, tuples_out, seconds))

    def catch_up(self) -> None:
        """Works out what was noted. All of it counts as of the time when the first was."""
        if not self._pending:
            return
        pending, self._pending = self._pending, []
        noted = np.array(pending, np.float64).reshape(-1, 4)
        box = noted[:, 0].astype(np.intp)
        n, out, seconds = noted[:, 1], noted[:, 2], noted[:, 3]
        called = np.unique(box)
        self._forget(called)
        expected_s = self._fitted_s[box] + self.cost_s[box] * n
        believed_s = np.minimum(seconds, MOST_BELIEVED * expected_s)
        added = _Sums(np.ones(len(n)), n, out, n * n, seconds, believed_s, n * believed_s)
        boxes = len(self.cost_s)
        self._sums += [np.bincount(box, part, boxes) for part in added]
        made = np.bincount(box, out, boxes)
        self._made += made
        self._recent += (made, np.bincount(box, seconds, boxes))
        np.minimum.at(self._least_s, box, seconds)
        self._fit(called)

    def _forget(self, called: Ints) -> None:
        kept = np.exp2((self._pending_us - self._at_us[called]) * self._tick)
        self._at_us[called] = self._pending_us
        self._recent[:, called] *= kept
        kept = np.maximum(kept, LEAST_KEPT)
        self._sums[:, called] *= kept
        self._least_s[called] *= 1 + RISE * (1 - kept)

    def _fit(self, called: Ints) -> None:
        """No call takes less than the overhead, and no tuple less than nothing."""
        sums = _Sums(*self._sums[:, called])
        some = sums.tuples_in > _HARDLY_ANY
        # Calls that only brought word of progress say what a call costs, and no more.
        self.overhead_s[called[~some]] = (sums.seconds / sums.calls)[~some]
        called, sums = called[some], _Sums(*(part[some] for part in sums))
        least_s = self._least_s[called]
        differ = sums.calls * sums.squares > (1 + DIFFER) * sums.tuples_in**2
        usual_s = np.minimum(np.where(differ, self._usual_s, self._remembered_s[called]), least_s)
        calls = sums.calls + ASSUMED
        spread = calls * sums.squares - sums.tuples_in**2
        slope_s = (calls * sums.tuple_seconds - sums.tuples_in * (sums.believed_s + ASSUMED * usual_s)) / spread
        overhead_s = np.clip((sums.believed_s - slope_s * sums.tuples_in) / sums.calls, 0.0, least_s)
        self.overhead_s[called] = self._fitted_s[called] = overhead_s
        self._remembered_s[called[differ]] = overhead_s[differ]
        self.cost_s[called] = np.maximum((sums.seconds - overhead_s * sums.calls) / sums.tuples_in, 0.0)
        self.selectivity[called] = sums.tuples_out / sums.tuples_in

    def take_over(self, old: BoxCosts, kept: Mapping[int, int]) -> None:
        """Goes on from what is known of boxes that have other numbers now: ``kept`` has by new numbers the old."""
        old.catch_up()
        here, there = list(kept), list(kept.values())
        pairs = (
            (self.cost_s, old.cost_s),
            (self.overhead_s, old.overhead_s),
            (self.selectivity, old.selectivity),
            (self._made, old._made),
            (self._at_us, old._at_us),
            (self._least_s, old._least_s),
            (self._fitted_s, old._fitted_s),
            (self._remembered_s, old._remembered_s),
        )
        for mine, its in pairs:
            mine[here] = its[there]
        self._sums[:, here] = old._sums[:, there]
        self._recent[:, here] = old._recent[:, there]
        self._began_us = old._began_us

    def amortised_s(self) -> Floats:
        """What a tuple costs with its share of the calls; NaN where none has come."""
        sums = _Sums(*self._sums)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(sums.tuples_in > _HARDLY_ANY, sums.seconds / sums.tuples_in, np.nan)

    def elastic(self, calls_per_s: float, now_us: int) -> Floats:
        """The share of each box's time that longer trains would save, if it were called only so often."""
        sums = _Sums(*self._sums)
        found = np.zeros(len(self.cost_s))
        for box in np.flatnonzero((sums.seconds > 0) & (sums.calls > 0)):
            each_s = sums.seconds[box] / sums.calls[box]
            often_per_s = self.load(int(box), now_us) / each_s
            if often_per_s > calls_per_s:
                found[box] = min(self.overhead_s[box] / each_s, 1.0) * (1 - calls_per_s / often_per_s)
        return found

    @property
    def last_us(self) -> npt.NDArray[np.int64]:
        """When calls of each box were last worked out; when this began for boxes that had none."""
        return self._at_us

    def made(self, box: int) -> int:
        """Tuples that came out of the box so far."""
        return int(self._made[box])

    def made_per_s(self, box: int, now_us: int) -> float:
        return self._per_s(0, box, now_us)

    def load(self, box: int, now_us: int) -> float:
        """Seconds of work per second."""
        return self._per_s(1, box, now_us)

    def rates(self, now_us: int) -> tuple[Floats, Floats]:
        """Of all boxes at once: tuples that came out per second, and seconds of work."""
        until_us = np.maximum(now_us, self._at_us)
        passed = (until_us - self._began_us) * self._tick
        kept = np.exp2((until_us - self._at_us) * self._tick)
        with np.errstate(invalid="ignore", divide="ignore"):
            factor = np.where(passed < 0, kept * -self._tick * 1e6 * np.log(2) / (1 - np.exp2(passed)), 0.0)
        made, seconds = self._recent * factor
        return made, seconds

    def _per_s(self, which: int, box: int, now_us: int) -> float:
        return per_second(float(self._recent[which, box]), int(self._at_us[box]), self._began_us, now_us, self._tick)


class _Sums(NamedTuple):
    """By box. ``believed_s`` and ``tuple_seconds`` (n times seconds) are those for the slope."""

    calls: Floats
    tuples_in: Floats
    tuples_out: Floats
    squares: Floats
    seconds: Floats
    believed_s: Floats
    tuple_seconds: Floats
