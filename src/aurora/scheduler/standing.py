"""Why a box runs or does not: explained from a copy of what the scheduler sees, for people who wonder.

Nothing here takes part in scheduling. A box that has tuples and does not run waits behind one that matters more, or its
turn has not come; one that has none is fed by others, of which one may be the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from aurora.scheduler.plan import Why, shown_s
from aurora.scheduler.priorities import Priorities, Reason
from aurora.scheduler.state import Ints, Snapshot, Topology

LATELY_S = 2.0
"""A box that ran so recently and has nothing left to do keeps up."""
BY_UTILITY = ("qos", "buckets", "spanner")
"""The policies that go by what waiting costs; the others take turns."""

State = Literal["running", "waiting", "held", "keeping_up", "starved", "idle", "paused", "worthless"]
"""``running`` or about to; ``waiting`` behind others; ``held``: tuples wait for those of another input; ``keeping_up``:
it ran, and nothing is left; ``starved``: what it would get is dropped or waits upstream; ``idle``: nothing comes;
``paused`` with the network; ``worthless``: what waits is too late to be worth anything."""


class Thinned(NamedTuple):
    """Tuples on their way to ``box`` are dropped at a place. ``keep`` is the share that stays, None if a condition
    decides."""

    box: int
    place: str
    keep: float | None


@dataclass(frozen=True)
class Standing:
    """How things stand with every box. Arrays are by box number, and nobody changes them any more.

    ``queued`` has all tuples that wait, also those that a box cannot take yet; ``lagging`` the arc that such a box
    waits for. ``called_us`` is when each box was last called. ``said`` is why it ran, of boxes that ran just now.
    """

    policy: str
    topology: Topology
    state: Snapshot
    queued: Ints
    called_us: Sequence[int | None]
    lagging: Mapping[int, str] = field(default_factory=dict)
    said: Mapping[int, Why] = field(default_factory=dict)
    thinned: Sequence[Thinned] = ()


@dataclass(frozen=True)
class Explained:
    """``utility_per_s`` is what its outputs lose for every second that it waits, ``slack_s`` the time until they lose
    more, ``behind`` the box that goes first. What does not apply is None."""

    state: State
    why: str
    ready: int
    queued: int
    utility_per_s: float | None = None
    slack_s: float | None = None
    expected_latency_s: float | None = None
    behind: str | None = None
    last_ran_s: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def explain(standing: Standing, *, paused: bool = False) -> dict[str, Explained]:
    """A reason for every box, by name."""
    return _Explainer(standing, paused).all()


class _Explainer:
    def __init__(self, standing: Standing, paused: bool) -> None:
        self._standing = standing
        self._paused = paused
        self._names = standing.topology.boxes
        self._state = standing.state
        self._thinned = _by_box(standing.thinned)
        priorities = Priorities(standing.topology)
        priorities.refresh(standing.state)
        waiting = np.flatnonzero(standing.state.free())
        self._order: list[int] = priorities.order(waiting, standing.state).tolist() if len(waiting) else []
        self._places = {box: place for place, box in enumerate(self._order)}
        expected = priorities.expected_latencies_s
        self._reasons = {box: priorities.reason(expected(box, standing.state)) for box in self._order}

    def all(self) -> dict[str, Explained]:
        return {name: self._one(box) for box, name in enumerate(self._names)}

    def _one(self, box: int) -> Explained:
        state, why, behind = self._why(box)
        reason = self._reasons.get(box)
        called_us = self._standing.called_us[box]
        graph = reason is not None and bool(reason.application)
        return Explained(
            state=state,
            why=why,
            ready=int(self._state.ready[box]),
            queued=int(self._standing.queued[box]),
            utility_per_s=reason.utility if graph and reason is not None else None,
            slack_s=reason.slack_s if graph and reason is not None and np.isfinite(reason.slack_s) else None,
            expected_latency_s=reason.expected_latency_s if graph and reason is not None else None,
            behind=behind,
            last_ran_s=None if called_us is None else max(self._state.now_us - called_us, 0) / 1e6,
        )

    def _why(self, box: int) -> tuple[State, str, str | None]:
        ready, queued = int(self._state.ready[box]), int(self._standing.queued[box])
        if self._paused:
            left = f"{_wait(queued)} for it" if queued else "nothing waits for it"
            return "paused", f"The network is paused, so nothing runs; {left}.", None
        if self._state.running[box]:
            return "running", f"It runs, or is next on the execution queue. {self._said(box)}".rstrip(), None
        if ready:
            return self._passed_over(box)
        if queued:
            arc = self._standing.lagging.get(box)
            other = f"those of {arc}" if arc else "those of another input"
            return "held", f"{_wait(queued)}, but its inputs must keep step, and {other} are not there.", None
        return self._unfed(box)

    def _passed_over(self, box: int) -> tuple[State, str, str | None]:
        """It could run, and does not."""
        place, reason = self._places[box], self._reasons[box]
        if self._standing.policy not in BY_UTILITY:
            others = len(self._order) - 1
            said = {0: "no other box has", 1: "one other box has"}.get(others, f"{others} other boxes have")
            return "waiting", f"Its turn comes; {said} tuples waiting.", None
        if place == 0:
            return "waiting", "It goes first as soon as what runs now is done.", None
        first = self._order[0]
        name, better = self._names[first], self._reasons[first]
        if not reason.application:
            return "waiting", f"No output with a latency graph waits for it, so {name} goes first.", name
        if self._is_worthless(reason):
            said = f"What waits would be {shown_s(reason.expected_latency_s)} old on delivery, worth nothing to "
            return "worthless", f"{said}{reason.application}; what can still be in time goes first.", name
        if better.utility > reason.utility:
            said = f"Waiting costs {reason.application} {reason.utility:.3g} of utility per second, but "
            said += f"{better.application or 'its outputs'} {better.utility:.3g} at {name}, which goes first."
            return "waiting", said, name
        if better.slack_s < reason.slack_s:
            said = f"Nothing is lost yet, and {name} has less time: {shown_s(better.slack_s)} until "
            own = "no end" if np.isinf(reason.slack_s) else shown_s(reason.slack_s)
            return "waiting", f"{said}{better.application} loses; this one has {own}.", name
        return "waiting", f"It matters as much as {name}, whose tuples are older.", name

    def _is_worthless(self, reason: Reason) -> bool:
        if reason.utility > 0 or np.isfinite(reason.slack_s):
            return False
        graphs = {app.name: app.latency for app in self._standing.topology.applications}
        graph = graphs.get(reason.application)
        return graph is not None and graph.utility(reason.expected_latency_s) == 0

    def _unfed(self, box: int) -> tuple[State, str, str | None]:
        """Nothing waits for it."""
        called_us = self._standing.called_us[box]
        ago_s = None if called_us is None else (self._state.now_us - called_us) / 1e6
        thinned = self._thinned.get(box)
        if ago_s is not None and ago_s <= LATELY_S:
            less = f" {_less(thinned)}" if thinned else ""
            return "keeping_up", f"It keeps up: nothing is left for it to do.{less} {self._said(box)}".rstrip(), None
        if thinned is not None:
            return "starved", f"Nothing comes. {_less(thinned)}", None
        return self._cause_upstream(box)

    def _cause_upstream(self, box: int) -> tuple[State, str, str | None]:
        topology = self._standing.topology
        above = [other for other in topology.upstream(box) if other != box]
        for other in reversed(above):
            name = self._names[other]
            if self._standing.queued[other]:
                waiting = _wait(int(self._standing.queued[other]))
                return "starved", f"Nothing waits for it. {waiting} at {name}.", name
            if other in self._thinned:
                return "starved", f"Nothing comes. {_less(self._thinned[other])}", None
        for other in reversed(above):
            called_us = self._standing.called_us[other]
            if called_us is not None and self._state.now_us - called_us <= LATELY_S * 1e6:
                return "idle", f"{self._names[other]} ran, and let nothing through for it.", self._names[other]
        never = self._standing.called_us[box] is None
        return "idle", "Nothing has come for it yet." if never else "Nothing comes in.", None

    def _said(self, box: int) -> str:
        why = self._standing.said.get(box)
        if why is None:
            return ""
        if why.box == self._names[box]:
            return f"Chosen last because: {why.sentence().partition(': ')[2]}."
        return f"Ran last with {why.box}, chosen because: {why.sentence().partition(': ')[2]}."


def _by_box(thinned: Iterable[Thinned]) -> dict[int, Thinned]:
    """The one that takes most away counts."""
    found: dict[int, Thinned] = {}
    for one in thinned:
        before = found.get(one.box)
        if before is None or (one.keep or 0.0) < (before.keep or 0.0):
            found[one.box] = one
    return found


def _less(thinned: Thinned) -> str:
    if thinned.keep is None:
        return f"The load shedder drops what matters least at {thinned.place}."
    return f"The load shedder lets {100 * thinned.keep:.0f}% through at {thinned.place}."


def _wait(count: int) -> str:
    return "1 tuple waits" if count == 1 else f"{count:,} tuples wait"
