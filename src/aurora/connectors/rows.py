"""Rows on their way from a file to tuples: what was found, where it stands, and what is wrong with it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np
import polars as pl

from aurora.connectors.json_values import column_fault
from aurora.connectors.rejected import OnReject, Rejected
from aurora.model.schema import Schema
from aurora.model.types import BINARY, STRING, Type

Convert = Callable[[pl.Series, Type], pl.Series]


@dataclass(frozen=True)
class BadLine:
    """A line that gave no row, or a row with a bad value."""

    line: int
    reason: str
    text: str


@dataclass(frozen=True)
class Rows:
    """The columns as found, in the schema's order; where each row stands (its line, and its text); the bad lines."""

    found: pl.DataFrame
    locate: Callable[[int], tuple[int, str]]
    bad: list[BadLine] = field(default_factory=list)


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
    """Makes tuples of rows, and hands every row that has a value of the wrong kind to ``on_reject``."""

    def __init__(self, schema: Schema, stream: str, convert: Convert, on_reject: OnReject) -> None:
        self._schema = schema
        self._stream = stream
        self._convert = convert
        self._on_reject = on_reject

    def take(self, rows: Rows) -> pl.DataFrame:
        """Only where a value was lost in the conversion is a row looked at more closely."""
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
        for line in sorted(bad, key=lambda line: line.line):
            self._on_reject(Rejected(self._stream, line.line, line.reason, line.text))
        return frame

    def _bad_row(self, rows: Rows, row: int, lost: dict[str, pl.Series]) -> BadLine:
        faults: list[str] = []
        for place, (name, kind) in enumerate(self._schema.items()):
            if name in lost and lost[name][row]:
                value = rows.found.to_series(place)[row]
                faults.append(f"column {name!r}: {column_fault(value, kind)}")
        line, text = rows.locate(row)
        return BadLine(line, "; ".join(faults), text)
