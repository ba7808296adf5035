"""Values as dense integers: each value of a column gets a code, in order of first appearance.

Rows usually hold values that were seen before. Those that fit into two machine words (short strings, numbers, times)
are found in a table by multiplication, all rows at once; the rest is encoded by Arrow and looked up value by value.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from aurora.model.train import Ints

Words = npt.NDArray[np.uint64]

_FACTORS = (
    (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F),
    (0xD6E8FEB86659FD93, 0xFF51AFD7ED558CCD),
    (0xA0761D6478BD642F, 0xE7037ED1A0B428DB),
)
_MOST_KEYS = 65_536
_BLOCK_ROWS = 16_384
"""Rows are looked up in blocks whose intermediate arrays stay in the processor's cache."""
_LENGTH = np.uint64(0xFFFFFFFF)
_INLINE_BYTES = 12
"""Strings up to this length stand whole inside their Arrow view; longer ones stand elsewhere."""
_ONE_WORD_BYTES = 4
"""Strings up to this length stand whole beside their length in the view's first word."""


def words(column: pl.Series) -> tuple[Words, Words | None] | None:
    """The column's values as one or two words each; None for columns that have no such form.

    Two words are a string's view: the length, and the string itself if it is short. Then they are equal where the
    strings are; those of a long string say where it stands, and tell nothing.
    """
    if column.null_count() or not len(column):
        return None
    if column.dtype == pl.Int64 or column.dtype.is_temporal():
        return column.to_numpy().view(np.uint64), None
    if column.dtype != pl.String:
        return None
    array = column.to_arrow(compat_level=pl.CompatLevel.newest())
    if not isinstance(array, pa.StringViewArray):
        return None
    views = np.frombuffer(array.buffers()[1], np.uint64)[2 * array.offset : 2 * (array.offset + len(array))]
    return views[::2], views[1::2]


@dataclass(frozen=True)
class Level:
    """A table with, at a key's place, its words and its code; a place without a key has a word that belongs elsewhere.

    ``high`` is None where the first word tells keys apart from all other values.
    """

    factor: np.uint64
    other: np.uint64
    shift: np.uint64
    low: Words
    high: Words | None
    codes: Ints

    def find(self, low: Words, high: Words | None, found: Ints) -> bool:
        """Writes the codes of some rows, -1 where they are not here; gives whether all of them are."""
        low = np.ascontiguousarray(low)
        hashed = low * self.factor
        if self.high is not None and high is not None:
            high = np.ascontiguousarray(high)
            hashed += high * self.other
        hashed >>= self.shift
        # NumPy gathers by signed 64-bit numbers several times faster than by others. All are inside the table.
        places = hashed.view(np.int64)
        same = self.low.take(places, mode="clip") == low
        if self.high is not None and high is not None:
            same &= self.high.take(places, mode="clip") == high
        self.codes.take(places, out=found, mode="clip")
        if same.all():
            return True
        found[~same] = -1
        return False


class WordTable:
    """Finds the codes of known words. A key whose place in a table is taken stands in the next one."""

    def __init__(self) -> None:
        self._low: Words = np.empty(0, np.uint64)
        self._high: Words | None = None
        self._codes = np.empty(0, np.int64)
        self._levels: list[Level] = []
        self._late: list[tuple[Words, Words | None, Ints]] = []

    def find(self, low: Words, high: Words | None) -> tuple[Ints, Ints]:
        """The code of every row, -1 where it is not known, and the rows where it is not."""
        if not self._levels:
            return np.full(len(low), -1), np.arange(len(low))
        found = np.empty(len(low), np.int64)
        complete = True
        for start in range(0, len(low), _BLOCK_ROWS):
            block = slice(start, start + _BLOCK_ROWS)
            complete &= self._levels[0].find(low[block], None if high is None else high[block], found[block])
        unknown = np.empty(0, np.int64) if complete else np.flatnonzero(found < 0)
        for level in self._levels[1:]:
            if not len(unknown):
                break
            again = np.empty(len(unknown), np.int64)
            level.find(low[unknown], None if high is None else high[unknown], again)
            found[unknown] = again
            unknown = unknown[again < 0]
        return found, unknown

    def learn(self, low: Words, high: Words | None, codes: Ints) -> None:
        """Notes new keys. The tables are made anew when an eighth of what they hold has come to it."""
        self._late.append((low, high, codes))
        waiting = sum(len(keys) for _, _, keys in self._late)
        if len(self._codes) + waiting <= _MOST_KEYS and waiting >= max(1, len(self._codes) // 8):
            self._rebuild()

    def _rebuild(self) -> None:
        highs = [high for high in (self._high, *(high for _, high, _ in self._late)) if high is not None]
        self._high = np.concatenate(highs) if highs else None
        self._low = np.concatenate([self._low, *(low for low, _, _ in self._late)])
        self._codes = np.concatenate([self._codes, *(codes for _, _, codes in self._late)])
        self._late = []
        self._levels = []
        # A value with the first word of a string that stands whole in it is that string.
        high = None if self._high is None or bool((_lengths(self._low) <= _ONE_WORD_BYTES).all()) else self._high
        keys = np.arange(len(self._codes))
        for factor, other in _FACTORS:
            keys = self._add_level(np.uint64(factor), np.uint64(other), high, keys)
            if not len(keys):
                break

    def _add_level(self, factor: np.uint64, other: np.uint64, high: Words | None, keys: Ints) -> Ints:
        """Puts keys into a new table, and gives those that found their place taken."""
        bits = max(10, len(keys).bit_length() + 5)
        shift = np.uint64(64 - bits)
        hashed = self._low[keys] * factor
        if high is not None:
            hashed += high[keys] * other
        places = (hashed >> shift).view(np.int64)
        owner = np.full(2**bits, -1)
        owner[places] = keys
        taken = np.flatnonzero(owner >= 0)
        owners = owner[taken]
        low, codes = np.zeros(2**bits, np.uint64), np.full(2**bits, -1)
        # Zero belongs to the first place; one does not, since the factors are large.
        low[0] = 1
        low[taken], codes[taken] = self._low[owners], self._codes[owners]
        highs = None
        if high is not None:
            highs = np.zeros(2**bits, np.uint64)
            highs[taken] = high[owners]
        self._levels.append(Level(factor, other, shift, low, highs, codes))
        left: Ints = keys[owner[places] != keys]
        return left


def _lengths(low: Words) -> Words:
    """The lengths of strings, from the first words of their views."""
    return low & _LENGTH


class Coder:
    """Codes for the values of one column. NULL is a value like others, -0.0 is 0.0, and all NaN are one."""

    def __init__(self) -> None:
        self._codes: dict[object, int] = {}
        self._table = WordTable()

    def __len__(self) -> int:
        return len(self._codes)

    def known(self, column: pl.Series) -> Ints:
        """The code of every value, -1 where it was never seen; learns nothing."""
        pair = words(column)
        size = len(column)
        codes, rows = (np.full(size, -1), np.arange(size)) if pair is None else self._table.find(*pair)
        if len(rows):
            encoded = _codable(column[rows]).dictionary_encode(null_encoding="encode")
            local = np.fromiter(map(self._codes.get, encoded.dictionary.to_pylist(), repeat(-1)), np.int64)
            codes[rows] = local[encoded.indices.to_numpy(zero_copy_only=False)]
        return codes

    def codes(self, column: pl.Series) -> tuple[Ints, Ints]:
        """The code of every value, and the rows at which values appear that were never seen before."""
        pair = words(column)
        if pair is None:
            return self._look_up(column)
        low, high = pair
        codes, rows = self._table.find(low, high)
        if not len(rows):
            return codes, rows
        codes[rows], new = self._look_up(column if len(rows) == len(column) else column[rows])
        new = rows[new]
        whole = new if high is None else new[_lengths(low[new]) <= _INLINE_BYTES]
        if len(whole):
            self._table.learn(low[whole], None if high is None else high[whole], codes[whole])
        return codes, new

    def _look_up(self, column: pl.Series) -> tuple[Ints, Ints]:
        """Only distinct values are looked up one by one; the rows are encoded by Arrow."""
        encoded = _codable(column).dictionary_encode(null_encoding="encode")
        known = self._codes
        size = len(known)
        distinct = encoded.dictionary.to_pylist()
        local = np.fromiter(map(known.get, distinct, repeat(-1)), np.int64, len(distinct))
        if (local < 0).any():
            local = np.fromiter((known.setdefault(v, len(known)) for v in distinct), np.int64, len(distinct))
        indices = encoded.indices.to_numpy(zero_copy_only=False)
        codes = local[indices]
        if len(known) == size:
            return codes, np.empty(0, np.int64)
        first = np.empty(len(distinct), np.int64)
        first[indices[::-1]] = np.arange(len(codes))[::-1]
        return codes, first[local >= size]


def _codable(column: pl.Series) -> pa.Array:
    """The column in a form whose equal values are equal Python objects."""
    if column.dtype == pl.Float64:
        numbers = column.fill_null(0.0).to_numpy() + 0.0
        numbers[np.isnan(numbers)] = np.nan
        return pa.array(numbers.view(np.int64), mask=column.is_null().to_numpy())
    if column.dtype.is_temporal():
        column = column.to_physical()
    elif column.dtype == pl.Boolean:
        column = column.cast(pl.Int8)
    chunks = column.to_arrow()
    return chunks.combine_chunks() if isinstance(chunks, pa.ChunkedArray) else chunks
