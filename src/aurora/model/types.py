"""The types a column can have, and what each is in Arrow and in Polars."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
import pyarrow as pa


@dataclass(frozen=True)
class Type:
    """A column type. ``item`` is set for lists only; ``null`` is the type of a bare NULL literal.

    >>> Type.parse("list<int>").item
    Type('int')
    """

    name: str
    item: Type | None = None

    def __str__(self) -> str:
        return self.name if self.item is None else f"list<{self.item}>"

    def __repr__(self) -> str:
        return f"Type({str(self)!r})"

    @classmethod
    def parse(cls, text: str) -> Type:
        """The type named by ``text``; raises ValueError with the legal names."""
        text = text.strip()
        if text.startswith("list<") and text.endswith(">"):
            return list_of(cls.parse(text[5:-1]))
        if text not in SCALARS:
            raise ValueError(f"unknown type {text!r}; the types are {', '.join(SCALARS)}")
        return SCALARS[text]

    @property
    def numeric(self) -> bool:
        return self in (INT, DOUBLE)

    @property
    def temporal(self) -> bool:
        return self in (TIMESTAMP, DURATION)

    @property
    def ordered(self) -> bool:
        """Whether an order-sensitive box may order by a column of this type."""
        return self.numeric or self.temporal

    def to_polars(self) -> pl.DataType:
        if self.item is not None:
            return pl.List(self.item.to_polars())
        return _POLARS[self.name]

    def to_arrow(self) -> pa.DataType:
        if self.item is not None:
            return pa.large_list(self.item.to_arrow())
        return _ARROW[self.name]


BOOL = Type("bool")
INT = Type("int")
DOUBLE = Type("double")
STRING = Type("string")
TIMESTAMP = Type("timestamp")
DURATION = Type("duration")
BINARY = Type("binary")
NULL = Type("null")

SCALARS = {t.name: t for t in (BOOL, INT, DOUBLE, STRING, TIMESTAMP, DURATION, BINARY)}


def list_of(item: Type) -> Type:
    return Type("list", item)


_POLARS: dict[str, pl.DataType] = {
    "bool": pl.Boolean(),
    "int": pl.Int64(),
    "double": pl.Float64(),
    "string": pl.String(),
    "timestamp": pl.Datetime("us", "UTC"),
    "duration": pl.Duration("us"),
    "binary": pl.Binary(),
    "null": pl.Null(),
}

_ARROW: dict[str, pa.DataType] = {
    "bool": pa.bool_(),
    "int": pa.int64(),
    "double": pa.float64(),
    "string": pa.large_string(),
    "timestamp": pa.timestamp("us", "UTC"),
    "duration": pa.duration("us"),
    "binary": pa.large_binary(),
    "null": pa.null(),
}


def of_polars(dtype: pl.DataType) -> Type:
    """The Aurora type that holds a Polars type without loss of meaning; raises ValueError if none does."""
    if isinstance(dtype, pl.List):
        return list_of(of_polars(pl.List(dtype.inner).inner))  # type: ignore[arg-type]
    if dtype.is_integer():
        return INT
    if dtype.is_float():
        return DOUBLE
    for name, candidate in _POLARS.items():
        if dtype.base_type() is candidate.base_type():
            return Type(name)
    raise ValueError(f"no column type holds {dtype}")
