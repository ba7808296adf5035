"""filter: where, routes, else."""

from __future__ import annotations

from conformance.cases import Case, at, check_engine, check_oracle, one

S = {"s": {"x": "int", "y": "string"}}
ROWS = one((0, 1, "a"), (1, None, "b"), (2, 3, None), (3, -4, "a"))

CASES = [
    Case(
        "NULL counts as false",
        S,
        "b: {kind: filter, in: s, where: x > 0}",
        ROWS,
        {"b": [(at(0), 1, "a"), (at(2), 3, None)]},
        columns={"b": ["at", "x", "y"]},
    ),
    Case(
        "not of NULL is no match either",
        S,
        "b: {kind: filter, in: s, where: not (x > 0)}",
        ROWS,
        {"b": [(at(3), -4, "a")]},
    ),
    Case(
        "a tuple takes the first route that matches",
        S,
        "b: {kind: filter, in: s, routes: {big: x > 2, a: y = 'a'}, else: rest}",
        ROWS,
        {"b.big": [(at(2), 3, None)], "b.a": [(at(0), 1, "a"), (at(3), -4, "a")], "b.rest": [(at(1), None, "b")]},
    ),
    Case(
        "without else the rest goes nowhere",
        S,
        "b: {kind: filter, in: s, routes: {big: x > 2, small: x < 0}}",
        ROWS,
        {"b": [(at(2), 3, None)], "b.small": [(at(3), -4, "a")]},
    ),
    Case("nothing matches", S, "b: {kind: filter, in: s, where: x > 10}", ROWS, {"b": []}),
    Case("no tuples at all", S, "b: {kind: filter, in: s, where: x > 0}", one(), {"b": []}, at_end="flush"),
    Case(
        "three-valued or",
        S,
        "b: {kind: filter, in: s, where: x > 2 or y = 'b'}",
        ROWS,
        {"b": [(at(1), None, "b"), (at(2), 3, None)]},
    ),
]


def test_engine(case: Case, train: int | None) -> None:
    check_engine(case, train)


def test_oracle(case: Case) -> None:
    check_oracle(case)
