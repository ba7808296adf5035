"""The load of a thinned network, quick enough to be asked thousands of times while the network runs.

Where drops stand as far upstream as they can, what a box still gets is what the most demanding output below it wants.
So all boxes with the same outputs below them can be taken together, and a network of fifty boxes becomes a sum with a
term for each set of outputs. What drops cost is left out of the sum, and the inputs of a union are taken to be thinned
alike; what is asked ``exactly`` goes to the full model.

Beside its outputs it has *knobs*. A knob takes tuples from one output by their values, where they are worth
least, however the others are thinned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aurora.model.typed import Consumer, Producer
from aurora.shedding.places import Place
from aurora.shedding.thinning import Drop, Floats, Thinned, Thinning


@dataclass(frozen=True)
class Knob:
    """``saving`` is the load that is gone when all tuples of the output go this way, in cores."""

    output: str
    saving: float

    @property
    def name(self) -> str:
        return f"{self.output} by value"


@dataclass(frozen=True)
class _Limit:
    """How much comes to a box: what the most demanding of some outputs wants, or everything.

    An output behind a join wants less of each of its inputs; the number beside it is the power of that, see ``Places``.
    """

    outputs: tuple[tuple[int, int], ...]
    least: float = 0.0

    def behind(self, ways: int) -> _Limit:
        return (
            self if ways == 1 else _Limit(tuple((number, max(1, p // ways)) for number, p in self.outputs), self.least)
        )


_EVERYTHING = _Limit((), least=1.0)


class Contracted:
    """A model for the planner, made of the full one."""

    def __init__(self, full: Thinning, knobs: Sequence[Knob] = ()) -> None:
        self._full = full
        self.places = full.places
        self.outputs = (*full.outputs, *(knob.name for knob in knobs))
        self._real = len(full.outputs)
        self._savings = np.array([knob.saving for knob in knobs])
        self._knob_of = np.array([full.outputs.index(knob.output) for knob in knobs], np.int64)
        self._numbers = {name: number for number, name in enumerate(full.outputs)}
        self._at_arc: dict[Producer, _Limit] = {}
        loads = self._loads()
        self._fixed = loads.pop(_EVERYTHING, 0.0)
        limits = list(loads)
        reached = [self._at_arc[full.places.typed.outputs[name]] for name in full.outputs]
        self._powers = tuple(sorted({power for limit in (*limits, *reached) for _, power in limit.outputs}))
        self._weights = np.array([loads[limit] for limit in limits])
        self._comes = self._maxima(limits)
        self._delivered = self._maxima(reached)

    def evaluate(self, wanted: Floats) -> Thinned:
        rows = np.atleast_2d(wanted)
        # A row for each output and a column for each case: that way the maxima are taken over long rows.
        real = rows[:, : self._real].T
        roots = [real if power == 1 else real ** (1 / power) for power in self._powers]
        padded = np.concatenate([*roots, np.zeros((1, len(rows)))])
        delivered = self._delivered(padded).T
        load = self._fixed + self._weights @ self._comes(padded)
        return self._with_knobs(rows, load, delivered)

    def exactly(self, wanted: Floats) -> Thinned:
        rows = np.atleast_2d(wanted)
        return self._with_knobs(rows, *self._full.evaluate(rows[:, : self._real]))

    def drops(self, wanted: Floats) -> list[tuple[Drop, ...]]:
        """Those at random; what knobs do is up to whoever made them."""
        return self._full.drops(np.atleast_2d(wanted)[:, : self._real])

    def _with_knobs(self, rows: Floats, load: Floats, delivered: Floats) -> Thinned:
        if not len(self._savings):
            return Thinned(load, delivered)
        levels = rows[:, self._real :]
        saved = (self._savings * (1 - levels) * delivered[:, self._knob_of]).sum(axis=1)
        return Thinned(np.maximum(load - saved, 0.0), np.concatenate([delivered, levels], axis=1))

    def _loads(self) -> dict[_Limit, float]:
        """The load of all boxes by what limits it, from the inputs downwards."""
        full, typed = self._full, self.places.typed
        loads: dict[_Limit, float] = {}
        for name in (*typed.network.streams, *typed.network.connection_points):
            if name in typed.arcs:
                self._at_arc[Producer(name)] = self._limit(Place(Producer(name)), _EVERYTHING)
        for name in typed.order:
            made: _Limit | None = None
            for port, arc in enumerate(typed.inputs[name]):
                limit = self._limit(Place(arc, Consumer(name, port)), self._at_arc[arc])
                load = (
                    full.found.arcs[arc].rate_per_s * full.found.boxes[name].cost_s if arc in full.found.arcs else 0.0
                )
                loads[limit] = loads.get(limit, 0.0) + load
                made = limit if made is None or limit.least > made.least else made
            for produced in typed.network.boxes[name].output_ports():
                place = Place(Producer(name, produced))
                self._at_arc[place.arc] = self._limit(place, (made or _EVERYTHING).behind(self.places.ways(name)))
        return loads

    def _limit(self, place: Place, above: _Limit) -> _Limit:
        """What limits the tuples behind a place. A drop that would save next to nothing does not stand there."""
        arc = self._full.found.arcs.get(place.arc)
        worthless = arc is None or arc.rate_per_s == 0 or arc.coefficient_s <= self._full.drop_cost_s
        if worthless or place in self._full.closed or self.places.is_vital(place):
            return above
        below = self.places.outputs(place)
        if not below:
            return above
        least = self._full.least.get(place, 0.0)
        return _Limit(tuple(sorted((self._numbers[name], power) for name, power in below.items())), least)

    def _maxima(self, limits: Sequence[_Limit]) -> _Maxima:
        nothing = self._real * len(self._powers)
        members = [
            [self._powers.index(power) * self._real + number for number, power in limit.outputs] or [nothing]
            for limit in limits
        ]
        return _Maxima(members, [limit.least for limit in limits])


class _Maxima:
    """The greatest of some rows, for many sets of rows at once, and at least something. Most sets have one row."""

    def __init__(self, members: Sequence[Sequence[int]], least: Sequence[float]) -> None:
        self._first = np.array([rows[0] for rows in members], np.int64)
        several = [number for number, rows in enumerate(members) if len(rows) > 1]
        self._several = np.array(several, np.int64)
        self._members = np.array([row for number in several for row in members[number]], np.int64)
        self._starts = np.cumsum([0, *(len(members[number]) for number in several[:-1])])
        self._least = np.array(least)[:, None] if any(least) else None

    def __call__(self, rows: Floats) -> Floats:
        found: Floats = rows[self._first]
        if len(self._several):
            found[self._several] = np.maximum.reduceat(rows[self._members], self._starts)
        return found if self._least is None else np.maximum(found, self._least)
