"""How the columns of a generator are made: by an expression, or by one of a few simple ways.

An expression is SQL over ``n`` (the number of the tuple, from 0), ``time`` (when it is made), ``elapsed`` (the seconds
since the first) and the columns before it. The others are mappings of one key:

``uniform: [low, high]``       any number between, or any whole number from low to high for an int
``normal: [mean, deviation]``  numbers around a mean
``walk: [start, deviation]``   each a small normal step from the one before
``choice: [a, b, c]``          one of these; ``choice: {a: 3, b: 1}`` draws a three times as often
``sequence: [start, step]``    one after the other
``keys: [first, count]``       so many keys, one after the other and then again: names of four letters, or whole numbers
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from aurora.errors import Report
from aurora.model.naming import shown, suggestion
from aurora.model.schema import Schema

GIVEN = ("n", "time", "elapsed")
"""What an expression of a generator may use beside columns."""

Way = Literal["uniform", "normal", "walk", "choice", "sequence", "keys", "expression"]
NUMBERS: dict[Way, str] = {
    "uniform": "[low, high]",
    "normal": "[mean, deviation]",
    "walk": "[start, deviation]",
    "sequence": "[start, step]",
    "keys": "[first, count]",
}
WAYS = (*NUMBERS, "choice")
_NUMERIC = ("int", "double")
MOST_KEYS = 26**4
"""So many names of four letters there are."""


@dataclass(frozen=True)
class Made:
    """One column: its way, the numbers it takes or the values it chooses from with their weights, or the SQL."""

    way: Way
    numbers: tuple[float, float] = (0.0, 0.0)
    values: tuple[Any, ...] = ()
    weights: tuple[float, ...] = ()
    sql: str = ""


def read_made(given: Any, kind: str, report: Report) -> Made | None:
    """What a document says of a column, or None; what is wrong goes to ``report``."""
    if isinstance(given, str):
        return Made("expression", sql=given)
    if not isinstance(given, Mapping) or len(given) != 1:
        found = f"{shown(given)} is no way to make a column"
        report.add("bad-value", found, "write an expression, or one of the choices as {uniform: [1, 6]}", choices=WAYS)
        return None
    ((way, value),) = given.items()
    if way == "choice":
        return _choice(value, report)
    if way not in NUMBERS:
        hint = suggestion(way, WAYS, "use one of the choices")
        report.add("bad-value", f"there is no way {shown(way)} to make a column", hint, choices=WAYS)
        return None
    if kind not in (("int", "string") if way == "keys" else _NUMERIC):
        made = "names or whole numbers" if way == "keys" else "numbers"
        report.add("bad-value", f"{way} makes {made}, and the column is {kind}", "use choice, or an expression")
        return None
    if not _are_numbers(value, 2):
        report.add("bad-value", f"{way} is {shown(value)}", f"give two numbers, {NUMBERS[way]}")
        return None
    first, second = float(value[0]), float(value[1])
    if (way == "uniform" and second < first) or (way in ("normal", "walk") and second < 0):
        report.add("bad-value", f"{way} is {shown(value)}", f"give {NUMBERS[way]}, the second not below the first or 0")
        return None
    if way == "keys" and not _are_keys(value[0], value[1]):
        hint = f"give {NUMBERS[way]}, whole numbers from 0 and from 1, together no more than {MOST_KEYS:,}"
        report.add("bad-value", f"{way} is {shown(value)}", hint)
        return None
    return Made(way, (first, second))


def _are_keys(first: float, count: float) -> bool:
    return first == int(first) >= 0 and count == int(count) >= 1 and first + count <= MOST_KEYS


def _choice(value: Any, report: Report) -> Made | None:
    if isinstance(value, Mapping) and value and _are_numbers(list(value.values())) and sum(value.values()) > 0:
        if all(weight >= 0 for weight in value.values()):
            return Made("choice", values=tuple(value), weights=tuple(map(float, value.values())))
    elif isinstance(value, list | tuple) and value:
        return Made("choice", values=tuple(value), weights=(1.0,) * len(value))
    report.add(
        "bad-value", f"choice is {shown(value)}", "give a list of values, or {value: weight} with weights from 0"
    )
    return None


def _are_numbers(values: Any, count: int | None = None) -> bool:
    if not isinstance(values, Sequence) or isinstance(values, str) or (count is not None and len(values) != count):
        return False
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    return numbers and all(abs(value) < 1e18 for value in values)


def check_columns(columns: Mapping[str, Any], schema: Schema, report: Report) -> None:
    for name, given in columns.items():
        if name not in schema:
            hint = suggestion(name, schema, "use one of the choices")
            report.at(name).add("unknown-column", f"there is no column {shown(name)}", hint, choices=schema)
        else:
            read_made(given, schema[name].name, report.at(name))
