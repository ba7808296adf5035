"""The road map of a running network: for every share of the load that may stay, the directions that leave it.

The map holds for the costs, selectivities and proportions of rates that it was made with. To look a share up takes
microseconds; conditions on values are carried upstream only when a share is asked for the first time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from aurora.boxes.thinned import max_gap_of
from aurora.expressions import Interval
from aurora.model.qos import Graph
from aurora.model.typed import Consumer, Producer
from aurora.qos.curve import Curve
from aurora.shedding.aggregates import Entrances, shares_left
from aurora.shedding.by_value import ByValue, Trying
from aurora.shedding.contraction import Contracted
from aurora.shedding.greedy import PROPORTIONAL, Plan, Planner
from aurora.shedding.load import LoadAnalysis
from aurora.shedding.observation import Directions, Dropping, ThinnedBox
from aurora.shedding.places import Place, Places
from aurora.shedding.road_map import RoadMap
from aurora.shedding.thinning import Floats, Thinning

_MOST_STEPS = 100
_LEAST_STEPS = 20
_STEPS_BY_OUTPUT = 400
"""More outputs make each step dearer; a map should be made within some 20 ms."""

_NOTHING_LESS = 1e-3
"""A share this near to 1 is not worth a drop."""


@dataclass(frozen=True)
class Stretch:
    """Directions, and which values of which outputs will be missing for them."""

    directions: Directions
    gone: Mapping[str, tuple[Interval, ...]]


class Roads:
    """``graphs`` are the loss graphs, ``protected`` the outputs that are never shed. Outputs in ``valued`` may be shed
    by value as well, and with ``only_by_value`` not otherwise, as long as that can be enough.
    """

    def __init__(
        self,
        places: Places,
        entrances: Entrances,
        found: LoadAnalysis,
        graphs: Mapping[str, Graph | None],
        *,
        protected: Collection[str] = (),
        valued: Sequence[ByValue] = (),
        only_by_value: bool = False,
        closed: Collection[Place] = (),
        trying: Trying | None = None,
    ) -> None:
        self.found = found
        self._places = places
        self._entrances = entrances
        self._valued = tuple(valued)
        self._trying = trying
        full = Thinning(places, found, closed=entrances.closed | frozenset(closed), least=entrances.least)
        self._model = Contracted(full, [output.knob for output in valued])
        self._curves = [Curve(graphs.get(name) or PROPORTIONAL) for name in full.outputs]
        self._numbers = {name: number for number, name in enumerate(full.outputs)}
        bends = {**graphs, **{output.knob.name: output.curve.graph() for output in valued}}
        kept_whole = {output.output for output in valued} if only_by_value else set()
        planner = self._planner(bends, {*protected, *kept_whole})
        if kept_whole and planner.least_load > planner.load_before / 2:
            planner = self._planner(bends, protected)
        steps = min(max(_STEPS_BY_OUTPUT // len(self._model.outputs), _LEAST_STEPS), _MOST_STEPS)
        self._map = RoadMap.build(planner, steps)
        self._stretches: dict[int, Stretch] = {}

    @property
    def least(self) -> float:
        """The least share of the load that can be reached."""
        return self._map.shares[-1]

    def step(self, share: float) -> int:
        """The number of the directions that leave a share of the load at the most; 0 drops nothing."""
        return 0 if share >= 1 else self._map.step(1.0, share)

    def at(self, step: int) -> Stretch:
        if step not in self._stretches:
            self._stretches[step] = self._stretch(self._map.plans[step]) if step else Stretch(Directions(), {})
        return self._stretches[step]

    def _planner(self, bends: Mapping[str, Graph | None], protected: Collection[str]) -> Planner:
        return Planner(self._model, bends, protected, self._worth, quick=True)

    def _worth(self, delivered: Floats) -> Floats:
        """The utility of all outputs together. One that is shed by value has that of its loss graph times the mean
        utility of what is left, but never more than with all of its tuples: nothing is dropped for its own sake.
        """
        utility = np.zeros(len(delivered))
        shares = [delivered[:, number] for number in range(len(self._curves))]
        factors: dict[int, Floats] = {}
        most: dict[int, float] = {}
        for i, output in enumerate(self._valued):
            number = self._numbers[output.output]
            level = delivered[:, len(self._curves) + i]
            mean = output.curve.total(level) / np.maximum(level, 1e-9)
            factors[number], most[number] = np.where(level > 0, mean, 1.0), output.curve.mean
            shares[number] = shares[number] * level
        for number, curve in enumerate(self._curves):
            worth = curve.utility(100.0 * shares[number])
            if number in factors:
                worth = np.minimum(worth * factors[number], most[number])
            utility = utility + worth
        return utility

    def _stretch(self, plan: Plan) -> Stretch:
        boxes = self._places.typed.network.boxes
        drops: list[Dropping] = []
        thinned: list[ThinnedBox] = []
        for drop in plan.drops:
            if 1 - drop.rate > 1 - _NOTHING_LESS:
                continue
            box = self._entrances.windows.get(drop.place)
            if box is None:
                drops.append(Dropping(drop.place, "random", drop.outputs, keep=1 - drop.rate))
            else:
                gap = max_gap_of(boxes[box])
                thinned.append(ThinnedBox(box, drop.place, "windows", 1 - drop.rate, drop.outputs, gap))
        thinned += scaled(self._places, self.found, self._entrances, drops)
        delivered = {name: plan.delivered[name] for name in self._numbers}
        gone: dict[str, tuple[Interval, ...]] = {}
        for output in self._valued:
            left = plan.delivered[output.knob.name]
            if left < 1 - _NOTHING_LESS:
                taken = output.take(self._places, left, self._trying)
                drops += taken.drops
                gone[output.output] = taken.gone
                delivered[output.output] *= left
        if not drops and not thinned:
            return Stretch(Directions(delivered=delivered), {})
        kept = plan.load / plan.load_before if plan.load_before else 1.0
        return Stretch(Directions(tuple(drops), tuple(thinned), kept, delivered), gone)


def scaled(places: Places, found: LoadAnalysis, entrances: Entrances, drops: Sequence[Dropping]) -> list[ThinnedBox]:
    """The aggregates that are to scale what they make, because tuples are dropped on the way to them."""
    if not entrances.scaled:
        return []
    left = shares_left(places, found, drops)
    made = []
    for name in entrances.scaled:
        if left[name] < 1 - _NOTHING_LESS:
            entrance = Place(places.typed.inputs[name][0], Consumer(name, 0))
            keep = max(left[name], 1e-6)
            made.append(ThinnedBox(name, entrance, "tuples", keep, tuple(places.outputs(entrance))))
    return made


def uniform(places: Places, found: LoadAnalysis, entrances: Entrances, share: float) -> Directions:
    """The same share at all inputs, whatever it does to whom: what other policies are measured against."""
    drops = tuple(
        Dropping(place, "random", tuple(places.outputs(place)), keep=share)
        for place in (Place(Producer(name)) for name in places.typed.network.streams)
        if places.typed.consumers(place.arc)
    )
    thinned = tuple(scaled(places, found, entrances, drops))
    return Directions(drops, thinned, share, dict.fromkeys(places.typed.outputs, share))


def told(directions: Directions, why: str) -> Directions:
    """The directions with a sentence for people."""
    parts = [
        f"{_percent(drop.keep)} stay at {drop.place}" if drop.where is None else f"{drop.where} goes at {drop.place}"
        for drop in directions.drops
    ]
    parts += [
        f"{_percent(box.keep)} of the windows of {box.box} stay" for box in directions.boxes if box.reason == "windows"
    ]
    return replace(directions, why=f"{why}: {'; '.join(parts) if parts else 'nothing is dropped any more'}")


def _percent(share: float) -> str:
    return f"{share:.0%}"
