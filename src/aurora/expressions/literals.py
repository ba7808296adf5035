"""Literals and type names: from how they are written to typed nodes, or to a problem."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from aurora.errors import Report, did_you_mean
from aurora.expressions.nodes import Literal, Node
from aurora.expressions.timestamps import interval_literal
from aurora.model.type_names import ALIASES, RANGES, WAYS_OUT
from aurora.model.types import BOOL, DOUBLE, DURATION, INT, SCALARS, STRING, TIMESTAMP, Type

_MAX_INT = 2**63 - 1


@dataclass(frozen=True)
class CastTarget:
    """What a cast asks for: a type and, if its name says so, a range of ints or a greatest length of texts."""

    type: Type
    name: str
    range: tuple[int, int] | None = None
    length: int | None = None


def number(text: str, report: Report) -> Node | None:
    """An int, or a double if the text has a point or an exponent; the sign is part of the text."""
    try:
        value = float(text) if set(text) & set(".eE") else int(text)
    except ValueError:
        found, way_out = f"{text[:40]} is not a number", "write an int such as 5, or a double such as 0.5 or 5e3"
    else:
        if isinstance(value, float) and abs(value) != float("inf"):
            return Literal(DOUBLE, value)
        if isinstance(value, int) and -_MAX_INT - 1 <= value <= _MAX_INT:
            return Literal(INT, value)
        found, way_out = f"{text[:40]} is too large for an int", "an int has 64 bits; write a double, with .0"
        if isinstance(value, float):
            found, way_out = f"{text[:40]} is more than a double can hold", "write a smaller number"
    report.add("bad-literal", found, way_out)
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


_FORMS = {
    TIMESTAMP: "write it as '2024-12-31 23:59:59.5'",
    DURATION: "write it as '1m30s'",
    BOOL: "write true or false",
    INT: "write a number, or cast(x as string) to have texts",
    DOUBLE: "write a number, or cast(x as string) to have texts",
}


def bad_text(node: Literal, target: Type, report: Report) -> None:
    """Reports a text that was to be read as a value of another type."""
    report.add("bad-literal", f"{node.value!r} is not {'an' if target == INT else 'a'} {target}", _FORMS[target])


def cast_target(kind: exp.Expr, report: Report) -> CastTarget | None:
    """What the type in a cast means, or None with a problem in the report."""
    name = str(kind.args.get("kind") or getattr(kind.this, "name", kind.this)).lower()
    target = SCALARS.get(name) or ALIASES.get(name)
    parameters = [parameter.name for parameter in kind.expressions]
    if target is not None and not parameters:
        return CastTarget(target, name, RANGES.get(name))
    if target == STRING and len(parameters) == 1 and parameters[0].isdecimal() and 0 < int(parameters[0]) <= _MAX_INT:
        return CastTarget(target, name, length=int(parameters[0]))
    if (target == DOUBLE and len(parameters) == 1) or (target == TIMESTAMP and parameters == ["6"]):
        return CastTarget(target, name)
    shown = kind.sql("duckdb").lower()
    report.add("unknown-type", f"no column has the type {shown}", _way_out(name, target))
    return None


def _way_out(name: str, target: Type | None) -> str:
    if name == "date":
        return "a date is a timestamp: write timestamp '2024-12-31', or date_trunc('day', t)"
    if name in ("array", "list"):
        return "lists are not cast; split(text, ',') and collect(x) make them"
    if target == TIMESTAMP or name.startswith("timestamp_"):
        return "a timestamp counts microseconds: cast to timestamp, and cut it with date_trunc('second', t)"
    if target is not None:
        return f"cast to {target}, without parameters"
    otherwise = "cast to bool, int (64 bits), double, string, timestamp, duration or binary"
    return WAYS_OUT.get(name) or did_you_mean(name, SCALARS) or otherwise
