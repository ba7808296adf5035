"""The types of Parquet and Arrow files: which of them a column can have, and how it becomes the schema's."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from aurora.connectors.json_values import parse_column
from aurora.errors import did_you_mean
from aurora.model.schema import Schema
from aurora.model.types import BINARY, BOOL, DOUBLE, DURATION, INT, STRING, TIMESTAMP, Type

_TO_MICROS = {"s": 1_000_000, "ms": 1_000}


def _plain(dtype: pa.DataType) -> pa.DataType:
    return _plain(dtype.value_type) if pa.types.is_dictionary(dtype) else dtype


def convertible(dtype: pa.DataType, kind: Type) -> bool:
    dtype = _plain(dtype)
    is_ = pa.types
    if is_.is_null(dtype):
        return True
    text = is_.is_string(dtype) or is_.is_large_string(dtype) or is_.is_string_view(dtype)
    if kind.item is not None:
        lists = is_.is_list(dtype) or is_.is_large_list(dtype) or is_.is_fixed_size_list(dtype)
        return lists and not text and convertible(dtype.value_type, kind.item)
    if text:
        return True
    whole = is_.is_integer(dtype)
    legal: dict[Type, bool] = {
        BOOL: is_.is_boolean(dtype),
        INT: whole,
        DOUBLE: whole or is_.is_floating(dtype) or is_.is_decimal(dtype),
        STRING: False,
        TIMESTAMP: whole or is_.is_timestamp(dtype) or is_.is_date(dtype),
        DURATION: whole or is_.is_duration(dtype),
        BINARY: "binary" in str(dtype),
    }
    return legal[kind]


def misfit(found: pa.Schema, schema: Schema) -> str:
    """Why columns of these types cannot become those of the schema, or an empty text."""
    for name, kind in schema.items():
        places = found.get_all_field_indices(name)
        if not places:
            hint = did_you_mean(name, found.names)
            return (
                f"has no column {name!r}; it has {', '.join(map(repr, found.names))}; "
                f"name the columns as the schema does" + (f", {hint}" if hint else "")
            )
        if len(places) > 1:
            return f"has {len(places)} columns {name!r}; keep one of them"
        dtype = found.field(name).type
        if not convertible(dtype, kind):
            return f"holds {dtype} in the column {name!r}, which is no {kind}; change the schema or convert the file"
    return ""


def frame_of(batch: pa.RecordBatch) -> pl.DataFrame:
    """The batch as a frame. Times too far away to be counted in microseconds are text, which no conversion takes."""
    columns = [_reachable(column) for column in batch.columns]
    return pl.DataFrame(pa.table(columns, names=batch.schema.names))


def _reachable(column: pa.Array) -> pa.Array:
    dtype = column.type
    if not (pa.types.is_timestamp(dtype) or pa.types.is_duration(dtype)) or dtype.unit not in _TO_MICROS:
        return column
    scale = _TO_MICROS[dtype.unit]
    counts = column.cast(pa.int64())
    least, most = pc.min_max(counts).as_py().values()
    if least is None or (least * scale >= -(2**63) and most * scale < 2**63):
        return column
    return pc.binary_join_element_wise(counts.cast(pa.string()), str(scale)[1:], "")


def converted(values: pl.Series, kind: Type) -> pl.Series:
    """The column in the schema's type; null where a value has no place in it, such as an int above 64 bits."""
    wanted = kind.to_polars()
    if values.dtype == wanted:
        return values
    if values.dtype in (pl.Categorical, pl.Enum):
        values = values.cast(pl.String)
    if values.dtype == pl.String:
        return parse_column(values, kind).alias(values.name)
    if kind in (TIMESTAMP, DURATION) and values.dtype.is_integer():
        values = values.cast(pl.Int64, strict=False)
    if kind == TIMESTAMP and isinstance(values.dtype, pl.Datetime):
        # A time without a zone is UTC; one with a zone is the same instant in UTC.
        naive = values.dtype.time_zone is None
        values = values.dt.replace_time_zone("UTC") if naive else values.dt.convert_time_zone("UTC")
    return values.cast(wanted, strict=False)


def never_rejects(dtype: pa.DataType, kind: Type) -> bool:
    """Whether every value that can be stored has a place in the schema's type, so that a row is a tuple."""
    is_ = pa.types
    if is_.is_null(dtype):
        return True
    if is_.is_dictionary(dtype):
        return kind == STRING and never_rejects(dtype.value_type, STRING)
    if kind.item is not None:
        lists = is_.is_list(dtype) or is_.is_large_list(dtype)
        return lists and not is_.is_dictionary(dtype.value_type) and never_rejects(dtype.value_type, kind.item)
    text = is_.is_string(dtype) or is_.is_large_string(dtype) or is_.is_string_view(dtype)
    whole = is_.is_integer(dtype) and not is_.is_uint64(dtype)
    # Coarser units than these can overflow.
    fine = (is_.is_timestamp(dtype) or is_.is_duration(dtype)) and dtype.unit in ("us", "ns")
    legal: dict[Type, bool] = {
        BOOL: is_.is_boolean(dtype),
        INT: whole,
        DOUBLE: is_.is_integer(dtype) or is_.is_float32(dtype) or is_.is_float64(dtype),
        STRING: text,
        TIMESTAMP: whole or (fine and is_.is_timestamp(dtype)),
        DURATION: whole or (fine and is_.is_duration(dtype)),
        BINARY: is_.is_binary(dtype) or is_.is_large_binary(dtype),
    }
    return legal[kind]
