"""Between segments: trains are split over parts by key, and what parts made is put together again."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.boxes.coding import words
from aurora.boxes.segments import sorting
from aurora.model.train import ARRIVAL, CLOCK, ORDER, RANKS, WHEN, Ints, Part, Train, frame_of, rows_at, rows_where
from aurora.scheduler.segments import Split

PLACE = "__place"
"""In the blocks of parts: the row among those that were split together."""

_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))
_FIRST_SHIFT, _LAST_SHIFT = np.uint64(29), np.uint64(33)
_LENGTH = np.uint64(0xFFFFFFFF)
_SHORT = np.uint64(12)
_NULL = np.uint64(0x5851F42D4C957F2D)
_BLOCK_ROWS = 16_384
Hashes = npt.NDArray[np.uint64]


def part_numbers(frame: pl.DataFrame, keys: Sequence[str], parts: int) -> Ints:
    """The part of every row. Equal keys go to one part, on every machine and in every run."""
    columns = [word for name in keys for word in _words(frame.get_column(name))]
    numbers = np.empty(frame.height, np.int64)
    # In blocks whose arrays stay in the processor's cache.
    for start in range(0, frame.height, _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        mixed = columns[0][block] * _FACTORS[0]
        mixed ^= mixed >> _FIRST_SHIFT
        for word in columns[1:]:
            mixed ^= word[block]
            mixed *= _FACTORS[0]
            mixed ^= mixed >> _FIRST_SHIFT
        mixed >>= _LAST_SHIFT
        if parts & (parts - 1):
            mixed %= np.uint64(parts)
        else:
            # The same for powers of two, without a division.
            mixed &= np.uint64(parts - 1)
        numbers[block] = mixed
    return numbers


def _words(column: pl.Series) -> list[Hashes]:
    """One or two words for every value that depend on nothing but the value."""
    nulls = column.is_null().to_numpy() if column.null_count() else None
    if column.dtype == pl.Float64:
        # Equal doubles may have different bits.
        numbers = column.fill_null(0.0).to_numpy() + 0.0
        found = [np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64)]
    elif column.dtype == pl.Boolean:
        found = [column.fill_null(False).cast(pl.Int64).to_numpy().view(np.uint64)]
    elif column.dtype.is_temporal() or column.dtype == pl.Int64:
        found = [column.to_physical().fill_null(0).to_numpy().view(np.uint64)]
    elif column.dtype == pl.String:
        found = _text_words(column.fill_null("") if nulls is not None else column)
    else:
        found = [_hashed_singly(column)]
    return found if nulls is None else [np.where(nulls, _NULL, word) for word in found]


def _text_words(column: pl.Series) -> list[Hashes]:
    pair = words(column.rechunk())
    if pair is None:
        return [np.zeros(len(column), np.uint64)] * 2
    low, high = pair
    assert high is not None
    if np.bitwise_or.reduce(low) & _LENGTH <= _SHORT:
        return [low, high]
    long = np.flatnonzero((low & _LENGTH) > _SHORT)
    if len(long):
        # The words of a long string say where it stands, not what it is.
        low, high = low.copy(), high.copy()
        low[long], high[long] = _hashed_singly(column[long]), 0
    return [low, high]


def _hashed_singly(column: pl.Series) -> Hashes:
    """Distinct values one by one."""
    encoded = column.to_arrow().dictionary_encode(null_encoding="encode")
    values = (str(value).encode() for value in encoded.dictionary.to_pylist())
    distinct = np.fromiter((zlib.crc32(value) for value in values), np.uint64) * _FACTORS[1]
    hashes: Hashes = distinct[encoded.indices.to_numpy(zero_copy_only=False)]
    return hashes


def split(frame: pl.DataFrame, keys: Sequence[str], parts: int) -> list[pl.DataFrame]:
    """The rows of each part, with their places."""
    numbers = part_numbers(frame, keys, parts)
    placed = frame.hstack([pl.Series(PLACE, np.arange(frame.height))])
    return [rows_where(placed, numbers == part) for part in range(parts)]


def thin(frame: pl.DataFrame, progress: Sequence[str]) -> pl.DataFrame:
    """What every part must know of all rows: their hidden columns and the columns of progress."""
    return frame_of([frame.get_column(name) for name in dict.fromkeys([*progress, ORDER, CLOCK])])


def part_train(frames: Sequence[tuple[pl.DataFrame, int]], first: int, whole: pl.DataFrame) -> Train:
    """One part of an arc's train, from the blocks of those who split it; each with the place of its first row."""
    places = np.concatenate([frame.get_column(PLACE).to_numpy() + offset for frame, offset in frames])
    columns = [pl.DataFrame(frame.get_columns()[:-1]) for frame, _ in frames]
    frame = columns[0] if len(columns) == 1 else pl.concat(columns, rechunk=True)
    return _part(frame.get_columns(), Part(places, first, whole))


@dataclass(frozen=True)
class Hidden:
    """The hidden columns of rows that are yet to be split. ``clocks`` may be one for all, and stand for arrivals."""

    order: Ints
    clocks: Ints | int
    arrivals: Ints | None = None

    def at(self, places: Ints) -> list[pl.Series]:
        clocks = pl.Series(CLOCK, self._clocks(len(places)) if isinstance(self.clocks, int) else self.clocks[places])
        arrivals = clocks.alias(ARRIVAL) if self.arrivals is None else pl.Series(ARRIVAL, self.arrivals[places])
        return [pl.Series(ORDER, self.order[places]), clocks, arrivals]

    def thin(self) -> list[pl.Series]:
        return [pl.Series(ORDER, self.order), pl.Series(CLOCK, self._clocks(len(self.order)))]

    def _clocks(self, count: int) -> Ints:
        return np.full(count, self.clocks) if isinstance(self.clocks, int) else self.clocks


def shared_part(frame: pl.DataFrame, hidden: Hidden, form: Split, part: int, parts: int, first: int) -> Train:
    """One part of an arc's train, picked from all of it."""
    mine = part_numbers(frame, form.keys, parts) == part
    places = np.flatnonzero(mine)
    mask = pl.Series(mine)
    whole = frame_of([*(frame.get_column(name) for name in form.progress), *hidden.thin()])
    picked = [column.filter(mask) for column in frame.get_columns()]
    return _part([*picked, *hidden.at(places)], Part(places, first, whole))


def _part(columns: list[pl.Series], part: Part) -> Train:
    at_once = pl.Series(np.zeros(len(part.places), np.int64))
    ranks = [pl.Series(WHEN[0], part.places + part.first), *(at_once.alias(name) for name in WHEN[1:])]
    return Train(frame_of(columns + ranks), part=part)


def assembled(frames: Sequence[pl.DataFrame], *, ranked: bool) -> pl.DataFrame:
    """The rows of several blocks as one: one block after the other, or merged by what parts gave as ranks."""
    frame = frames[0] if len(frames) == 1 else pl.concat(frames)
    if not ranked:
        return frame
    ranks = [name for name in RANKS if name in frame.columns]
    kept = pl.DataFrame(frame.get_columns()[: frame.width - len(ranks)])
    if len(frames) == 1:
        return kept
    return rows_at(kept, _merged([frame.get_column(name).to_numpy() for name in (ORDER, CLOCK, *ranks)]))


def _merged(keys: Sequence[Ints]) -> Ints:
    """The layout that sorts by all of the keys; rows that agree in all of them stay as they are."""
    order = keys[0]
    layout = np.argsort(order, kind="stable")
    ties = order[layout[1:]] == order[layout[:-1]]
    if not ties.any():
        return layout
    # Only rows with the same number need to be told apart by the rest.
    return sorting(*keys)
