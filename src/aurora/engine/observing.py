"""How the engine sees itself: what the load shedder is told some times a second.

Everything here is a difference between two looks at counters that are kept anyway, so to look costs next to nothing.

As long as there is little to do trains are short, and much of the time goes into calls. With more to do trains get
longer, and the same tuples take less time. So the time that longer trains would save counts neither as work nor as
being busy; else half a load would seem to be all that can be done.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aurora.engine.enqueued import Enqueued
from aurora.engine.live_statistics import Delivered, LiveStatistics, Part
from aurora.engine.pace import Pace
from aurora.engine.statistics import RunStatistics
from aurora.model.typed import Consumer, Producer, TypedNetwork
from aurora.shedding.load import BoxProfile
from aurora.shedding.observation import Latency, Observation

Floats = npt.NDArray[np.float64]

_SERVING: tuple[Part, ...] = ("scheduler", "storage", "worker")
_HALF_LIFE_S = 1.0
"""Of busy time, in which half of what is known of the capacity is forgotten."""
CALLS_PER_S = 10.0
"""Calls of a box need not be more frequent than this: a tenth of a second hurts nobody who can stand overload."""
_COEFFICIENTS_US = 500_000
"""How often it is worked out anew what waiting tuples will cost."""


class Look(NamedTuple):
    """The counters at one time. ``busy_s`` is for how long boxes or what serves them have been at work, ``costs_s`` for
    how long each box has, and ``drops_s`` for how long drops have. ``serving_s`` is what it took to serve the boxes.
    """

    now_us: int
    busy_s: float
    costs_s: Floats
    drops_s: float
    serving_s: float
    offered: Mapping[str, int]
    delivered: Mapping[str, Delivered]


class Profiles(Mapping[str, BoxProfile]):
    """The profiles of boxes that tuples have reached; each is only made when it is asked for.

    ``elastic`` is the share of each box's time that longer trains would save.
    """

    def __init__(self, typed: TypedNetwork, measured: LiveStatistics, elastic: Floats) -> None:
        self._typed = typed
        self._measured = measured
        self._costs_s = measured.tuple_costs_s() * (1 - elastic)
        self._selectivity = measured.selectivity.copy()
        self._known = {name: number for number, name in enumerate(typed.order) if not math.isnan(self._costs_s[number])}

    def __getitem__(self, box: str) -> BoxProfile:
        number = self._known[box]
        made = float(self._selectivity[number])
        ports = self._typed.network.boxes[box].output_ports()
        shares = {port: made * self._measured.port_share(Producer(box, port)) for port in ports}
        return BoxProfile(float(self._costs_s[number]), shares)

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class Observer:
    """Makes observations. ``pressed`` gives the streams whose senders had to wait or were turned away since it was last
    asked. Where boxes run in steps, ``pace`` knows how much these get done.
    """

    def __init__(
        self,
        typed: TypedNetwork,
        measured: LiveStatistics,
        totals: RunStatistics,
        queue: Enqueued,
        pressed: Callable[[], frozenset[str]],
        pace: Pace | None = None,
    ) -> None:
        self._typed = typed
        self._measured = measured
        self._totals = totals
        self._queue = queue
        self._pressed = pressed
        self._pace = pace
        self._before: Look | None = None
        self._done_s = self._busy_s = self._open_s = 0.0
        self._profiles: Profiles | None = None
        self._coefficients_s: dict[str, float] = {}
        self._coefficients_us = 0

    def look(self, now_us: int, busy_s: float) -> Look:
        """The counters as they are; whoever calls holds the lock of the statistics."""
        # To drop tuples is work too, which planners reckon with.
        costs_s = np.array([self._totals.boxes[name].cost_s for name in self._typed.order])
        drops_s = self._measured.seconds("drops")
        serving_s = math.fsum(map(self._measured.seconds, _SERVING))
        busy_s = busy_s if self._pace is None else self._pace.busy_s()
        offered, delivered = self._queue.offered(), self._measured.delivered()
        return Look(now_us, busy_s, costs_s, drops_s, serving_s, offered, delivered)

    def observe(self, look: Look, waiting: Mapping[Consumer, int]) -> Observation | None:
        """What has changed since the last look; None at the first. ``waiting`` are tuples that wait between boxes."""
        before, self._before = self._before, look
        pressed = self._pressed()
        if before is None or look.now_us <= before.now_us:
            return None
        passed_s = (look.now_us - before.now_us) / 1e6
        busy_s = max(look.busy_s - before.busy_s, 0.0)
        elastic = self._elastic(look.now_us)
        spent_s = look.costs_s - before.costs_s
        saved_s = float(spent_s @ elastic)
        done_s = float(spent_s.sum()) + look.drops_s - before.drops_s
        if done_s > 0:
            # To serve boxes is work for every call, too.
            saved_s += (look.serving_s - before.serving_s) * min(saved_s / done_s, 1.0)
        busy_s = max(busy_s - saved_s, 0.0)
        self._learn(max(done_s - float(spent_s @ elastic), 0.0), busy_s)
        profiles = Profiles(self._typed, self._measured, elastic)
        return Observation(
            now_us=look.now_us,
            offered_per_s={n: (count - before.offered.get(n, 0)) / passed_s for n, count in look.offered.items()},
            profiles=profiles,
            capacity=self._capacity(),
            busy=min(busy_s / passed_s, 1.0),
            waiting_s=self._waiting_s(look.now_us, waiting, profiles),
            latency=_latencies(before.delivered, look.delivered),
            pressed=pressed,
        )

    def _elastic(self, now_us: int) -> Floats:
        """Where boxes run in steps it is these that cost something, which ``pace`` takes care of."""
        if self._pace is not None:
            return np.zeros(len(self._typed.order))
        return self._measured.elastic(CALLS_PER_S, now_us)

    def _capacity(self) -> float:
        if self._pace is not None:
            return self._pace.capacity
        return self._done_s / self._busy_s if self._busy_s > 0 else 0.0

    def _learn(self, done_s: float, busy_s: float) -> None:
        """What was done shows when calls are over; until then it is not known how much the time was good for."""
        self._open_s += busy_s
        if done_s > 0:
            forgotten = 2 ** (-self._open_s / _HALF_LIFE_S)
            self._done_s = self._done_s * forgotten + done_s
            self._busy_s = self._busy_s * forgotten + self._open_s
            self._open_s = 0.0

    def _waiting_s(self, now_us: int, waiting: Mapping[Consumer, int], profiles: Profiles) -> dict[Consumer, float]:
        """The work that waits before each reader, with all that it makes downstream; what is not taken yet included."""
        tuples = dict(waiting)
        for stream, count in self._queue.counts().items():
            if count:
                for reader in self._typed.consumers(stream):
                    tuples[reader] = tuples.get(reader, 0) + count
        if tuples and (now_us - self._coefficients_us >= _COEFFICIENTS_US or not self._coefficients_s):
            self._coefficients_us = now_us
            self._coefficients_s = self._work_of_a_tuple(profiles)
        return {reader: count * self._coefficients_s[reader.box] for reader, count in tuples.items() if count}

    def _work_of_a_tuple(self, profiles: Profiles) -> dict[str, float]:
        """What one tuple that a box takes costs there and downstream. A box that none has reached counts as free."""
        found: dict[str, float] = {}
        for name in reversed(self._typed.order):
            profile = profiles.get(name)
            if profile is None:
                found[name] = 0.0
                continue
            found[name] = profile.cost_s + sum(
                made * sum(found[reader.box] for reader in self._typed.consumers((name, port)))
                for port, made in profile.selectivity.items()
            )
        return found


def _latencies(before: Mapping[str, Delivered], now: Mapping[str, Delivered]) -> dict[str, Latency]:
    found = {}
    for name, delivered in now.items():
        earlier = before.get(name, Delivered(0, 0.0, 0.0))
        tuples = delivered.tuples - earlier.tuples
        if tuples > 0:
            found[name] = Latency((delivered.sum_s - earlier.sum_s) / tuples, delivered.newest_s)
    return found
