"""Rows of text out of CSV records: whole stretches at once where that is safe, record by record where it is not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from aurora.connectors.csv_records import Form, Index, Record, raw_text, single_record
from aurora.connectors.rejected import Rejection
from aurora.connectors.rows import Rows

BOM = b"\xef\xbb\xbf"
_SHOWN_BYTES = 1024
"""So much is shown of a record that is too long."""
_NOT_UTF8 = "the line is not valid UTF-8"


class RowReader:
    """Reads records of ``width`` fields and keeps those at ``places``, in that order.

    ``given_by`` says what the number of fields comes from, for those that read why a line was rejected.
    """

    def __init__(self, width: int, places: Sequence[int], form: Form, given_by: str) -> None:
        self._width = width
        self._form = form
        self._given_by = given_by
        self._names = [str(place) for place in places]
        self._places = sorted(places)
        self._schema = {str(place): pl.String() for place in range(width)}

    def stretch(self, data: bytes, line: int) -> Rows:
        """The rows of whole records with regular quotes. The usual case is one call of the parser."""
        if b'"' not in data:
            texts = self._parse(data, None)
            if texts is not None and self._all_full(data, texts):
                index: list[Index] = []

                def locate(row: int) -> tuple[int, str]:
                    if not index:
                        index.append(Index(data, line, self._form))
                    return line + row, index[0].text(row)

                return Rows(texts, locate)
        return self._sifted(Index(data, line, self._form))

    def _all_full(self, data: bytes, texts: pl.DataFrame) -> bool:
        """Whether no row lacks fields; the parser fills such rows with nulls. Rows with too many it refuses."""
        last = str(self._width - 1)
        if last in self._names and texts[last].null_count() == 0:
            return True
        return data.count(self._form.separator) == (self._width - 1) * texts.height

    def _sifted(self, index: Index) -> Rows:
        """Takes out the lines that have a wrong number of fields or wrong bytes, then parses the rest at once."""
        blank = index.blank if self._width > 1 else np.zeros_like(index.blank)
        ragged = (index.fields != self._width) & ~blank
        keep = ~ragged & ~blank
        garbled = np.zeros_like(keep)
        texts = self._parse(index.only(keep), int(keep.sum()))
        if texts is None:
            garbled = index.undecodable() & keep
            keep &= ~garbled
            texts = self._parse(index.only(keep), int(keep.sum()))
        if texts is None:
            records = one_by_one(index.data, 0, self._form, more=False, limit=None)
            return self.singles(index.data, records, int(index.lines[0]))
        bad = [
            Rejection(int(index.lines[at]), self._count_fault(int(index.fields[at])), index.text(int(at)))
            for at in np.flatnonzero(ragged)
        ]
        bad += [Rejection(int(index.lines[at]), _NOT_UTF8, index.text(int(at))) for at in np.flatnonzero(garbled)]
        kept = np.flatnonzero(keep)
        return Rows(texts, lambda row: (int(index.lines[kept[row]]), index.text(int(kept[row]))), bad)

    def singles(self, data: bytes, records: Sequence[Record], line: int) -> Rows:
        """The rows of records that were read one by one."""
        columns: list[list[str | None]] = [[] for _ in self._names]
        kept: list[tuple[int, Record]] = []
        bad: list[Rejection] = []
        for record in records:
            fields, fault = self._fields(record)
            if fields is not None:
                kept.append((line, record))
                for column, name in zip(columns, self._names, strict=True):
                    column.append(fields[int(name)])
            elif fault:
                end = record.end if fault is not self._form.too_long else min(record.end, record.start + _SHOWN_BYTES)
                bad.append(Rejection(line, fault, raw_text(data[record.start : end])))
            line += data.count(b"\n", record.start, record.end)

        def locate(row: int) -> tuple[int, str]:
            at, record = kept[row]
            return at, raw_text(data[record.start : record.end])

        texts = pl.DataFrame(dict(zip(self._names, columns, strict=True)), schema=dict.fromkeys(self._names, pl.String))
        return Rows(texts, locate, bad)

    def _fields(self, record: Record) -> tuple[list[str | None] | None, str]:
        if record.fault:
            return None, record.fault
        if len(record.fields) != self._width:
            return None, "" if record.fields == (None,) else self._count_fault(len(record.fields))
        try:
            return [None if field is None else field.decode() for field in record.fields], ""
        except UnicodeDecodeError:
            return None, _NOT_UTF8

    def _count_fault(self, found: int) -> str:
        fields = "1 field" if found == 1 else f"{found} fields"
        return f"the line has {fields}, the {self._given_by} {self._width}"

    def _parse(self, data: bytes, rows: int | None) -> pl.DataFrame | None:
        """The wanted columns as text, or None where the parser stumbles or sees other rows than there are."""
        if rows == 0:
            return pl.DataFrame(schema=dict.fromkeys(self._names, pl.String))
        if data.startswith(BOM):  # The parser would drop it, but only the header's is a mark; this one is text.
            return None
        try:
            texts = pl.read_csv(
                data,
                has_header=False,
                schema=self._schema,
                columns=self._places,
                separator=self._form.separator.decode(),
            )
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return None
        return texts.select(self._names) if rows is None or texts.height == rows else None


def one_by_one(data: bytes, at: int, form: Form, *, more: bool, limit: int | None) -> list[Record]:
    """Up to ``limit`` records from place ``at`` on; fewer where the next may not be complete yet."""
    records: list[Record] = []
    while at < len(data) and (limit is None or len(records) < limit):
        record = single_record(data, at, form, more=more)
        if record is None:
            break
        records.append(record)
        at = record.end
    return records
