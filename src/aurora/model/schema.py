"""Schemas: the named, typed columns of a stream, and what an arc carries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from aurora.model.types import Type

HIDDEN_PREFIX = "__"
"""Column names with this prefix belong to the engine; a user's column may not start with it."""


class Schema(Mapping[str, Type]):
    """An immutable, ordered mapping of column name to type.

    >>> Schema.of(ticker="string", price="double")
    Schema(ticker: string, price: double)
    """

    __slots__ = ("_columns", "_polars")

    def __init__(self, columns: Mapping[str, Type]) -> None:
        self._columns = dict(columns)
        self._polars = {name: kind.to_polars() for name, kind in self._columns.items()}

    @classmethod
    def of(cls, /, **columns: str) -> Schema:
        return cls({name: Type.parse(text) for name, text in columns.items()})

    def __getitem__(self, name: str) -> Type:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and list(self.items()) == list(other.items())

    def __hash__(self) -> int:
        return hash(tuple(self._columns.items()))

    def __repr__(self) -> str:
        return f"Schema({', '.join(f'{name}: {kind}' for name, kind in self.items())})"

    def to_polars(self) -> dict[str, pl.DataType]:
        return self._polars.copy()

    def describes(self, frame: pl.DataFrame) -> bool:
        """Whether a frame has exactly these columns."""
        return frame.columns == list(self._polars) and frame.dtypes == list(self._polars.values())


@dataclass(frozen=True)
class ArcType:
    """What an arc carries: tuples of ``schema``, in keyed substreams if a group_by box stands upstream.

    ``static`` marks the data of a dangling connection point: it is there from the start and does not move.
    """

    schema: Schema
    grouping: tuple[str, ...] = ()
    static: bool = False

    def grouping_among(self, columns: Collection[str]) -> tuple[str, ...]:
        """The grouping of what a box makes that keeps only these group columns: all of it, or none."""
        return self.grouping if set(self.grouping) <= set(columns) else ()
