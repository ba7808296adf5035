"""bsort: count slack, time slack, what is left at the end."""

from __future__ import annotations

from conformance.cases import Case, at, check_engine, check_oracle, one, seconds

S = {"s": {"x": "int"}}
G = {"s": {"g": "string", "x": "int"}}
TEN = one(*enumerate((1, 3, 1, 2, 4, 4, 8, 3, 4, 4)))


def xs(*values: int | None) -> list[tuple[int | None]]:
    return [(value,) for value in values]


SORT = "{{o: {{kind: bsort, in: s, order_by: x{}}}, b: {{kind: map, in: o, compute: {{x: x}}}}}}"
GROUPED = "{{o: {{kind: bsort, in: s, order_by: x, group_by: g{}}}, b: {{kind: map, in: o, compute: {{g: g, x: x}}}}}}"

CASES = [
    Case("slack 2", S, SORT.format(", slack: 2 tuples"), TEN, {"b": xs(1, 1, 2, 3, 4, 3, 4, 4)}, late={"o": 0}),
    Case(
        "slack 2 flushed",
        S,
        SORT.format(", slack: 2 tuples"),
        TEN,
        {"b": xs(1, 1, 2, 3, 4, 3, 4, 4, 4, 8)},
        at_end="flush",
    ),
    Case(
        "slack 0 passes everything as it comes",
        S,
        SORT.format(", slack: 0 tuples"),
        one(*enumerate((3, 1, 2))),
        {"b": xs(3, 1, 2)},
    ),
    Case(
        "ties leave in the order they came",
        {"s": {"x": "int", "y": "string"}},
        "b: {kind: bsort, in: s, order_by: x, slack: 1 tuple}",
        one((0, 1, "a"), (1, 1, "b"), (2, 1, "c")),
        {"b": [(at(0), 1, "a"), (at(1), 1, "b"), (at(2), 1, "c")]},
        at_end="flush",
    ),
    Case(
        "every group has a buffer of its own",
        G,
        GROUPED.format(", slack: 1 tuple"),
        one((0, "a", 5), (1, "b", 9), (2, "a", 3), (3, None, 1), (4, "b", 8), (5, None, 0)),
        {"b": [("a", 3), ("b", 8), (None, 0)]},
    ),
    Case(
        "NULL is passed on at once",
        S,
        SORT.format(", slack: 1 tuple"),
        one((0, 5), (1, None), (2, 4)),
        {"b": xs(None, 4)},
    ),
    Case(
        "with time slack a tuple leaves when progress reaches it",
        S,
        SORT.format(", slack: 3"),
        one(*enumerate((5, 4, 7, 2, 3, 8, 20))),
        # 7: progress 4, 4 leaves; 2 and 3 are late and go on at once; 8: progress 5; 20: progress 17.
        {"b": xs(4, 2, 3, 5, 7, 8)},
        late={},
    ),
    Case(
        "time slack over all groups",
        G,
        GROUPED.format(", slack: 2"),
        one((0, "a", 5), (1, "b", 4), (2, "a", 4), (3, "b", 7)),
        {"b": [("b", 4), ("a", 4), ("a", 5)]},
    ),
    Case(
        "time slack flushed",
        {"s": {"d": "duration"}},
        "{o: {kind: bsort, in: s, order_by: d, slack: 10s}, b: {kind: map, in: o, compute: {d: d}}}",
        one((0, seconds(3)), (1, seconds(1)), (2, seconds(2))),
        {"b": [(seconds(1),), (seconds(2),), (seconds(3),)]},
        at_end="flush",
    ),
    Case(
        "what is left at the end stands behind what the end of the box before lets go",
        {"s": {"g": "string", "x": "int", "y": "int"}},
        "{a: {kind: bsort, in: s, order_by: y, slack: 9 tuples},"
        " o: {kind: bsort, in: a, order_by: x, slack: 1 tuples, group_by: g}, b: {kind: map, in: o, compute: {x: x}}}",
        # All leave the first box at the end, by y. The second of a group lets the first go, then the others go by x.
        one((0, "a", -1, 1), (1, "b", -3, 2), (2, "c", -5, 3), (3, "a", -2, 4), (4, "b", -4, 5), (5, "c", -6, 6)),
        {"b": xs(-2, -4, -6, -5, -3, -1)},
        at_end="flush",
    ),
    Case(
        "what is passed on at once does not overtake what left before",
        {"s": {"x": "int", "y": "int"}},
        # Both tuples leave the first box at the end, 7 before 6; 7 leaves the second at once, 6 is then late.
        "{a: {kind: bsort, in: s, order_by: y, slack: 3 tuples}, o: {kind: bsort, in: a, order_by: x, slack: 0},"
        " b: {kind: map, in: o, compute: {x: x}}}",
        one((0, 6, 2), (1, 7, 1)),
        {"b": xs(7, 6)},
        at_end="flush",
    ),
]


def test_engine(case: Case, train: int | None) -> None:
    check_engine(case, train)


def test_oracle(case: Case) -> None:
    check_oracle(case)
