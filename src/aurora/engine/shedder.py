"""The engine under load: it looks at itself, asks what to drop, and has it dropped.

What is asked are the pure planners of ``aurora.shedding``; here are the effects. Directions become sieves and rules,
which the flow hands to whoever runs boxes. What is dropped, why, and since when can be seen at any time.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol, TypeAlias

import polars as pl

from aurora.engine.enqueued import Enqueued
from aurora.engine.flow import Flow, Parts
from aurora.engine.observing import Observer
from aurora.engine.trials import Trials
from aurora.errors import InputError, did_you_mean
from aurora.model.train import Ints, Train
from aurora.model.typed import TypedNetwork
from aurora.processors.plan import FileRows
from aurora.processors.sieve import Drops, Sieve
from aurora.shedding.observation import MODES, Directions, Mode, Observation
from aurora.shedding.places import Place
from aurora.shedding.shedder import Shedder

LOOK_US = 100_000
SELDOM_US = 250_000
"""How often the engine looks at itself: where a look takes long, as in a large network, it does so less often."""
_COST = 0.02
"""The share of the time that looks may take otherwise."""
_REMEMBERED = 100
_VALUES = 4_096
"""So many values of an output are handed on between two looks at most."""
_IN_A_TRAIN = 512


class Decider(Protocol):
    """What is asked: ``aurora.shedding.shedder.Shedder``."""

    def observe(self, observation: Observation) -> Directions | None:
        """New directions; None while those in force still hold."""

    def note_values(self, output: str, values: pl.Series) -> None:
        """An output delivered tuples with these values in the column of its value graph."""


@dataclass(frozen=True)
class InForce:
    """A drop, and since when it has been there, whatever its share was meanwhile."""

    place: Place
    reason: str
    outputs: tuple[str, ...]
    since_us: int
    keep: float | None = None
    where: str | None = None
    spared: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        how = {"keep": self.keep} if self.where is None else {"where": self.where, "spared": self.spared}
        since = datetime.fromtimestamp(self.since_us / 1e6, UTC).isoformat()
        return {"place": str(self.place), "reason": self.reason, **how, "outputs": list(self.outputs), "since": since}


def may_shed(typed: TypedNetwork, mode: Mode) -> bool:
    """Whether there is anything that could ever be dropped."""
    qos = [output.qos for output in typed.network.outputs.values()]
    some = any(given is not None and (given.loss or given.value) for given in qos)
    return mode == "uniform" or (mode != "off" and some)


def drops_of(directions: Directions) -> Drops:
    """Directions as boxes and those who run them take them."""
    sieves = tuple(
        Sieve(drop.place, drop.seed, drop.keep)
        if drop.where is None
        else Sieve(drop.place, drop.seed, where=drop.where, spared=drop.spared)
        for drop in directions.drops
    )
    return Drops(sieves, {thinned.box: thinned.rule for thinned in directions.boxes})


class LoadShedder:
    """Looks at a running engine, and has ``flow`` drop what ``decider`` says.

    ``pressed`` gives the streams that there was no room for since it was last asked.
    """

    def __init__(
        self,
        parts: Parts,
        flow: Flow,
        queue: Enqueued,
        decider: Decider,
        pressed: Callable[[], frozenset[str]],
        trials: Trials | None = None,
    ) -> None:
        self._trials = trials
        assert parts.measured is not None
        typed = parts.typed
        self._decider = decider
        self._observer = Observer(typed, parts.measured, parts.statistics, queue, pressed, flow.pace)
        self._flow = flow
        self._delivery = parts.delivery
        self._measured = parts.measured
        self._wall = parts.wall
        self._next_us = 0
        self._looking = threading.Lock()
        self._in_force: tuple[InForce, ...] = ()
        self._said: deque[str] = deque(maxlen=_REMEMBERED)
        self._columns = {
            name: output.qos.value.on
            for name, output in typed.network.outputs.items()
            if output.qos is not None and output.qos.value is not None
        }
        self._values: dict[str, list[pl.Series]] = {name: [] for name in self._columns}
        self._room = dict.fromkeys(self._columns, _VALUES)
        if self._columns:
            parts.delivery.watch(self)

    @property
    def active(self) -> bool:
        """Whether something is being dropped."""
        return bool(self._in_force)

    def note_delivery(self, output: str, latencies_us: Ints, tuples: int, train: Train, now_us: int) -> None:
        """Keeps some of the values that were delivered, for those who weigh them."""
        room = self._room.get(output, 0)
        if room > 0 and tuples:
            values = train.frame.get_column(self._columns[output])
            some = values if tuples <= _IN_A_TRAIN else values.gather_every(tuples // _IN_A_TRAIN + 1)
            self._values[output].append(some)
            self._room[output] = room - len(some)

    def note_arrival(self, stream: str, train: Train | FileRows) -> None:
        """Tuples have come in; some of them may be tried out."""
        if self._trials is not None and isinstance(train, Train):
            self._trials.note(stream, train)

    def look(self, busy_s: Callable[[], float]) -> None:
        """Has a look if it is time for one. ``busy_s`` tells for how long the engine has been at work so far."""
        now_us = self._wall.now_us()
        if now_us < self._next_us or not self._looking.acquire(blocking=False):
            return
        try:
            self._look(now_us, busy_s())
        finally:
            self._looking.release()

    def _look(self, now_us: int, busy_s: float) -> None:
        began_s = time.perf_counter()
        waiting = self._flow.waiting()
        with self._delivery.lock:
            look = self._observer.look(now_us, busy_s)
            observation = self._observer.observe(look, waiting)
            values = self._taken_values()
        took_us = 1e6 * (time.perf_counter() - began_s)
        self._next_us = now_us + int(min(max(LOOK_US, took_us / _COST), SELDOM_US))
        for output, some in values.items():
            self._decider.note_values(output, some)
        if observation is not None:
            directions = self._decider.observe(observation)
            if directions is not None:
                self._follow(directions, now_us)

    def _taken_values(self) -> dict[str, pl.Series]:
        found = {name: pl.concat(some) for name, some in self._values.items() if some}
        for name in found:
            self._values[name].clear()
            self._room[name] = _VALUES
        return found

    def _follow(self, directions: Directions, now_us: int) -> None:
        self._flow.drop(drops_of(directions))
        since = {(drop.place, drop.reason): drop.since_us for drop in self._in_force}

        def began_us(place: Place, reason: str) -> int:
            return since.get((place, reason), now_us)

        dropping = [
            InForce(d.place, d.reason, d.outputs, began_us(d.place, d.reason), d.keep)
            if d.where is None
            else InForce(d.place, d.reason, d.outputs, began_us(d.place, d.reason), None, d.where, d.spared)
            for d in directions.drops
        ]
        dropping += [
            InForce(box.place, box.reason, box.outputs, began_us(box.place, box.reason), box.keep)
            for box in directions.boxes
        ]
        self._in_force = tuple(dropping)
        # What an aggregate is told of drops upstream is no drop.
        kept = {(drop.place, drop.reason): drop.keep for drop in dropping if drop.reason != "tuples"}
        with self._delivery.lock:
            self._measured.dropping = kept
        self._said.append(f"load shedder: {directions.why}")

    def close(self) -> None:
        """Comes back when nobody looks; nobody will any more."""
        self._looking.acquire()

    # What can be seen

    def decisions(self) -> list[str]:
        return list(self._said)

    def drops(self) -> list[dict[str, Any]]:
        """The drops in force, with what they have shed so far, as plain values."""
        with self._delivery.lock:
            shed = self._measured.shed()
        return [{**drop.to_dict(), "shed": shed.get((drop.place, drop.reason), 0)} for drop in self._in_force]


ShedderMaker: TypeAlias = Callable[[Parts, Flow, Enqueued], LoadShedder]


def make_shedder(
    typed: TypedNetwork,
    mode: Mode,
    headroom: float,
    pressed: Callable[[], frozenset[str]],
    statics: Mapping[str, pl.DataFrame] | None = None,
) -> ShedderMaker | None:
    """What drops tuples of a network; None where nothing may ever be dropped, so that nobody need look."""
    if mode not in MODES:
        hint = did_you_mean(str(mode), MODES)
        raise InputError(f"shedding is {mode!r}; use one of {', '.join(MODES)}" + (f"; {hint}" if hint else ""))
    if not may_shed(typed, mode):
        return None

    def make(parts: Parts, flow: Flow, queue: Enqueued) -> LoadShedder:
        trials = Trials(typed, statics or {}, parts.wall) if _may_try(typed, mode) else None
        decider = Shedder(typed, mode=mode, headroom=headroom, trying=trials)
        return LoadShedder(parts, flow, queue, decider, pressed, trials)

    return make


def _may_try(typed: TypedNetwork, mode: Mode) -> bool:
    """Whether a drop by value could be found by trial."""
    qos = [output.qos for output in typed.network.outputs.values()]
    return mode in ("auto", "semantic") and any(given is not None and given.value for given in qos)
