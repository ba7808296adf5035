"""union: the order of arrival, ports in order where that does not decide."""

from __future__ import annotations

from conformance.cases import Case, check_engine, check_oracle, one

TWO = {"s": {"x": "int"}, "t": {"x": "int"}}
ONLY = "kind: map, compute: {x: x}"

CASES = [
    Case(
        "inputs are merged by the clock",
        TWO,
        f"{{ms: {{{ONLY}, in: s}}, mt: {{{ONLY}, in: t}}, b: {{kind: union, in: [ms, mt]}}}}",
        {"s": [(0, 1), (4, 2)], "t": [(1, 10), (3, 11), (5, 12)]},
        {"b": [(1,), (10,), (11,), (2,), (12,)]},
    ),
    Case(
        "of equal clocks the stream named first goes first",
        TWO,
        f"{{ms: {{{ONLY}, in: s}}, mt: {{{ONLY}, in: t}}, b: {{kind: union, in: [mt, ms]}}}}",
        {"s": [(0, 1), (0, 2)], "t": [(0, 10)]},
        {"b": [(1,), (2,), (10,)]},
    ),
    Case(
        "one tuple on both ports",
        {"s": {"x": "int"}},
        "{p: {kind: map, in: s, compute: {x: x + 1}}, q: {kind: map, in: s, compute: {x: x}},"
        " b: {kind: union, in: [p, q]}}",
        one((0, 1), (1, 5)),
        {"b": [(2,), (1,), (6,), (5,)]},
    ),
    Case(
        "an int widens to double",
        {"s": {"x": "int"}},
        "{p: {kind: map, in: s, compute: {x: x / 2}}, q: {kind: map, in: s, compute: {x: x}},"
        " b: {kind: union, in: [p, q]}}",
        one((0, 1), (1, None)),
        {"b": [(0.5,), (1.0,), (None,), (None,)]},
    ),
    Case(
        "a window stands where the tuple that closed it stands",
        {"s": {"x": "int"}},
        "{n: {kind: map, in: s, compute: {x: x}},"
        " w: {kind: tumble, in: s, window: {size: 2 tuples}, compute: {x: sum(x)}},"
        " b: {kind: union, in: [n, w]}}",
        one((0, 1), (1, 2), (2, 3), (3, 4)),
        {"b": [(1,), (2,), (3,), (3,), (4,), (7,)]},
    ),
    Case(
        "a timeout stands before the tuple at whose clock it fires",
        {"s": {"x": "int"}},
        "{n: {kind: map, in: s, compute: {x: x}},"
        " w: {kind: tumble, in: s, window: {size: 9 tuples, timeout: 3s}, compute: {x: sum(x)}},"
        " b: {kind: union, in: [n, w]}}",
        one((0, 1), (1, 2), (3, 4), (9, 8)),
        {"b": [(1,), (2,), (3,), (4,), (8,)]},
    ),
]


def test_engine(case: Case, train: int | None) -> None:
    check_engine(case, train)


def test_oracle(case: Case) -> None:
    check_oracle(case)
