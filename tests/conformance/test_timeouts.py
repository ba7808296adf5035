"""Timeouts of windows, and what they do to the boxes downstream."""

from __future__ import annotations

from conformance.cases import Case, at, check_engine, check_oracle, one

S = {"s": {"x": "int"}}
G = {"s": {"g": "string"}}
PAIRS = (
    "b: {kind: aggregate, in: s, group_by: g, window: {size: 2 tuples, timeout: 5s},"
    " compute: {n: count(*), late: timed_out()}}"
)

CASES = [
    Case(
        "a window is emitted with what it has, once",
        G,
        PAIRS,
        one((0, "a"), (1, "b"), (2, "b"), (5, "a"), (6, "a"), (30, "a")),
        {"b": [("b", 2, False), ("a", 1, True), ("a", 1, True)]},
    ),
    Case("timeouts not due at the end do not fire", G, PAIRS, one((0, "a"), (4, "b")), {"b": []}, at_end="flush"),
    Case(
        "timeouts come in order of due time",
        G,
        PAIRS,
        one((0, "c"), (1, "a"), (2, "b"), (9, "c")),
        {"b": [("c", 1, True), ("a", 1, True), ("b", 1, True)]},
    ),
    Case(
        "a late clock does not turn time back",
        G,
        PAIRS,
        one((4, "a"), (0, "b"), (8, "c"), (9, "c")),
        {"b": [("a", 1, True), ("b", 1, True), ("c", 2, False)]},
    ),
    Case(
        "sliding windows each have a timeout",
        S,
        "b: {kind: slide, in: s, window: {size: 3 tuples, timeout: 5s}, compute: {c: collect(x), o: timed_out()}}",
        one((0, 1), (2, 2), (6, 3), (20, 4)),
        # The first times out at 5 with 1, 2; the second at 7 with 2, 3; the third at 11 with 3.
        {"b": [([1, 2], True), ([2, 3], True), ([3], True)]},
    ),
    Case(
        "a value window that timed out takes no more tuples",
        S,
        "b: {kind: aggregate, in: s, order_by: x, window: {size: 10, timeout: 5s},"
        " compute: {c: collect(x), o: timed_out()}}",
        one((0, 1), (2, 2), (6, 3), (7, 11), (8, 25)),
        {"b": [(0, [1, 2], True), (10, [11], False)]},
        late={"b": 0},
    ),
    Case(
        "another stream moves time",
        {"s": {"g": "string"}, "t": {"y": "int"}},
        "{b: " + PAIRS[3:] + ", c: {kind: map, in: t, compute: {y: y}}}",
        {"s": [(0, "a")], "t": [(1, 7), (5, 8)]},
        {"b": [("a", 1, True)], "c": [(7,), (8,)]},
    ),
    Case(
        "a timeout opens a window downstream at its due time",
        S,
        "{a: {kind: tumble, in: s, window: {size: 2 tuples, timeout: 5s}, compute: {t: max(at)}},"
        " w: {kind: tumble, in: a, window: {size: 9 tuples, timeout: 10s}, compute: {n: count(*)}},"
        " z: {kind: map, in: s, compute: {n: '0'}}, b: {kind: union, in: [z, w]}}",
        one((0, 0), (14, 0), (15, 0)),
        {"b": [(0,), (0,), (1,), (0,)]},
    ),
    Case(
        "a value window that times out without a tuple stands before the tuple that moved time",
        {"s": {"x": "int"}, "t": {"y": "int"}},
        "{w: {kind: tumble, in: s, order_by: x, window: {size: 10, timeout: 5s}, compute: {n: count(*)}},"
        " m: {kind: map, in: t, compute: {x: y, n: '0'}}, b: {kind: union, in: [w, m]}}",
        {"s": [(0, 1)], "t": [(1, 7), (6, 8)]},
        {"b": [(7, 0), (0, 1), (8, 0)]},
    ),
    Case(
        "a derived tuple has the earliest arrival of its members",
        S,
        "{a: {kind: tumble, in: s, window: {size: 2 tuples, timeout: 5s}, compute: {c: collect(x)}},"
        " b: {kind: map, in: a, compute: {c: c, t: arrival_time()}}}",
        one((0, 1), (3, 2), (4, 3), (10, 4)),
        {"b": [([1, 2], at(0)), ([3], at(4))]},
    ),
]


def test_engine(case: Case, train: int | None) -> None:
    check_engine(case, train)


def test_oracle(case: Case) -> None:
    check_oracle(case)
