"""Intake: tuples from all inputs get their numbers, arrival times and clock, and are cut into trains."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
import polars as pl

from aurora.clock import Clock
from aurora.connectors.slices import FileSlices
from aurora.connectors.source import Source
from aurora.errors import InputError
from aurora.model.schema import Schema
from aurora.model.train import Came, Ints, Progress, Train
from aurora.model.types import DOUBLE, INT, TIMESTAMP
from aurora.processors.plan import FileRows, Readable
from aurora.scheduler.trains import TrainSize

_CHUNK_TUPLES = 65_536
_LOWEST = np.iinfo(np.int64).min
_NO_KEYS = np.empty(0, np.int64)
_MOST_SECONDS = 4e12
"""A clock past this many seconds, 126,000 years, is in another unit."""

Input: TypeAlias = Source | FileSlices
"""A source is read here; of a file that can be sliced, whoever runs the boxes reads the rows."""


@dataclass(frozen=True)
class Epoch:
    """The tuples of all inputs with numbers up to ``progress.seq``, since the epoch before."""

    trains: Mapping[str, Train | FileRows]
    progress: Progress


@dataclass(frozen=True)
class Position:
    """How far inputs have been taken: the tuples of each, how many in all, and where the clock stands."""

    read: Mapping[str, int] = field(default_factory=dict)
    seq: int = 0
    clock: int = _LOWEST

    def after(self, epoch: Epoch) -> Position:
        read = dict(self.read)
        for name, train in epoch.trains.items():
            read[name] = read.get(name, 0) + len(train)
        return Position(read, epoch.progress.seq + 1, epoch.progress.clock)

    def to_dict(self) -> dict[str, Any]:
        return {"read": dict(self.read), "seq": self.seq, "clock": self.clock}


def by_arrival(
    inputs: Mapping[str, Input],
    size: TrainSize,
    clock: Clock,
    bare: Collection[str] = (),
    start: Position = Position(),  # noqa: B008  (it is frozen)
) -> Iterator[Epoch]:
    """One input after the other; the clock is the engine's at entry. Trains of the streams in ``bare`` are bare.

    Sources have been opened at the start, and give what follows it.
    """
    seq = start.seq
    chunk = _whole_trains(size.most)
    for name, source in inputs.items():
        reader = _reader(source, chunk, start.read.get(name, 0))
        while reader.fill():
            taken = reader.take(min(size.now(), reader.ready))
            # Nobody writes to the clocks, so that one number can stand for all of them.
            now = np.array([clock.now_us()])
            spread = name in bare or isinstance(taken, Rows)
            clocks = np.broadcast_to(now, len(taken)) if spread else np.full(len(taken), now[0])
            yield numbered({name: (taken, None)}, seq, clocks, bare)
            seq += len(taken)


def _whole_trains(most: int, least: int = 1) -> int:
    """How much to read at once: no train of it is cut short by what has not been read yet."""
    return most * max(least, _CHUNK_TUPLES // most)


def by_column(
    inputs: Mapping[str, Input],
    schemas: Mapping[str, Schema],
    column: str,
    size: TrainSize,
    bare: Collection[str] = (),
    start: Position = Position(),  # noqa: B008  (it is frozen)
) -> Iterator[Epoch]:
    """All inputs merged by a column, whose running maximum is the clock."""
    check_clock(schemas, column)
    # Several trains at a time, so that few trains are cut short where one input has been read no farther.
    chunk = _whole_trains(size.most, 4 if size.most < _CHUNK_TUPLES * 4 else 1)
    queues = [
        _Queue(name, _reader(source, chunk, start.read.get(name, 0)), column, start.clock)
        for name, source in inputs.items()
    ]
    seq, clock = start.seq, start.clock
    while True:
        for queue in queues:
            queue.fill()
        owners, clocks = _merged(queues)
        if not len(owners):
            return
        clocks = np.maximum(clocks, clock)
        clock = int(clocks[-1])
        at = 0
        while at < len(owners):
            cut = slice(at, at + size.now())
            taken: dict[str, tuple[Taken, Ints | None]] = {}
            for place, queue in enumerate(queues):
                if len(queues) == 1:
                    taken[queue.name] = (queue.take(len(owners[cut])), None)
                    continue
                places = np.flatnonzero(owners[cut] == place)
                if len(places):
                    taken[queue.name] = (queue.take(len(places)), places)
            at = cut.stop
            epoch = numbered(taken, seq, clocks[cut], bare)
            seq = epoch.progress.seq + 1
            yield epoch


def check_clock(schemas: Mapping[str, Schema], column: str) -> None:
    """Every stream must have the column that drives the clock."""
    for name, schema in schemas.items():
        if column not in schema:
            raise InputError(f"stream {name} has no column {column} to drive the clock; it has {', '.join(schema)}")
        if schema[column] not in (TIMESTAMP, INT, DOUBLE):
            raise InputError(f"column {column} of stream {name} is {schema[column]}; a clock is a timestamp or seconds")


@dataclass(frozen=True)
class Rows:
    """Rows of a file, not read here."""

    file: Readable
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


Taken: TypeAlias = pl.DataFrame | Rows


def numbered(
    taken: Mapping[str, tuple[Taken, Ints | None]],
    first: int,
    clocks: Ints,
    bare: Collection[str],
    *,
    arrivals: bool = False,
) -> Epoch:
    """What was taken of each input, with the places of its tuples; None where they are all there are.

    With ``arrivals`` trains without numbers, too, say when each of their tuples came.
    """
    trains: dict[str, Train | FileRows] = {}
    for name, (rows, places) in taken.items():
        if isinstance(rows, Rows):
            own: Ints | int = clocks if places is None else clocks.take(places)
            if own[0] == own[-1]:  # type: ignore[index]
                own = int(own[0])  # type: ignore[index]
            numbers = None if places is None else places + first
            trains[name] = FileRows(rows.file, rows.start, rows.stop, first, own, numbers, name in bare)
        elif name in bare and arrivals:
            times_us = clocks if places is None else clocks.take(places)
            trains[name] = Train(rows, int(times_us[0]), came=Came.of(times_us))
        elif name in bare:
            trains[name] = Train(rows, int(clocks[-1]))
        elif places is None:
            order = np.arange(2 * first + 1, 2 * (first + len(clocks)) + 1, 2)
            trains[name] = Train.of(rows, order, clocks, clocks)
        else:
            at = clocks.take(places)
            trains[name] = Train.of(rows, 2 * places + (2 * first + 1), at, at)
    return Epoch(trains, Progress(first + len(clocks) - 1, int(clocks[-1]), first, clocks))


class _Reader(Protocol):
    """What stands ready of one input. ``fill`` makes something ready, or says that there is nothing more."""

    ready: int

    def fill(self) -> bool: ...

    def take(self, n: int) -> Taken: ...

    def column(self, name: str) -> pl.Series:
        """A column of all that is ready."""


def _reader(source: Input, chunk: int, skipped: int) -> _Reader:
    return _RangeReader(source, chunk, skipped) if isinstance(source, FileSlices) else _FrameReader(source, chunk)


class _FrameReader:
    def __init__(self, source: Source, chunk: int) -> None:
        self._batches = source.batches(chunk)
        self._frame = pl.DataFrame()
        self.ready = 0

    def fill(self) -> bool:
        while not self.ready:
            batch = next(self._batches, None)
            if batch is None:
                return False
            self._frame, self.ready = batch, batch.height
        return True

    def take(self, n: int) -> pl.DataFrame:
        frame = self._frame.slice(0, n)
        self._frame = self._frame.slice(n)
        self.ready -= n
        return frame

    def column(self, name: str) -> pl.Series:
        return self._frame.get_column(name)


class _RangeReader:
    def __init__(self, file: FileSlices, chunk: int, skipped: int) -> None:
        self._file = file
        self._chunk = chunk
        self._at = skipped
        self.ready = 0

    def fill(self) -> bool:
        if not self.ready:
            self.ready = min(self._chunk, self._file.rows - self._at)
        return self.ready > 0

    def take(self, n: int) -> Rows:
        taken = Rows(self._file, self._at, self._at + n)
        self._at += n
        self.ready -= n
        return taken

    def column(self, name: str) -> pl.Series:
        return self._file.column(name, self._at, self._at + self.ready)


class _Queue:
    """What is ready of one input, with its clock keys."""

    def __init__(self, name: str, reader: _Reader, column: str, last: int) -> None:
        self.name = name
        self._reader = reader
        self._column = column
        self._last = last
        self.keys: Ints = _NO_KEYS
        self.ended = False

    def fill(self) -> None:
        """Reads on if nothing is left."""
        if self.ended or len(self.keys):
            return
        if not self._reader.fill():
            self.ended = True
            return
        # A value below an earlier one of its input does not turn the clock back.
        keys = np.maximum.accumulate(microseconds(self._reader.column(self._column)))
        self.keys = keys if keys[0] >= self._last else np.maximum(keys, self._last)
        self._last = int(self.keys[-1])

    def take(self, n: int) -> Taken:
        self.keys = self.keys[n:]
        return self._reader.take(n)


def _merged(queues: list[_Queue]) -> tuple[Ints, Ints]:
    """Whose turn it is, tuple by tuple, and the clock keys; only as far as nothing unread can come before."""
    if len(queues) == 1:
        return np.zeros(len(queues[0].keys), np.int64), queues[0].keys
    # A queue's last tuple in hand is the last that is known to come before what the queue has not read.
    last = min(((int(queue.keys[-1]), place) for place, queue in enumerate(queues) if not queue.ended), default=None)
    heads = [queue.keys for queue in queues]
    if last is not None:
        heads = [
            keys[: np.searchsorted(keys, last[0], side="right" if place <= last[1] else "left")]
            for place, keys in enumerate(heads)
        ]
    ends = [int(end) for keys in heads if len(keys) for end in (keys[0], keys[-1])]
    low, bits = min(ends, default=0), len(queues).bit_length()
    if (max(ends, default=0) - low) << bits < 2**62:
        # With its owner in the lowest bits a key is sorted as a plain number; the stable sort finds the sorted heads.
        packed = np.concatenate([((keys - low) << bits) | place for place, keys in enumerate(heads)] or [_NO_KEYS])
        packed.sort(kind="stable")
        return packed & ((1 << bits) - 1), (packed >> bits) + low
    keys = np.concatenate(heads)
    owners = np.repeat(np.arange(len(queues)), [len(head) for head in heads])
    layout = np.argsort(keys, kind="stable")
    return owners[layout], keys[layout]


def microseconds(column: pl.Series) -> Ints:
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
