"""Every box, one tuple at a time. The names of the classes are the kinds in the document."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from aurora.model.quantities import Duration, Tuples, parse_quantity
from oracle.aggregates import WindowView, aggregate
from oracle.expressions import RowView, Typed, scalar
from oracle.order import CountSlack, Order, Placed, Sorter, TimeSlack
from oracle.values import Moment, Row, Schema, Tuple, from_axis, to_axis, widen
from oracle.windows import INFINITY, Closed, Lifetime, TupleWindows, ValueWindows, Windows


@dataclass(frozen=True)
class Arc:
    """What an arc carries: a schema, and the columns of the nearest group_by box upstream."""

    schema: Schema
    grouping: tuple[str, ...] = ()


class Box:
    """Takes tuples, and collects what comes out of each port in ``out`` until it is drained."""

    def __init__(self, name: str, parameters: dict[str, Any], inputs: list[Arc]) -> None:
        self.name = name
        self.parameters = parameters
        self.inputs = inputs
        self.ports: dict[str, Arc] = {}
        self.out: dict[str, list[Tuple]] = {}
        self.late = 0
        self.build()

    def build(self) -> None:
        raise NotImplementedError

    def take(self, port: int, tup: Tuple, moment: Moment) -> None:
        raise NotImplementedError

    def due(self) -> float:
        return INFINITY

    def fire(self, moment: Moment) -> None:
        """Emit the timeouts that are due."""

    def flush(self, moment: Moment) -> None:
        """No tuple will ever come again."""

    def emit(self, row: Row, arrival: int, moment: Moment, port: str = "out") -> None:
        self.out.setdefault(port, []).append(Tuple(row, arrival, moment.order))

    def drain(self) -> dict[str, list[Tuple]]:
        out, self.out = self.out, {}
        return out


def names(value: str | Sequence[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


class Filter(Box):
    def build(self) -> None:
        arc = self.inputs[0]
        routes = self.parameters.get("routes") or {"out": self.parameters["where"]}
        self.routes = {port: scalar(text, arc.schema) for port, text in routes.items()}
        self.otherwise = self.parameters.get("else")
        self.ports = dict.fromkeys([*routes, *([self.otherwise] if self.otherwise else [])], arc)

    def take(self, port: int, tup: Tuple, moment: Moment) -> None:
        view = RowView(tup.row, tup.arrival)
        matching = [name for name, condition in self.routes.items() if condition.value(view) is True]
        if target := next(iter(matching), self.otherwise):
            self.emit(tup.row, tup.arrival, moment, target)


class Map(Box):
    """drop and rename come after extend: they name columns of the input."""

    def build(self) -> None:
        arc = self.inputs[0]
        compute = self.parameters.get("compute")
        self.columns: dict[str, Typed] = {}
        if compute is None:
            self.columns = {name: scalar(f'"{name}"', arc.schema) for name in arc.schema}
            dropped = names(self.parameters.get("drop", []))
            self.columns = {name: typed for name, typed in self.columns.items() if name not in dropped}
            renames = self.parameters.get("rename", {})
            origin = {renames.get(name, name): name for name in self.columns}
            self.columns = {renames.get(name, name): typed for name, typed in self.columns.items()}
            compute = self.parameters.get("extend", {})
        else:
            origin = {}
        self.columns |= {name: scalar(text, arc.schema) for name, text in compute.items()}
        origin |= {name: text.strip('"') for name, text in compute.items()}
        schema = {name: typed.kind for name, typed in self.columns.items()}
        self.ports = {"out": Arc(schema, self.kept(arc.grouping, origin))}

    def kept(self, grouping: tuple[str, ...], origin: dict[str, str]) -> tuple[str, ...]:
        """Group columns under their own name, else under the first name they were copied to; all of them or none."""
        found = []
        for column in grouping:
            copies = [name for name, text in origin.items() if text == column]
            if column in copies or (not copies and column in origin):
                found.append(column)
            elif copies:
                found.append(copies[0])
            else:
                return ()
        return tuple(dict.fromkeys(found))

    def take(self, port: int, tup: Tuple, moment: Moment) -> None:
        view = RowView(tup.row, tup.arrival)
        self.emit({name: typed.value(view) for name, typed in self.columns.items()}, tup.arrival, moment)


class Union(Box):
    """The network hands over its ports in order within one moment, and moments in order: that is the merge."""

    def build(self) -> None:
        first = self.inputs[0]
        kinds = {
            name: "double" if any(arc.schema[name] == "double" for arc in self.inputs) else kind
            for name, kind in first.schema.items()
        }
        agree = all(arc.grouping == first.grouping for arc in self.inputs)
        self.ports = {"out": Arc(kinds, first.grouping if agree else ())}

    def take(self, port: int, tup: Tuple, moment: Moment) -> None:
        kinds = self.ports["out"].schema
        self.emit({name: widen(tup.row[name], kind) for name, kind in kinds.items()}, tup.arrival, moment)


class GroupBy(Box):
    def build(self) -> None:
        self.ports = {"out": Arc(self.inputs[0].schema, tuple(names(self.parameters["columns"])))}

    def take(self, port: int, tup: Tuple, moment: Moment) -> None:
        self.emit(tup.row, tup.arrival, moment)


class Drop(Box):
    def build(self) -> None:
        arc = self.inputs[0]
        self.ports = {"out": arc}
        where = self.parameters.get("where")
        self.where = scalar(where, arc.schema) if where is not None else None

    def take(self, port: int, tup: Tuple, moment: Moment) -> None:
        if self.where is not None:
            stays = self.where.value(RowView(tup.row, tup.arrival)) is not True
        else:
            from oracle.lottery import keep  # the one thing taken from the engine

            stays = keep(self.parameters.get("seed"), self.parameters["rate"], tup.order)
        if stays:
            self.emit(tup.row, tup.arrival, moment)


class OrderSensitive(Box):
    """One input in a stated order: ``receive`` is given what the slack lets through."""

    def place(self) -> None:
        arc = self.inputs[0]
        self.order_by: str = self.parameters.get("order_by", "arrival")
        self.group_by = names(self.parameters.get("group_by", arc.grouping))
        self.slack = parse_quantity(self.parameters.get("slack", "0 tuples"))
        self.order_kind = arc.schema.get(self.order_by, "int")
        self.seen = 0
        self.ports = {"out": arc}
        if self.parameters.get("late"):
            self.ports["late"] = arc

    def placed(self, tup: Tuple) -> Placed:
        self.seen += 1
        value = self.seen if self.order_by == "arrival" else to_axis(tup.row[self.order_by])
        return Placed(tup, value, tuple(tup.row[name] for name in self.group_by), self.seen)

    def refuse(self, late: list[Placed], moment: Moment) -> None:
        self.late += len(late)
        if "late" in self.ports:
            for placed in late:
                self.emit(placed.tuple.row, placed.tuple.arrival, moment, "late")


class BSort(OrderSensitive):
    def build(self) -> None:
        self.place()
        self.sorter = _sorter(self.slack)

    def take(self, port: int, tup: Tuple, moment: Moment) -> None:
        for group in self.sorter.take(self.placed(tup)):
            self.pass_on(group, moment)

    def flush(self, moment: Moment) -> None:
        for group in self.sorter.flush():
            self.pass_on(group, moment)

    def pass_on(self, tuples: list[Placed], moment: Moment) -> None:
        for placed in tuples:
            self.emit(placed.tuple.row, placed.tuple.arrival, moment)


class Aggregate(OrderSensitive):
    def build(self) -> None:
        self.place()
        arc = self.inputs[0]
        self.windows = self.make_windows()
        self.by_value = isinstance(self.windows, ValueWindows)
        kind = self.order_kind if self.by_value else "null"
        self.compute = {
            name: aggregate(text, arc.schema, self.group_by, kind)
            for name, text in self.parameters.get("compute", {}).items()
        }
        waits = not self.by_value
        self.order: Order = (
            CountSlack(self.slack.n) if isinstance(self.slack, Tuples) else TimeSlack(_on_axis(self.slack), wait=waits)
        )
        columns = {name: arc.schema[name] for name in self.group_by}
        if self.by_value:
            columns[self.order_by] = self.order_kind
        columns |= {name: typed.kind for name, typed in self.compute.items()}
        kept = arc.grouping if set(arc.grouping) <= set(self.group_by) else ()
        self.ports["out"] = Arc(columns, kept)

    def make_windows(self) -> Windows:
        window = self.window()
        size, advance = parse_quantity(window["size"]), parse_quantity(window.get("advance", window["size"]))
        timeout = Duration.parse(window["timeout"]).us if window.get("timeout") else None
        if isinstance(size, Tuples):
            assert isinstance(advance, Tuples)
            return TupleWindows(size.n, advance.n, timeout)
        return ValueWindows(
            _on_axis(size),
            _on_axis(advance),
            timeout,
            from_first=window.get("align") == "first",
            emit_empty=window.get("emit_empty", False),
            per_group=isinstance(self.slack, Tuples),
        )

    def window(self) -> dict[str, Any]:
        window: dict[str, Any] = self.parameters["window"]
        return window

    def take(self, port: int, tup: Tuple, moment: Moment) -> None:
        given, late = self.order.take(self.placed(tup))
        self.refuse(late, moment)
        self.receive(given, moment)
        if isinstance(self.order, TimeSlack) and self.by_value and given:
            self.emit_windows(self.windows.pass_to(self.order.progress, tup.arrival), moment)

    def receive(self, given: list[Placed], moment: Moment) -> None:
        for placed in given:
            closed, late = self.windows.give(placed, moment)
            self.emit_windows(closed, moment)
            if late:
                self.refuse([placed], moment)

    def due(self) -> float:
        return self.windows.due()

    def fire(self, moment: Moment) -> None:
        self.emit_windows(self.windows.fire(moment.clock), moment)

    def flush(self, moment: Moment) -> None:
        given, late = self.order.flush()
        self.receive(given, moment)
        self.refuse(late, moment)
        self.emit_windows(self.windows.pass_to(INFINITY, moment.clock), moment)

    def emit_windows(self, closed: list[Closed], moment: Moment) -> None:
        for window in closed:
            self.emit(self.row_of(window), window.arrival, moment)

    def row_of(self, window: Closed) -> Row:
        row: Row = dict(zip(self.group_by, _key(window.group), strict=True))
        start, end = from_axis(window.start, self.order_kind), from_axis(window.end, self.order_kind)
        members = [RowView(member.tuple.row, member.tuple.arrival) for member in window.members]
        view = WindowView(dict(row), members, window.timed_out, start, end)
        if self.by_value:
            row[self.order_by] = start
        return row | {name: typed.value(view) for name, typed in self.compute.items()}


class Tumble(Aggregate):
    def window(self) -> dict[str, Any]:
        return super().window() | {"advance": super().window()["size"]}


class Slide(Aggregate):
    def window(self) -> dict[str, Any]:
        return {"advance": "1 tuple"} | super().window()


class Latch(Aggregate):
    def make_windows(self) -> Windows:
        every = parse_quantity(self.parameters.get("every", "1 tuple"))
        return Lifetime(every.n if isinstance(every, Tuples) else int(every))  # type: ignore[arg-type]


def _key(group: Hashable) -> tuple[Any, ...]:
    assert isinstance(group, tuple)
    return group


def _on_axis(quantity: Any) -> Any:
    return quantity.us if isinstance(quantity, Duration) else quantity


def _sorter(slack: Any) -> Order:
    return Sorter(slack.n) if isinstance(slack, Tuples) else TimeSlack(_on_axis(slack), wait=True)
