"""Rows on their way from a file to tuples: what was found, where it stands, and what is wrong with it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np
import polars as pl

from aurora.connectors.json_values import column_fault
from aurora.connectors.rejected import Rejection
from aurora.model.schema import Schema
from aurora.model.types import BINARY, STRING, Type

Convert = Callable[[pl.Series, Type], pl.Series]


@dataclass(frozen=True)
class Rows:
    """The columns as found, in the schema's order; where each row stands (its line, and its text); the bad lines."""

    found: pl.DataFrame
    locate: Callable[[int], tuple[int, str]]
    bad: list[Rejection] = field(default_factory=list)


def merged(parts: Sequence[Rows]) -> Rows:
    """Several runs of rows as one. Columns are converted faster in one go than piece by piece."""
    if len(parts) == 1:
        return parts[0]
    starts = [0, *accumulate(part.found.height for part in parts)]

    def locate(row: int) -> tuple[int, str]:
        part = bisect_right(starts, row) - 1
        return parts[part].locate(row - starts[part])

    return Rows(pl.concat([part.found for part in parts]), locate, [line for part in parts for line in part.bad])


class Taker:
    """Makes tuples of rows, and rejects every row that has a value of the wrong kind."""

    def __init__(self, schema: Schema, convert: Convert) -> None:
        self._schema = schema
        self._convert = convert

    def take(self, rows: Rows) -> tuple[pl.DataFrame, list[Rejection]]:
        """The tuples, and what was rejected, in order.

        Only where a value was lost in the conversion is a row looked at more closely.
        """
        columns: list[pl.Series] = []
        lost: dict[str, pl.Series] = {}
        for (name, kind), found in zip(self._schema.items(), rows.found.iter_columns(), strict=True):
            values = self._convert(found, kind).alias(name)
            columns.append(values)
            if values.null_count() > found.null_count():
                wrong = values.is_null() & found.is_not_null()
                if found.dtype == pl.String and kind not in (STRING, BINARY):
                    wrong &= found.str.strip_chars() != ""
                if wrong.any():
                    lost[name] = wrong
        frame = pl.DataFrame(columns)
        bad = rows.bad
        if lost:
            spoilt = np.logical_or.reduce([flags.to_numpy() for flags in lost.values()])
            bad = bad + [self._bad_row(rows, int(row), lost) for row in np.flatnonzero(spoilt)]
            frame = frame.filter(~spoilt)
        return frame, sorted(bad, key=lambda one: one.place)

    def _bad_row(self, rows: Rows, row: int, lost: dict[str, pl.Series]) -> Rejection:
        faults: list[str] = []
        for place, (name, kind) in enumerate(self._schema.items()):
            if name in lost and lost[name][row]:
                faults.append(f"column {name!r}: {column_fault(_value(rows.found.to_series(place), row), kind)}")
        place, text = rows.locate(row)
        return Rejection(place, "; ".join(faults), text)


def _value(found: pl.Series, row: int) -> object:
    """A value as found; times as the numbers they are, since they may lie outside those that Python has."""
    one = found.slice(row, 1)
    return (one.to_physical() if one.dtype.is_temporal() or one.dtype == pl.List else one)[0]
