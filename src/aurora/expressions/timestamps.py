"""Timestamps and durations as text, read and written on whole columns."""

from __future__ import annotations

import re

import polars as pl

from aurora.model.quantities import Duration

TIMESTAMP = pl.Datetime("us", "UTC")
DURATION = pl.Duration("us")

UNITS_US = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}
"""The units that have a fixed length; months, quarters and years have none."""
CALENDAR_MONTHS = {"month": 1, "quarter": 3, "year": 12}

_ISO = (
    r"^\s*(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?(\.\d{1,9})?"
    r"\s*(?:(?:Z|UTC)|([+-]\d{2}):?(\d{2})?)?)?\s*$"
)
_NUMBER = r"(\d+(?:\.\d+)?)\s*"
_LENGTH = r"^\s*(-)?\s*" + "".join(rf"(?:{_NUMBER}{unit})?\s*" for unit in ("d", "h", "m", "s", "ms", "us")) + "$"
_LENGTH_US = (86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000, 1_000, 1)

FIRST_US = -62_135_596_800_000_000
LAST_US = 253_402_300_799_999_999
"""The years 1 to 9999. Results outside are NULL and counted: no file or program could read such a time."""

_PERCENT = re.compile(r"%(?:-?[aAbBdeFHIjmMpSTuUVwWyYzf%]|[36]f|\.[36]?f)")
_JAVA = {
    "yyyy": "%Y", "yy": "%y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "M": "%-m", "dd": "%d", "d": "%-d", "HH": "%H",
    "H": "%-H", "hh": "%I", "mm": "%M", "ss": "%S", "SSS": "%3f", "SSSSSS": "%6f", "a": "%p", "EEE": "%a",
    "EEEE": "%A", "D": "%-j", "DDD": "%j",
}  # fmt: skip


def of_text(text: pl.Expr) -> pl.Expr:
    """ISO 8601 dates and times, without a zone or with one; UTC if there is none. NULL if it is not one."""
    part = text.str.extract_groups(_ISO).struct
    return pl.format(
        "{}T{}{}{}{}:{}",
        part.field("1"),
        part.field("2").fill_null("00:00"),
        part.field("3").fill_null(":00"),
        part.field("4").fill_null(""),
        part.field("5").fill_null("+00"),
        part.field("6").fill_null("00"),
    ).str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%:z", time_unit="us", time_zone="UTC", strict=False)


def to_text(time: pl.Expr) -> pl.Expr:
    return on_calendar(time).dt.to_string("%Y-%m-%d %H:%M:%S%.f")


def on_calendar(time: pl.Expr) -> pl.Expr:
    """NULL for times outside the years 1 to 9999, on some of which Polars would panic."""
    return pl.when(time.to_physical().is_between(FIRST_US, LAST_US)).then(time)


def of_microseconds(us: pl.Expr) -> pl.Expr:
    return pl.when(us.is_between(FIRST_US, LAST_US)).then(us).cast(TIMESTAMP)


def duration_of_text(text: pl.Expr) -> pl.Expr:
    """``1m30s``, ``200ms``, as durations are written everywhere in Aurora; NULL if it is not one."""
    part = text.str.extract_groups(_LENGTH).struct
    total = pl.sum_horizontal(
        part.field(str(index)).cast(pl.Float64, strict=False).fill_null(0.0) * us
        for index, us in enumerate(_LENGTH_US, start=2)
    )
    sign = pl.when(part.field("1") == "-").then(-1.0).otherwise(1.0)
    whole = (sign * total).round(0).cast(pl.Int64, strict=False)
    return pl.when(text.str.contains(_LENGTH) & text.str.contains(r"\d")).then(whole).cast(DURATION)


def duration_to_text(duration: pl.Expr) -> pl.Expr:
    return (
        duration.dt.to_string("polars").str.replace_all("µs", "us", literal=True).str.replace_all(" ", "", literal=True)
    )


def timestamp_literal(text: str) -> int | None:
    """The microseconds since the epoch of a timestamp written in an expression.

    >>> timestamp_literal("1970-01-01 00:00:01.5Z"), timestamp_literal("yesterday")
    (1500000, None)
    """
    value = pl.select(of_text(pl.lit(text)).to_physical()).item()
    return None if value is None else int(value)


def interval_literal(text: str, unit: str | None) -> int | str:
    """The microseconds of an interval, or what is wrong with it.

    >>> interval_literal("5", "SECONDS"), interval_literal("1 hour 30 minutes", None), interval_literal("200ms", None)
    (5000000, 5400000000, 200000)
    >>> interval_literal("1", "MONTH")
    'a month has no fixed length'
    """
    if unit is not None:
        return _amount(text, unit)
    pieces = re.findall(r"([+-]?\d+(?:\.\d+)?)\s*([A-Za-z]+)", text)
    if pieces and not re.sub(r"[+-]?\d+(?:\.\d+)?\s*[A-Za-z]+", "", text).strip(" ,"):
        amounts = [_amount(number, name) for number, name in pieces]
        if all(isinstance(amount, int) for amount in amounts):
            return sum(amount for amount in amounts if isinstance(amount, int))
    try:
        return Duration.parse(text).us
    except ValueError:
        wrong = [a for number, name in pieces if isinstance(a := _amount(number, name), str)]
        return wrong[0] if wrong else f"{text!r} is not a length of time"


def _amount(number: str, unit: str) -> int | str:
    name = unit.lower().removesuffix("s")
    if name in CALENDAR_MONTHS:
        return f"a {name} has no fixed length"
    if name not in UNITS_US:
        return f"{unit!r} is not a unit of time"
    try:
        amount = (
            round(float(number) * UNITS_US[name])
            if not number.strip().lstrip("+-").isdigit()
            else (int(number) * UNITS_US[name])
        )
    except (ValueError, OverflowError):
        return f"{number!r} is not a number"
    return amount if abs(amount) < 2**63 else f"{number} {unit} are longer than a duration can be"


def percent_format(text: str) -> str | None:
    """A strftime format as Polars wants it, or None if it has codes that mean nothing.

    >>> percent_format("%Y-%m-%d %H:%M:%S.%f"), percent_format("%Q")
    ('%Y-%m-%d %H:%M:%S.%6f', None)
    """
    if "%" in _PERCENT.sub("", text):
        return None
    return re.sub(r"%%|%f", lambda match: "%6f" if match[0] == "%f" else match[0], text)


def java_format(text: str) -> str | None:
    """A date_format pattern as Polars wants it, or None if it has letters that mean nothing.

    >>> java_format("dd.MM.yyyy 'at' HH:mm"), java_format("qq")
    ('%d.%m.%Y at %H:%M', None)
    """
    out = []
    for match in re.finditer(r"'([^']*)'|([A-Za-z])\2*|[^A-Za-z']+|'", text):
        piece = match[0]
        if match[1] is not None:
            out.append(match[1].replace("%", "%%") or "'")
        elif match[2] is not None:
            if piece not in _JAVA:
                return None
            out.append(_JAVA[piece])
        else:
            out.append(piece.replace("%", "%%"))
    return "".join(out)
