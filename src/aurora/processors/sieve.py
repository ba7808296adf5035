"""Sieves: drops in front of boxes that come and go while a network runs, without a change to the network.

A sieve stands at a place: before one reader of an arc, or before all that get the arc's tuples. Which tuples it takes
away is decided by its seed and the tuples' numbers, or by a condition on their columns. So the same tuples go however
a stream is cut into trains, spread over workers, or scheduled, and to sift tuples twice takes no more of them away.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from aurora.boxes.drop import Condition, Mask, lucky
from aurora.boxes.thinned import Rule
from aurora.model.train import HIDDEN, ORDER, Part, Train
from aurora.model.typed import Consumer, Producer, TypedNetwork
from aurora.shedding.places import Place

Reason: TypeAlias = Literal["random", "semantic", "windows"]
Shed: TypeAlias = Mapping[tuple[Place, Reason], int]
"""How many tuples were dropped, by place and reason."""


@dataclass(frozen=True)
class Sieve:
    """Drops tuples at random, all but the share ``keep``; or those for which ``where`` holds, all but ``spared``.

    Every place needs a seed of its own: behind another sieve with the same seed the unlucky tuples are gone already.
    """

    place: Place
    seed: int
    keep: float = 1.0
    where: str | None = None
    spared: float = 0.0


@dataclass(frozen=True)
class Drops:
    """Everything that is to be dropped from now on: by sieves, and by boxes that obey a rule."""

    sieves: tuple[Sieve, ...] = ()
    rules: Mapping[str, Rule] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.sieves or self.rules)


NO_DROPS = Drops()


class Tally(dict[tuple[Place, Reason], int]):
    """Counts what is shed; ``seconds`` is how long it took."""

    seconds = 0.0

    def note(self, place: Place, reason: Reason, tuples: int) -> None:
        if tuples:
            self[place, reason] = self.get((place, reason), 0) + tuples

    def add(self, other: Shed, seconds: float) -> None:
        self.seconds += seconds
        for (place, reason), tuples in other.items():
            self.note(place, reason, tuples)


class Sieving:
    """Sieves at work in one network."""

    def __init__(self, typed: TypedNetwork, sieves: tuple[Sieve, ...] = ()) -> None:
        self.sieves = sieves
        self._typed = typed
        self._at: dict[Place, list[_Test]] = {}
        for sieve in self.sieves:
            tests = self._at.setdefault(sieve.place, [])
            if sieve.where is not None:
                spared = _ByChance(sieve.seed, 1 - sieve.spared) if sieve.spared > 0 else None
                tests.append(_ByValue(Condition(sieve.where, typed.arcs[sieve.place.arc]), spared))
            elif sieve.keep < 1:
                tests.append(_ByChance(sieve.seed, 1 - sieve.keep))

    def renewed(self, sieves: tuple[Sieve, ...]) -> Sieving:
        """These sieves at work; the same object if they are the same."""
        return self if sieves == self.sieves else Sieving(self._typed, sieves)

    def on(self, arc: Producer, train: Train, tally: Tally) -> Train:
        """What is left of a train for all that get it."""
        return self._sifted(Place(arc), train, tally)

    def before(self, reader: Consumer, train: Train, tally: Tally) -> Train:
        """What is left of a train for one of its readers."""
        return self._sifted(Place(self._typed.inputs[reader.box][reader.port], reader), train, tally)

    def has(self, arc: Producer) -> bool:
        """Whether something stands before all that get the arc's tuples."""
        return bool(self._at.get(Place(arc)))

    def places(self) -> list[Place]:
        """Where something is dropped."""
        return [place for place, tests in self._at.items() if tests]

    def told(self, arc: Producer, progress: Sequence[str]) -> tuple[str, ...]:
        """The columns of all tuples that every part must see of an arc that is split: those of progress, if there are
        any, and those by which tuples that do not count for it are dropped before single readers.
        """
        if not progress or not self.sieves:
            return tuple(progress)
        tests = [test for place, tests in self._at.items() if place.arc == arc and place.reader for test in tests]
        return tuple(dict.fromkeys([*progress, *(column for test in tests for column in test.columns)]))

    def _sifted(self, place: Place, train: Train, tally: Tally) -> Train:
        tests = self._at.get(place)
        if not tests:
            return train
        began = time.perf_counter()
        for test in tests:
            stays = test.stays(train.frame, bare=train.arrival_us is not None)
            if not stays.all():
                tally.note(place, test.reason, len(stays) - int(np.count_nonzero(stays)))
                part = None if train.part is None else _thinned(train.part, stays, test)
                train = replace(train.where(stays), part=part)
            elif train.part is not None:
                train = replace(train, part=_thinned(train.part, stays, test))
        tally.seconds += time.perf_counter() - began
        return train


def _thinned(part: Part, stays: Mask, test: _Test) -> Part:
    """Every part must learn of all rows that are gone. They keep their places, but as NULL they move no progress."""
    whole = part.whole
    known = [name for name in whole.columns if name not in HIDDEN]
    if known:
        kept = pl.Series(test.stays(whole, bare=False))
        whole = whole.with_columns(pl.when(kept).then(pl.col(name)) for name in known)
    return replace(part, places=part.places[stays], whole=whole)


class Sifter:
    """Drops tuples in one execution: from ``trains`` as they are given or made, and before boxes as they read them.

    ``sieving`` None: only what boxes drop by their rules is counted.
    """

    def __init__(self, typed: TypedNetwork, sieving: Sieving | None, trains: dict[Producer, Train]) -> None:
        self.tally = Tally()
        self._typed = typed
        self._sieving = sieving
        self._trains = trains

    def enter(self, boxes: Collection[str]) -> None:
        """The given trains are for these boxes. What others read as well is counted with the first reader."""
        for arc in list(self._trains):
            readers = self._typed.consumers(arc)
            if not readers or readers[0].box in boxes:
                self._sift(arc, self.tally)
            else:
                uncounted = Tally()
                self._sift(arc, uncounted)
                self.tally.seconds += uncounted.seconds

    def before(self, box: str, inputs: dict[int, Train]) -> None:
        """``inputs`` are the box's trains by port. None is left of those that nothing is left of."""
        if self._sieving is None:
            return
        for port, train in list(inputs.items()):
            left = inputs[port] = self._sieving.before(Consumer(box, port), train, self.tally)
            # A part tells of the progress of the others too.
            if not len(left) and left.part is None:
                del inputs[port]

    def behind(self, box: str, shed: int) -> None:
        """The box has run, and dropped so many tuples by its rule."""
        self.tally.note(Place(self._typed.inputs[box][0], Consumer(box, 0)), "windows", shed)
        for port in self._typed.network.boxes[box].output_ports():
            self._sift(Producer(box, port), self.tally)

    def _sift(self, arc: Producer, tally: Tally) -> None:
        if self._sieving is None or arc not in self._trains or not self._sieving.has(arc):
            return
        left = self._trains[arc] = self._sieving.on(arc, self._trains[arc], tally)
        if not len(left):
            del self._trains[arc]


class _ByChance:
    reason: Reason = "random"
    columns: Sequence[str] = ()

    def __init__(self, seed: int, rate: float) -> None:
        self._seed = seed
        self._rate = rate
        self._generator = np.random.default_rng(seed)

    def stays(self, frame: pl.DataFrame, *, bare: bool) -> Mask:
        if bare:
            # Without numbers nobody can tell tomorrow which tuples went today; the share is the same.
            return self._generator.random(frame.height) >= self._rate
        return lucky(self._seed, self._rate, frame.get_column(ORDER).to_numpy() >> 1)


class _ByValue:
    reason: Reason = "semantic"

    def __init__(self, condition: Condition, spared: _ByChance | None) -> None:
        self._condition = condition
        self._spared = spared
        self.columns: Sequence[str] = sorted(condition.columns)

    def stays(self, frame: pl.DataFrame, *, bare: bool) -> Mask:
        goes, _ = self._condition(frame)
        return ~goes if self._spared is None else ~goes | self._spared.stays(frame, bare=bare)


_Test: TypeAlias = _ByChance | _ByValue
