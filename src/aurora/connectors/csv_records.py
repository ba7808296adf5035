"""Where the records of a CSV file begin and end, and which lines are none.

A quote opens a quoted field only at the start of a field, and closes it only before a comma or the end of the line.
Where every quote of a stretch obeys that, the stretch can be cut and parsed as a whole. Where one does not, the
records around it are read one by one: a quote inside an unquoted field is plain text; a quoted field that is not
closed properly makes its first line a bad line, and reading goes on with the next line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MAX_RECORD_BYTES = 16 << 20
"""A quoted field that is still open after this many bytes is taken for one that its writer forgot to close."""

_QUOTE, _COMMA, _NEWLINE, _RETURN = b'",\n\r'
_FIELD = re.compile(rb'"((?:[^"]++|"")*+)"(?=,|\r?\n)|([^",\n][^,\n]*+)?(?=[,\n])')
_OPEN_FIELD = re.compile(rb'"(?:[^"]++|"")*+"?')


@dataclass(frozen=True)
class Record:
    """A record that was read on its own: its fields (None for an empty unquoted one), or the reason it is bad."""

    start: int
    end: int
    fields: tuple[bytes | None, ...] = ()
    fault: str = ""


def regular_stretch(data: bytes) -> tuple[int, bool]:
    """The length of the leading whole records whose quotes are regular, and whether an irregular quote follows."""
    if b'"' not in data:
        return data.rfind(b"\n") + 1, False
    codes = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(codes == _QUOTE)
    opening, closing = quotes[0::2], quotes[1::2]
    before = codes[opening - 1]
    if opening[0] == 0:
        before[0] = _NEWLINE
    after = codes[np.minimum(closing + 1, len(data) - 1)]
    stray = opening[~((before == _COMMA) | (before == _NEWLINE) | (before == _QUOTE))]
    loose = closing[~((after == _COMMA) | (after == _NEWLINE) | (after == _RETURN) | (after == _QUOTE))]
    first = min(int(faults[0]) for faults in (stray, loose, np.array([len(data)])) if len(faults))
    return _last_boundary(data, quotes, first), first < len(data)


def _last_boundary(data: bytes, quotes: Ints, limit: int) -> int:
    """The end of the last record that ends before ``limit``."""
    while (newline := data.rfind(b"\n", 0, limit)) >= 0:
        count = int(np.searchsorted(quotes, newline))
        if count % 2 == 0:
            return newline + 1
        limit = int(quotes[count - 1])
    return 0


def single_record(data: bytes, start: int, *, more: bool) -> Record | None:
    """The record at ``start``, or None if its end may lie in data still to come (``more``)."""
    fields: list[bytes | None] = []
    at = start
    while field := _FIELD.match(data, at):
        quoted, bare = field.groups()
        at = field.end()
        if data[at] == _COMMA:
            fields.append(bare if quoted is None else quoted.replace(b'""', b'"'))
            at += 1
            continue
        if bare is not None and bare.endswith(b"\r"):
            bare = bare[:-1] or None
        fields.append(bare if quoted is None else quoted.replace(b'""', b'"'))
        return Record(start, data.index(b"\n", at) + 1, tuple(fields))
    end = data.find(b"\n", start) + 1
    if more and len(data) - start < MAX_RECORD_BYTES:
        opened = _OPEN_FIELD.match(data, at)
        if not end or opened is None or opened.end() >= len(data) - 1:
            return None
    fault = "a quoted field is not closed, or text follows its closing quote"
    return Record(start, end or len(data), fault=fault)


class Index:
    """The records of a regular stretch: where each starts and ends, its line, and its number of fields."""

    def __init__(self, data: bytes, first_line: int) -> None:
        codes = np.frombuffer(data, np.uint8)
        newlines = np.flatnonzero(codes == _NEWLINE)
        commas = np.flatnonzero(codes == _COMMA)
        ends = newlines
        if b'"' in data:
            quotes = np.flatnonzero(codes == _QUOTE)
            ends = newlines[np.searchsorted(quotes, newlines) % 2 == 0]
            commas = commas[np.searchsorted(quotes, commas) % 2 == 0]
        self.data = data
        self.ends: Ints = ends + 1
        self.starts: Ints = np.concatenate([[0], self.ends[:-1]])
        self.lines: Ints = first_line + np.searchsorted(newlines, self.starts)
        self.fields: Ints = np.diff(np.searchsorted(commas, ends), prepend=0) + 1
        length = self.ends - self.starts - 1
        self.blank: Bools = (length == 0) | ((length == 1) & (codes[self.starts] == _RETURN))

    def text(self, record: int) -> str:
        return raw_text(self.data[self.starts[record] : self.ends[record]])

    def undecodable(self) -> Bools:
        """Which records are not UTF-8."""
        flags = np.zeros(len(self.starts), np.bool_)
        beyond_ascii = np.flatnonzero(np.frombuffer(self.data, np.uint8) >= 0x80)
        for record in np.unique(np.searchsorted(self.starts, beyond_ascii, side="right") - 1):
            try:
                self.data[self.starts[record] : self.ends[record]].decode()
            except UnicodeDecodeError:
                flags[record] = True
        return flags

    def only(self, keep: Bools) -> bytes:
        """The text of these records, put together from the runs of neighbours."""
        edges = np.flatnonzero(np.diff(keep.astype(np.int8), prepend=0, append=0))
        runs = zip(edges[0::2], edges[1::2], strict=True)
        return b"".join(self.data[self.starts[first] : self.ends[last - 1]] for first, last in runs)


def raw_text(record: bytes) -> str:
    """A record as a person may read it; bytes that are not UTF-8 show as escapes."""
    return record.rstrip(b"\r\n").decode("utf-8", "backslashreplace")
