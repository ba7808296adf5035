"""Blocks of queues: entries joined or cut to the size that their queue writes to disk, and what they become there.

Numbered trains say everything about their tuples themselves. Bare ones do not, so when several are joined, two columns
in the file keep apart what was put when.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from aurora.model.train import ORDER, Came, Ints, Train
from aurora.storage.entries import Entry, Marks, joined, tuple_bytes

_UPTO = "__upto"
_CAME = "__came"


class Block(NamedTuple):
    """An entry that can leave memory, and the rows that go to disk for it."""

    entry: Entry
    frame: pl.DataFrame


class _Cut(NamedTuple):
    """Some rows of an entry."""

    entry: Entry
    start: int
    stop: int


def blocks_of(entries: Sequence[Entry], row: int, block_bytes: int) -> list[Block]:
    """The tuples of neighbouring entries from a place on the arc on, in blocks of about ``block_bytes``."""
    blocks = []
    gathered: list[_Cut] = []
    size = 0
    for cut, bytes in _cuts(entries, row, block_bytes):
        if gathered and (size + bytes > block_bytes or not _fit(gathered[-1], cut)):
            blocks.append(_block(gathered))
            gathered, size = [], 0
        gathered.append(cut)
        size += bytes
    if gathered:
        blocks.append(_block(gathered))
    return blocks


def restore(entry: Entry, frame: pl.DataFrame) -> None:
    """Gives an entry the tuples back that were read for it."""
    if _UPTO in frame.columns:
        entry.marks = _marks(frame.get_column(_UPTO).to_numpy())
        times_us = frame.get_column(_CAME).to_numpy()
        entry.train = Train(frame.drop(_UPTO, _CAME), int(times_us.min()), came=Came.of(times_us))
    else:
        entry.train = Train(frame, None if ORDER in frame.columns else entry.earliest)


def _cuts(entries: Sequence[Entry], row: int, block_bytes: int) -> Iterator[tuple[_Cut, int]]:
    for entry in entries:
        start = max(0, row - entry.first)
        rows = entry.rows - start
        bytes = tuple_bytes(entry) * rows // entry.rows
        parts = min(max(1, bytes // block_bytes), rows)
        for part in range(parts):
            low, high = start + rows * part // parts, start + rows * (part + 1) // parts
            yield _Cut(entry, low, high), bytes // parts


def _fit(one: _Cut, other: _Cut) -> bool:
    assert one.entry.train is not None
    assert other.entry.train is not None
    bare = one.entry.train.arrival_us is not None
    return bare == (other.entry.train.arrival_us is not None)


def _block(cuts: Sequence[_Cut]) -> Block:
    head, last = cuts[0], cuts[-1]
    train = joined([cut.entry.piece(cut.start, cut.stop) for cut in cuts], anew=True)
    rows = train.frame.height
    before = head.entry.before + head.entry.arrivals_between(0, head.start)
    after = last.entry.before + (
        last.entry.arrivals if last.stop == last.entry.rows else last.entry.arrivals_between(0, last.stop)
    )
    frame = train.frame
    marks = None
    upto = last.entry.upto
    if train.arrival_us is None:
        order = frame.get_column(ORDER)
        low, upto = int(order[0]) // 2, int(order[-1]) // 2
    elif len(cuts) == 1 and head.entry.marks is None and train.came is None:
        low = upto
    else:
        uptos = np.concatenate([_uptos(cut) for cut in cuts])
        came = np.broadcast_to(train.arrivals_us(), rows)
        marks = _marks(uptos)
        low, upto = int(uptos[0]), int(uptos[-1])
        frame = frame.with_columns(pl.Series(_UPTO, uptos), pl.Series(_CAME, came))
    entry = Entry(train, head.entry.first + head.start, rows, upto, before, after - before, marks)
    entry.short = False
    entry.low = low
    entry.earliest = head.entry.arrival_of(head.start)
    return Block(entry, frame)


def _uptos(cut: _Cut) -> Ints:
    """For each row of a bare cut, the upto of the train that it was put with."""
    marks = cut.entry.marks
    if marks is None:
        return np.full(cut.stop - cut.start, cut.entry.upto, np.int64)
    return np.repeat(marks.uptos, np.diff(marks.ends, prepend=0))[cut.start : cut.stop]


def _marks(uptos: Ints) -> Marks:
    ends = np.append(np.flatnonzero(np.diff(uptos)) + 1, len(uptos))
    return Marks(ends, uptos[ends - 1])
