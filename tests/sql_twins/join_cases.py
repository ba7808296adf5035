"""Random joins: of two streams within a distance of their order values, and of a stream with static data."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from tests.sql_twins.case import Case, Inputs, Row, Table

CONDITIONS = (
    None,
    "left.g = right.g",
    "left.g = right.g and left.i = right.i",
    "left.i < right.i",
    "left.g = right.g and left.i + right.i > 0",
    "left.i = right.i or left.g = right.g",
    "left.g is not distinct from right.g",
)
"""Alike on both sides, once ``left`` and ``right`` are put in quotes for DuckDB."""
UNITS = {"int": 1, "timestamp": 1_000_000}
COLUMNS = {"n": "int", "g": "string", "i": "int"}


def draw_case(chance: random.Random) -> Case:
    """A join of one of the two sorts."""
    condition = chance.choice(CONDITIONS)
    if chance.random() < 0.3:
        return _static(condition or CONDITIONS[1], {"a": _rows(chance, None), "b": _rows(chance, None)})
    kind = chance.choice(list(UNITS))
    inputs = {name: _rows(chance, kind) for name in ("a", "b")}
    return _within(condition, kind, chance.choice((0, 1, 4, 1_000)), "t" if chance.random() < 0.5 else None, inputs)


def _rows(chance: random.Random, kind: str | None) -> Table:
    """Rows in order of ``t``, with ties and NULLs; one NULL order value now and then, which matches nothing."""
    at, rows = chance.choice((-10, 0)), []
    for n in range(chance.choice((0, 1, 5, 20))):
        at += chance.choice((0, 0, 1, 1, 3))
        row: Row = (n, chance.choice(("a", "b", None)), chance.choice((-1, 0, 1, None)))
        rows.append(row if kind is None else (*row, at * UNITS[kind]))
    return Table(COLUMNS if kind is None else {**COLUMNS, "t": kind}, tuple(rows))


def _for_duckdb(condition: str) -> str:
    return condition.replace("left.", "a.").replace("right.", "b.")


def _within(condition: str | None, kind: str, distance: int, clock: str | None, inputs: Inputs) -> Case:
    def simpler(given: Inputs) -> Iterator[Case]:
        if condition is not None:
            yield _within(None, kind, distance, clock, given)
        if clock is not None:
            yield _within(condition, kind, distance, None, given)

    difference = "epoch_us(a.t) - epoch_us(b.t)" if kind == "timestamp" else "a.t - b.t"
    near = f"abs({difference}) <= {distance * UNITS[kind]}"
    box = {"left_order_by": "t", "right_order_by": "t", "within": f"{distance}s" if kind == "timestamp" else distance}
    return replace(_joined(condition, near, box, inputs), clock=clock, simpler=simpler)


def _static(condition: str, inputs: Inputs) -> Case:
    return replace(_joined(condition, "true", {}, inputs), static=frozenset(("b",)))


def _joined(condition: str | None, near: str, box: dict[str, object], inputs: Inputs) -> Case:
    on = {} if condition is None else {"on": condition}
    compute = {"m": "left.n", "n": "right.n", "s": "left.i + right.i", "u": "coalesce(left.g, right.g)"}
    computed = "a.n AS m, b.n AS n, a.i + b.i AS s, coalesce(a.g, b.g) AS u"
    also = "" if condition is None else f" AND ({_for_duckdb(condition)})"
    return Case(
        boxes={"box": {"kind": "join", "in": ["a", "b"], **on, **box, "compute": compute}},
        output="box",
        inputs=inputs,
        sql=f"SELECT {computed} FROM a JOIN b ON {near}{also}",
        columns={"m": "int", "n": "int", "s": "int", "u": "string"},
        key=("m", "n"),
    )
