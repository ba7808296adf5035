"""latch: an aggregate over a group's whole life."""

from __future__ import annotations

from conformance.cases import Case, at, check_engine, check_oracle, one

S = {"s": {"x": "int"}}
G = {"s": {"g": "string", "x": "int"}}

CASES = [
    Case(
        "latch over a group's whole life",
        G,
        "b: {kind: latch, in: s, group_by: g, compute: {s: sum(x)}}",
        one((0, "a", 1), (1, "b", 5), (2, "a", None), (3, "a", 3)),
        {"b": [("a", 1), ("b", 5), ("a", 1), ("a", 4)]},
        columns={"b": ["g", "s"]},
    ),
    Case(
        "latch every two tuples",
        S,
        "b: {kind: latch, in: s, every: 2 tuples, compute: {n: count(*), l: last(x)}}",
        one(*enumerate((1, 2, 3, 4, 5))),
        {"b": [(2, 2), (4, 4)]},
        at_end="flush",
    ),
    Case(
        "an answer of a latch has the earliest arrival since the answer before",
        G,
        "{a: {kind: latch, in: s, group_by: g, every: 2 tuples, compute: {n: count(*)}},"
        " b: {kind: map, in: a, extend: {t: arrival_time()}}}",
        one((0, "a", 1), (1, "b", 1), (2, "a", 1), (5, "a", 1), (6, "b", 1), (8, "a", 1), (9, "b", 1)),
        {"b": [("a", 2, at(0)), ("b", 2, at(1)), ("a", 4, at(5))]},
    ),
    Case(
        "latch in the order of a column",
        S,
        "b: {kind: latch, in: s, order_by: x, slack: 1 tuple, compute: {c: collect(x)}}",
        one(*enumerate((2, 1, 4, 3, 0))),
        {"b": [([1],), ([1, 2],), ([1, 2, 3],)]},
        late={"b": 1},
    ),
    Case(
        "latch flushes its slack buffer",
        S,
        "b: {kind: latch, in: s, order_by: x, slack: 1 tuple, compute: {l: last(x)}}",
        one(*enumerate((2, 1))),
        {"b": [(1,), (2,)]},
        at_end="flush",
    ),
]


def test_engine(case: Case, train: int | None) -> None:
    check_engine(case, train)


def test_oracle(case: Case) -> None:
    check_oracle(case)
