"""Typed columns out of text, vectorised. What a text stands for is the same in every text format.

bool       ``true`` or ``false`` in any case, also ``1`` and ``0``
int        decimal digits with an optional sign, within 64 bits
double     decimal or scientific, ``NaN``, ``inf``, ``-inf``
timestamp  ISO 8601 with ``T`` or a space, a fraction (cut to microseconds) and a zone or ``Z`` if wanted; without a
           zone it is UTC. A plain integer counts microseconds since 1970.
duration   ``1d2h3m4.5s6ms7us``, each part optional; a plain integer counts microseconds
binary     base64
Lists are JSON arrays, which ``json_values`` reads. Spaces around a value are ignored, except in strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from aurora.model.types import BINARY, BOOL, DOUBLE, DURATION, INT, STRING, TIMESTAMP, Type

_INTEGER = r"^[+-]?\d+$"
_TIMESTAMP = (
    r"^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})"
    r"(?:[T ](?<hour>\d{2})(?::(?<minute>\d{2})(?::(?<second>\d{2})(?:\.(?<fraction>\d{1,9}))?)?)?"
    r"(?:Z|(?<sign>[+-])(?<zone_hour>\d{2}):?(?<zone_minute>\d{2})?)?)?$"
)
_ZONED = re.compile(r".*[T ].*(Z|[+-]\d\d(:?\d\d)?)$")
_UNITS_US = {"d": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}
_DURATION = (
    r"^(?<sign>[+-])?" + "".join(rf"(?:(?<{unit}>\d+)(?<{unit}_part>\.\d+)?\s*{unit}\s*)?" for unit in _UNITS_US) + "$"
)
_BOOLS = {"true": True, "false": False, "1": True, "0": False}
_LIMIT_US = 2.0**63


def parse_text(text: pl.Series, kind: Type) -> pl.Series:
    """The values of a column of text, for types that are no lists. Null where a text is null, empty or no value."""
    if kind == STRING:
        return text
    parsed = _PARSERS[kind.name](text)
    if _complete(parsed, text):
        return parsed
    missed = parsed.is_null() & text.is_not_null()
    trimmed = text.str.strip_chars()
    if trimmed.equals(text):
        return parsed
    return parsed.zip_with(~missed, _PARSERS[kind.name](trimmed))


def fault(text: str, kind: Type) -> str:
    """Why a text that ``parse_text`` could not read is not a value of the type."""
    shown = text if len(text) <= 80 else text[:79] + "…"
    if kind in (INT, TIMESTAMP, DURATION) and re.fullmatch(r"\s*[+-]?\d+\s*", text):
        return f"{shown!r} is out of the range of {kind}"
    form = {
        "bool": "true or false",
        "timestamp": "2024-01-31T12:00:00.000000Z",
        "duration": "200ms, 5s, 30m or 2h",
        "binary": "base64 text",
        "list": "a JSON array such as [1, 2]",
    }.get(kind.name)
    article = "an" if kind.name == "int" else "a"
    return f"{shown!r} is not {article} {kind}" + (f"; write {form}" if form else "")


def _integers(text: pl.Series) -> pl.Series:
    return text.cast(pl.Int64, strict=False)


def _doubles(text: pl.Series) -> pl.Series:
    return text.cast(pl.Float64, strict=False)


def _bools(text: pl.Series) -> pl.Series:
    return text.str.to_lowercase().replace_strict(_BOOLS, default=None, return_dtype=pl.Boolean)


def _first(text: pl.Series) -> str | None:
    if len(text) and text[0] is not None:
        return str(text[0])
    index = text.is_not_null().arg_max()
    return None if index is None else text[index]


def _timestamps(text: pl.Series) -> pl.Series:
    """Arrow reads texts of one form in one go; other forms and bad values go by parts."""
    first = _first(text)
    if first is None or "-" not in first[1:]:
        numbers = _integers(text)
        return numbers.cast(TIMESTAMP.to_polars()) if _complete(numbers, text) else _timestamps_by_parts(text)
    zone = "UTC" if _ZONED.fullmatch(first) else None
    values = _timestamps_of_one_form(text, zone)
    if values is not None:
        return values
    alike = (text.str.len_bytes() == len(first.encode())) & text.str.ends_with(first[-1] if zone else "")
    values = _timestamps_of_one_form(pl.select(pl.when(alike).then(text)).to_series(), zone)
    if values is None:
        return _timestamps_by_parts(text)
    others = (~alike).arg_true()
    return values.scatter(others, _timestamps_by_parts(text.gather(others))).alias(text.name)


def _complete(values: pl.Series, text: pl.Series) -> bool:
    return values.null_count() == text.null_count()


def _timestamps_of_one_form(text: pl.Series, zone: str | None) -> pl.Series | None:
    try:
        values = pc.cast(text.to_arrow(), pa.timestamp("us", zone))
    except pa.ArrowInvalid:
        return None
    return pl.Series(text.name, values.cast(pa.int64())).cast(TIMESTAMP.to_polars())


def _timestamps_by_parts(text: pl.Series) -> pl.Series:
    found = pl.DataFrame({"text": text}).select(
        pl.col("text").str.extract_groups(_TIMESTAMP).alias("part"),
        pl.when(pl.col("text").str.contains(_INTEGER)).then(pl.col("text").cast(pl.Int64, strict=False)).alias("us"),
    )

    def part(name: str, default: int = 0) -> pl.Expr:
        return pl.col("part").struct.field(name).cast(pl.Int64, strict=False).fill_null(default)

    year, month, day = part("year", -1), part("month"), part("day")
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    last = pl.when(month == 2).then(28 + leap.cast(pl.Int64)).when(month.is_in([4, 6, 9, 11])).then(30).otherwise(31)
    hour, minute, second = part("hour"), part("minute"), part("second")
    legal = (
        (year >= 0)
        & month.is_between(1, 12)
        & day.is_between(1, last)
        & (hour < 24)
        & (minute < 60)
        & (second < 60)
        & (part("zone_hour") < 24)
        & (part("zone_minute") < 60)
    )
    fraction = pl.col("part").struct.field("fraction").str.pad_end(6, "0").str.head(6).cast(pl.Int64).fill_null(0)
    offset = (part("zone_hour") * 60 + part("zone_minute")) * 60_000_000
    sign = pl.when(pl.col("part").struct.field("sign") == "-").then(-1).otherwise(1)
    # Days since 1970 of a date of the proleptic Gregorian calendar, the year being taken to start in March.
    shifted = year - (month <= 2).cast(pl.Int64)
    days_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days = 365 * shifted + shifted // 4 - shifted // 100 + shifted // 400 + days_of_year - 719_468
    clock = ((days * 24 + hour) * 60 + minute) * 60 + second
    value = clock * 1_000_000 + fraction - sign * offset
    microseconds = pl.coalesce(pl.when(legal).then(value), pl.col("us"))
    return found.select(microseconds.alias(text.name)).to_series().cast(TIMESTAMP.to_polars())


def _durations(text: pl.Series) -> pl.Series:
    numbers = _integers(text)
    if _complete(numbers, text):
        return numbers.cast(DURATION.to_polars())
    found = pl.DataFrame({"text": text}).select(
        pl.col("text").str.extract_groups(_DURATION).alias("part"),
        pl.col("text").str.contains(r"\d").alias("some"),
        numbers.alias("us"),
    )

    def part(name: str) -> pl.Expr:
        return pl.col("part").struct.field(name)

    whole: pl.Expr = pl.lit(0, pl.Int64)
    rough: pl.Expr = pl.lit(0.0)
    legal: pl.Expr = pl.col("some") & pl.any_horizontal(*(part(unit).is_not_null() for unit in _UNITS_US))
    for unit, scale in _UNITS_US.items():
        count = part(unit).cast(pl.Int64, strict=False)
        legal &= part(unit).is_null() | count.is_not_null()
        share = ("0" + part(f"{unit}_part")).cast(pl.Float64).fill_null(0.0) * scale
        whole += count.fill_null(0) * scale + share.round().cast(pl.Int64)
        rough += count.cast(pl.Float64).fill_null(0.0) * scale + share
    # The sum wraps around beyond 64 bits; the rough sum tells how often, the sign of the sum tells the rest.
    negative = part("sign").eq("-").fill_null(False)
    least = negative & (whole == -(2**63))
    legal &= (rough < 1.25 * _LIMIT_US) & ((whole >= 0) | least)
    value = pl.when(negative).then(-whole).otherwise(whole)
    result = pl.when(pl.col("us").is_not_null()).then(pl.col("us")).when(legal).then(value)
    return found.select(result.alias(text.name)).to_series().cast(DURATION.to_polars())


def _binaries(text: pl.Series) -> pl.Series:
    return text.str.decode("base64", strict=False)


_PARSERS: dict[str, Callable[[pl.Series], pl.Series]] = {
    BOOL.name: _bools,
    INT.name: _integers,
    DOUBLE.name: _doubles,
    TIMESTAMP.name: _timestamps,
    DURATION.name: _durations,
    BINARY.name: _binaries,
}
