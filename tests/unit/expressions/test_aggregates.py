"""Expressions of aggregates: which calls they hold, the types, and what may stand where."""

from __future__ import annotations

import pytest

from aurora.errors import ExpressionError
from aurora.expressions import Aggregates, analyse_aggregates
from aurora.expressions.aggregates import TIMED_OUT, WINDOW_END, WINDOW_START
from aurora.model.types import BOOL, DOUBLE, DURATION, INT, STRING, TIMESTAMP, Type, list_of
from tests.unit.expressions.evaluation import SCOPE


def analysed(*texts: str, window_type: Type | None = TIMESTAMP) -> Aggregates:
    compute = {f"out{n}": text for n, text in enumerate(texts)}
    return analyse_aggregates(compute, SCOPE, grouping=["s"], window_type=window_type)


def ids(text: str, **options: Type | None) -> list[str]:
    with pytest.raises(ExpressionError) as caught:
        analysed(text, **options)
    assert all(problem.path == ("out0",) for problem in caught.value.problems)
    return [problem.id for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "function", "result"),
    [
        ("count(*)", "count_all", INT),
        ("count(s)", "count", INT),
        ("count(distinct l)", "count_distinct", INT),
        ("sum(i)", "sum", INT),
        ("sum(x)", "sum", DOUBLE),
        ("SUM(d)", "sum", DURATION),
        ("avg(i)", "avg", DOUBLE),
        ("mean(d)", "avg", DURATION),
        ("min(s)", "min", STRING),
        ("min(distinct t)", "min", TIMESTAMP),
        ("max(t)", "max", TIMESTAMP),
        ("first(l)", "first", list_of(INT)),
        ("last(p)", "last", BOOL),
        ("any_value(s)", "any_value", STRING),
        ("stddev_samp(i)", "stddev", DOUBLE),
        ("var_samp(x)", "variance", DOUBLE),
        ("median(i)", "median", DOUBLE),
        ("median(t)", "median", TIMESTAMP),
        ("quantile(x, 0.9)", "quantile", DOUBLE),
        ("quantile(d, 1)", "quantile", DURATION),
        ("delta(i)", "delta", INT),
        ("delta(t)", "delta", DURATION),
        ("bool_and(p)", "bool_and", BOOL),
        ("every(i > 1)", "bool_and", BOOL),
        ("bool_or(p)", "bool_or", BOOL),
        ("collect(s)", "collect", list_of(STRING)),
        ("array_agg(i)", "collect", list_of(INT)),
    ],
)
def test_calls(text: str, function: str, result: Type) -> None:
    found = analysed(text)
    (call,) = found.calls
    assert (call.function, call.type, call.slot) == (function, result, "__agg0")
    assert found.finals["out0"].type == result
    assert found.finals["out0"].columns == {"__agg0"}


def test_equal_calls_are_computed_once() -> None:
    found = analysed("max(x) - min(x)", "max(x)", "max( x ) + avg(x + 1)", "avg(x + 1) filter (where p)", "avg(x+1)")
    assert [(call.slot, call.function) for call in found.calls] == [
        ("__agg0", "max"),
        ("__agg1", "min"),
        ("__agg2", "avg"),
        ("__agg3", "avg"),
    ]
    assert found.finals["out2"].columns == {"__agg0", "__agg2"}
    assert found.finals["out4"].columns == {"__agg2"}


def test_parts_of_a_call() -> None:
    (call,) = analysed("quantile(x * 2, 0.25) filter (where i > 3 and p)").calls
    assert call.parameters == (0.25,)
    assert call.argument is not None
    assert call.argument.columns == {"x"}
    assert call.where is not None
    assert call.where.columns == {"i", "p"}


def test_window_functions_and_group_columns() -> None:
    found = analysed("timed_out()", "window_end() - window_start()", "upper(s) || cast(count(*) as string)")
    assert found.finals["out0"].columns == {TIMED_OUT}
    assert found.finals["out1"].columns == {WINDOW_START, WINDOW_END}
    assert found.finals["out1"].type == DURATION
    assert found.finals["out2"].columns == {"s", "__agg0"}


def test_arrival_time_may_be_aggregated() -> None:
    (call,) = analysed("min(arrival_time())").calls
    assert call.argument is not None
    assert call.argument.hidden == {"__arrival"}
    assert call.type == TIMESTAMP


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", ["column-outside-aggregate"]),
        ("max(x) + i", ["column-outside-aggregate"]),
        ("arrival_time()", ["column-outside-aggregate"]),
        ("max(min(x))", ["nested-aggregate"]),
        ("max(x) filter (where count(*) > 1)", ["nested-aggregate"]),
        ("sum(window_start())", ["nested-aggregate"]),
        ("sum(s)", ["type-mismatch"]),
        ("avg(t)", ["type-mismatch"]),
        ("bool_and(i)", ["type-mismatch"]),
        ("min(l)", ["type-mismatch"]),
        ("sum()", ["wrong-argument-count"]),
        ("sum(i, j)", ["wrong-argument-count"]),
        ("quantile(x)", ["wrong-argument-count"]),
        ("timed_out(1)", ["wrong-argument-count"]),
        ("quantile(x, 1.5)", ["bad-literal"]),
        ("quantile(x, y)", ["bad-literal"]),
        ("sum(x) filter (where i)", ["not-boolean"]),
        ("sum(*)", ["unsupported-syntax"]),
        ("sum(distinct x)", ["unsupported-syntax"]),
        ("count(distinct i, j)", ["unsupported-syntax"]),
        ("first(x order by i)", ["unsupported-syntax"]),
        ("last(x ignore nulls)", ["unsupported-syntax"]),
        ("sum(x) over ()", ["unsupported-syntax"]),
        ("sum(z) + uper(s)", ["unknown-column", "unknown-function"]),
        ("sum(x", ["syntax-error"]),
    ],
)
def test_problems(text: str, expected: list[str]) -> None:
    assert ids(text) == expected


def test_window_bounds_need_a_value_window() -> None:
    assert ids("window_start()", window_type=None) == ["no-window-bounds"]


def test_problems_of_all_outputs_are_reported() -> None:
    with pytest.raises(ExpressionError) as caught:
        analyse_aggregates({"a": "sum(s)", "b": "count(*)", "c": "nope(1)"}, SCOPE)
    assert [(p.path, p.id) for p in caught.value.problems] == [(("a",), "type-mismatch"), (("c",), "unknown-function")]
