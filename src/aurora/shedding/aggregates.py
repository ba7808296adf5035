"""What aggregates allow: whole windows go at their entrance, or tuples at random anywhere above them.

An answer of an aggregate that has lost tuples at random is wrong. So where an aggregate drops whole windows, which
is the default, no place upstream of it may drop at random; at its own entrance what is to go goes by windows. Where its
author chose tuples instead, they go upstream of it, and it must be told how many of them are left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aurora.boxes.aggregate import Aggregate
from aurora.boxes.thinned import WholeWindows, max_gap_of, overlap_of, shed_form
from aurora.model.typed import Consumer, Producer
from aurora.shedding.load import LoadAnalysis
from aurora.shedding.observation import Dropping
from aurora.shedding.places import Place, Places

_TOO_MANY = 0.9
"""Windows may overlap so much that hardly a tuple is in none that is kept. Then there is nothing to be had at the
entrance."""


@dataclass(frozen=True)
class Entrances:
    """``closed`` are places where nothing may go at random. ``windows`` are the entrances where whole windows may go,
    with their aggregates, and ``least`` the share that must stay there. ``scaled`` are the aggregates that scale what
    they make.
    """

    closed: frozenset[Place]
    windows: Mapping[Place, str]
    least: Mapping[Place, float]
    scaled: tuple[str, ...]

    @classmethod
    def of(cls, places: Places) -> Entrances:
        typed = places.typed
        forms = {name: shed_form(typed.network.boxes[name]) for name in typed.order}
        exact = {
            Place(arc, Consumer(name, port)): name
            for name, form in forms.items()
            if form in ("windows", "closed")
            for port, arc in enumerate(typed.inputs[name])
        }
        above = {place for entrance in exact for place in places.above(entrance)}
        windows = {
            entrance: name
            for entrance, name in exact.items()
            if entrance not in above and forms[name] == "windows" and _saves(places, name)
        }
        least = {place: 1 / (max_gap_of(typed.network.boxes[name]) + 1) for place, name in windows.items()}
        closed = frozenset(above | exact.keys() - windows.keys())
        return cls(closed, windows, least, tuple(name for name, form in forms.items() if form == "tuples"))


def _saves(places: Places, name: str) -> bool:
    box = places.typed.network.boxes[name]
    if not isinstance(box, Aggregate):
        return False
    return WholeWindows(0.0, 0, max_gap_of(box)).share_of_tuples(overlap_of(box.shape())) < _TOO_MANY


def shares_left(places: Places, found: LoadAnalysis, drops: Iterable[Dropping]) -> dict[str, float]:
    """The share of its tuples that comes to each box through random drops.

    Drops by value are left out: what they take is meant to be missing, and nothing stands for it.
    """
    typed = places.typed
    keep = {drop.place: drop.keep for drop in drops if drop.where is None}
    on_arc: dict[Producer, float] = {}
    at_box: dict[str, float] = {}
    for name in (*typed.network.streams, *typed.network.connection_points):
        on_arc[Producer(name)] = keep.get(Place(Producer(name)), 1.0)
    for name in typed.order:
        came = product = 1.0
        weights = [found.arcs[arc].rate_per_s if arc in found.arcs else 0.0 for arc in typed.inputs[name]]
        total = sum(weights)
        for port, (arc, weight) in enumerate(zip(typed.inputs[name], weights, strict=True)):
            share = on_arc[arc] * keep.get(Place(arc, Consumer(name, port)), 1.0)
            came -= (1.0 - share) * (weight / total if total else 1 / len(weights))
            product *= share
        at_box[name] = came
        for port_name in typed.network.boxes[name].output_ports():
            made = Producer(name, port_name)
            on_arc[made] = (product if places.ways(name) > 1 else came) * keep.get(Place(made), 1.0)
    return at_box
