"""map: compute, extend, drop, rename."""

from __future__ import annotations

from conformance.cases import Case, at, check_engine, check_oracle, one

S = {"s": {"x": "int", "y": "double"}}
BIG = 2**63 - 1

CASES = [
    Case(
        "compute gives exactly these columns",
        S,
        "b: {kind: map, in: s, compute: {z: x + 1, w: y * 2}}",
        one((0, 1, 0.5), (1, None, 2.0)),
        {"b": [(2, 1.0), (None, 4.0)]},
        columns={"b": ["z", "w"]},
    ),
    Case(
        "extend adds and replaces",
        S,
        "b: {kind: map, in: s, extend: {x: x * 10, z: x}}",
        one((0, 1, 0.5)),
        {"b": [(at(0), 10, 0.5, 1)]},
        columns={"b": ["at", "x", "y", "z"]},
    ),
    Case(
        "drop and rename",
        S,
        "b: {kind: map, in: s, drop: [y], rename: {x: a}}",
        one((0, 1, 0.5)),
        {"b": [(at(0), 1)]},
        columns={"b": ["at", "a"]},
    ),
    Case(
        "int division gives a double",
        S,
        "b: {kind: map, in: s, compute: {q: x / 2, d: x // 2}}",
        one((0, 3, 0.0), (1, 4, 0.0)),
        {"b": [(1.5, 1), (2.0, 2)]},
    ),
    Case(
        "division by zero gives NULL",
        S,
        "b: {kind: map, in: s, compute: {q: x / 0, d: x // 0, r: 1.0 / y}}",
        one((0, 3, 0.0), (1, 4, 2.0)),
        {"b": [(None, None, None), (None, None, 0.5)]},
    ),
    Case(
        "integer overflow gives NULL",
        S,
        "b: {kind: map, in: s, compute: {a: x + 1, m: x * 2, n: -x - 2}}",
        one((0, BIG, 0.0), (1, 1, 0.0)),
        {"b": [(None, None, None), (2, 2, -3)]},
    ),
    Case(
        "choices widen to double",
        S,
        "b: {kind: map, in: s, compute: {c: 'coalesce(y, x)', k: case when x > 1 then x else y end}}",
        one((0, 1, None), (1, 2, 0.5)),
        {"b": [(1.0, None), (0.5, 2.0)]},
    ),
    Case(
        "arrival_time is the clock at entry",
        S,
        "b: {kind: map, in: s, compute: {a: arrival_time()}}",
        one((5, 1, 0.0), (3, 1, 0.0), (6, 1, 0.0)),
        {"b": [(at(5),), (at(5),), (at(6),)]},
    ),
    Case(
        "division by a constant is exact",
        S,
        "b: {kind: map, in: s, compute: {q: y / 3, w: x / 49, c: y / case when x > 0 then 7 else 3 end}}",
        one((0, 43, 43.0), (1, 45, 1e300), (2, 47, 0.1)),
        {"b": [(43 / 3, 43 / 49, 43 / 7), (1e300 / 3, 45 / 49, 1e300 / 7), (0.1 / 3, 47 / 49, 0.1 / 7)]},
    ),
    Case(
        "constants have a row for every tuple",
        S,
        "b: {kind: map, in: s, compute: {c: '(case when (0 = x) then 0 else 0 end) + (1 + 1)', k: '7'}}",
        one((0, 0, 0.0), (1, 0, 0.0)),
        {"b": [(2, 7), (2, 7)]},
    ),
]


def test_engine(case: Case, train: int | None) -> None:
    check_engine(case, train)


def test_oracle(case: Case) -> None:
    check_oracle(case)
