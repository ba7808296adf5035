"""An output that can be shed by value: what that would save, and the drops that do it.

The tuples that are worth least are told by their value at the output, and dropped as far upstream as the condition can
be carried: backward through boxes that can be inverted, and past others by forward trial, if a sample of the tuples
there is at hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from aurora.boxes.thinned import shed_form
from aurora.expressions import Interval
from aurora.model.qos import ValueGraph
from aurora.model.typed import Consumer, Producer
from aurora.shedding.aggregates import Entrances
from aurora.shedding.backward import Pushed, push_back
from aurora.shedding.contraction import Knob
from aurora.shedding.forward import Through, find_interval
from aurora.shedding.load import LoadAnalysis
from aurora.shedding.observation import Dropping
from aurora.shedding.places import Place, Places
from aurora.shedding.regions import Region
from aurora.shedding.semantic import Lowest, Worth, lowest_exactly, lowest_share
from aurora.shedding.thinning import DROP_COST_S
from aurora.shedding.values import WorthCurve

Trying: TypeAlias = Callable[[Place, str], tuple[pl.DataFrame, Through] | None]
"""A sample of the tuples that come to a place, and a function that sends tuples from there to an output; None while
there is no sample."""

CONDITION_COST_S = 2 * DROP_COST_S
"""What it costs to look at a tuple's value."""

TOLERANCE = 0.02
"""The share of the other tuples that a condition found by trial may take with it."""

_WORTH_TRYING = 0.5
"""A condition found by trial must take at least this share of what should go."""


@dataclass(frozen=True)
class Taken:
    """Drops by value, and the intervals of the output's column that no longer come for them."""

    drops: tuple[Dropping, ...]
    gone: tuple[Interval, ...]


@dataclass(frozen=True)
class ByValue:
    """``saving`` is the load that would be gone with all tuples of the output, in cores.

    ``whole`` says that the conditions pass an aggregate: then whole groups go, and none is halved. ``tried`` is the
    place and column at which a trial found a good condition.
    """

    output: str
    value: ValueGraph
    worths: tuple[Worth, ...]
    curve: WorthCurve
    saving: float
    whole: bool
    tried: tuple[Place, str] | None = None

    @property
    def knob(self) -> Knob:
        return Knob(self.output, self.saving)

    def take(self, places: Places, left: float, trying: Trying | None) -> Taken:
        """The drops that leave a share of the output's tuples."""
        if self.whole:
            all_of, part, spared = lowest_share(self.worths, 1 - left), Lowest((), 0.0, 0.0), 0.0
        else:
            all_of, part, spared = lowest_exactly(self.worths, 1 - left)
        if self.tried is not None and trying is not None:
            found = self._by_trial(places, all_of, trying)
            if found is not None:
                return Taken((found,), all_of.intervals)
        drops = [*self._drops(places, all_of, 0.0), *self._drops(places, part, spared)]
        return Taken(tuple(drops), all_of.intervals)

    def _drops(self, places: Places, lowest: Lowest, spared: float) -> list[Dropping]:
        if not lowest.intervals:
            return []
        pushed = push_back(places, self.output, self.value.on, lowest.intervals)
        return [
            Dropping(found.place, "semantic", (self.output,), where=found.condition, spared=spared)
            for found in pushed
            if not found.region.empty
        ]

    def _by_trial(self, places: Places, lowest: Lowest, trying: Trying) -> Dropping | None:
        assert self.tried is not None
        place, column = self.tried
        given = trying(place, self.output)
        if given is None or not lowest.intervals:
            return None
        sample, through = given
        trial = find_interval(
            sample, column, through, output_column=self.value.on, unwanted=lowest.intervals, tolerance=TOLERANCE
        )
        if trial is None or trial.removed < _WORTH_TRYING:
            return None
        region = Region.of([trial.interval], places.typed.arcs[place.arc].schema[column])
        return Dropping(place, "semantic", (self.output,), where=region.condition(column))


def reach(places: Places, output: str, value: ValueGraph) -> tuple[Pushed, ...]:
    """How far upstream a condition on the output's column gets; that does not depend on the values."""
    return push_back(places, output, value.on, [Interval()])


def by_value(
    places: Places,
    entrances: Entrances,
    found: LoadAnalysis,
    output: str,
    value: ValueGraph,
    known: tuple[Worth, ...],
    pushed: tuple[Pushed, ...],
    trying: Trying | None = None,
) -> ByValue | None:
    """How an output can be shed by value; None if that saves nothing. ``pushed`` is its ``reach``."""
    tried = None if trying is None else _trial(places, entrances, output, value, known, pushed, trying)
    stops = frozenset({tried[0]} if tried is not None else {condition.place for condition in pushed})
    walk = _Walk(places, found, stops)
    walk.up(places.typed.outputs[output], found.arcs[places.typed.outputs[output]].rate_per_s)
    looking = sum(found.arcs[place.arc].rate_per_s for place in stops if place.arc in found.arcs) * CONDITION_COST_S
    if walk.saved <= looking:
        return None
    curve = WorthCurve.of(known)
    return ByValue(output, value, known, curve, walk.saved - looking, walk.aggregates, tried)


class _Walk:
    """Up from an output to where its tuples are dropped, with the work of those that would have come through.

    What a filter on the way throws away is no part of it: a condition on the output's tuples does not save that.
    """

    def __init__(self, places: Places, found: LoadAnalysis, stops: frozenset[Place]) -> None:
        self._typed = places.typed
        self._found = found
        self._stops = stops
        self.saved = 0.0
        self.aggregates = False

    def up(self, arc: Producer, rate_per_s: float) -> None:
        if Place(arc) in self._stops or arc.name not in self._typed.inputs:
            return
        box = self._typed.network.boxes[arc.name]
        load = self._found.boxes[arc.name]
        if shed_form(box) is not None:
            self.aggregates = True
            made = self._found.arcs[arc].rate_per_s
            rate_per_s *= load.rate_per_s / made if made else 0.0
        self.saved += rate_per_s * load.cost_s
        for port, above in enumerate(self._typed.inputs[arc.name]):
            rate = self._found.arcs[above].rate_per_s if above in self._found.arcs else 0.0
            if Place(above, Consumer(arc.name, port)) not in self._stops and load.rate_per_s:
                self.up(above, rate_per_s * rate / load.rate_per_s)


def _trial(
    places: Places,
    entrances: Entrances,
    output: str,
    value: ValueGraph,
    known: tuple[Worth, ...],
    pushed: tuple[Pushed, ...],
    trying: Trying,
) -> tuple[Place, str] | None:
    """A place further up and a column there by which half of the output can be dropped; None if there is none."""
    if len(pushed) != 1 or len(pushed[0].by_trial) != 1:
        return None
    (place,) = pushed[0].by_trial
    # Above an aggregate some other answers would still come, but wrong.
    given = None if place in entrances.closed else trying(place, output)
    lowest = lowest_share(known, 0.5)
    if given is None or not lowest.intervals:
        return None
    sample, through = given
    best: tuple[float, str] | None = None
    schema = places.typed.arcs[place.arc].schema
    for column in sample.columns:
        if column in schema and schema[column].numeric:
            trial = find_interval(
                sample, column, through, output_column=value.on, unwanted=lowest.intervals, tolerance=TOLERANCE
            )
            if trial is not None and trial.removed >= _WORTH_TRYING and (best is None or trial.removed > best[0]):
                best = trial.removed, column
    return None if best is None else (place, best[1])
