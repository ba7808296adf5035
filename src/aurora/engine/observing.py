"""How the engine sees itself: what the load shedder is told some times a second.

Everything here is a difference between two looks at counters that are kept anyway, so to look costs next to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from aurora.engine.enqueued import Enqueued
from aurora.engine.live_statistics import Delivered, LiveStatistics
from aurora.engine.pace import Pace
from aurora.engine.statistics import RunStatistics
from aurora.model.typed import Consumer, Producer, TypedNetwork
from aurora.shedding.load import BoxProfile
from aurora.shedding.observation import Latency, Observation

_HALF_LIFE_S = 1.0
"""Of busy time, in which half of what is known of the capacity is forgotten."""
_COEFFICIENTS_US = 500_000
"""How often it is worked out anew what waiting tuples will cost."""


class Look(NamedTuple):
    """The counters at one time. ``busy_s`` is for how long boxes or what serves them have been at work, ``cost_s`` for
    how long boxes and drops have.
    """

    now_us: int
    busy_s: float
    cost_s: float
    offered: Mapping[str, int]
    delivered: Mapping[str, Delivered]


class Profiles(Mapping[str, BoxProfile]):
    """The profiles of boxes that tuples have reached; each is only made when it is asked for."""

    def __init__(self, typed: TypedNetwork, measured: LiveStatistics) -> None:
        self._typed = typed
        self._measured = measured
        self._costs_s = measured.tuple_costs_s()
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
        cost_s = math.fsum(box.cost_s for box in self._totals.boxes.values()) + self._measured.seconds("drops")
        busy_s = busy_s if self._pace is None else self._pace.busy_s()
        return Look(now_us, busy_s, cost_s, self._queue.offered(), self._measured.delivered())

    def observe(self, look: Look, waiting: Mapping[Consumer, int]) -> Observation | None:
        """What has changed since the last look; None at the first. ``waiting`` are tuples that wait between boxes."""
        before, self._before = self._before, look
        pressed = self._pressed()
        if before is None or look.now_us <= before.now_us:
            return None
        passed_s = (look.now_us - before.now_us) / 1e6
        busy_s = max(look.busy_s - before.busy_s, 0.0)
        self._learn(look.cost_s - before.cost_s, busy_s)
        profiles = Profiles(self._typed, self._measured)
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
