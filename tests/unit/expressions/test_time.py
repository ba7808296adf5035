"""Timestamps and durations: literals, fields, truncation, text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.unit.expressions.evaluation import evaluate, fault, problems, value, values


def at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type, misc]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("timestamp '2024-01-02'", at(2024, 1, 2)),
        ("timestamp '2024-01-02 03:04'", at(2024, 1, 2, 3, 4)),
        ("timestamp '2024-01-02T03:04:05Z'", at(2024, 1, 2, 3, 4, 5)),
        ("timestamp '2024-01-02 03:04:05.678+01:30'", at(2024, 1, 2, 1, 34, 5, 678000)),
        ("timestamp '2024-01-02 03:04:05 -0200'", at(2024, 1, 2, 5, 4, 5)),
        ("timestamp '1969-12-31 23:59:59.999999'", at(1969, 12, 31, 23, 59, 59, 999999)),
        ("interval '5' second", timedelta(seconds=5)),
        ("interval '5 seconds'", timedelta(seconds=5)),
        ("interval 5 minute", timedelta(minutes=5)),
        ("interval '1.5' hour", timedelta(hours=1.5)),
        ("interval '-2' day", timedelta(days=-2)),
        ("-interval '2' day", timedelta(days=-2)),
        ("interval '1 hour 30 minutes'", timedelta(minutes=90)),
        ("interval '200ms'", timedelta(milliseconds=200)),
        ("interval '1m30s'", timedelta(seconds=90)),
        ("interval '3' week", timedelta(weeks=3)),
    ],
)
def test_literals(text: str, expected: object) -> None:
    assert value(text) == expected


SAMPLE = at(2023, 12, 31, 23, 59, 58, 123456)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("extract(year from t)", 2023),
        ("extract(quarter from t)", 4),
        ("extract(week from t)", 52),
        ("extract(dow from t)", 1),
        ("extract(isodow from t)", 7),
        ("extract(doy from t)", 365),
        ("extract(seconds from t)", 58),
        ("extract(epoch from t)", 1704067198.123456),
        ("millisecond(t)", 58123),
        ("microsecond(t)", 58123456),
        ("dayofweek(t)", 1),
        ("unix_seconds(t)", 1704067198),
        ("epoch_ms(t)", 1704067198123),
        ("epoch_us(t)", 1704067198123456),
        ("date_trunc('year', t)", at(2023, 1, 1)),
        ("date_trunc('quarter', t)", at(2023, 10, 1)),
        ("date_trunc(month, t)", at(2023, 12, 1)),
        ("date_trunc('week', t)", at(2023, 12, 25)),
        ("date_trunc('DAY', t)", at(2023, 12, 31)),
        ("date_trunc('millisecond', t)", at(2023, 12, 31, 23, 59, 58, 123000)),
        ("strftime(t, '%d/%m/%y %H-%M-%S.%f')", "31/12/23 23-59-58.123456"),
        ("date_format(t, 'yyyy-MM-dd''T''HH:mm:ss.SSS')", "2023-12-31T23:59:58.123"),
        ("add_months(t, 2)", at(2024, 2, 29, 23, 59, 58, 123456)),
        ("add_months(t, -10)", at(2023, 2, 28, 23, 59, 58, 123456)),
        ("timestampdiff(month, timestamp '2023-11-30', t)", 1),
        ("timestampdiff(month, t, timestamp '2024-01-31')", 0),
        ("timestampdiff(month, t, timestamp '2023-11-30')", -1),
        ("timestampdiff(year, timestamp '2020-12-31 23:59:59', t)", 2),
        ("timestampdiff('hour', t, timestamp '2023-12-31')", -23),
        ("datediff(day, t, t + interval '2' second)", 1),
        ("datediff('week', t, t + interval '1' day)", 1),
        ("datediff('year', t, t + interval '1' day)", 1),
        ("datediff('quarter', t, timestamp '2023-09-30')", -1),
        ("datediff(t, timestamp '2023-12-30 23:00')", 1),
        ("cast(t as string)", "2023-12-31 23:59:58.123456"),
        ("t > '2023-12-31'", True),
        ("'2023-12-31' > t", False),
        ("t between '2023-12-31' and '2024-01-01'", True),
        ("t in ('2023-12-31 23:59:58.123456')", True),
        ("case when true then t else '2023-01-01' end", SAMPLE),
        ("coalesce(null, '2023-01-01', t)", at(2023, 1, 1)),
    ],
)
def test_functions(text: str, expected: object) -> None:
    assert evaluate(text, t=[SAMPLE, None])[0][0] == expected
    if "coalesce" not in text and "case" not in text:
        assert evaluate(text, t=[None]) == ([None], [0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("to_timestamp(1.5)", at(1970, 1, 1, 0, 0, 1, 500000)),
        ("from_unixtime(86400)", at(1970, 1, 2)),
        ("timestamp_millis(1)", at(1970, 1, 1, 0, 0, 0, 1000)),
        ("timestamp_micros(-1)", at(1969, 12, 31, 23, 59, 59, 999999)),
        ("to_timestamp('2024-01-02T03:04:05Z')", at(2024, 1, 2, 3, 4, 5)),
        ("to_timestamp('02.01.2024', 'dd.MM.yyyy')", at(2024, 1, 2)),
        ("to_timestamp('2024-01-02 03:04', '%Y-%m-%d %H:%M')", at(2024, 1, 2, 3, 4)),
        ("to_timestamp('2024-01-02 03:04 +0100', '%Y-%m-%d %H:%M %z')", at(2024, 1, 2, 2, 4)),
        ("total_seconds(interval '90' second)", 90.0),
        ("duration_micros(5)", timedelta(microseconds=5)),
    ],
)
def test_conversion(text: str, expected: object) -> None:
    assert fault(text) == (expected, 0)


@pytest.mark.parametrize(
    "text",
    [
        "to_timestamp('yesterday')",
        "to_timestamp('2024-13-01')",
        "to_timestamp('2024', 'dd.MM.yyyy')",
        "to_timestamp(1e30)",
        "to_timestamp(9223372036854775807)",
        "timestamp_micros(9223372036854775807)",
        "timestamp '9999-12-31' + interval '1' day",
        "timestamp '0001-01-01' - interval '1' microsecond",
        "interval '1' day + timestamp '9999-12-31'",
        "add_months(timestamp '9999-12-31', 1)",
        "add_months(timestamp '2024-01-01', 999999)",
    ],
)
def test_times_that_do_not_exist_are_null_and_counted(text: str) -> None:
    assert fault(text) == (None, 1)


def test_arrival_time_is_the_hidden_column() -> None:
    assert values("arrival_time()", i=[0, 0]) == [at(1970, 1, 1), at(1970, 1, 1, 0, 0, 0, 1)]
    assert values("t - arrival_time()", t=[at(1970, 1, 2)]) == [timedelta(days=1)]


@pytest.mark.parametrize("text", ["date_format(t, 'qqq')", "strftime(t, '%Q')", "to_timestamp(s, '%Y %H')"])
def test_formats_that_mean_nothing(text: str) -> None:
    assert set(problems(text)) == {"bad-literal"}
