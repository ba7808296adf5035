"""Aggregates over the members of a window, and expressions of aggregates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from sqlglot import exp

from oracle.expressions import Compiler, RowView, Typed, parse
from oracle.values import Row, Schema, fits, from_axis, to_axis, widen


@dataclass(frozen=True)
class WindowView:
    """What an aggregate expression sees. ``row`` holds the group's columns; ``members`` stand in the box's order."""

    row: Row
    members: Sequence[RowView]
    timed_out: bool = False
    start: Any = None
    end: Any = None


def aggregate(text: str, scope: Schema, grouping: Sequence[str], window_kind: str = "null") -> Typed:
    """An expression of aggregates; evaluate it with a ``WindowView``."""
    return AggregateCompiler(scope, grouping, window_kind).compile(parse(text))


class AggregateCompiler(Compiler):
    """Compiles aggregate calls; everything around them is an expression over their results and the group."""

    def __init__(self, scope: Schema, grouping: Sequence[str], window_kind: str) -> None:
        super().__init__({name: scope[name] for name in grouping})
        self.inner = Compiler(scope)
        self.window_kind = window_kind

    def compile(self, node: exp.Expression) -> Typed:
        if isinstance(node, exp.Filter):
            where = self.inner.compile(node.args["expression"].this)
            return self.call(node.this, lambda member: where.value(member) is True)
        if _name(node) in _FUNCTIONS or isinstance(node, exp.Count):
            return self.call(node, lambda member: True)
        return super().compile(node)

    def on_anonymous(self, node: exp.Anonymous) -> Typed:
        match node.name.lower():
            case "timed_out":
                return Typed("bool", lambda view: view.timed_out)
            case "window_start":
                return Typed(self.window_kind, lambda view: view.start)
            case "window_end":
                return Typed(self.window_kind, lambda view: view.end)
        return super().on_anonymous(node)

    def call(self, node: exp.Expression, counts: Callable[[RowView], bool]) -> Typed:
        if isinstance(node, exp.IgnoreNulls):
            node = node.this
        if isinstance(node, exp.Count) and isinstance(node.this, exp.Star):
            return Typed("int", lambda view: sum(1 for member in view.members if counts(member)))
        name = _name(node)
        operand = node.expressions[0] if isinstance(node, exp.Anonymous) else node.this
        distinct = isinstance(operand, exp.Distinct)
        argument = self.inner.compile(operand.expressions[0] if distinct else operand)

        def values(view: WindowView) -> list[Any]:
            found = [argument.value(member) for member in view.members if counts(member)]
            return [value for value in found if value is not None]

        if name == "count":
            return Typed("int", lambda view: len(set(values(view))) if distinct else len(values(view)))
        kind, function = _FUNCTIONS[name]
        result = kind(argument.kind)
        parameters = [float(node.args["quantile"].this)] if name == "quantile" else []
        return Typed(result, lambda view: _of_nothing_is_null(function, values(view), parameters, result))


def _name(node: exp.Expression) -> str:
    if isinstance(node, exp.IgnoreNulls):
        node = node.this
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    names = {"logicaland": "bool_and", "logicalor": "bool_or", "anyvalue": "any_value", "stddevsamp": "stddev"}
    return names.get(type(node).__name__.lower(), type(node).__name__.lower())


def _of_nothing_is_null(function: Callable[..., Any], values: list[Any], parameters: list[float], kind: str) -> Any:
    return widen(function(values, *parameters), kind) if values else None


def _sum(values: list[Any]) -> Any:
    if isinstance(values[0], float):
        return math.fsum(values) if all(math.isfinite(v) for v in values) else sum(values)
    if isinstance(values[0], timedelta):
        total = fits(sum(to_axis(v) for v in values))
        return from_axis(total, "duration")
    return fits(sum(values))


def _avg(values: list[Any]) -> Any:
    if isinstance(values[0], timedelta):
        # To the nearest microsecond, a half to the even one.
        return from_axis(round(Fraction(sum(to_axis(v) for v in values), len(values))), "duration")
    if isinstance(values[0], float):
        return _sum(values) / len(values)
    return sum(values) / len(values)


def _variance(values: list[Any]) -> float | None:
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _stddev(values: list[Any]) -> float | None:
    variance = _variance(values)
    return None if variance is None else math.sqrt(variance)


def _quantile(values: list[Any], q: float) -> Any:
    numbers = sorted(to_axis(value) for value in values)
    place = q * (len(numbers) - 1)
    low, high = math.floor(place), math.ceil(place)
    between = numbers[low] + (numbers[high] - numbers[low]) * (place - low)
    if isinstance(values[0], datetime | timedelta):
        return from_axis(int(between), "timestamp" if isinstance(values[0], datetime) else "duration")
    return float(between)


def _delta(values: list[Any]) -> Any:
    difference = values[-1] - values[0]
    return fits(difference) if isinstance(difference, int) else difference


def _same(kind: str) -> str:
    return kind


def _average(kind: str) -> str:
    return "duration" if kind == "duration" else "double"


def _double(kind: str) -> str:
    return "double"


def _middle(kind: str) -> str:
    return kind if kind in ("duration", "timestamp") else "double"


def _difference(kind: str) -> str:
    return "duration" if kind == "timestamp" else kind


_FUNCTIONS: dict[str, tuple[Callable[[str], str], Callable[..., Any]]] = {
    "sum": (_same, _sum),
    "avg": (_average, _avg),
    "min": (_same, min),
    "max": (_same, max),
    "first": (_same, lambda values: values[0]),
    "last": (_same, lambda values: values[-1]),
    "any_value": (_same, lambda values: values[0]),
    "stddev": (_double, _stddev),
    "variance": (_double, _variance),
    "median": (_middle, lambda values: _quantile(values, 0.5)),
    "quantile": (_middle, _quantile),
    "delta": (_difference, _delta),
    "bool_and": (_same, all),
    "bool_or": (_same, any),
    "collect": (lambda kind: f"list<{kind}>", list),
}
