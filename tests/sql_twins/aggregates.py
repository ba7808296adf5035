"""Random aggregates and their twins, for windows that DuckDB computes with GROUP BY or with window functions."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Aggregate:
    """``sql`` has a place for the condition on the tuples, ``{where}``, and one for what stands behind, ``{over}``."""

    aurora: str
    sql: str
    kind: str
    rounded: bool = False


CONDITIONS = ("x > 0", "p", "i is not null", "u <> 'a'", "i % 2 = 0 or x is null")
COLUMNS: Mapping[str, str] = {"i": "int", "x": "double", "u": "string", "p": "bool", "z": "timestamp", "l": "duration"}


def draw(chance: random.Random, order: str) -> Aggregate:
    """An aggregate over some column; ``order`` is SQL for the order in which the window's tuples stand."""
    condition = chance.choice(CONDITIONS) if chance.random() < 0.3 else None
    column = chance.choice(list(COLUMNS))
    made = chance.choice(_choices(column, COLUMNS[column], order))
    filtered = f" filter (where {condition})" if condition else ""
    return Aggregate(
        made.aurora.format(filter=filtered),
        made.sql.replace("{where}", f"({condition}) AND " if condition else ""),
        made.kind,
        made.rounded,
    )


def _choices(column: str, kind: str, order: str) -> list[Aggregate]:
    """All aggregates that a column of a kind can have. NULL is left out of each."""
    given = f"FILTER (WHERE {{where}}{column} IS NOT NULL) {{over}}"
    ordered = (
        f"({column} ORDER BY {order}) {given}"  # first and last are its ends: as window functions they take no FILTER
    )
    choices = [
        Aggregate("count(*){filter}", "count(*) FILTER (WHERE {where}true) {over}", "int"),
        Aggregate(f"count({column}){{filter}}", f"count({column}) {given}", "int"),
        Aggregate(f"count(distinct {column}){{filter}}", f"count(DISTINCT {column}) {given}", "int"),
        Aggregate(f"first({column}){{filter}}", f"(list{ordered})[1]", kind),
        Aggregate(f"last({column}){{filter}}", f"(list{ordered})[-1]", kind),
        Aggregate(f"collect({column}){{filter}}", f"list{ordered}", f"list<{kind}>"),
    ]
    if kind == "bool":
        choices += [
            Aggregate(f"bool_and({column}){{filter}}", f"bool_and({column}) {given}", "bool"),
            Aggregate(f"bool_or({column}){{filter}}", f"bool_or({column}) {given}", "bool"),
        ]
    else:
        choices += [
            Aggregate(f"min({column}){{filter}}", f"min({column}) {given}", kind),
            Aggregate(f"max({column}){{filter}}", f"max({column}) {given}", kind),
        ]
    if kind in ("int", "double", "duration"):
        choices += _of_numbers(column, kind, given, ordered)
    return choices


def _of_numbers(column: str, kind: str, given: str, ordered: str) -> list[Aggregate]:
    whole = kind != "double"
    first, last = f"(list{ordered})[1]", f"(list{ordered})[-1]"
    choices = [
        Aggregate(
            f"sum({column}){{filter}}", f"try_cast(sum({column}) {given} AS {'BIGINT' if whole else 'DOUBLE'})", kind
        ),
        Aggregate(
            f"delta({column}){{filter}}", f"au_subtract({last}, {first})" if whole else f"({last} - {first})", kind
        ),
    ]
    if kind == "duration":
        return choices
    return [
        *choices,
        Aggregate(f"avg({column}){{filter}}", f"avg({column}) {given}", "double", rounded=True),
        Aggregate(f"stddev({column}){{filter}}", f"stddev_samp({column}) {given}", "double", rounded=True),
        Aggregate(f"variance({column}){{filter}}", f"var_samp({column}) {given}", "double", rounded=True),
        Aggregate(f"median({column}){{filter}}", f"median({column}::DOUBLE) {given}", "double", rounded=True),
        _quantile(column, kind, given),
    ]


def _quantile(column: str, kind: str, given: str) -> Aggregate:
    """Infinities are left out on both sides: between one and a number Aurora interpolates NaN, DuckDB the infinity."""
    taken = f"case when isinf({column}) then null else {column} end" if kind == "double" else column
    sql = f"quantile_cont(({taken})::DOUBLE, 0.25) {given}"
    return Aggregate(f"quantile({taken}, 0.25){{filter}}", sql, "double", rounded=True)
