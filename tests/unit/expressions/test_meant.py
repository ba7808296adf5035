"""What users of other SQL systems write: it is taken, or answered with what they probably mean."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from aurora.errors import ExpressionError
from aurora.expressions import analyse, analyse_aggregates
from tests.unit.expressions.evaluation import SCOPE, evaluate, problems, values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i = '5'", [True, False, None]),
        ("'5' = i", [True, False, None]),
        ("i <> ' 5 '", [False, True, None]),
        ("i < '5.5'", [True, False, None]),
        ("x >= '0.5'", [True, False, None]),
        ("x = '1e-1'", [False, True, None]),
        ("i in ('5', '6')", [True, True, None]),
        ("i between '1' and '5'", [True, False, None]),
        ("p = 'yes'", [True, False, None]),
        ("nullif(i, '6')", [5, None, None]),
        ("greatest(i, '6')", [6, 6, 6]),
        ("coalesce(i, '7')", [5, 6, 7]),
        ("case i when '5' then 'five' else 'other' end", ["five", "other", "other"]),
    ],
)
def test_text_literals_meet_numbers_and_truth_values(text: str, expected: list[object]) -> None:
    found, faults = evaluate(text, i=[5, 6, None], x=[0.5, 0.1, None], p=[True, False, None])
    assert found == expected
    assert faults == [0, 0, 0]


def test_a_text_column_does_not_meet_a_number() -> None:
    assert set(problems("s = 5")) == {"type-mismatch"}
    assert set(problems("i = s")) == {"type-mismatch"}


@pytest.mark.parametrize(
    ("text", "id", "way_out"),
    [
        ("i > 1 || j > 2", "type-mismatch", "a or b"),
        ("p || q", "type-mismatch", "a or b"),
        ("i > 1 && j > 2", "unsupported-syntax", "a and b"),
        ("p && q", "unsupported-syntax", "a and b"),
        ("s = 'a' || s = 'b'", "unsupported-syntax", "written or, not ||"),
        ("1 < i < 5", "unsupported-syntax", "a < b and b < c"),
        ("s[1:2]", "unsupported-syntax", "substring(text, start, length)"),
        ("s[1]", "type-mismatch", "substring(text, 1, 1)"),
        ("isnull(i)", "unknown-function", "x is null"),
        ("dateadd(day, 1, t)", "unknown-function", "interval '1' day"),
        ("random()", "unknown-function", "must not depend on chance"),
        ("uper(s)", "unknown-function", "did you mean 'upper'?"),
    ],
)
def test_one_problem_with_what_is_meant(text: str, id: str, way_out: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        analyse(text, SCOPE)
    (problem,) = caught.value.problems
    assert problem.id == id
    assert way_out in problem.way_out


@pytest.mark.parametrize(
    ("text", "way_out"),
    [
        ("i = null", "write i is null"),
        ("i != null", "write i is not null"),
        ("null <> upper(s)", "write upper(s) is not null"),
        ("p and not (i = (null))", "write i is null"),
        ("case i when null then 1 else 2 end", "write case when i is null then ... end"),
    ],
)
def test_a_comparison_with_null_is_warned_of(text: str, way_out: str) -> None:
    (warning,) = analyse(text, SCOPE).warnings
    assert (warning.id, warning.severity, warning.way_out) == ("comparison-with-null", "warning", way_out)
    assert warning.span is not None


def test_a_comparison_with_null_is_still_sql() -> None:
    assert values("i = null", i=[1, None]) == [None, None]
    assert analyse("i is null and i is not distinct from null", SCOPE).warnings == ()
    assert [w.id for w in analyse_aggregates({"n": "count(*) filter (where i = null)"}, SCOPE).warnings] == [
        "comparison-with-null"
    ]


@pytest.mark.parametrize("text", ["summ(i)", "summ(i) + sum(i)", "summ(i + j) filter (where p)", "uper(s)"])
def test_an_unknown_aggregate_is_one_problem(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        analyse_aggregates({"out": text}, SCOPE)
    (problem,) = caught.value.problems
    assert problem.id == "unknown-function"
    assert "did you mean" in problem.way_out


@pytest.mark.parametrize(
    ("text", "expected"),
    [("date_part('hour', t)", 6), ("datepart(minute, t)", 7), ("date_part('epoch', t)", 22028.0)],
)
def test_date_part(text: str, expected: object) -> None:
    assert values(text, t=[datetime(1970, 1, 1, 6, 7, 8, tzinfo=UTC), None]) == [expected, None]
