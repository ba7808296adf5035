"""CAST and TRY_CAST."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from aurora.expressions import analyse
from aurora.model.types import DOUBLE
from tests.unit.expressions.evaluation import SCOPE, evaluate, fault, frame, problems, run, values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cast(2.9 as int)", 2),
        ("cast(-2.9 as bigint)", -2),
        ("cast(' 12 ' as int)", 12),
        ("cast('-7' as integer)", -7),
        ("cast(1 = 1 as int)", 1),
        ("cast(1 as double)", 1.0),
        ("cast('1e3' as double precision)", 1000.0),
        ("cast('inf' as double)", float("inf")),
        ("cast(0 as boolean)", False),
        ("cast('Yes' as bool)", True),
        ("cast('f' as bool)", False),
        ("cast(12 as string)", "12"),
        ("cast(1.5 as varchar)", "1.5"),
        ("cast(1 = 1 as text)", "true"),
        ("'12'::int + 1", 13),
        ("cast('2024-01-01' as timestamp)", datetime(2024, 1, 1, tzinfo=UTC)),
        ("cast('1m30s' as duration)", timedelta(seconds=90)),
        ("cast('-1d 2h' as interval)", timedelta(days=-1, hours=-2)),
        ("cast('0.5ms' as duration)", timedelta(microseconds=500)),
        ("cast(interval '90' second as string)", "1m30s"),
        ("cast('ab' as binary)", b"ab"),
        ("cast(cast('ab' as binary) as string)", "ab"),
        ("cast(null as int)", None),
        ("try_cast('5' as int)", 5),
    ],
)
def test_values(text: str, expected: object) -> None:
    found, faults = fault(text)
    assert found == expected
    assert type(found) is type(expected)
    assert faults == 0


@pytest.mark.parametrize(
    "text",
    ["cast('x' as int)", "try_cast('1.5' as int)", "cast('9223372036854775808' as int)", "cast('' as double)",
     "cast('maybe' as bool)", "cast(1e300 as int)", "cast(9223372036854775807.0 as int)", "try_cast('x' as timestamp)",
     "cast('5 parsecs' as duration)", "cast('' as duration)"],
)  # fmt: skip
def test_what_does_not_fit_is_null_and_counted(text: str) -> None:
    assert fault(text) == (None, 1)


def test_columns() -> None:
    assert evaluate("cast(s as timestamp)", s=["2024-01-01", "x", None])[1] == [0, 1, 0]
    assert evaluate("cast(b as string)", b=[b"ok", b"\xff", None]) == (["ok", None, None], [0, 1, 0])
    assert values("cast(d as string)", d=[timedelta(microseconds=1), timedelta(hours=-1)]) == ["1us", "-1h"]


@pytest.mark.parametrize("text", ["cast(t as int)", "cast(d as double)", "cast(l as string)", "cast(i as timestamp)"])
def test_types_that_do_not_turn_into_each_other(text: str) -> None:
    assert set(problems(text)) == {"type-mismatch"}


@pytest.mark.parametrize(
    "text",
    ["cast(i as decimal(10, 2))", "cast(i as smallint)", "cast(x as float)", "cast(t as date)", "date '2024-01-01'",
     "cast(s as varchar(10))", "cast(s as widget)", "cast(l as list<int>)"],
)  # fmt: skip
def test_types_that_columns_do_not_have(text: str) -> None:
    assert set(problems(text)) == {"unknown-type"}


def test_an_int_widens_where_a_double_is_expected() -> None:
    scalar = analyse("i", SCOPE, expect=DOUBLE)
    assert scalar.type == DOUBLE
    assert run(scalar, frame(i=[1]))[0] == [1.0]
