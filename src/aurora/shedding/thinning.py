"""The load of a network when its outputs get less: the model that drops are planned with.

Given the share that every output is to get, a box needs as much of its input as the most demanding output below it.
Where an arc, or one reader of it, needs less than comes, a drop stands. So drops stand as far upstream as they can,
and none takes from an output more than that output can spare.

A drop looks at every tuple that comes to it, which is not free. Where it would cost more than it saves there is none,
and the outputs below get more than they would have to.

All is computed for many cases at once, a row each; a row's result does not depend on the others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aurora.model.typed import Consumer, Producer
from aurora.shedding.load import ArcLoad, LoadAnalysis
from aurora.shedding.places import Place, Places

Floats = NDArray[np.float64]

DROP_COST_S = 3e-8
"""What a drop costs for every tuple that comes to it, until it has been measured."""

_AT_REST = ArcLoad(0.0, 0.0)
"""Static data."""


@dataclass(frozen=True)
class Drop:
    """Discards ``rate`` of the tuples that come to a place.

    ``gain`` is the load it saves, by the coefficient of the place, less its own cost. Drops may stand one after the
    other, so each needs a seed of its own: with the same one, the second would find its tuples gone already.
    """

    place: Place
    rate: float
    gain: float
    outputs: tuple[str, ...]


class Thinned(NamedTuple):
    """A row for each case: the load, and the share that each output really gets."""

    load: Floats
    delivered: Floats


class _Arc(NamedTuple):
    producer: Producer
    rate: float
    coefficient_s: float
    outputs: tuple[int, ...]
    open: bool


class _Input(NamedTuple):
    arc: int
    rate: float
    weight: float
    open: bool


class _Box(NamedTuple):
    name: str
    cost_s: float
    coefficient_s: float
    inputs: tuple[_Input, ...]
    outputs: tuple[int, ...]
    multiplies: bool
    vital: bool


class Thinning:
    """``closed`` are places where no drop may stand; ``least`` is the share that must stay at some of the others.

    The load is in cores. Boxes that only one worker runs at a time, and that keep it busy for the share b of its time,
    are as much in the way as b times all cores would be: the load is the greatest of these and the sum over all boxes.
    """

    def __init__(
        self,
        places: Places,
        found: LoadAnalysis,
        *,
        drop_cost_s: float = DROP_COST_S,
        closed: Collection[Place] = (),
        least: Mapping[Place, float] | None = None,
    ) -> None:
        typed = places.typed
        self.places = places
        self.found = found
        self.closed = frozenset(closed)
        self.least = dict(least or {})
        self.outputs = tuple(typed.outputs)
        self.drop_cost_s = drop_cost_s
        self._cores = found.cores
        self._single = tuple(group for group in found.places if found.cores > 1)
        numbers = {name: number for number, name in enumerate(self.outputs)}
        arcs = [place.arc for place in places if place.reader is None]
        self._number = {arc: number for number, arc in enumerate(arcs)}
        self._arcs = []
        for arc in arcs:
            load = found.arcs.get(arc, _AT_REST)
            delivered_to = tuple(numbers[output] for output in typed.delivered_to(arc))
            self._arcs.append(_Arc(arc, load.rate_per_s, load.coefficient_s, delivered_to, Place(arc) not in closed))
        self._boxes = [self._box(name, found, closed) for name in typed.order]
        self._made = {number for box in self._boxes for number in box.outputs}

    def _box(self, name: str, found: LoadAnalysis, closed: Collection[Place]) -> _Box:
        typed = self.places.typed
        ports = [Producer(name, port) for port in typed.network.boxes[name].output_ports()]
        taken = found.boxes[name].rate_per_s
        behind = sum(found.arcs[port].rate_per_s * found.arcs[port].coefficient_s for port in ports)
        inputs = []
        for port, arc in enumerate(typed.inputs[name]):
            rate = found.arcs.get(arc, _AT_REST).rate_per_s
            is_open = rate > 0 and Place(arc, Consumer(name, port)) not in closed
            # Where nothing has come yet, all inputs are taken to matter alike.
            weight = rate / taken if taken else 1 / len(typed.inputs[name])
            inputs.append(_Input(self._number[arc], rate, weight, is_open))
        return _Box(
            name,
            found.boxes[name].cost_s,
            found.boxes[name].cost_s + (behind / taken if taken else 0.0),
            tuple(inputs),
            tuple(self._number[port] for port in ports),
            self.places.ways(name) > 1,
            all(not self.places.outputs(Place(port)) for port in ports),
        )

    def evaluate(self, wanted: Floats) -> Thinned:
        """``wanted`` has a row for each case, and in it the share of every output, in the order of ``outputs``."""
        walk = _Walk(self, np.atleast_2d(wanted))
        return Thinned(walk.load(), walk.delivered)

    def exactly(self, wanted: Floats) -> Thinned:
        """The same; a model that only comes near in ``evaluate`` does not here."""
        return self.evaluate(wanted)

    def drops(self, wanted: Floats) -> list[tuple[Drop, ...]]:
        """The drops of each case, from the inputs downwards."""
        walk = _Walk(self, np.atleast_2d(wanted), note=True)
        return [tuple(noted) for noted in walk.noted]


class _Walk:
    """Up the network with what is needed, and down again with what comes."""

    def __init__(self, model: Thinning, wanted: Floats, *, note: bool = False) -> None:
        self._model = model
        self._note = note
        self._zero = np.zeros(len(wanted))
        self._boxes_load = dict.fromkeys((box.name for box in model._boxes), self._zero)
        self._drops_load = self._zero
        self.noted: list[list[Drop]] = [[] for _ in wanted]
        self.delivered = np.ones_like(wanted)
        self._need: list[Floats] = [self._zero] * len(model._arcs)
        self._at_box: dict[str, Floats] = {}
        self._go_up(wanted)
        self._go_down()

    def _go_up(self, wanted: Floats) -> None:
        need = self._need
        for number, arc in enumerate(self._model._arcs):
            for output in arc.outputs:
                need[number] = np.maximum(need[number], wanted[:, output])
        for box in reversed(self._model._boxes):
            most = self._zero + 1.0 if box.vital else self._zero
            for number in box.outputs:
                most = np.maximum(most, need[number])
            if box.multiplies:
                most = np.sqrt(most)
            self._at_box[box.name] = most
            for read in box.inputs:
                need[read.arc] = np.maximum(need[read.arc], most)

    def _go_down(self) -> None:
        model = self._model
        have: list[Floats] = [self._zero + 1.0] * len(model._arcs)
        for number in range(len(model._arcs)):
            if number not in model._made:
                have[number] = self._thin_arc(number, have[number])
        for box in model._boxes:
            lost = self._zero
            product = self._zero + 1.0
            load = self._zero
            for port, read in enumerate(box.inputs):
                came = have[read.arc]
                place = Place(model._arcs[read.arc].producer, Consumer(box.name, port))
                rate, need = read.rate, self._at_box[box.name]
                got = self._thin(place, came, need, rate, box.coefficient_s) if read.open else came
                load = load + read.rate * box.cost_s * got
                # In this form nothing is lost to rounding where nothing is dropped.
                lost = lost + read.weight * (1.0 - got)
                product = product * got
            self._boxes_load[box.name] = load
            made = product if box.multiplies else 1.0 - lost
            for number in box.outputs:
                have[number] = self._thin_arc(number, made)

    def _thin_arc(self, number: int, came: Floats) -> Floats:
        arc = self._model._arcs[number]
        got = came
        if arc.open and arc.rate > 0:
            got = self._thin(Place(arc.producer), came, self._need[number], arc.rate, arc.coefficient_s)
        for output in arc.outputs:
            self.delivered[:, output] = got
        return got

    def _thin(self, place: Place, came: Floats, need: Floats, rate: float, coefficient_s: float) -> Floats:
        cost_s = self._model.drop_cost_s
        if place in self._model.least:
            need = np.maximum(need, came * self._model.least[place])
        gain = rate * ((came - need) * coefficient_s - came * cost_s)
        worth = (need < came) & (gain > 0)
        if not worth.any():
            return came
        self._drops_load = self._drops_load + np.where(worth, rate * cost_s * came, 0.0)
        if self._note:
            hurt = tuple(self._model.places.outputs(place))
            for row in np.flatnonzero(worth).tolist():
                drop = Drop(place, float(1.0 - need[row] / came[row]), float(gain[row]), hurt)
                self.noted[row].append(drop)
        return np.where(worth, need, came)

    def load(self) -> Floats:
        """Drops are charged to the whole; they run wherever there is room."""
        total = self._drops_load
        for load in self._boxes_load.values():
            total = total + load
        for group in self._model._single:
            busy = self._zero
            for name in group:
                busy = busy + self._boxes_load[name]
            total = np.maximum(total, busy * self._model._cores)
        return total
