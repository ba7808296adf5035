"""Says what to drop where, and how fast that may change.

The share of the load that may stay is the usable capacity by what is asked for, with the waiting work added so that
it is gone in about a second. Where that share falls, it is followed at once: every moment of delay makes the backlog
longer. Where it rises, it is followed slowly, and only when it has been higher for a while: to give back too early
means to take away again. What to drop for a share is looked up in a road map.

How busy the engine is with the drops in force tells more than any reckoning: where nothing waits and it has time left,
as much more may stay as fills that time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection

import polars as pl

from aurora.model.qos import ValueGraph
from aurora.model.typed import TypedNetwork
from aurora.shedding.aggregates import Entrances
from aurora.shedding.by_value import ByValue, Trying, by_value, reach
from aurora.shedding.detector import HEADROOM
from aurora.shedding.greedy import BACKLOG_S, forbids_loss
from aurora.shedding.load import BoxProfile, LoadAnalysis, analyse_load
from aurora.shedding.observation import Directions, Mode, Observation, Verdict
from aurora.shedding.places import Place, Places
from aurora.shedding.roads import Roads, Stretch, told, uniform
from aurora.shedding.values import Values

HORIZON_S = 1.0
"""What waits should be gone in this time."""

_AFLOAT_S = 0.1
"""So much may always wait: trains are on their way, and the headroom takes care of it."""

_SEEN_S = 0.4
"""So long it takes until drops show in how busy the engine is."""

_KNOWN_S = 1.2
"""After this long noise has evened out; farther back something else may have held."""

_KEEPS_UP = 0.97
_LITTLE_S = 0.2
"""An engine that is no busier than this, and for which little waits, does what stays now, whatever is reckoned."""

_FULL = 0.85
_FULL_IF_KNOWN = 0.9
"""Beyond this share of the time that may be used there is no sign that there is more to be had: loads differ by
themselves. The longer one has looked, the less that matters. It pays to ask for more where calls cost much by
themselves: with few tuples the engine is nearly as busy as with many."""

_MOST_FOR_IT = 3.0

RAISE_PER_S = 0.5
"""By how much of the load the share may rise in a second."""

_SETTLED_S = 0.6
"""A share is raised to the least that was allowed in this time."""

_LOWER_BY = 0.03
_RAISE_BY = 0.06
"""Smaller changes, as shares of what is kept, are not worth making."""

_LONG_AGO_US = 3_000_000
_FINE = 0.02
"""When the last fall is so long ago, what is kept rises by smaller steps too: no noise has been seen."""

_NEARLY_ALL = 0.96
_LOWER_ALL_BY = 0.1
"""Where so much is allowed, every bit is given back: with few drops left it shows whether they are needed at all. It
takes more than noise to turn back then."""

_REBUILD_US = 1_000_000
_MOVED = 0.2
"""A map is made anew, at most once a second, when shares of the load or the worth of values moved by so much."""

_LEAST_PART = 0.02
"""Boxes with a smaller part of the load than this do not matter for that."""


class Controller:
    """``decide`` is called with every observation and the detector's verdict on it.

    Outputs are never shed that are ``protected``, whose loss graph forbids it, or that have neither loss nor value
    graph: nobody has said that they can spare anything. Only ``uniform`` minds none of that.
    """

    def __init__(
        self,
        typed: TypedNetwork,
        *,
        mode: Mode = "auto",
        protected: Collection[str] = (),
        headroom: float = HEADROOM,
        trying: Trying | None = None,
    ) -> None:
        self._typed = typed
        self._mode = mode
        self._headroom = headroom
        self._trying = trying
        self._places = Places(typed)
        self._entrances = Entrances.of(self._places)
        qos = {name: output.qos for name, output in typed.network.outputs.items()}
        self._loss = {name: None if given is None else given.loss for name, given in qos.items()}
        graphed = {name for name, given in qos.items() if given is not None and (given.loss or given.value)}
        self._protected = frozenset(
            name for name in qos if name in protected or name not in graphed or forbids_loss(self._loss[name])
        )
        self._value: dict[str, ValueGraph] = {
            name: given.value
            for name, given in qos.items()
            if mode in ("auto", "semantic") and given is not None and given.value is not None
            if name not in self._protected
        }
        self._reach = {name: reach(self._places, name, value) for name, value in self._value.items()}
        self._values = Values(self._value)
        self.directions = Directions(why="nothing is dropped")
        self._busy: deque[tuple[int, float, float]] = deque()
        self._share = 1.0
        self._step = 0
        self._lowered_us = 0
        self._allowed: deque[tuple[int, float]] = deque()
        self._decided_us: int | None = None
        self._roads: Roads | None = None
        self._looked_us = 0
        self._built_on: _Basis | None = None

    def note_values(self, output: str, values: pl.Series) -> None:
        """An output delivered tuples with these values in its value graph's column."""
        self._values.note(output, values)

    def decide(self, observation: Observation, verdict: Verdict) -> Directions | None:
        """New directions; None while those in force still hold."""
        now_us = observation.now_us
        passed_s = 0.0 if self._decided_us is None else max(0.0, (now_us - self._decided_us) / 1e6)
        self._decided_us = now_us
        if self._mode == "off" or (self._share >= 1 and not verdict.overloaded):
            return None
        share = self._paced(now_us, passed_s, self._allowed_share(observation, verdict))
        if self._mode == "uniform":
            return self._uniformly(observation, verdict, share)
        renewed = self._renewed(observation)
        if self._roads is None:
            return None
        self._share = max(share, min(self._roads.least, 1.0))
        step = self._roads.step(self._share)
        if step == self._step and not renewed:
            return None
        self._step = step
        return self._follow(self._roads.at(step), verdict.why)

    def _allowed_share(self, seen: Observation, verdict: Verdict) -> float:
        """The share of what would come without drops that can be done."""
        if not verdict.overloaded or seen.capacity <= 0:
            return 1.0
        backlog = max(0.0, verdict.scale * seen.backlog_s - _AFLOAT_S * seen.capacity)
        usable = self._headroom * seen.capacity
        # Some of what waits has passed the drops and will not get less. To make up for it, more of what comes must go.
        load = verdict.demand + backlog / HORIZON_S * min(max(1.0, verdict.demand / usable), _MOST_FOR_IT)
        allowed = usable / load if load > 0 else 1.0
        return min(1.0, max(allowed, self._by_time_left(seen, backlog)))

    def _by_time_left(self, seen: Observation, backlog: float) -> float:
        """The share that would keep the engine as busy as it may be, by how busy the present one does; 0 if unknown.

        What was seen lately may still be of the least of the shares that were in force since.
        """
        self._busy.append((seen.now_us, self._share, seen.busy))
        since_us = seen.now_us - round(_SEEN_S * 1e6)
        known_us = seen.now_us - round(_KNOWN_S * 1e6)
        # Of drops that have been as they are for long enough more is known, of others only what was seen last.
        while len(self._busy) > 1 and self._busy[1][0] <= (known_us if self._busy[0][1] == self._share else since_us):
            self._busy.popleft()
        if backlog > _LITTLE_S * seen.capacity or self._busy[0][0] > since_us or len(self._busy) < 3:
            return 0.0
        share = min(share for _, share, _ in self._busy)
        busy = sum(busy for _, _, busy in self._busy) / len(self._busy)
        if busy > _KEEPS_UP:
            return 0.0
        if backlog > 0:
            return share * (1 - backlog / (HORIZON_S * seen.capacity))
        full = _FULL if self._busy[0][0] > known_us else _FULL_IF_KNOWN
        if busy > full * self._headroom:
            return share
        return share * self._headroom / busy if busy > 0 else 1.0

    def _paced(self, now_us: int, passed_s: float, allowed: float) -> float:
        """The share to go to now."""
        self._allowed.append((now_us, allowed))
        while now_us - self._allowed[0][0] > _SETTLED_S * 1e6:
            self._allowed.popleft()
        is_ending = self._share >= _NEARLY_ALL and not self.directions.empty
        lower_by = _LOWER_ALL_BY if is_ending else _LOWER_BY
        if allowed < self._share * (1 - lower_by):
            self._lowered_us = now_us
            return allowed
        settled = min(share for _, share in self._allowed)
        step = _RAISE_BY if now_us - self._lowered_us < _LONG_AGO_US else _FINE
        if settled > self._share * (1 + step) or settled >= max(_NEARLY_ALL, self._share + 1e-9):
            return min(settled, self._share + RAISE_PER_S * passed_s)
        return self._share

    def _follow(self, stretch: Stretch, why: str) -> Directions | None:
        now, then = stretch.directions, self.directions
        self._values.dropped(stretch.gone)
        if now.drops == then.drops and now.boxes == then.boxes:
            return None
        self.directions = told(now, why)
        return self.directions

    def _uniformly(self, seen: Observation, verdict: Verdict, share: float) -> Directions | None:
        self._share = share
        kept = round(share, 2)
        if kept == round(self.directions.kept, 2):
            return None
        found = self._analysis(seen)
        made = Directions() if kept >= 1 else uniform(self._places, found, self._entrances, kept)
        return self._follow(Stretch(made, {}), verdict.why)

    def _renewed(self, seen: Observation) -> bool:
        """Whether there is a new map, because there was none or the old one no longer holds."""
        if self._roads is not None and seen.now_us - self._looked_us < _REBUILD_US:
            return False
        self._looked_us = seen.now_us
        found = self._analysis(seen)
        if found.min_cap <= 0:
            return False
        basis = _Basis.of(found, self._places.above_backlog(seen.waiting_s, BACKLOG_S), self._means())
        if self._roads is not None and self._built_on is not None and basis.near(self._built_on):
            return False
        self._built_on = basis
        self._roads = self._built(found, basis.closed)
        return True

    def _built(self, found: LoadAnalysis, closed: frozenset[Place]) -> Roads:
        valued = self._valued(found)

        def build(closed: frozenset[Place]) -> Roads:
            return Roads(
                self._places,
                self._entrances,
                found,
                self._loss,
                protected=self._protected,
                valued=valued,
                only_by_value=self._mode == "semantic",
                closed=closed,
                trying=self._trying,
            )

        roads = build(closed)
        return build(frozenset()) if closed and roads.least > self._share else roads

    def _valued(self, found: LoadAnalysis) -> list[ByValue]:
        made = []
        for name, value in self._value.items():
            known = self._values.worths(name)
            pushed = self._reach[name]
            if known is not None and pushed:
                output = by_value(self._places, self._entrances, found, name, value, known, pushed, self._trying)
                made += [] if output is None else [output]
        return made

    def _means(self) -> dict[str, float]:
        return {name: self._values.mean(name) for name in self._value}

    def _analysis(self, seen: Observation) -> LoadAnalysis:
        """What no tuple has reached yet is taken to be free."""
        rates = {name: seen.offered_per_s.get(name, 0.0) for name in self._typed.network.streams}
        missing = {
            name: BoxProfile(0.0, dict.fromkeys(self._typed.network.boxes[name].output_ports(), 1.0))
            for name in self._typed.order
            if name not in seen.profiles
        }
        return analyse_load(self._typed, {**seen.profiles, **missing}, rates)


class _Basis:
    """What a map was made on."""

    def __init__(self, parts: dict[str, float], closed: frozenset[Place], means: dict[str, float]) -> None:
        self.parts = parts
        self.closed = closed
        self.means = means

    @classmethod
    def of(cls, found: LoadAnalysis, closed: frozenset[Place], means: dict[str, float]) -> _Basis:
        parts = {name: box.load / found.min_cap for name, box in found.boxes.items()}
        return cls(parts, closed, means)

    def near(self, other: _Basis) -> bool:
        return (
            self.closed == other.closed
            and all(_near(share, other.parts[name]) for name, share in self.parts.items())
            and all(_near(mean, other.means[name]) for name, mean in self.means.items())
        )


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= max(_MOVED * max(a, b), _LEAST_PART)
