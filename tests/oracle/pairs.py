"""The boxes that read two streams in order: join and resample."""

from __future__ import annotations

from typing import Any

from aurora.model.quantities import Tuples, parse_quantity
from oracle.aggregates import WindowView, aggregate
from oracle.boxes import Arc, Box, _on_axis, names
from oracle.expressions import RowView, parse, scalar
from oracle.order import CountSlack, Order, Placed, TimeSlack
from oracle.values import Moment, Row, Schema, Tuple, to_axis


def order_of(slack: Any) -> Order:
    quantity = parse_quantity(slack)
    if isinstance(quantity, Tuples):
        return CountSlack(quantity.n)
    return TimeSlack(_on_axis(quantity), wait=False)


class TwoInOrder(Box):
    """Two inputs, each with its own order, and a port for the late tuples of each when ``late`` is set."""

    def add_late_ports(self, *sides: str) -> None:
        self.sides = sides
        if self.parameters.get("late"):
            self.ports |= {f"late_{side}": arc for side, arc in zip(sides, self.inputs, strict=True)}

    def refuse(self, port: int, late: list[Placed], moment: Moment) -> None:
        self.late += len(late)
        if self.parameters.get("late"):
            for placed in late:
                self.emit(placed.tuple.row, placed.tuple.arrival, moment, f"late_{self.sides[port]}")


class Join(TwoInOrder):
    """Nothing is ever forgotten here: what cannot match any more does not match, that is all."""

    def build(self) -> None:
        left, right = self.inputs
        scope = {f"left.{n}": k for n, k in left.schema.items()} | {f"right.{n}": k for n, k in right.schema.items()}
        on = self.parameters.get("on")
        self.on = scalar(on, scope) if on is not None else None
        self.within = _on_axis(parse_quantity(self.parameters["within"]))
        self.order_by = [self.parameters["left_order_by"], self.parameters["right_order_by"]]
        slack = self.parameters.get("slack", "0 tuples")
        self.orders = [order_of(self.parameters.get(f"{side}_slack", slack)) for side in ("left", "right")]
        self.memory: list[list[Placed]] = [[], []]
        self.seen = 0
        compute = self.parameters.get("compute")
        if compute is None:
            compute = dict(_all_columns(left.schema, right.schema))
        self.compute = {name: scalar(text, scope) for name, text in compute.items()}
        self.ports = {"out": Arc({name: typed.kind for name, typed in self.compute.items()})}
        self.add_late_ports("left", "right")

    def take(self, port: int, tup: Tuple, moment: Moment) -> None:
        self.seen += 1
        placed = Placed(tup, to_axis(tup.row[self.order_by[port]]), (), self.seen)
        given, late = self.orders[port].take(placed)
        self.refuse(port, late, moment)
        self.receive(port, given, moment)

    def flush(self, moment: Moment) -> None:
        for port in (0, 1):
            given, late = self.orders[port].flush()
            self.receive(port, given, moment)
            self.refuse(port, late, moment)

    def receive(self, port: int, given: list[Placed], moment: Moment) -> None:
        for placed in given:
            for partner in self.memory[1 - port]:
                self.pair(*((placed, partner) if port == 0 else (partner, placed)), moment)
            self.memory[port].append(placed)

    def pair(self, left: Placed, right: Placed, moment: Moment) -> None:
        if abs(left.value - right.value) > self.within:
            return
        row: Row = {f"left.{name}": value for name, value in left.tuple.row.items()}
        row |= {f"right.{name}": value for name, value in right.tuple.row.items()}
        arrival = min(left.tuple.arrival, right.tuple.arrival)
        view = RowView(row, arrival)
        if self.on is None or self.on.value(view) is True:
            self.emit({name: typed.value(view) for name, typed in self.compute.items()}, arrival, moment)


def _all_columns(left: Schema, right: Schema) -> list[tuple[str, str]]:
    both = set(left) & set(right)
    return [
        (f"{side}_{name}" if name in both else name, f'{side}."{name}"')
        for side, schema in (("left", left), ("right", right))
        for name in schema
    ]


class Resample(TwoInOrder):
    """Pace and data are kept for ever; a pair (pace tuple, group) is emitted once, when it is complete."""

    def build(self) -> None:
        pace, data = self.inputs
        order_by = self.parameters["order_by"]
        self.order_by = [order_by, order_by] if isinstance(order_by, str) else list(order_by)
        self.group_by = names(self.parameters.get("group_by", data.grouping))
        self.within = _on_axis(parse_quantity(self.parameters["within"]))
        slack = self.parameters.get("slack", "0 tuples")
        self.orders = [order_of(slack), order_of(slack)]
        self.linear = self.parameters.get("interpolate") == "linear"
        self.seen = 0
        self.pace: list[Placed] = []
        self.data: dict[Any, list[Placed]] = {}
        self.emitted: set[tuple[int, Any]] = set()
        texts = self.parameters["compute"]
        if self.linear:
            self.columns = {name: _column(text) for name, text in texts.items()}
            kinds = dict.fromkeys(texts, "double")
        else:
            self.compute = {name: aggregate(text, data.schema, self.group_by) for name, text in texts.items()}
            kinds = {name: typed.kind for name, typed in self.compute.items()}
        schema = {name: data.schema[name] for name in self.group_by}
        schema[self.order_by[0]] = pace.schema[self.order_by[0]]
        self.ports = {"out": Arc(schema | kinds)}
        self.add_late_ports("pace", "data")

    def take(self, port: int, tup: Tuple, moment: Moment) -> None:
        self.seen += 1
        group = tuple(tup.row[name] for name in self.group_by) if port == 1 else ()
        placed = Placed(tup, to_axis(tup.row[self.order_by[port]]), group, self.seen)
        given, late = self.orders[port].take(placed)
        self.refuse(port, late, moment)
        self.receive(port, given, moment)

    def receive(self, port: int, given: list[Placed], moment: Moment) -> None:
        for placed in given:
            if port == 0:
                self.pace.append(placed)
            else:
                self.data.setdefault(placed.group, []).append(placed)
            self.emit_complete(moment)

    def flush(self, moment: Moment) -> None:
        for port in (0, 1):
            given, late = self.orders[port].flush()
            self.receive(port, given, moment)
            self.refuse(port, late, moment)
        self.emit_complete(moment, everything=True)

    def emit_complete(self, moment: Moment, *, everything: bool = False) -> None:
        for number, pace in enumerate(self.pace):
            for group, data in self.data.items():
                if (number, group) in self.emitted or not (everything or self.complete(pace, data)):
                    continue
                self.emitted.add((number, group))
                members = [u for u in data if abs(u.value - pace.value) <= self.within]
                if members:
                    self.emit_window(group, pace, sorted(members, key=lambda u: u.rank), moment)

    def complete(self, pace: Placed, data: list[Placed]) -> bool:
        order = self.orders[1]
        reached = order.progress if isinstance(order, TimeSlack) else max(u.value for u in data)
        return bool(reached > pace.value + self.within)

    def emit_window(self, group: Any, pace: Placed, members: list[Placed], moment: Moment) -> None:
        row: Row = dict(zip(self.group_by, group, strict=True))
        views = [RowView(u.tuple.row, u.tuple.arrival) for u in members]
        if self.linear:
            computed = {name: _interpolated(column, pace.value, members) for name, column in self.columns.items()}
        else:
            view = WindowView(dict(row), views)
            computed = {name: typed.value(view) for name, typed in self.compute.items()}
        row[self.order_by[0]] = pace.tuple.row[self.order_by[0]]
        arrival = min(pace.tuple.arrival, *(u.tuple.arrival for u in members))
        self.emit(row | computed, arrival, moment)


def _column(text: str) -> str:
    """The column that is interpolated: the text is its name, or an aggregate call of it."""
    tree = parse(text)
    (column,) = {column.name for column in tree.find_all(type(parse("x")))}
    return column


def _interpolated(column: str, t: Any, members: list[Placed]) -> float | None:
    """The value at t on the line through its neighbours; like an aggregate it looks only at values that are there."""
    known = [u for u in members if u.tuple.row[column] is not None]
    before = [u for u in known if u.value <= t]
    after = [u for u in known if u.value >= t]
    if not before or not after:
        return None
    low, high = before[-1], after[0]
    x, y = float(low.tuple.row[column]), float(high.tuple.row[column])
    if low.value == t:
        return x
    share: float = (t - low.value) / (high.value - low.value)
    return x + (y - x) * share
