"""Segmented array operations: many groups' rows laid out one group after another, handled at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from aurora.model.train import Ints

Array = npt.NDArray[Any]

_LONG = 64
_MANY = 4
"""With more than one query for so many rows, a search looks at all rows first."""


def sorting(*keys: Array) -> Ints:
    """The stable sorting permutation by the given keys, the first one counting most.

    Integer keys are packed with the row number into one integer where they fit, because NumPy sorts distinct 64-bit
    integers an order of magnitude faster than it sorts stably or by several keys.
    """
    rows = len(keys[0])
    if rows < 2:
        return np.arange(rows)
    packed: Array | int = 0
    room = 2**62 // rows
    for key in keys:
        if key.dtype == np.bool_:
            key = key.astype(np.int64)
        if key.dtype != np.int64:
            return np.lexsort(keys[::-1])
        low = int(key.min())
        width = int(key.max()) - low + 1
        room //= width
        if not room:
            return np.lexsort(keys[::-1])
        if width > 1:
            packed = packed * width + (key - low)
    order: Ints = np.argsort(packed * rows + np.arange(rows))
    return order


def stable_order(codes: Ints) -> Ints:
    """The stable sorting permutation of group codes. NumPy sorts 16-bit integers fastest, by radix."""
    if len(codes) < 2 or bool((codes[1:] >= codes[:-1]).all()):
        return np.arange(len(codes))
    if int(codes.max()) < 2**16:
        return np.argsort(codes.astype(np.uint16), kind="stable")
    return sorting(codes)


def starts_of(sorted_codes: Array) -> Ints:
    """Where each run of equal codes starts."""
    if not len(sorted_codes):
        return np.empty(0, np.int64)
    return np.flatnonzero(np.concatenate(([True], sorted_codes[1:] != sorted_codes[:-1])))


def position_in_segment(starts: Ints, size: int) -> Ints:
    """0, 1, 2, ... within each segment."""
    return np.arange(size) - np.repeat(starts, np.diff(starts, append=size))


def accumulate(ufunc: np.ufunc, values: Array, starts: Ints, *, reverse: bool = False) -> Array:
    """The running fold within each segment, strictly from left to right (or from right to left), so that a sum of
    doubles does not depend on what stands beside it.

    Long segments are folded one by one, short ones all together, one step at a time.
    """
    if reverse and len(values):
        ends = np.append(starts[1:], len(values))
        return accumulate(ufunc, values[::-1], (len(values) - ends)[::-1])[::-1]
    result = values.copy()
    lengths = np.diff(starts, append=len(values))
    for start, length in zip(starts[lengths > _LONG], lengths[lengths > _LONG], strict=True):
        with np.errstate(invalid="ignore", over="ignore"):
            ufunc.accumulate(values[start : start + length], out=result[start : start + length])
    short_starts = starts[lengths <= _LONG]
    short_lengths = lengths[lengths <= _LONG]
    for step in range(1, int(short_lengths.max(initial=0))):
        rows = short_starts[short_lengths > step] + step
        with np.errstate(invalid="ignore", over="ignore"):
            result[rows] = ufunc(result[rows - 1], values[rows])
    return result


def search(segments: Ints, values: Array, query_segments: Ints, queries: Array, side: str = "left") -> Ints:
    """``searchsorted`` within segments: rows are sorted by (segment, value); gives a row position per query.

    Few queries are halved down to their answers together. For many, values are replaced by their ranks, so that
    segment and value fit into one integer whatever their type.
    """
    if _MANY * len(queries) < len(values):
        return _halved(segments, values, query_segments, queries, side)
    distinct = np.unique(values)
    width = len(distinct) + 1
    keys = segments * width + np.searchsorted(distinct, values)
    wanted = query_segments * width + np.searchsorted(distinct, queries, side=side)  # type: ignore[call-overload]
    found: Ints = np.searchsorted(keys, wanted, side="left")
    return found


def _halved(segments: Ints, values: Array, query_segments: Ints, queries: Array, side: str) -> Ints:
    low = np.searchsorted(segments, query_segments, side="left")
    high = np.searchsorted(segments, query_segments, side="right")
    left = np.flatnonzero(low < high)
    while len(left):
        middle = (low[left] + high[left]) // 2
        above = values[middle] < queries[left] if side == "left" else values[middle] <= queries[left]
        low[left] = np.where(above, middle + 1, low[left])
        high[left] = np.where(above, high[left], middle)
        left = left[low[left] < high[left]]
    return low


def pack(major: Ints, minor: Ints, minor_size: int) -> Ints:
    """One integer per (major, minor) pair that sorts like the pair."""
    if not len(major):
        return np.empty(0, np.int64)
    low = int(major.min())
    if (int(major.max()) - low + 1) * minor_size < 2**62:
        return (major - low) * minor_size + minor
    ranks = np.unique(major, return_inverse=True)[1]
    return ranks * minor_size + minor


def slots_of(keys: Ints) -> tuple[Ints, Ints]:
    """Dense slot numbers for equal keys, in key order, and the first row of each slot.

    Keys from a narrow range, the usual case, are numbered by a table; others by sorting.
    """
    if not len(keys):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    low = int(keys.min())
    width = int(keys.max()) - low + 1
    if width > 4 * len(keys) + 4_096:
        _, first, slots = np.unique(keys, return_index=True, return_inverse=True)
        return slots, first
    offsets = keys - low
    first_row = np.full(width, -1, np.int64)
    first_row[offsets[::-1]] = np.arange(len(keys))[::-1]
    present = np.flatnonzero(first_row >= 0)
    table = np.empty(width, np.int64)
    table[present] = np.arange(len(present))
    return table[offsets], first_row[present]


def repeat_ranges(first: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Expands ranges: row i becomes ``first[i], first[i] + 1, ...`` (``counts[i]`` of them).

    Gives the index of the source row and the value, for every element.
    """
    rows = np.repeat(np.arange(len(counts)), counts)
    starts = np.cumsum(counts) - counts
    return rows, np.arange(len(rows)) - starts[rows] + first[rows]
