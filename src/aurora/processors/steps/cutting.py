"""A long train, cut into pieces whose columns stay in the processor's cache while boxes work on them.

A step should carry as much as it can, because it costs something whatever it carries. Kernels like shorter trains.
Since results do not depend on how a stream is cut, a task takes its trains apart by the numbers of their tuples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from aurora.model.train import ORDER, Ints, Part, Progress, Train
from aurora.model.typed import Producer

PIECE_TUPLES = 100_000

Trains = Mapping[Producer, Train]


def pieces(trains: Trains, progress: Progress, tuples: int = PIECE_TUPLES) -> Iterator[tuple[Trains, Progress]]:
    """The trains in pieces of about so many tuples, each with the word of progress that belongs to it."""
    longest = max(trains.values(), key=_length, default=None)
    if longest is None or _length(longest) <= tuples:
        yield trains, progress
    elif longest.arrival_us is not None:
        yield from _by_rows(trains, progress, tuples)
    else:
        yield from _by_numbers(trains, progress, _orders(longest)[tuples - 1 : -1 : tuples])


def _length(train: Train) -> int:
    return len(train) if train.part is None else train.part.whole.height


def _orders(train: Train) -> Ints:
    frame = train.frame if train.part is None else train.part.whole
    return frame.get_column(ORDER).to_numpy()


def _by_rows(trains: Trains, progress: Progress, tuples: int) -> Iterator[tuple[Trains, Progress]]:
    """Bare trains: nobody asks who comes before whom."""
    for start in range(0, max(map(len, trains.values())), tuples):
        cut = {p: replace(t, frame=t.frame.slice(start, tuples)) for p, t in trains.items() if start < len(t)}
        yield cut, progress


def _by_numbers(trains: Trains, progress: Progress, last_orders: Ints) -> Iterator[tuple[Trains, Progress]]:
    orders = {producer: _orders(train) for producer, train in trains.items()}
    done = dict.fromkeys(trains, 0)
    first = progress.first
    # What is flushed at the end stands behind the last number.
    numbers = np.unique(last_orders >> 1)
    for seq in [*numbers[numbers < progress.seq].tolist(), progress.seq]:
        cut: dict[Producer, Train] = {}
        for producer, train in trains.items():
            start, stop = done[producer], int(np.searchsorted(orders[producer], 2 * seq + 1, side="right"))
            if seq == progress.seq:
                stop = len(orders[producer])
            if stop > start:
                cut[producer] = _rows(train, start, stop)
                done[producer] = stop
        yield cut, until(progress, first, seq)
        first = seq + 1


def _rows(train: Train, start: int, stop: int) -> Train:
    if train.part is None:
        return replace(train, frame=train.frame.slice(start, stop - start))
    part = train.part
    low, high = np.searchsorted(part.places, (start, stop)).tolist()
    inside = Part(part.places[low:high] - start, part.first + start, part.whole.slice(start, stop - start))
    return replace(train, frame=train.frame.slice(low, high - low), part=inside)


def until(progress: Progress, first: int, seq: int) -> Progress:
    """The word of progress for the tuples from one number up to another."""
    if seq == progress.seq:
        return replace(progress, first=first, clocks=progress.clocks[first - progress.first :])
    clocks = progress.clocks[first - progress.first : seq + 1 - progress.first]
    return Progress(seq, int(clocks[-1]) if len(clocks) else progress.clock, first, clocks)
