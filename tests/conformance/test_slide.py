"""slide: aggregate whose windows move by one tuple."""

from __future__ import annotations

from conformance.cases import Case, check_engine, check_oracle, one

S = {"s": {"x": "int"}}
G = {"s": {"g": "string", "x": "int"}}

CASES = [
    Case(
        "slide moves by one tuple",
        S,
        "b: {kind: slide, in: s, window: {size: 2 tuples}, compute: {s: sum(x)}}",
        one(*enumerate((1, 2, 3, 4))),
        {"b": [(3,), (5,), (7,)]},
    ),
    Case(
        "slide as given",
        S,
        "b: {kind: slide, in: s, window: {size: 3 tuples, advance: 2 tuples}, compute: {s: sum(x)}}",
        one(*enumerate((1, 2, 3, 4, 5))),
        {"b": [(6,), (12,)]},
    ),
    Case(
        "slide over values as given",
        S,
        "b: {kind: slide, in: s, order_by: x, window: {size: 4, advance: 2}, compute: {n: count(*)}}",
        one(*enumerate((1, 3, 8))),
        {"b": [(-2, 1), (0, 2), (2, 1)]},
    ),
    Case(
        "slide per group",
        G,
        "b: {kind: slide, in: s, group_by: g, window: {size: 2 tuples}, compute: {s: sum(x)}}",
        one((0, "a", 1), (1, "b", 5), (2, "a", 2), (3, "a", 3), (4, "b", 6)),
        {"b": [("a", 3), ("a", 5), ("b", 11)]},
    ),
]


def test_engine(case: Case, train: int | None) -> None:
    check_engine(case, train)


def test_oracle(case: Case) -> None:
    check_oracle(case)
