"""Literals and type names: from how they are written to typed nodes, or to a problem."""

from __future__ import annotations

from sqlglot import exp

from aurora.errors import Report
from aurora.expressions.nodes import Literal, Node
from aurora.expressions.timestamps import interval_literal
from aurora.model.types import BINARY, BOOL, DOUBLE, DURATION, INT, STRING, TIMESTAMP, Type

_MAX_INT = 2**63 - 1
_CAST_TARGETS = {
    "BOOLEAN": BOOL, "INT": INT, "BIGINT": INT, "DOUBLE": DOUBLE, "TEXT": STRING, "VARCHAR": STRING,
    "TIMESTAMP": TIMESTAMP, "TIMESTAMPNTZ": TIMESTAMP, "TIMESTAMPTZ": TIMESTAMP, "INTERVAL": DURATION,
    "VARBINARY": BINARY, "BINARY": BINARY, "DURATION": DURATION,
}  # fmt: skip
"""Types by sqlglot's names for them. Narrower ints, floats and decimals are missing: columns cannot have them."""


def number(text: str, report: Report) -> Node | None:
    """An int, or a double if the text has a point or an exponent; the sign is part of the text."""
    if set(text) & set(".eE"):
        value = float(text)
        if abs(value) != float("inf"):
            return Literal(DOUBLE, value)
        report.add("bad-literal", f"{text} is more than a double can hold", "write a smaller number")
        return None
    whole = int(text)
    if -_MAX_INT - 1 <= whole <= _MAX_INT:
        return Literal(INT, whole)
    report.add("bad-literal", f"{text} is too large for an int", "an int has 64 bits; write a double, with .0")
    return None


def interval(tree: exp.Expr, shown: str, report: Report) -> Node | None:
    amount, unit = tree.this, tree.args.get("unit")
    if not isinstance(amount, exp.Literal) or not isinstance(unit, exp.Var | None):
        way_out = "write x * interval '1' second for an interval of variable length"
        report.add("bad-literal", f"{shown} is not an interval of fixed length", way_out)
        return None
    value = interval_literal(amount.name, None if unit is None else unit.name)
    if isinstance(value, str):
        way_out = "write interval '5' second (microsecond to week), or add_months(t, n) for months"
        report.add("bad-literal", f"{shown}: {value}", way_out)
        return None
    return Literal(DURATION, value)


def bad_text(node: Literal, target: Type, report: Report) -> None:
    """Reports a text that was to be read as a timestamp or a duration."""
    form = "'2024-12-31 23:59:59.5'" if target == TIMESTAMP else "'1m30s'"
    report.add("bad-literal", f"{node.value!r} is not a {target}", f"write it as {form}")


def cast_target(kind: exp.Expr, report: Report) -> Type | None:
    name = getattr(kind.this, "name", str(kind.this))
    if name == "USERDEFINED":
        name = str(kind.args.get("kind")).upper()
    target = _CAST_TARGETS.get(name)
    if target is not None and not kind.expressions:
        return target
    way_out = "cast to bool, int (64 bits), double, string, timestamp, duration or binary"
    if name == "DATE":
        way_out = "a date is a timestamp: write timestamp '2024-12-31', or date_trunc('day', t)"
    report.add("unknown-type", f"no column has the type {kind.sql('duckdb').lower()}", way_out)
    return None
