"""CAST and TRY_CAST."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from aurora.expressions import analyse, analyse_aggregates
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
        ("cast('1.5' as float)", 1.5),
        ("cast(1 as real)", 1.0),
        ("0.1::float4", 0.1),
        ("cast('2' as float(24))", 2.0),
        ("cast(12 as text)", "12"),
        ("cast('aurora' as varchar(3))", "aur"),
        ("cast(12345 as character varying(2))", "12"),
        ("cast('日本語' as char(2))", "日本"),
        ("cast('7' as int8) + '7'::int4 + cast(7 as bigint)", 21),
        ("cast('7' as smallint)", 7),
        ("cast(-128 as tinyint)", -128),
        ("cast(255 as utinyint)", 255),
        ("cast(4294967295 as uinteger)", 4294967295),
        ("cast('2024-01-01' as timestamp with time zone)", datetime(2024, 1, 1, tzinfo=UTC)),
        ("cast('2024-01-01' as datetime)", datetime(2024, 1, 1, tzinfo=UTC)),
        ("cast('ab' as bytea)", b"ab"),
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
     "cast('5 parsecs' as duration)", "cast('' as duration)", "cast(32768 as smallint)", "cast('128' as tinyint)",
     "cast(-1 as utinyint)", "cast(-0.5 - 1 as usmallint)"],
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
    ("text", "way_out"),
    [
        ("cast(i as decimal(10, 2))", "an int that counts the smallest unit"),
        ("cast(i as numeric)", "use double"),
        ("cast(t as date)", "date_trunc('day', t)"),
        ("date '2024-01-01'", "timestamp '2024-12-31'"),
        ("cast(s as time)", "duration since midnight"),
        ("cast(s as timestamp(3))", "date_trunc('second', t)"),
        ("cast(t as timestamp_s)", "date_trunc('second', t)"),
        ("cast(i as ubigint)", "use int (64 bits with a sign)"),
        ("cast(i as uint64)", "use int (64 bits with a sign)"),
        ("cast(i as hugeint)", "use int (64 bits with a sign)"),
        ("cast(s as struct(a int))", "a column for each field"),
        ("cast(s as map(int, text))", "as JSON"),
        ("cast(s as json)", "use string"),
        ("cast(s as uuid)", "use string"),
        ("cast(l as list<int>)", "lists are not cast"),
        ("cast(s as int[])", "lists are not cast"),
        ("cast(s as varchar(0))", "without parameters"),
        ("cast(b as varbinary(5))", "without parameters"),
        ("cast(i as integer(5))", "without parameters"),
        ("cast(s as dubble)", "did you mean 'double'?"),
        ("cast(s as widget)", "cast to bool"),
    ],
)
def test_types_that_columns_do_not_have(text: str, way_out: str) -> None:
    found = problems(text)
    assert set(found) == {"unknown-type"}
    assert way_out in found["unknown-type"]


def test_two_casts_to_different_widths_are_two_aggregates() -> None:
    texts = {"a": "sum(cast(i as smallint))", "b": "sum(cast(i as tinyint))", "c": "sum(cast(i as int2))"}
    calls = analyse_aggregates(texts, SCOPE).calls
    assert len(calls) == 2


def test_an_int_widens_where_a_double_is_expected() -> None:
    scalar = analyse("i", SCOPE, expect=DOUBLE)
    assert scalar.type == DOUBLE
    assert run(scalar, frame(i=[1]))[0] == [1.0]
