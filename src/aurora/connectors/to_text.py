"""Columns as text, vectorised, in forms that ``from_text`` and ``json_values`` read back to the same values.

timestamp  ``2024-01-31T12:00:00.000000Z``, always with six digits; outside the years 0 to 9999, where ISO 8601 has
           no agreed form, the microseconds since 1970 as an integer
duration   seconds with as many digits as it needs: ``1.5s``, ``-0.000001s``
double     the shortest text that reads back equal; ``NaN``, ``inf``, ``-inf``
binary     base64
list       JSON
"""

from __future__ import annotations

import json

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from aurora.model.schema import Schema
from aurora.model.types import BINARY, DOUBLE, DURATION, STRING, TIMESTAMP, Type

_YEAR_0_US = -62_167_219_200_000_000
_YEAR_10000_US = 253_402_300_800_000_000


def timestamp_text(values: pl.Series) -> pl.Series:
    """Arrow writes timestamps several times faster than Polars, if they have no zone, but with a space for the T."""
    numbers = values.cast(pl.Int64)
    within = numbers.is_between(_YEAR_0_US, _YEAR_10000_US, closed="left")
    if not within.all():
        safe = pl.select(pl.when(within).then(numbers)).to_series()
        return timestamp_text(safe).zip_with(within.fill_null(True), numbers.cast(pl.String)).alias(values.name)
    text = pc.cast(numbers.to_arrow().cast(pa.timestamp("us")), pa.large_string())
    return pl.Series(values.name, pc.binary_replace_slice(text, 10, 11, "T")) + "Z"


def duration_text(value: pl.Expr) -> pl.Expr:
    us = value.cast(pl.Int64)
    below = us // 1_000_000
    above = us - below * 1_000_000
    borrow = (us < 0) & (above > 0)
    seconds = pl.when(borrow).then(below + 1).otherwise(below)
    rest = pl.when(borrow).then(1_000_000 - above).otherwise(above)
    sign = pl.when(borrow & (seconds == 0)).then(pl.lit("-")).otherwise(pl.lit(""))
    fraction = ("." + rest.cast(pl.String).str.zfill(6)).str.strip_chars_end("0").str.strip_chars_end(".")
    return sign + seconds.cast(pl.String) + fraction + "s"


def scalar_text(value: pl.Expr, kind: Type) -> pl.Expr:
    """The text of a column that has a form of its own; others are left to the writer of the format."""
    if kind == TIMESTAMP:
        return value.map_batches(timestamp_text, return_dtype=pl.String)
    if kind == DURATION:
        return duration_text(value)
    if kind == BINARY:
        return value.bin.encode("base64")
    return value


def json_text(value: pl.Expr, kind: Type) -> pl.Expr:
    """The JSON of each value; null stays null."""
    if kind.item is not None:
        items = value.list.eval(json_text(pl.element(), kind.item).fill_null("null"))
        return "[" + items.list.join(",") + "]"
    if kind == DOUBLE:
        text = value.cast(pl.String)
        return pl.when(value.is_finite()).then(text).otherwise('"' + text + '"')
    if kind == STRING:
        wrapped = pl.struct(value.alias("v")).struct.json_encode()
        inside = wrapped.str.slice(5, wrapped.str.len_chars() - 6)
        return pl.when(value.is_not_null()).then(inside)
    if kind in (TIMESTAMP, DURATION, BINARY):
        return '"' + scalar_text(value, kind) + '"'
    return value.cast(pl.String)


def csv_columns(schema: Schema) -> list[pl.Expr]:
    """What a CSV writer is to be given for each column."""
    return [
        (json_text if kind.item is not None else scalar_text)(pl.col(name), kind).alias(name)
        for name, kind in schema.items()
    ]


def json_objects(schema: Schema) -> pl.Expr:
    """A column of text: each tuple as a JSON object with every column; NULL is ``null``."""
    pieces: list[pl.Expr] = []
    for name, kind in schema.items():
        key = json.dumps(name, ensure_ascii=False) + ":"
        pieces.append(pl.lit(("," if pieces else "{") + key))
        pieces.append(json_text(pl.col(name), kind).fill_null("null"))
    return pl.concat_str([*pieces, pl.lit("}")]).alias("object")
