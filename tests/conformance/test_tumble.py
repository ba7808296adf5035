"""tumble: aggregate whose windows follow each other."""

from __future__ import annotations

from conformance.cases import Case, at, check_engine, check_oracle, one

S = {"s": {"x": "int"}}
G = {"s": {"g": "string", "x": "int"}}

CASES = [
    Case(
        "tumble over tuples",
        S,
        "b: {kind: tumble, in: s, window: {size: 2 tuples}, compute: {s: sum(x)}}",
        one(*enumerate((1, 2, 3, 4, 5))),
        {"b": [(3,), (7,)]},
        at_end="flush",
    ),
    Case(
        "tumble over values",
        S,
        "b: {kind: tumble, in: s, order_by: x, window: {size: 5}, compute: {n: count(*)}}",
        one(*enumerate((1, 4, 5, 9, 10))),
        {"b": [(0, 2), (5, 2)]},
        columns={"b": ["x", "n"]},
    ),
    Case(
        "tumble over time",
        {"s": {"t": "timestamp"}},
        "b: {kind: tumble, in: s, order_by: t, window: {size: 5s}, compute: {n: count(*)}}",
        one((0, at(1)), (1, at(5))),
        {"b": [(at(0), 1), (at(5), 1)]},
        at_end="flush",
    ),
    Case(
        "tumble per group",
        G,
        "b: {kind: tumble, in: s, group_by: g, window: {size: 2 tuples}, compute: {s: sum(x)}}",
        one((0, "a", 1), (1, None, 2), (2, "a", 3), (3, None, 4)),
        {"b": [("a", 4), (None, 6)]},
    ),
]


def test_engine(case: Case, train: int | None) -> None:
    check_engine(case, train)


def test_oracle(case: Case) -> None:
    check_oracle(case)
