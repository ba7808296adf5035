"""Entries of queues: trains as they were put, or blocks that were made of them when memory ran short."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

import numpy as np
import polars as pl

from aurora.model.train import ARRIVAL, ORDER, Came, Ints, Train
from aurora.storage.spill import Place

COLUMN_BYTES = 600
ENTRY_BYTES = 300
"""What a train costs beside its tuples, per column and as such, as measured. For one tuple it is nearly all."""
_FEW_ROWS = 512
_FEW_TRAINS = 16
_SHORT = 4


class Marks(NamedTuple):
    """The bare trains that were joined into one: where each ends, and the last number it may hold."""

    ends: Ints
    uptos: Ints


class Entry:
    """Neighbouring tuples of a queue. ``train`` is None while they are on disk only.

    ``first`` is the place on the arc of the first tuple. ``before`` is the sum of the arrival times of all tuples of
    the arc before it, and ``arrivals`` that of its own. ``bytes`` is what it takes in memory.
    """

    __slots__ = (
        "arrivals", "before", "bytes", "earliest", "first", "low", "marks", "place", "rows", "short", "train", "upto",
    )  # fmt: skip

    def __init__(
        self, train: Train, first: int, rows: int, upto: int, before: int, arrivals: int, marks: Marks | None = None
    ) -> None:
        frame = train.frame
        self.train: Train | None = train
        self.first = first
        self.rows = rows
        self.upto = upto
        self.before = before
        self.arrivals = arrivals
        self.marks = marks
        size = int(frame.estimated_size())
        extra = frame.width * COLUMN_BYTES + ENTRY_BYTES
        self.bytes = size + extra
        if marks is not None:
            self.bytes += 16 * rows + 24 * len(marks.ends)
        self.place: Place | None = None
        self.short = size * _SHORT < extra
        """Whether it is a train that costs much more than its tuples do."""
        self.low = 0
        """Of a numbered entry that has been on disk: the least ``ORDER``."""
        self.earliest = 0
        """The same: when its first tuple came."""

    @property
    def bare(self) -> bool:
        """Whether its tuples have no numbers. The entry is in memory."""
        assert self.train is not None
        return self.train.arrival_us is not None

    def arrival_of(self, row: int) -> int:
        """When the tuple in this row came."""
        train = self.train
        if train is None:
            return self.earliest
        if train.came is not None:
            return train.came.at(row)
        if train.arrival_us is not None:
            return train.arrival_us
        return int(train.frame.item(row, ARRIVAL))

    def number_of(self, row: int) -> int:
        """The number of the tuple in this row; 0 for bare trains, which have none. The entry is in memory."""
        assert self.train is not None
        return 0 if self.train.arrival_us is not None else int(self.train.frame.item(row, ORDER)) >> 1

    def arrivals_between(self, start: int, stop: int) -> int:
        """The sum of the arrival times of some of its tuples; for tuples on disk, an estimate."""
        if stop - start == self.rows:
            return self.arrivals
        train = self.train
        if stop == start or train is None:
            return self.arrivals * (stop - start) // self.rows
        return sum_of_arrivals(train.between(start, stop))

    def rows_upto(self, upto: int) -> int:
        """How many of its tuples are numbered at most ``upto``. The entry is in memory."""
        if self.upto <= upto:
            return self.rows
        if self.marks is not None:
            trains = bisect_right(self.marks.uptos, upto)
            return int(self.marks.ends[trains - 1]) if trains else 0
        assert self.train is not None
        if self.train.arrival_us is not None:
            return 0
        return int(np.searchsorted(self.train.hidden(ORDER), 2 * upto + 1, side="right"))

    def on_its_own(self) -> Entry:
        """A copy that belongs to no queue."""
        return copy(self)

    def piece(self, start: int, stop: int) -> Train:
        """Some of its tuples, without a copy. The entry is in memory."""
        train = self.train
        assert train is not None
        if start == 0 and stop == self.rows:
            return train
        return train.between(start, stop)


def tuple_bytes(entry: Entry) -> int:
    """What the tuples of an entry take, without the entry itself. The entry is in memory."""
    assert entry.train is not None
    return int(entry.train.frame.estimated_size())


def sum_of_arrivals(train: Train) -> int:
    """To the microsecond in the mean. An integer: a sum of doubles over a long run would drown the last tuples."""
    frame, came = train.frame, train.came
    rows = frame.height
    if came is not None:
        return sum(
            [count * time_us for count, time_us in zip(came.counts.tolist(), came.times_us.tolist(), strict=True)]
        )
    if train.arrival_us is not None:
        return train.arrival_us * rows
    if rows == 1:
        return int(frame.item(0, ARRIVAL))
    return int(frame.get_column(ARRIVAL).mean()) * rows  # type: ignore[arg-type]


def joined(trains: Sequence[Train], *, anew: bool = False) -> Train:
    """Trains one after the other as one. Short ones are copied together, long ones stay where they are.

    ``anew`` copies all of them, so that nothing is left of theirs: each may have kept a little text in much memory.
    """
    if len(trains) == 1:
        return trains[0]
    frames = [train.frame for train in trains]
    short = sum(map(len, frames)) <= _FEW_ROWS * len(frames)
    if anew or (short and len(frames) > _FEW_TRAINS):
        frame = pl.concat(frames, how="vertical", rechunk=True)
    else:
        frame = frames[0].clone()
        for other in frames[1:]:
            if short:
                frame.extend(other)
            else:
                frame.vstack(other, in_place=True)
    if trains[0].arrival_us is None:
        return Train(frame)
    ends = np.cumsum([len(train) for train in trains])
    runs = [_runs(train, int(end) - len(train)) for train, end in zip(trains, ends, strict=True)]
    came = Came(np.concatenate([run.ends for run in runs]), np.concatenate([run.times_us for run in runs]))
    return Train(frame, int(came.times_us.min()), came=came)


def _runs(train: Train, before: int) -> Came:
    """When the tuples of a bare train came that stands so many rows behind the first of others."""
    if train.came is None:
        return Came(np.array([before + len(train)]), np.array([train.arrival_us]))
    return Came(train.came.ends + before, train.came.times_us)
