"""Trains: runs of tuples in arc order, with the hidden columns every tuple carries.

A train is Arrow memory seen through Polars. Beside the stream's own columns it has three hidden ones:

``__order``    2·n + 1 for what tuple number n made come out, 2·n for a timeout that fell due just before it.
               An arc is sorted by (``__order``, ``__clock``); parallel arcs merge by it.
``__clock``    the engine's clock in microseconds when the tuple came out: a timeout's due time, else the
               clock at the tuple that made it come out.
``__arrival``  the earliest arrival time of the tuples it was made from, in microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from aurora.model.schema import Schema

Ints = npt.NDArray[np.int64]

ORDER = "__order"
CLOCK = "__clock"
ARRIVAL = "__arrival"
HIDDEN = (ORDER, CLOCK, ARRIVAL)
RANKS = ("__rank0", "__rank1", "__rank2", "__rank3", "__rank4", "__rank5", "__rank6")
"""Where a stream is split over workers its tuples carry the first of these too: they say who goes first among tuples
with the same ``__order`` and ``__clock``, whichever worker they come from. The first three say when: by the place on
the arc of the tuple that made it come out; the others tell apart what came out at once."""
WHEN = RANKS[:3]
AT_END = np.iinfo(np.int64).max
"""For a place: after all places. What a box still holds at the end comes out behind what it makes of what the boxes
before it held."""
FLUSHED = AT_END - 1
"""For a place: what leaves a buffer at the end, one tuple after the other, before what then is closed at once."""
_FEW_RUNS = 32
"""So many are counted one by one sooner than all rows are looked at."""
_HIDDEN_TYPES = {name: pl.Int64() for name in HIDDEN}


def frame_of(columns: list[pl.Series]) -> pl.DataFrame:
    """A frame of some columns, at a third of the cost of ``pl.DataFrame``, which has to find out what it was given."""
    return columns[0].to_frame().hstack(columns[1:]) if columns else pl.DataFrame()


def rows_where(frame: pl.DataFrame, mask: npt.NDArray[np.bool_] | pl.Series) -> pl.DataFrame:
    """The rows that a mask points out. Column by column this costs a third of what ``DataFrame.filter`` does."""
    chosen = mask if isinstance(mask, pl.Series) else pl.Series(mask)
    return frame_of([column.filter(chosen) for column in frame.get_columns()])


def rows_at(frame: pl.DataFrame, rows: Ints) -> pl.DataFrame:
    """The rows with these numbers, in that order."""
    return frame[pl.Series(rows.astype(np.uint32))]


@dataclass(frozen=True)
class Part:
    """Where the tuples of a train stand among all those of the arc's train, of which they are one part.

    ``places`` has their rows in ``whole``, which has the hidden columns and the columns of progress of all the rows.
    ``first`` is the number on the arc of the first of them.
    """

    places: Ints
    first: int
    whole: pl.DataFrame


class Came(NamedTuple):
    """When tuples came, in runs that came at once: the row behind each run, and when."""

    ends: Ints
    times_us: Ints

    @classmethod
    def of(cls, times_us: Ints) -> Came | None:
        """From the time of every tuple; None if all came at once."""
        changes = np.flatnonzero(times_us[1:] != times_us[:-1])
        ends = np.append(changes + 1, len(times_us))
        return cls(ends, times_us[ends - 1]) if len(changes) else None

    def at(self, row: int) -> int:
        return int(self.times_us[np.searchsorted(self.ends, row, side="right")])

    def between(self, start: int, stop: int) -> Came:
        """Of some of the rows."""
        first, last = np.searchsorted(self.ends, (start, stop - 1), side="right")
        ends = self.ends[first : last + 1] - start
        ends[-1] = stop - start
        return Came(ends, self.times_us[first : last + 1])

    def where(self, mask: npt.NDArray[np.bool_] | pl.Series) -> Came | None:
        """Of the rows that a mask points out, where it is not NULL; None if there are none."""
        if len(self.ends) <= _FEW_RUNS:
            chosen = mask if isinstance(mask, pl.Series) else pl.Series(mask)
            starts = [0, *self.ends.tolist()]
            counts = np.array([chosen.slice(at, to - at).sum() for at, to in pairwise(starts)])
        else:
            bits = mask.fill_null(False).to_numpy() if isinstance(mask, pl.Series) else mask
            counts = np.add.reduceat(bits, np.append(0, self.ends[:-1]), dtype=np.int64)
        left = counts > 0
        return Came(np.cumsum(counts[left]), self.times_us[left]) if left.any() else None

    @property
    def counts(self) -> Ints:
        return np.diff(self.ends, prepend=0)


@dataclass(frozen=True)
class Train:
    """Tuples in arc order. ``frame`` has the visible columns first, then the hidden ones.

    Where no box downstream asks for hidden columns a train is bare: it goes without them, and ``arrival_us`` says when
    the first of its tuples came; ``came`` says it of all, where they have not all come at once and it is known. A train
    that is a part of one that was split says which; its tuples have ranks.
    """

    frame: pl.DataFrame
    arrival_us: int | None = None
    part: Part | None = None
    came: Came | None = None

    def __len__(self) -> int:
        return self.frame.height

    @classmethod
    def empty(cls, schema: Schema) -> Train:
        return cls(pl.DataFrame(schema={**schema.to_polars(), **_HIDDEN_TYPES}))

    @classmethod
    def of(
        cls, visible: pl.DataFrame, order: Ints, clock: Ints, arrival: Ints, ranks: Sequence[Ints] | None = None
    ) -> Train:
        clocks = pl.Series(CLOCK, clock)
        arrivals = clocks.alias(ARRIVAL) if arrival is clock else pl.Series(ARRIVAL, arrival)
        hidden = [pl.Series(ORDER, order), clocks, arrivals]
        if ranks is not None:
            hidden += [pl.Series(name, rank, pl.Int64) for name, rank in zip(RANKS, ranks, strict=False)]
        return cls(visible.hstack(hidden))

    @classmethod
    def concat(cls, trains: Sequence[Train]) -> Train:
        if len(trains) == 1:
            return trains[0]
        return cls(pl.concat([train.frame for train in trains], how="vertical"), trains[0].arrival_us)

    def made(self, frame: pl.DataFrame) -> Train:
        """A train made from this one, tuple by tuple."""
        return Train(frame, self.arrival_us, came=self.came if frame.height == self.frame.height else None)

    def where(self, mask: npt.NDArray[np.bool_] | pl.Series) -> Train:
        """The tuples that a mask points out."""
        came = self.came
        if came is not None:
            came = came.where(mask)
        return Train(rows_where(self.frame, mask), self.arrival_us, came=came)

    def between(self, start: int, stop: int) -> Train:
        """Some of its rows, without a copy."""
        frame = self.frame.slice(start, stop - start)
        if self.came is None:
            return Train(frame, self.arrival_us)
        came = self.came.between(start, stop)
        return Train(frame, int(came.times_us.min()), came=came)

    def arrivals_us(self) -> Ints:
        """Of a bare train: when every tuple came, or one time for all of them."""
        if self.came is None:
            return np.array([self.arrival_us])
        return np.repeat(self.came.times_us, self.came.counts)

    @property
    def visible(self) -> pl.DataFrame:
        """The stream's own columns."""
        if self.arrival_us is not None:
            return self.frame
        return frame_of(self.frame.get_columns()[: -self._hidden])

    @property
    def _hidden(self) -> int:
        return len(HIDDEN) + self.ranks

    @property
    def ranks(self) -> int:
        """How many ranks the tuples carry."""
        last = self.frame.columns[-1]
        return RANKS.index(last) + 1 if last in RANKS else 0

    @property
    def hidden_columns(self) -> list[pl.Series]:
        return [] if self.arrival_us is not None else self.frame.get_columns()[-self._hidden :]

    def hidden(self, name: str) -> Ints:
        return self.frame.get_column(name).to_numpy()

    def to_arrow(self) -> pa.Table:
        """The visible columns as an Arrow table."""
        return self.visible.to_arrow()


@dataclass(frozen=True)
class Progress:
    """Word that an engine gives its boxes: everything numbered up to ``seq`` has been given to you.

    Meanwhile the clock moved: it stood at ``clocks[i]`` when tuple number ``first + i``, of any input, came in. A tick
    without a tuple counts as the number ``seq + 1``, that of the tuple still to come. ``clock`` is where it stands now.
    ``end`` says that no tuple will ever come again: open value windows and sort buffers are to be flushed.
    """

    seq: int
    clock: int
    first: int
    clocks: Ints
    end: bool = False

    @classmethod
    def standing(cls, seq: int, clock: int, *, end: bool = False) -> Progress:
        """Neither tuples nor time since the last word."""
        return cls(seq, clock, seq + 1, np.empty(0, np.int64), end)

    def orders_of(self, due: Ints) -> Ints:
        """The ``__order`` of timeouts due at these times, which the clock has reached since the last word.

        A timeout comes out just before the first tuple whose clock is at or past its due time.
        """
        return 2 * (self.first + np.searchsorted(self.clocks, due, side="left"))

    @property
    def end_order(self) -> int:
        """The ``__order`` of what is flushed at the end: after every tuple there was."""
        return 2 * self.seq + 2


@dataclass(frozen=True)
class Emission:
    """What a kernel call gave: a train per output port that got tuples, and what it counted.

    ``shed`` are the tuples that the kernel dropped by its rule. Where windows are estimates from a sample,
    ``estimated`` is their number, and ``error`` the sum of their relative standard errors.
    """

    trains: Mapping[str, Train]
    late: int = 0
    nulled: int = 0
    rejected: int = 0
    shed: int = 0
    error: float = 0.0
    estimated: int = 0


NOTHING = Emission({})
