"""Expressions, one row at a time: a closure per node, with its type, three-valued logic and NULL for what overflows.

A closure takes an *environment*. Over tuples it is a ``RowView``; over a window it is a ``WindowView``, whose bare
columns are the group's and whose aggregate calls are computed from the members.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import sqlglot
from sqlglot import exp

from oracle.values import EPOCH, MICROSECOND, Row, Schema, common, fits, widen

Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Typed:
    """A compiled expression."""

    kind: str
    value: Function


@dataclass(frozen=True)
class RowView:
    row: Row
    arrival: int = 0


def parse(text: str) -> exp.Expression:
    tree = sqlglot.parse_one(text, dialect="duckdb")
    assert isinstance(tree, exp.Expression)
    return tree


def scalar(text: str, scope: Schema) -> Typed:
    """An expression over the columns of a tuple; for joins the scope's names are ``left.x`` and ``right.x``."""
    return Compiler(scope).compile(parse(text))


class Compiler:
    """Compiles trees over one scope. ``call`` is where the compiler of aggregates hooks in."""

    def __init__(self, scope: Schema) -> None:
        self.scope = scope

    def compile(self, node: exp.Expression) -> Typed:
        handler = getattr(self, f"on_{type(node).__name__.lower()}", None)
        if handler is not None:
            typed: Typed = handler(node)
            return typed
        if type(node) in _BINARY:
            return self.binary(node)
        if type(node) in _COMPARE:
            return self.comparison(node)
        raise NotImplementedError(f"{type(node).__name__}: {node.sql()}")

    # names and constants

    def on_column(self, node: exp.Column) -> Typed:
        name = f"{node.table}.{node.name}" if node.table else node.name
        if name not in self.scope:
            candidates = [key for key in self.scope if key.endswith("." + name)]
            (name,) = candidates
        return Typed(self.scope[name], lambda env: env.row[name])

    def on_paren(self, node: exp.Paren) -> Typed:
        return self.compile(node.this)

    def on_literal(self, node: exp.Literal) -> Typed:
        if node.is_string:
            return _constant("string", node.this)
        if re.fullmatch(r"\d+", node.this):
            return _constant("int", int(node.this))
        return _constant("double", float(node.this))

    def on_boolean(self, node: exp.Boolean) -> Typed:
        return _constant("bool", bool(node.this))

    def on_null(self, node: exp.Null) -> Typed:
        return _constant("null", None)

    def on_interval(self, node: exp.Interval) -> Typed:
        units = {"MICROSECOND": 1, "MILLISECOND": 10**3, "SECOND": 10**6, "MINUTE": 60 * 10**6, "HOUR": 3600 * 10**6}
        unit = str(node.args["unit"]).upper().rstrip("S")
        return _constant("duration", timedelta(microseconds=round(float(node.this.this) * units[unit])))

    # arithmetic

    def on_neg(self, node: exp.Neg) -> Typed:
        inner = self.compile(node.this)
        return Typed(inner.kind, _strict(lambda x: fits(-x) if isinstance(x, int) else -x, inner))

    def binary(self, node: exp.Expression) -> Typed:
        left, right = self.compile(node.this), self.compile(node.args["expression"])
        kind, function = _BINARY[type(node)](left.kind, right.kind)
        return Typed(kind, _strict(function, left, right))

    # logic

    def alike(self, *nodes: exp.Expression) -> list[Typed]:
        """The nodes made comparable: an int that meets a double becomes one."""
        parts = [self.compile(node) for node in nodes]
        kind = common([part.kind for part in parts])
        return [_widened(part, kind) for part in parts]

    def comparison(self, node: exp.Expression) -> Typed:
        left, right = self.alike(node.this, node.args["expression"])
        return Typed("bool", _strict(_COMPARE[type(node)], left, right))

    def on_and(self, node: exp.And) -> Typed:
        left, right = self.compile(node.this), self.compile(node.expression)
        return Typed("bool", lambda env: _and(left.value(env), right.value(env)))

    def on_or(self, node: exp.Or) -> Typed:
        left, right = self.compile(node.this), self.compile(node.expression)
        return Typed("bool", lambda env: _not(_and(_not(left.value(env)), _not(right.value(env)))))

    def on_not(self, node: exp.Not) -> Typed:
        inner = self.compile(node.this)
        return Typed("bool", lambda env: _not(inner.value(env)))

    def on_is(self, node: exp.Is) -> Typed:
        inner, wanted = self.compile(node.this), self.compile(node.expression)
        return Typed("bool", lambda env: inner.value(env) is wanted.value(env))

    def on_between(self, node: exp.Between) -> Typed:
        value, low, high = self.alike(*(node.args[name] for name in ("this", "low", "high")))
        at_least = _strict(lambda x, y: x >= y, value, low)
        at_most = _strict(lambda x, y: x <= y, value, high)
        return Typed("bool", lambda env: _and(at_least(env), at_most(env)))

    def on_in(self, node: exp.In) -> Typed:
        value, *choices = self.alike(node.this, *node.expressions)

        def member(env: Any) -> bool | None:
            wanted = value.value(env)
            found = [None if wanted is None or c.value(env) is None else wanted == c.value(env) for c in choices]
            return True if True in found else None if None in found else False

        return Typed("bool", member)

    def on_like(self, node: exp.Like) -> Typed:
        value, pattern = self.compile(node.this), self.compile(node.expression)
        return Typed("bool", _strict(_like, value, pattern))

    # choices

    def on_case(self, node: exp.Case) -> Typed:
        subject = self.compile(node.this) if node.this is not None else None
        branches = [(self.compile(branch.this), self.compile(branch.args["true"])) for branch in node.args["ifs"]]
        default = self.compile(node.args["default"]) if node.args.get("default") else _constant("null", None)
        kind = common([result.kind for _, result in branches] + [default.kind])

        def choose(env: Any) -> Any:
            for condition, result in branches:
                holds = condition.value(env)
                if subject is not None:
                    holds = holds is not None and holds == subject.value(env)
                if holds is True:
                    return widen(result.value(env), kind)
            return widen(default.value(env), kind)

        return Typed(kind, choose)

    def on_if(self, node: exp.If) -> Typed:
        condition, yes = self.compile(node.this), self.compile(node.args["true"])
        no = self.compile(node.args["false"]) if node.args.get("false") else _constant("null", None)
        kind = common([yes.kind, no.kind])
        return Typed(kind, lambda env: widen((yes if condition.value(env) is True else no).value(env), kind))

    def on_coalesce(self, node: exp.Coalesce) -> Typed:
        choices = [self.compile(part) for part in (node.this, *node.expressions)]
        kind = common([choice.kind for choice in choices])

        def first(env: Any) -> Any:
            for choice in choices:
                value = choice.value(env)
                if value is not None:
                    return widen(value, kind)
            return None

        return Typed(kind, first)

    def on_nullif(self, node: exp.Nullif) -> Typed:
        left, right = self.compile(node.this), self.compile(node.expression)

        def value(env: Any) -> Any:
            found = left.value(env)
            return None if found is not None and found == right.value(env) else found

        return Typed(left.kind, value)

    # functions

    def on_cast(self, node: exp.Cast) -> Typed:
        inner, kind = self.compile(node.this), _CASTS[node.to.this.name]
        return Typed(kind, _strict(lambda x: _cast(x, kind), inner))

    on_trycast = on_cast

    def on_abs(self, node: exp.Abs) -> Typed:
        inner = self.compile(node.this)
        return Typed(inner.kind, _strict(lambda x: fits(abs(x)) if isinstance(x, int) else abs(x), inner))

    def on_upper(self, node: exp.Upper) -> Typed:
        return Typed("string", _strict(lambda x: x.upper(), self.compile(node.this)))

    def on_lower(self, node: exp.Lower) -> Typed:
        return Typed("string", _strict(lambda x: x.lower(), self.compile(node.this)))

    def on_length(self, node: exp.Length) -> Typed:
        return Typed("int", _strict(len, self.compile(node.this)))

    def on_floor(self, node: exp.Floor) -> Typed:
        return self.rounding(node, math.floor)

    def on_ceil(self, node: exp.Ceil) -> Typed:
        return self.rounding(node, math.ceil)

    def on_round(self, node: exp.Round) -> Typed:
        digits = int(node.args["decimals"].this) if node.args.get("decimals") else 0
        return self.rounding(node, lambda x: _round_half_away(x, digits))

    def rounding(self, node: exp.Expression, function: Callable[[float], float]) -> Typed:
        inner = self.compile(node.this)
        if inner.kind == "int":
            return inner
        return Typed("double", _strict(lambda x: float(function(x)) if math.isfinite(x) else x, inner))

    def on_anonymous(self, node: exp.Anonymous) -> Typed:
        if node.name.lower() == "arrival_time":
            return Typed("timestamp", lambda env: EPOCH + env.arrival * MICROSECOND)
        raise NotImplementedError(node.sql())


def _constant(kind: str, value: Any) -> Typed:
    return Typed(kind, lambda env: value)


def _widened(part: Typed, kind: str) -> Typed:
    return Typed(kind, lambda env: widen(part.value(env), kind))


def _strict(function: Callable[..., Any], *arguments: Typed) -> Function:
    """NULL in, NULL out."""

    def value(env: Any) -> Any:
        values = [argument.value(env) for argument in arguments]
        return None if any(v is None for v in values) else function(*values)

    return value


def _and(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _like(text: str, pattern: str) -> bool:
    parts = {"%": ".*", "_": "."}
    return re.fullmatch("".join(parts.get(c, re.escape(c)) for c in pattern), text, re.DOTALL) is not None


def _round_half_away(x: float, digits: int) -> float:
    scale = 10.0**digits
    return math.copysign(math.floor(abs(x) * scale + 0.5), x) / scale


_CASTS = {"DOUBLE": "double", "BIGINT": "int", "INT": "int", "TEXT": "string", "VARCHAR": "string", "BOOLEAN": "bool"}


def _cast(value: Any, kind: str) -> Any:
    if kind == "double":
        return float(value)
    if kind == "int":
        if isinstance(value, float):
            return fits(int(value)) if math.isfinite(value) else None
        return int(value)
    raise NotImplementedError(f"cast to {kind}")


def _numbers(operation: Callable[[Any, Any], Any]) -> Callable[[str, str], tuple[str, Function]]:
    """+, - and *: int with int stays int and may overflow to NULL; times add and subtract as times do."""

    def choose(left: str, right: str) -> tuple[str, Any]:
        if {left, right} <= {"int", "null"}:
            return "int", lambda x, y: fits(operation(x, y))
        if {left, right} <= {"int", "double", "null"}:
            return "double", lambda x, y: operation(float(x), float(y))
        if left == right == "timestamp":
            return "duration", operation
        if "timestamp" in (left, right):
            return "timestamp", operation
        return "duration", operation

    return choose


def _divide(left: str, right: str) -> tuple[str, Any]:
    return "double", lambda x, y: None if y == 0 else _quotient(x, y)


def _quotient(x: Any, y: Any) -> float:
    return float(x) / float(y)


def _int_divide(left: str, right: str) -> tuple[str, Any]:
    if "double" in (left, right):
        return "double", lambda x, y: None if y == 0 else float(math.trunc(x / y))
    return "int", lambda x, y: None if y == 0 else fits(abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1))


def _modulo(left: str, right: str) -> tuple[str, Any]:
    if "double" in (left, right):
        return "double", lambda x, y: None if y == 0 else math.fmod(x, y)
    return "int", lambda x, y: None if y == 0 else (abs(x) % abs(y)) * (-1 if x < 0 else 1)


def _concat(left: str, right: str) -> tuple[str, Any]:
    return "string", lambda x, y: x + y


_BINARY: dict[type, Callable[[str, str], tuple[str, Any]]] = {
    exp.Add: _numbers(lambda x, y: x + y),
    exp.Sub: _numbers(lambda x, y: x - y),
    exp.Mul: _numbers(lambda x, y: x * y),
    exp.Div: _divide,
    exp.IntDiv: _int_divide,
    exp.Mod: _modulo,
    exp.DPipe: _concat,
}

_COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    exp.EQ: lambda x, y: x == y,
    exp.NEQ: lambda x, y: x != y,
    exp.LT: lambda x, y: x < y,
    exp.LTE: lambda x, y: x <= y,
    exp.GT: lambda x, y: x > y,
    exp.GTE: lambda x, y: x >= y,
}
