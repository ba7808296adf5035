"""group_by: the boxes downstream inherit the grouping."""

from __future__ import annotations

from conformance.cases import Case, at, check_engine, check_oracle, one

S = {"s": {"g": "string", "x": "int"}}
SPLIT = "g: {kind: group_by, in: s, columns: [g]}"
ROWS = one((0, "a", 1), (1, "b", 5), (2, "a", 3), (3, "b", 4))

CASES = [
    Case(
        "tuples pass unchanged",
        S,
        "{b: {kind: group_by, in: s, columns: g}}",
        one((0, "a", 1), (1, None, 2)),
        {"b": [(at(0), "a", 1), (at(1), None, 2)]},
        columns={"b": ["at", "g", "x"]},
    ),
    Case(
        "a tumble inherits",
        S,
        f"{{{SPLIT}, b: {{kind: tumble, in: g, window: {{size: 2 tuples}}, compute: {{s: sum(x)}}}}}}",
        ROWS,
        {"b": [("a", 4), ("b", 9)]},
        columns={"b": ["g", "s"]},
    ),
    Case(
        "through a filter",
        S,
        f"{{{SPLIT}, f: {{kind: filter, in: g, where: x > 1}}, b: {{kind: latch, in: f, compute: {{s: sum(x)}}}}}}",
        ROWS,
        {"b": [("b", 5), ("a", 3), ("b", 9)]},
    ),
    Case(
        "a bsort inherits",
        S,
        f"{{{SPLIT}, o: {{kind: bsort, in: g, order_by: x, slack: 1 tuple}},"
        " b: {kind: map, in: o, compute: {g: g, x: x}}}",
        ROWS,
        {"b": [("a", 1), ("b", 4)]},
    ),
    Case(
        "a box that states a grouping keeps its own",
        {"s": {"g": "string", "x": "int", "h": "int"}},
        f"{{{SPLIT}, b: {{kind: tumble, in: g, group_by: h, window: {{size: 2 tuples}}, compute: {{s: sum(x)}}}}}}",
        one((0, "a", 1, 7), (1, "b", 5, 7), (2, "a", 3, 8)),
        {"b": [(7, 6)]},
        columns={"b": ["h", "s"]},
    ),
    Case(
        "a grouping ends with the columns that make it",
        {"s": {"g": "string", "x": "int", "h": "int"}},
        f"{{{SPLIT}, t: {{kind: tumble, in: g, group_by: h, window: {{size: 1 tuple}}, compute: {{s: sum(x)}}}},"
        " b: {kind: latch, in: t, compute: {s: sum(s)}}}",
        one((0, "a", 1, 7), (1, "b", 5, 7)),
        {"b": [(1,), (6,)]},
        columns={"b": ["s"]},
    ),
    Case(
        "a map may give its columns other names",
        S,
        f"{{{SPLIT}, m: {{kind: map, in: g, compute: {{name: g, x: x}}}},"
        " b: {kind: latch, in: m, compute: {s: sum(x)}}}",
        ROWS,
        {"b": [("a", 1), ("b", 5), ("a", 4), ("b", 9)]},
        columns={"b": ["name", "s"]},
    ),
]


def test_engine(case: Case, train: int | None) -> None:
    check_engine(case, train)


def test_oracle(case: Case) -> None:
    check_oracle(case)
