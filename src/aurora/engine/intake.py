"""Intake: tuples from all inputs get their numbers, arrival times and clock, and are cut into trains."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from aurora.clock import Clock
from aurora.connectors.source import Source
from aurora.errors import InputError
from aurora.model.schema import Schema
from aurora.model.train import Ints, Progress, Train
from aurora.model.types import DOUBLE, INT, TIMESTAMP

_CHUNK_TUPLES = 65_536
_LOWEST = np.iinfo(np.int64).min
_MOST_SECONDS = 4e12
"""A clock past this many seconds, 126,000 years, is in another unit."""


@dataclass(frozen=True)
class Epoch:
    """The tuples of all inputs with numbers up to ``progress.seq``, since the epoch before."""

    trains: Mapping[str, Train]
    progress: Progress


def by_arrival(sources: Mapping[str, Source], train: int, clock: Clock, bare: Collection[str] = ()) -> Iterator[Epoch]:
    """One input after the other; the clock is the engine's at entry. Trains of the streams in ``bare`` are bare."""
    seq = 0
    for name, source in sources.items():
        for batch in source.batches(max(train, _CHUNK_TUPLES)):
            for start in range(0, batch.height, train):
                frame = batch.slice(start, train)
                clocks = np.full(frame.height, clock.now_us())
                yield _epoch({name: (frame, None)}, seq, clocks, bare)
                seq += frame.height


def by_column(
    sources: Mapping[str, Source],
    schemas: Mapping[str, Schema],
    column: str,
    train: int,
    bare: Collection[str] = (),
) -> Iterator[Epoch]:
    """All inputs merged by a column, whose running maximum is the clock."""
    for name, schema in schemas.items():
        if column not in schema:
            raise InputError(f"stream {name} has no column {column} to drive the clock; it has {', '.join(schema)}")
        if schema[column] not in (TIMESTAMP, INT, DOUBLE):
            raise InputError(f"column {column} of stream {name} is {schema[column]}; a clock is a timestamp or seconds")
    # Several trains at a time, so that few trains are cut short where one input has been read no farther.
    chunk = max(4 * train, _CHUNK_TUPLES)
    queues = [_Queue(name, source, column, chunk) for name, source in sources.items()]
    seq, clock = 0, _LOWEST
    while True:
        for queue in queues:
            queue.fill()
        owners, clocks = _merged(queues)
        if not len(owners):
            return
        clocks = np.maximum(clocks, clock)
        clock = int(clocks[-1])
        for start in range(0, len(owners), train):
            cut = slice(start, start + train)
            taken: dict[str, tuple[pl.DataFrame, Ints | None]] = {}
            for place, queue in enumerate(queues):
                if len(queues) == 1:
                    taken[queue.name] = (queue.take(len(owners[cut])), None)
                    continue
                numbers = np.flatnonzero(owners[cut] == place)
                if len(numbers):
                    taken[queue.name] = (queue.take(len(numbers)), seq + numbers)
            epoch = _epoch(taken, seq, clocks[cut], bare)
            seq = epoch.progress.seq + 1
            yield epoch


def _epoch(
    taken: Mapping[str, tuple[pl.DataFrame, Ints | None]], first: int, clocks: Ints, bare: Collection[str]
) -> Epoch:
    """What was taken of each input, with the numbers of its tuples; None where they are all there are."""
    trains = {}
    for name, (frame, numbers) in taken.items():
        if name in bare:
            trains[name] = Train(frame, int(clocks[-1]))
            continue
        if numbers is None:
            order = np.arange(2 * first + 1, 2 * (first + len(clocks)) + 1, 2)
            trains[name] = Train.of(frame, order, clocks, clocks)
        else:
            own = clocks[numbers - first]
            trains[name] = Train.of(frame, 2 * numbers + 1, own, own)
    return Epoch(trains, Progress(first + len(clocks) - 1, int(clocks[-1]), first, clocks))


class _Queue:
    """What has been read of one input and not yet taken."""

    def __init__(self, name: str, source: Source, column: str, size: int) -> None:
        self.name = name
        self._batches = source.batches(size)
        self._column = column
        self._frame = pl.DataFrame()
        self._last = _LOWEST
        self.keys: Ints = np.empty(0, np.int64)
        self.ended = False

    def fill(self) -> None:
        """Reads on if nothing is left."""
        while not self.ended and not len(self.keys):
            batch = next(self._batches, None)
            if batch is None:
                self.ended = True
            elif batch.height:
                # A value below an earlier one of its input does not turn the clock back.
                self._frame = batch
                keys = _microseconds(batch.get_column(self._column))
                self.keys = np.maximum.accumulate(np.maximum(keys, self._last))
                self._last = int(self.keys[-1])

    def take(self, n: int) -> pl.DataFrame:
        frame = self._frame.slice(0, n)
        self._frame = self._frame.slice(n)
        self.keys = self.keys[n:]
        return frame


def _merged(queues: list[_Queue]) -> tuple[Ints, Ints]:
    """Whose turn it is, tuple by tuple, and the clock keys; only as far as nothing unread can come before."""
    keys = np.concatenate([queue.keys for queue in queues]) if queues else np.empty(0, np.int64)
    owners = np.repeat(np.arange(len(queues)), [len(queue.keys) for queue in queues])
    if len(queues) < 2:
        return owners, keys
    layout = np.argsort(keys, kind="stable")
    owners, keys = owners[layout], keys[layout]
    unread = np.array([not queue.ended for queue in queues])
    if unread.any():
        # A queue's last tuple in hand is the last that is known to come before what the queue has not read.
        last_of = np.full(len(queues), -1)
        last_of[owners] = np.arange(len(owners))
        until = int(last_of[unread].min()) + 1
        owners, keys = owners[:until], keys[:until]
    return owners, keys


def _microseconds(column: pl.Series) -> Ints:
    """The clock column in microseconds; plain numbers are seconds. NULL moves nothing."""
    if column.dtype.is_temporal():
        return column.to_physical().fill_null(_LOWEST).to_numpy()
    seconds = column.cast(pl.Float64).to_numpy()
    known = np.isfinite(seconds)
    seconds = np.where(known, seconds, 0.0)
    if bool((np.abs(seconds) > _MOST_SECONDS).any()):
        raise InputError(
            f"the clock column {column.name} holds {seconds[np.abs(seconds).argmax()]:.0f}, which is no time in "
            "seconds; declare the column as a timestamp, or bring it to seconds first"
        )
    return np.where(known, np.rint(seconds * 1e6).astype(np.int64), _LOWEST)
