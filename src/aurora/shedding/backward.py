"""Backward interval propagation: a condition on an output's column, carried upstream to where it saves most.

It passes boxes that hand the column on (filters, unions, groupings, maps that keep or rename it), maps that compute it
as a·x + b, and aggregates if it is one of their group columns: then whole groups go, and the others do not notice. It
goes no further than a split, and every output that it takes away is one that was to go.

Where it stops, the reason is told, and how far up a condition found by trial could still get.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from aurora.boxes.aggregate import Aggregate
from aurora.boxes.bsort import BSort
from aurora.boxes.filter import Filter
from aurora.boxes.latch import Latch
from aurora.boxes.map import Map
from aurora.expressions import Interval, Scope, analyse, interval
from aurora.expressions.analysis import fold
from aurora.expressions.nodes import Call, Column, Node, Widen
from aurora.model.box import OUT
from aurora.model.quantities import Tuples
from aurora.model.schema import ArcType
from aurora.model.typed import Consumer, Producer
from aurora.model.types import BOOL, DOUBLE, INT
from aurora.shedding.places import Place, Places
from aurora.shedding.regions import Number, Region

_PASSING = frozenset({"union", "group_by", "drop"})
"""The kinds of box that hand every tuple on as it is, whatever became of the others."""


@dataclass(frozen=True)
class Pushed:
    """A condition that is to drop tuples at a place.

    ``region`` holds the values of ``column`` to drop. ``stopped_by`` is the box that it could not pass, if one did stop
    it, and ``why`` says for what reason. ``by_trial`` has the places further up that a forward trial could reach.
    """

    place: Place
    column: str
    region: Region
    why: str
    stopped_by: str | None = None
    by_trial: tuple[Place, ...] = ()

    @property
    def condition(self) -> str:
        """What a drop box takes as ``where``."""
        return self.region.condition(self.column)


class _StopError(Exception):
    """The box cannot be passed; the message says why."""


def push_back(places: Places, output: str, column: str, intervals: Iterable[Interval]) -> tuple[Pushed, ...]:
    """Where tuples of an output whose column lies in the intervals can be dropped, and by which condition.

    Together the places see all such tuples. There is none if the output's arc serves others as well: to drop
    just before the output would save nothing.
    """
    arc = places.typed.outputs[output]
    kind = places.typed.arcs[arc].schema[column]
    if not kind.numeric or not places.hurts_only(Place(arc), {output}):
        return ()
    return tuple(_Push(places, output).up(Place(arc), column, Region.of(intervals, kind)))


class _Push:
    def __init__(self, places: Places, output: str) -> None:
        self._places = places
        self._typed = places.typed
        self._only = frozenset({output})

    def up(self, place: Place, column: str, region: Region) -> Iterator[Pushed]:
        """``place`` has no reader: above it is the box that makes the arc."""
        name = place.arc.name
        if name not in self._typed.inputs:
            yield Pushed(place, column, region, f"{name} is an input")
            return
        try:
            steps = [self._before(place.arc, port, column, region) for port in range(len(self._typed.inputs[name]))]
        except _StopError as stop:
            yield Pushed(place, column, region, str(stop), name, self._by_trial(place))
            return
        for port, (above, needed) in enumerate(steps):
            arc = self._typed.inputs[name][port]
            if len(self._typed.consumers(arc)) == 1 and not self._typed.delivered_to(arc):
                yield from self.up(Place(arc), above, needed)
            else:
                reader = Place(arc, Consumer(name, port))
                yield Pushed(reader, above, needed, f"{arc} is split here", None, self._by_trial(reader))

    def _by_trial(self, place: Place) -> tuple[Place, ...]:
        return self._places.highest_above(place, self._only)

    def _before(self, arc: Producer, port: int, column: str, region: Region) -> tuple[str, Region]:
        """The column and its values before the box that makes the arc, at one of its inputs."""
        box = self._typed.network.boxes[arc.name]
        if not self._places.hurts_only(Place(self._typed.inputs[arc.name][port], Consumer(arc.name, port)), self._only):
            raise _StopError(f"other ports of {arc.name} lead elsewhere")
        before = self._typed.input_types(arc.name)[port]
        if isinstance(box, Filter):
            return column, region.meet(_passed_by(box, arc.port, before, column))
        if isinstance(box, Map):
            return _through_map(arc.name, box, before, column, region)
        if isinstance(box, Aggregate | Latch | BSort):
            return _through_groups(arc, box, before, column, region)
        if box.kind in _PASSING:
            kind = before.schema[column]
            widened = kind == INT and self._typed.arcs[arc].schema[column] == DOUBLE
            return column, region.before(float, INT, rising=True) if widened else region
        raise _StopError(f"{arc.name} is a {box.kind}, which cannot be inverted")


def _passed_by(box: Filter, port: str, before: ArcType, column: str) -> Region:
    """What the filter's condition says about the column: other values never come out of the port."""
    kind = before.schema[column]
    text = box.where if box.where is not None else box.routes.get(port)
    if text is None:
        return Region.of([Interval()], kind)
    scalar = analyse(text, Scope.of(before.schema), expect=BOOL)
    return Region.of([interval(scalar, column)], kind)


def _through_groups(
    arc: Producer, box: Aggregate | Latch | BSort, before: ArcType, column: str, region: Region
) -> tuple[str, Region]:
    if arc.port != OUT:
        raise _StopError(f"{arc} has the late tuples of {arc.name}, and which are late depends on the others")
    if column not in (box.group_by or before.grouping):
        raise _StopError(f"{column} is not a group column of {arc.name}")
    if not isinstance(box.slack, Tuples):
        raise _StopError(f"the windows of {arc.name} close by the progress of the whole stream")
    return column, region


def _through_map(name: str, box: Map, before: ArcType, column: str, region: Region) -> tuple[str, Region]:
    text = (box.compute or box.extend).get(column)
    if text is None:
        return next((old for old, new in box.rename.items() if new == column), column), region
    node = analyse(text, Scope.of(before.schema)).tree
    while not isinstance(node, Column):
        node, region = _inverted(name, text, node, region)
    return node.name, region


def _inverted(name: str, text: str, node: Node, region: Region) -> tuple[Node, Region]:
    """One step into a linear expression: the operand that is no constant, and its values."""
    if isinstance(node, Widen):
        return node.operand, region.before(float, INT, rising=True)
    if isinstance(node, Call) and node.type.numeric and all(x.type == node.type for x in node.arguments):
        varying = [x for x in node.arguments if _constant(x) is None]
        constants = [c for c in map(_constant, node.arguments) if c is not None]
        if len(varying) == 1 and (step := _step(node.name, constants, node.arguments[0] is varying[0])) is not None:
            function, rising = step
            return varying[0], region.before(function, node.type, rising=rising)
    raise _StopError(f"{name} computes it as {text}, which is not a*x + b")


def _step(sign: str, constants: list[Number], leads: bool) -> tuple[Callable[[Number], Number], bool] | None:
    """What an operator does to its only operand that varies, and whether that rises. ``leads``: it stands first."""
    if not constants:
        return (lambda x: -x, False) if sign == "negate" else None
    (c,) = constants
    if sign == "+":
        return lambda x: x + c, True
    if sign == "-":
        return (lambda x: x - c, True) if leads else (lambda x: c - x, False)
    if sign == "*" and c:
        return lambda x: x * c, c > 0
    if sign == "/" and c and leads:
        return lambda x: x / c, c > 0
    return None


def _constant(node: Node) -> Number | None:
    value = fold(node)
    if isinstance(value, str) or value is None or value in (float("inf"), float("-inf")):
        return None
    return value
