"""Where the records of a CSV file begin and end, and which lines are none.

A quote opens a quoted field only at the start of a field, and closes it only before a separator or the end of the line.
Where every quote of a stretch obeys that, the stretch can be cut and parsed as a whole. Where one does not, the
records around it are read one by one: a quote inside an unquoted field is plain text; a quoted field that is not
closed properly makes its first line a bad line, and reading goes on with the next line. A record that is too long is
treated alike, whether it is closed somewhere or not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_QUOTE, _NEWLINE, _RETURN = b'"\n\r'
_OPEN_FIELD = re.compile(rb'"(?:[^"]++|"")*+"?')
_NOT_CLOSED = "a quoted field is not closed, or text follows its closing quote"


@dataclass(frozen=True)
class Form:
    """How records are written, and how long one may be.

    A quoted field that is still open after so many bytes is taken for one that its writer forgot to close.
    """

    separator: bytes = b","
    max_record_bytes: int = 16 << 20

    @cached_property
    def field(self) -> re.Pattern[bytes]:
        between = re.escape(self.separator)
        return re.compile(
            rb'"((?:[^"]++|"")*+)"(?=%(s)s|\r?\n)|([^"%(s)s\n][^%(s)s\n]*+)?(?=[%(s)s\n])' % {b"s": between}
        )

    @cached_property
    def too_long(self) -> str:
        return f"the record is longer than {self.max_record_bytes} bytes, or a quoted field in it is not closed"


@dataclass(frozen=True)
class Record:
    """A record that was read on its own: its fields (None for an empty unquoted one), or the reason it is bad."""

    start: int
    end: int
    fields: tuple[bytes | None, ...] = ()
    fault: str = ""


def regular_stretch(data: bytes, form: Form) -> tuple[int, bool]:
    """The length of the leading whole records whose quotes are regular, and whether an irregular record follows."""
    if b'"' not in data:
        return _not_too_long(data, data.rfind(b"\n") + 1, form)
    codes = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(codes == _QUOTE)
    opening, closing = quotes[0::2], quotes[1::2]
    before = codes[opening - 1]
    if opening[0] == 0:
        before[0] = _NEWLINE
    after = codes[np.minimum(closing + 1, len(data) - 1)]
    between = form.separator[0]
    stray = opening[~((before == between) | (before == _NEWLINE) | (before == _QUOTE))]
    loose = closing[~((after == between) | (after == _NEWLINE) | (after == _RETURN) | (after == _QUOTE))]
    first = min(int(faults[0]) for faults in (stray, loose, np.array([len(data)])) if len(faults))
    length = _last_boundary(data, quotes, first)
    if length > form.max_record_bytes:
        ends = np.flatnonzero(codes[:length] == _NEWLINE)
        ends = ends[np.searchsorted(quotes, ends) % 2 == 0] + 1
        long = np.flatnonzero(np.diff(ends, prepend=0) > form.max_record_bytes)
        if len(long):
            return int(ends[long[0] - 1]) if long[0] else 0, True
    return length, first < len(data)


def _not_too_long(data: bytes, length: int, form: Form) -> tuple[int, bool]:
    """The same, up to the first line that is too long; lines are looked for from the far end, so it takes few looks."""
    start = 0
    while length - start > form.max_record_bytes:
        newline = data.rfind(b"\n", start, start + form.max_record_bytes)
        if newline < 0:
            return start, True
        start = newline + 1
    return length, False


def _last_boundary(data: bytes, quotes: Ints, limit: int) -> int:
    """The end of the last record that ends before ``limit``."""
    while (newline := data.rfind(b"\n", 0, limit)) >= 0:
        count = int(np.searchsorted(quotes, newline))
        if count % 2 == 0:
            return newline + 1
        limit = int(quotes[count - 1])
    return 0


def single_record(data: bytes, start: int, form: Form, *, more: bool) -> Record | None:
    """The record at ``start``, or None if its end may lie in data still to come (``more``)."""
    fields: list[bytes | None] = []
    at = start
    between = form.separator[0]
    while field := form.field.match(data, at):
        quoted, bare = field.groups()
        at = field.end()
        if data[at] == between:
            fields.append(bare if quoted is None else quoted.replace(b'""', b'"'))
            at += 1
            continue
        if bare is not None and bare.endswith(b"\r"):
            bare = bare[:-1] or None
        fields.append(bare if quoted is None else quoted.replace(b'""', b'"'))
        end = data.index(b"\n", at) + 1
        if end - start > form.max_record_bytes:
            return Record(start, data.index(b"\n", start) + 1, fault=form.too_long)
        return Record(start, end, tuple(fields))
    end = data.find(b"\n", start) + 1
    opened = _OPEN_FIELD.match(data, at)
    waits = not end or opened is None or opened.end() >= len(data) - 1
    known = len(data) if waits or opened is None else max(end, opened.end())
    if known - start > form.max_record_bytes:
        return Record(start, end or len(data), fault=form.too_long)
    if more and waits:
        return None
    return Record(start, end or len(data), fault=_NOT_CLOSED)


class Index:
    """The records of a regular stretch: where each starts and ends, its line, and its number of fields."""

    def __init__(self, data: bytes, first_line: int, form: Form) -> None:
        codes = np.frombuffer(data, np.uint8)
        newlines = np.flatnonzero(codes == _NEWLINE)
        commas = np.flatnonzero(codes == form.separator[0])
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
