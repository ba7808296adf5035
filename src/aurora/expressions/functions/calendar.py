"""Functions on timestamps and durations. All times are in UTC."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from aurora.expressions import timestamps
from aurora.expressions.functions.arithmetic import add_ints, divide_ints, multiply_ints, quotient, subtract_ints
from aurora.expressions.functions.declaration import Function, Signature, signature
from aurora.expressions.nodes import Node, Value, Way
from aurora.expressions.timestamps import CALENDAR_MONTHS, DURATION, UNITS_US

GROUP = "time"
_SAMPLE = "timestamp '2024-03-05 06:07:08.009010'"
_TRUNCATE = {
    "microsecond": "1us", "millisecond": "1ms", "second": "1s", "minute": "1m", "hour": "1h", "day": "1d", "week": "1w",
    "month": "1mo", "quarter": "1q", "year": "1y",
}  # fmt: skip


def _whole(part: pl.Expr) -> pl.Expr:
    return part.cast(pl.Int64)


def _seconds(time: pl.Expr) -> pl.Expr:
    return quotient(time.to_physical().cast(pl.Float64), pl.lit(1e6))


# name, aliases, formula, range, meaning, value for the sample
_FIELDS: tuple[tuple[str, tuple[str, ...], Callable[[pl.Expr], pl.Expr], tuple[int, int], str, int], ...] = (
    ("year", (), lambda t: _whole(t.dt.year()), (-300_000, 300_000), "The year.", 2024),
    ("isoyear", (), lambda t: _whole(t.dt.iso_year()), (-300_000, 300_000), "The year of the ISO week.", 2024),
    ("quarter", (), lambda t: _whole(t.dt.quarter()), (1, 4), "The quarter, 1 to 4.", 1),
    ("month", (), lambda t: _whole(t.dt.month()), (1, 12), "The month, 1 to 12.", 3),
    ("week", ("weekofyear",), lambda t: _whole(t.dt.week()), (1, 53), "The ISO week, 1 to 53.", 10),
    ("day", ("dayofmonth",), lambda t: _whole(t.dt.day()), (1, 31), "The day of the month.", 5),
    ("dayofweek", ("dow",), lambda t: _whole(t.dt.weekday()) % 7 + 1, (1, 7), "1 for Sunday to 7 for Saturday.", 3),
    ("isodow", (), lambda t: _whole(t.dt.weekday()), (1, 7), "1 for Monday to 7 for Sunday.", 2),
    ("dayofyear", ("doy",), lambda t: _whole(t.dt.ordinal_day()), (1, 366), "The day of the year.", 65),
    ("hour", (), lambda t: _whole(t.dt.hour()), (0, 23), "The hour, 0 to 23.", 6),
    ("minute", (), lambda t: _whole(t.dt.minute()), (0, 59), "The minute, 0 to 59.", 7),
    ("second", (), lambda t: _whole(t.dt.second()), (0, 59), "The whole second, 0 to 59.", 8),
    (
        "millisecond",
        (),
        lambda t: t.to_physical() % 60_000_000 // 1_000,
        (0, 59_999),
        "The milliseconds since the minute began.",
        8009,
    ),
    (
        "microsecond",
        (),
        lambda t: t.to_physical() % 60_000_000,
        (0, 59_999_999),
        "The microseconds since the minute began.",
        8009010,
    ),
)
FIELDS = {name: field[0] for field in _FIELDS for name in (field[0], *field[1])} | {"epoch": "epoch"}
"""What ``extract(field from t)`` may ask for, and the function of the table that answers."""


def _unit(constants: tuple[Value, ...]) -> str:
    return str(constants[0]).lower().removesuffix("s")


def _check_unit(constants: tuple[Value, ...]) -> str | None:
    if _unit(constants) not in _TRUNCATE:
        return f"{constants[0]!r} is not a unit; the units are {', '.join(_TRUNCATE)}"
    return None


def _truncated(unit: str, time: pl.Expr) -> pl.Expr:
    name = _unit((unit,))
    if name in CALENDAR_MONTHS:
        time = timestamps.on_calendar(time)
    return time.dt.truncate(_TRUNCATE[name])


def _months(time: pl.Expr) -> pl.Expr:
    return _whole(time.dt.year()) * 12 + _whole(time.dt.month())


def _into_month(time: pl.Expr) -> pl.Expr:
    """The place within the month, comparable between months of different lengths."""
    return _whole(time.dt.day()) * UNITS_US["day"] + time.to_physical() % UNITS_US["day"]


def _whole_units(unit: str, start: pl.Expr, end: pl.Expr) -> pl.Expr:
    name = _unit((unit,))
    if name in UNITS_US:
        return divide_ints(subtract_ints(end.to_physical(), start.to_physical()), pl.lit(UNITS_US[name], pl.Int64))
    months = _months(end) - _months(start)
    rest = _into_month(end) - _into_month(start)
    months = months - ((months > 0) & (rest < 0)).cast(pl.Int64) + ((months < 0) & (rest > 0)).cast(pl.Int64)
    return divide_ints(months, pl.lit(CALENDAR_MONTHS[name], pl.Int64))


def _boundaries(unit: str, start: pl.Expr, end: pl.Expr) -> pl.Expr:
    name = _unit((unit,))
    if name in ("year", "quarter", "month"):
        size = CALENDAR_MONTHS[name]
        return (_months(end) - 1) // size - (_months(start) - 1) // size
    shift = 3 * UNITS_US["day"] if name == "week" else 0  # the epoch was a Thursday, weeks start on Mondays
    size = UNITS_US[name]
    return add_ints(end.to_physical(), pl.lit(shift)) // size - add_ints(start.to_physical(), pl.lit(shift)) // size


def _date_difference(end: pl.Expr, start: pl.Expr) -> pl.Expr:
    return _boundaries("day", start, end)


def _add_months(time: pl.Expr, months: pl.Expr) -> pl.Expr:
    near = pl.when(months.is_between(-120_000, 120_000)).then(months)
    return timestamps.on_calendar(timestamps.on_calendar(time).dt.offset_by(pl.format("{}mo", near)))


def _of_seconds(seconds: pl.Expr) -> pl.Expr:
    us = (seconds * 1e6).round(0, mode="half_away_from_zero").cast(pl.Int64, strict=False)
    return timestamps.of_microseconds(us)


def _of_whole(us: int) -> Callable[[pl.Expr], pl.Expr]:
    return lambda n: timestamps.of_microseconds(multiply_ints(n, pl.lit(us, pl.Int64)))


def _strftime(time: pl.Expr, text: str) -> pl.Expr:
    return timestamps.on_calendar(time).dt.to_string(timestamps.percent_format(text) or "")


def _date_format(time: pl.Expr, text: str) -> pl.Expr:
    return timestamps.on_calendar(time).dt.to_string(timestamps.java_format(text) or "")


def _strptime(text: pl.Expr, pattern: str) -> pl.Expr:
    wanted = timestamps.percent_format(pattern) if "%" in pattern else timestamps.java_format(pattern)
    return text.str.to_datetime(wanted or "", time_unit="us", time_zone="UTC", strict=False, ambiguous="earliest")


def _check_percent(constants: tuple[Value, ...]) -> str | None:
    if timestamps.percent_format(str(constants[0])) is None:
        return f"{constants[0]!r} has codes that mean nothing; %Y %m %d %H %M %S %f are the usual ones"
    return None


def _check_java(constants: tuple[Value, ...]) -> str | None:
    if timestamps.java_format(str(constants[0])) is None:
        return f"{constants[0]!r} has letters that mean nothing; yyyy MM dd HH mm ss SSS are the usual ones"
    return None


def _check_either(constants: tuple[Value, ...]) -> str | None:
    if not constants:
        return None
    pattern = str(constants[0])
    if wrong := _check_percent(constants) if "%" in pattern else _check_java(constants):
        return wrong
    try:
        pl.select(_strptime(pl.lit("2024"), pattern))
    except pl.exceptions.PolarsError as error:
        return f"{pattern!r} does not make a time: {str(error).splitlines()[0]}"
    return None


def _fields() -> tuple[Function, ...]:
    return tuple(
        Function(
            name,
            (signature("(t: timestamp) -> int", build, range=bounds),),
            GROUP,
            meaning + f" Also extract({name} from t).",
            f"{name}({_SAMPLE})",
            value,
            aliases,
        )
        for name, aliases, build, bounds, meaning, value in _FIELDS
    )


def _choose_text(nodes: tuple[Node, ...]) -> Way:
    if len(nodes) == 1:
        return Way(timestamps.of_text, fallible=True, reuses=True)
    return Way(_strptime, fallible=True)


def _unit_signature(build: Callable[[str, pl.Expr, pl.Expr], pl.Expr], fallible: bool) -> Signature:
    text = "(unit: word!, start: timestamp, end: timestamp) -> int"
    return signature(text, build, check=_check_unit, fallible=fallible, reuses=True)


FUNCTIONS = (
    *_fields(),
    Function(
        "epoch",
        (
            signature("(t: timestamp) -> double", _seconds),
            signature("(length: duration) -> double", _seconds),
        ),
        GROUP,
        "Seconds since 1970, or the seconds of a duration, with their fraction. Also extract(epoch from t).",
        "epoch(interval '1500' millisecond)",
        1.5,
        ("total_seconds",),
    ),
    Function(
        "unix_seconds",
        (signature("(t: timestamp) -> int", lambda t: t.to_physical() // 1_000_000),),
        GROUP,
        "Whole seconds since 1970.",
        "unix_seconds(timestamp '1970-01-02')",
        86400,
        ("unix_timestamp",),
    ),
    Function(
        "unix_millis",
        (signature("(t: timestamp) -> int", lambda t: t.to_physical() // 1_000),),
        GROUP,
        "Whole milliseconds since 1970.",
        "unix_millis(timestamp '1970-01-01 00:00:01')",
        1000,
        ("epoch_ms",),
    ),
    Function(
        "unix_micros",
        (
            signature("(t: timestamp) -> int", lambda t: t.to_physical()),
            signature("(length: duration) -> int", lambda t: t.to_physical()),
        ),
        GROUP,
        "Microseconds since 1970, or of a duration.",
        "unix_micros(timestamp '1970-01-01 00:00:01')",
        1000000,
        ("epoch_us",),
    ),
    Function(
        "to_timestamp",
        (
            signature("(seconds: int) -> timestamp", _of_whole(1_000_000), fallible=True, reuses=True),
            signature("(seconds: double) -> timestamp", _of_seconds, fallible=True, reuses=True),
            signature("(text: string, [format: string!]) -> timestamp", choose=_choose_text, check=_check_either),
        ),
        GROUP,
        "The time so many seconds after 1970, or read from a text: ISO 8601, or a format with %Y or yyyy codes. "
        "A text that does not fit is NULL and counted.",
        "year(to_timestamp('05.03.2024 06:07', 'dd.MM.yyyy HH:mm'))",
        2024,
        ("from_unixtime", "timestamp_seconds"),
    ),
    Function(
        "timestamp_millis",
        (signature("(milliseconds: int) -> timestamp", _of_whole(1_000), fallible=True, reuses=True),),
        GROUP,
        "The time so many milliseconds after 1970.",
        "second(timestamp_millis(5000))",
        5,
    ),
    Function(
        "timestamp_micros",
        (signature("(microseconds: int) -> timestamp", timestamps.of_microseconds, fallible=True, reuses=True),),
        GROUP,
        "The time so many microseconds after 1970.",
        "second(timestamp_micros(5000000))",
        5,
    ),
    Function(
        "duration_micros",
        (signature("(microseconds: int) -> duration", lambda n: n.cast(DURATION)),),
        GROUP,
        "A duration of so many microseconds.",
        "duration_micros(5000000) = interval '5' second",
        True,
    ),
    Function(
        "date_trunc",
        (signature("(unit: word!, t: timestamp) -> timestamp", _truncated, check=_check_unit, reuses=True),),
        GROUP,
        f"The start of the {', '.join(_TRUNCATE)} that holds t; weeks start on Mondays.",
        f"date_trunc('hour', {_SAMPLE}) = timestamp '2024-03-05 06:00'",
        True,
        ("datetrunc",),
    ),
    Function(
        "timestampdiff",
        (_unit_signature(_whole_units, fallible=True),),
        GROUP,
        "How many whole units lie between two times, rounded towards zero.",
        "timestampdiff(minute, timestamp '2024-01-01 00:00:00', timestamp '2024-01-01 01:30:59')",
        90,
    ),
    Function(
        "datediff",
        (
            signature("(end: timestamp, start: timestamp) -> int", _date_difference, fallible=True, reuses=True),
            _unit_signature(_boundaries, fallible=True),
        ),
        GROUP,
        "Days from start to end by the calendar; with a unit, how many starts of that unit lie between.",
        "datediff(timestamp '2024-01-02 00:01', timestamp '2024-01-01 23:59')",
        1,
        ("date_diff",),
    ),
    Function(
        "add_months",
        (signature("(t: timestamp, months: int) -> timestamp", _add_months, fallible=True, reuses=True),),
        GROUP,
        "The same day and time so many months later, or the month's last day if it has no such day.",
        "add_months(timestamp '2024-01-31', 1) = timestamp '2024-02-29'",
        True,
    ),
    Function(
        "strftime",
        (
            signature(
                "(t: timestamp, format: string!) -> string", _strftime, check=_check_percent, fallible=True, reuses=True
            ),
        ),
        GROUP,
        "The time as text, in a format with codes such as %Y-%m-%d %H:%M:%S.%f.",
        f"strftime({_SAMPLE}, '%H:%M')",
        "06:07",
    ),
    Function(
        "date_format",
        (
            signature(
                "(t: timestamp, format: string!) -> string", _date_format, check=_check_java, fallible=True, reuses=True
            ),
        ),
        GROUP,
        "The time as text, in a format with letters such as yyyy-MM-dd HH:mm:ss.SSS.",
        f"date_format({_SAMPLE}, 'dd.MM.yyyy')",
        "05.03.2024",
    ),
)
