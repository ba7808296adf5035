"""resample: aggregates around every tuple of a pace."""

from __future__ import annotations

from conformance.cases import Case, at, check_engine, check_oracle

PD = {"p": {"t": "int"}, "d": {"t": "int", "g": "string", "v": "double"}}
DATA = [(1, 3, "a", 1.0), (2, 7, "a", 2.0), (3, 6, "b", 9.0), (4, 8, "a", 3.0), (5, 8, "b", 7.0)]
SUMS = "b: {kind: resample, in: [p, d], order_by: t, within: 2, group_by: g, compute: {s: sum(v)}}"
LINE = [(1, 4, "a", 1.0), (2, 6, "a", 3.0), (3, 10, "a", 4.0), (4, 13, "a", 0.0)]

CASES = [
    Case(
        "complete when the group's data has passed the window",
        PD,
        SUMS,
        {"p": [(0, 5)], "d": DATA},
        {"b": [("a", 5, 3.0), ("b", 5, 9.0)]},
        columns={"b": ["g", "t", "s"]},
    ),
    Case(
        "a pace tuple behind the data is answered at once",
        PD,
        SUMS,
        {"p": [(9, 5)], "d": DATA},
        {"b": [("a", 5, 3.0), ("b", 5, 9.0)]},
    ),
    Case("not yet complete", PD, SUMS, {"p": [(9, 7)], "d": DATA}, {"b": []}),
    Case(
        "the end completes windows that hold data",
        PD,
        SUMS,
        {"p": [(9, 7), (10, 50)], "d": DATA},
        {"b": [("a", 7, 5.0), ("b", 7, 16.0)]},
        at_end="flush",
    ),
    Case("an empty window emits nothing", PD, SUMS, {"p": [(0, 0)], "d": DATA}, {"b": []}, at_end="flush"),
    Case(
        "pace order, then first appearance of the groups",
        PD,
        SUMS,
        {"p": [(6, 4), (7, 5)], "d": DATA},
        # All windows are complete when the pace tuples come; b has nothing in [2, 6] but 6.
        {"b": [("a", 4, 1.0), ("b", 4, 9.0), ("a", 5, 3.0), ("b", 5, 9.0)]},
    ),
    Case(
        "one data tuple completes several windows",
        PD,
        SUMS,
        {"p": [(0, 4), (0, 5), (0, 5)], "d": [(1, 5, "a", 1.0), (2, 9, "a", 2.0)]},
        {"b": [("a", 4, 1.0), ("a", 5, 1.0), ("a", 5, 1.0)]},
    ),
    Case(
        "out of order is judged over the pace and per group of data",
        PD,
        SUMS,
        {"p": [(0, 5), (0, 4)], "d": [(1, 7, "a", 1.0), (2, 4, "b", 2.0), (3, 6, "a", 4.0), (4, 9, "b", 8.0)]},
        {"b": [("b", 5, 2.0)]},
        late={"b": 2},
    ),
    Case(
        "time slack completes all groups",
        PD,
        SUMS.replace("order_by", "slack: 1, order_by"),
        {"p": [(0, 5)], "d": [(1, 4, "a", 1.0), (2, 8, "b", 2.0), (3, 7, "a", 4.0), (4, 9, "b", 8.0)]},
        {"b": [("a", 5, 5.0)]},
        late={"b": 0},
    ),
    Case(
        "linear interpolation",
        PD,
        "b: {kind: resample, in: [p, d], order_by: t, within: 2, interpolate: linear, compute: {v: v}}",
        {"p": [(0, 5), (0, 6), (0, 8), (0, 9)], "d": LINE},
        {"b": [(5, 2.0), (6, 3.0), (8, 3.5), (9, None)]},
    ),
    Case(
        "different order columns",
        {"p": {"t": "timestamp"}, "d": {"u": "timestamp", "v": "double"}},
        "b: {kind: resample, in: [p, d], order_by: [t, u], within: 2s, compute: {n: count(*), l: last(v)}}",
        {"p": [(0, at(5))], "d": [(1, at(3), 1.0), (2, at(7), 2.0), (3, at(7.5), 3.0)]},
        {"b": [(at(5), 2, 2.0)]},
        columns={"b": ["t", "n", "l"]},
    ),
    Case(
        "late tuples can be had, pace and data each on its own port",
        PD,
        SUMS.replace("order_by", "late: true, order_by"),
        {"p": [(0, 5), (0, 4)], "d": [(1, 4, "a", 1.0), (2, 3, "a", 2.0), (3, 8, "a", 4.0)]},
        {"b": [("a", 5, 1.0)], "b.late_pace": [(at(0), 4)], "b.late_data": [(at(2), 3, "a", 2.0)]},
        late={"b": 2},
    ),
    Case(
        "interpolation looks at values that are there",
        PD,
        "b: {kind: resample, in: [p, d], order_by: t, within: 2, interpolate: linear, compute: {v: v}}",
        {"p": [(0, 5)], "d": [(1, 4, "a", 1.0), (2, 5, "a", None), (3, 6, "a", 3.0), (4, 8, "a", 0.0)]},
        {"b": [(5, 2.0)]},
    ),
]


def test_engine(case: Case, train: int | None) -> None:
    check_engine(case, train)


def test_oracle(case: Case) -> None:
    check_oracle(case)
