"""Tells overload from a hiccup.

An overload has a symptom and a cause, and both must last. Symptoms are outputs that leave the good zone of their
latency graph, waiting work that grows, and senders that are held back. The cause is that more work is asked for than
gets done. After a single long call, or a burst that the engine can digest, tuples wait too, but the cause is missing.

A large excess is believed after half a second, a small one only after a whole one: noise passes for a small excess
more easily. It is over when what is asked for fits with the headroom left and what waited is gone.
"""

from __future__ import annotations

from aurora.model.qos import Graph
from aurora.model.typed import TypedNetwork
from aurora.qos.curve import Curve
from aurora.shedding.meter import Meter, Smooth
from aurora.shedding.observation import Observation, Verdict

HEADROOM = 0.95
"""The share of the capacity that may be used while tuples are dropped; the rest is for what was not foreseen."""

SOON_S = 0.4
LATER_S = 0.8
"""How long it takes to believe in a large excess, and in a small one."""

_LARGE = 1.2
_SMALL = 1.02
"""What is asked for, as a share of the capacity."""

_WAITING_S = 0.05
"""Less waiting work than this is no backlog: trains come in at some distance from each other."""

_DIGESTED_S = 3.0
"""A backlog that makes outputs late and would take longer than this to be worked off is an overload too."""

_GONE_S = 0.15
_CALM_S = 0.6
"""The overload is over when for so long there was hardly any work waiting, and what was asked for did fit."""

_BUSY = 0.9
_MOSTLY = 0.6


def good_until(graph: Graph) -> float:
    """The end of the good zone of a latency graph: where it leaves its best utility, or where it first bends after that
    if it falls from the start.

    >>> good_until(Graph(((0.0, 1.0), (2.0, 1.0), (5.0, 0.0)))), good_until(Graph(((0.0, 1.0), (1.0, 0.9), (5.0, 0.0))))
    (2.0, 1.0)
    """
    best = max(utility for _, utility in graph.points)
    last = max(x for x, utility in graph.points if utility == best)
    return last if last > 0 else next((x for x in Curve(graph).critical.tolist() if x > 0), float("inf"))


class Detector:
    """``note`` is called with every observation, in the order of time."""

    def __init__(self, typed: TypedNetwork, *, headroom: float = HEADROOM) -> None:
        self._meter = Meter(typed)
        self._smooth = Smooth()
        self._headroom = headroom
        self._good_s = {
            name: good_until(output.qos.latency)
            for name, output in typed.network.outputs.items()
            if output.qos is not None and output.qos.latency is not None
        }
        self._overloaded = False
        self._since_us: dict[str, int] = {}
        self._why = "nothing has been observed yet"

    def note(self, observation: Observation, kept: float = 1.0) -> Verdict:
        """``kept`` is the share of the load that the drops in force leave."""
        meter = self._meter
        meter.note(observation, kept)
        demand = self._smooth.next(observation.now_us, meter.demand(SOON_S), meter.demand(0.0))
        usable = self._headroom * observation.capacity
        if self._overloaded:
            self._overloaded = not self._over(observation, demand, usable)
        else:
            symptom = self._symptom(observation) if observation.capacity > 0 else None
            self._overloaded = symptom is not None
            self._why = symptom or f"what is asked for fits: {_share(demand, observation.capacity)} of the capacity"
        return Verdict(self._overloaded, demand, max(0.0, demand - usable), meter.scale, self._why)

    def _symptom(self, seen: Observation) -> str | None:
        """What shows an overload, with its cause; None as long as there is none."""
        meter, capacity = self._meter, seen.capacity
        waiting_s = meter.scale * seen.backlog_s
        soon, later = meter.demand(SOON_S), meter.demand(LATER_S)
        large = meter.covers(SOON_S) and meter.exceeding(SOON_S, _LARGE * capacity) == 1
        small = meter.covers(LATER_S) and later > _SMALL * capacity and meter.exceeding(LATER_S, capacity) > _MOSTLY
        cause = f"{_share(max(soon, later), capacity)} of the capacity is asked for"
        grows = waiting_s > _WAITING_S * capacity and meter.growth(SOON_S) > 0
        late = self._late(seen)
        lasts_late = self._lasts("late", seen.now_us, late is not None)
        lasts_pressed = self._lasts("pressed", seen.now_us, bool(seen.pressed) and seen.busy >= _BUSY)
        if (large or small) and grows:
            return f"waiting work grows, {waiting_s:.2f}s of it; {cause}"
        if (large or small) and late is not None:
            return f"{late}; {cause}"
        if lasts_pressed:
            return f"senders of {', '.join(sorted(seen.pressed))} are held back; {cause}"
        if lasts_late and meter.covers(SOON_S) and later + waiting_s / _DIGESTED_S > capacity:
            return f"{late}; {waiting_s:.2f}s of work wait and {cause}"
        return None

    def _late(self, seen: Observation) -> str | None:
        for name, latency in seen.latency.items():
            good_s = self._good_s.get(name)
            if good_s is not None and min(latency.recent_s, latency.newest_s) > good_s:
                return f"{name} is {latency.newest_s:.2f}s late, good are {good_s:g}s"
        return None

    def _lasts(self, what: str, now_us: int, holds: bool, for_s: float = SOON_S) -> bool:
        if not holds:
            self._since_us.pop(what, None)
            return False
        return now_us - self._since_us.setdefault(what, now_us) >= for_s * 1e6

    def _over(self, seen: Observation, demand: float, usable: float) -> bool:
        fits = demand <= usable and self._meter.scale * seen.backlog_s <= _GONE_S * seen.capacity and not seen.pressed
        over = self._lasts("calm", seen.now_us, fits, _CALM_S)
        share = _share(demand, seen.capacity)
        if over:
            self._since_us.clear()
            self._why = f"what is asked for fits again: {share} of the capacity"
        else:
            self._why = f"{share} of the capacity is asked for, {self._meter.scale * seen.backlog_s:.2f}s of work wait"
        return over


def _share(demand: float, capacity: float) -> str:
    return f"{demand / capacity:.0%}" if capacity > 0 else "more than all"
