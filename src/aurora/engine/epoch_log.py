"""What has entered a network and not everybody has taken yet: one log, in which each who takes has a place."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from aurora.engine.live_statistics import Queued
from aurora.model.train import ARRIVAL, ORDER, Progress, Train
from aurora.model.typed import Producer

_NO_CLOCKS = np.empty(0, np.int64)


@dataclass(frozen=True)
class _Entry:
    """What entered at once. ``arrival_us`` is the mean arrival time of the tuples by stream."""

    trains: Mapping[Producer, Train]
    progress: Progress
    arrival_us: Mapping[Producer, float]
    bytes: int


class EpochLog:
    """Streams in the order of their tuples' numbers. Whoever takes says after which number, and up to which."""

    def __init__(self) -> None:
        self._entries: deque[_Entry] = deque()
        self.bytes = 0

    def put(self, trains: Mapping[Producer, Train], progress: Progress) -> None:
        """Tuples have entered, all of which have numbers."""
        arrival_us = {arc: float(train.hidden(ARRIVAL).mean()) for arc, train in trains.items()}
        size = sum(int(train.frame.estimated_size()) for train in trains.values())
        self._entries.append(_Entry(trains, progress, arrival_us, size))
        self.bytes += size

    def forget(self, upto: int) -> None:
        """Nobody will ask for what is numbered up to here any more."""
        while self._entries and self._entries[0].progress.seq <= upto:
            self.bytes -= self._entries.popleft().bytes

    def waiting(self, arc: Producer, after: int) -> tuple[int, float]:
        """How many tuples of a stream there are after a number, and the sum of their arrival times."""
        tuples, arrivals_us = 0, 0.0
        for entry in self._after(after):
            train = entry.trains.get(arc)
            if train is not None:
                count = len(train) - _place(train, after)
                tuples += count
                arrivals_us += count * entry.arrival_us[arc]
        return tuples, arrivals_us

    def queued(self, arc: Producer, after: int) -> Queued:
        """What waits of a stream after a number."""
        tuples = size = 0
        oldest_us: float | None = None
        for entry in self._after(after):
            train = entry.trains.get(arc)
            if train is not None and (count := len(train) - _place(train, after)):
                oldest_us = float(train.hidden(ARRIVAL)[len(train) - count]) if oldest_us is None else oldest_us
                tuples += count
                size += int(train.frame.estimated_size()) * count // len(train)
        return Queued(tuples, size, oldest_us)

    def number_at(self, arcs: Collection[Producer], after: int, most: int) -> int:
        """The number up to which there are about so many tuples of these streams, and at least one if there are any."""
        found = after
        for entry in self._after(after):
            first, seq = max(after + 1, entry.progress.first), entry.progress.seq
            count = sum(len(train) - _place(train, after) for arc, train in entry.trains.items() if arc in arcs)
            if count > most:
                return first + max(1, (seq - first + 1) * most // count) - 1 if most > 0 else found
            most -= count
            found = seq
        return found

    def between(
        self, arcs: Collection[Producer], after: int, upto: int, *, clocks: bool
    ) -> tuple[dict[Producer, Train], Progress]:
        """The tuples of these streams numbered after one number and up to another, and the word that goes with them.

        Without ``clocks`` it is not told how the clock moved meanwhile.
        """
        trains: dict[Producer, list[Train]] = {}
        moved = []
        clock = 0
        for entry in self._after(after):
            progress = entry.progress
            if progress.first > upto:
                break
            for arc, train in entry.trains.items():
                start, stop = _place(train, after), _place(train, upto)
                if arc in arcs and stop > start:
                    cut = train.frame.slice(start, stop - start)
                    trains.setdefault(arc, []).append(replace(train, frame=cut))
            moved.append(progress.clocks[max(after + 1 - progress.first, 0) : upto + 1 - progress.first])
            clock = progress.clock if progress.seq <= upto else int(moved[-1][-1])
        joined = {arc: Train.concat(some) for arc, some in trains.items()}
        if not clocks:
            return joined, Progress(upto, clock, upto + 1, _NO_CLOCKS)
        return joined, Progress(upto, clock, after + 1, np.concatenate(moved))

    def _after(self, number: int) -> Iterator[_Entry]:
        return (entry for entry in self._entries if entry.progress.seq > number)


def _place(train: Train, number: int) -> int:
    """How many tuples of a train are numbered up to there."""
    return int(np.searchsorted(train.hidden(ORDER), 2 * number + 1, side="right"))
