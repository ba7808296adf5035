"""Arrow batches as they come over the wire to frames of a schema, and back, without touching single tuples."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pyarrow as pa

from aurora.connectors.columnar_types import converted, convertible, frame_of
from aurora.errors import InputError, did_you_mean
from aurora.model.schema import Schema
from aurora.model.types import STRING, Type

Taker = Callable[[pa.RecordBatch], pl.DataFrame]


def arrow_schema(schema: Schema) -> pa.Schema:
    return pa.schema([(name, kind.to_arrow()) for name, kind in schema.items()])


def misfits(found: pa.Schema, schema: Schema) -> list[str]:
    """Everything that keeps columns of these types from becoming those of the schema. Further columns are left out.

    Text is taken for text only: whoever sends Arrow has types.
    """
    reasons = []
    for name, kind in schema.items():
        places = found.get_all_field_indices(name)
        if not places:
            hint = did_you_mean(name, [other for other in found.names if other not in schema])
            reasons.append(f"the column {name!r} ({kind}) is missing" + (f"; {hint}" if hint else ""))
        elif len(places) > 1:
            reasons.append(f"there are {len(places)} columns {name!r}; keep one of them")
        elif not _fits(found.field(name).type, kind):
            reasons.append(f"the column {name!r} holds {found.field(name).type}, which is no {kind}")
    return reasons


def _fits(dtype: pa.DataType, kind: Type) -> bool:
    plain = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
    if kind.item is not None:
        return convertible(dtype, kind) and (not hasattr(plain, "value_type") or _fits(plain.value_type, kind.item))
    text = pa.types.is_string(plain) or pa.types.is_large_string(plain) or pa.types.is_string_view(plain)
    return convertible(dtype, kind) and (kind == STRING or not text)


def taker(found: pa.Schema, schema: Schema) -> Taker:
    """How batches with the columns of ``found``, which has no misfits, become frames of the schema."""
    wanted = arrow_schema(schema)
    if found.names == wanted.names and all(_same(field.type, wanted.field(field.name).type) for field in found):
        return _as_it_is(found)

    def take(batch: pa.RecordBatch) -> pl.DataFrame:
        frame = frame_of(batch.select(list(schema)))
        columns = [converted(frame.get_column(name), kind) for name, kind in schema.items()]
        for before, after in zip(frame.get_columns(), columns, strict=True):
            lost = after.null_count() - before.null_count()
            if lost > 0:
                raise InputError(
                    f"{lost} values of the column {after.name!r} ({before.dtype}) have no place in "
                    f"{schema[after.name]}; leave them out or send them as NULL"
                )
        return pl.DataFrame(columns)

    return take


def _as_it_is(found: pa.Schema) -> Taker:
    """Text and bytes become views, as Polars keeps them: Arrow makes them in a third of the time that it takes Polars.

    The columns are handed over together as one: one by one that is dearer, and for a whole batch Polars has its threads
    come together, which takes longer than the work.
    """
    names, views = found.names, [_VIEWS.get(kind) for kind in found.types]

    def take(batch: pa.RecordBatch) -> pl.DataFrame:
        columns = zip(batch.columns, views, strict=True)
        arrays = [column if view is None else column.cast(view) for column, view in columns]
        return pl.Series(pa.StructArray.from_arrays(arrays, names)).struct.unnest()

    return take


_VIEWS = {
    pa.string(): pa.string_view(),
    pa.large_string(): pa.string_view(),
    pa.binary(): pa.binary_view(),
    pa.large_binary(): pa.binary_view(),
}


def _same(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether Polars makes the same of both: it has one kind of text and one of bytes."""
    if pa.types.is_large_string(wanted):
        return bool(pa.types.is_string(found) or pa.types.is_string_view(found) or found == wanted)
    if pa.types.is_large_binary(wanted):
        return bool(pa.types.is_binary(found) or pa.types.is_binary_view(found) or found == wanted)
    return bool(found == wanted)


def arrow_batches(frame: pl.DataFrame, schema: pa.Schema) -> list[pa.RecordBatch]:
    """The frame with the types that readers have been told."""
    columns = frame.get_columns()
    if frame.n_chunks() > 1:
        # Its pieces stay where they are. Not by Polars' own to_arrow, for which its threads come together too.
        table = pa.table(frame)
        fitted = [_fitted(column, kind) for column, kind in zip(table.columns, schema.types, strict=True)]
        batches: list[pa.RecordBatch] = pa.table(fitted, schema=schema).to_batches()
        return batches
    arrays = [column.to_arrow(compat_level=_WITHOUT_VIEWS) for column in columns]
    fitted = [_fitted(array, kind) for array, kind in zip(arrays, schema.types, strict=True)]
    return [pa.RecordBatch.from_arrays(fitted, schema=schema)]


_WITHOUT_VIEWS = pl.CompatLevel.oldest()


def _fitted(column: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    return column if column.type == kind else column.cast(kind)
