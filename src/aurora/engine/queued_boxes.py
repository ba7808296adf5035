"""Boxes and the queues between them: what each could take now, and up to which number each arc is complete.

Every schedule gives the same answers because a box is given tuples in the order of their numbers, and a box with
several inputs only those up to a number that all its inputs have reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from aurora.engine.arc_queues import ArcQueues
from aurora.engine.clocks import ClockLog
from aurora.engine.live_statistics import Queued
from aurora.model.train import ORDER, Ints, Progress, Train
from aurora.model.typed import Consumer, Producer, TypedNetwork
from aurora.processors.sieve import Sieving, Tally
from aurora.storage.manager import StorageManager

_ALL = 2**62
_NOBODY = -1
_NO_CLOCKS = np.empty(0, np.int64)


@dataclass(frozen=True)
class Place:
    """Where a box stands in the network.

    It is ``timed`` if it waits for time, it ``merges`` if its inputs must come to the same number, and it is
    ``numbered`` if its tuples have numbers at all. ``below`` are the boxes downstream that merge.
    """

    name: str
    inputs: tuple[tuple[Consumer, Producer], ...]
    ports: tuple[Producer, ...]
    timed: bool
    merges: bool
    numbered: bool
    below: tuple[int, ...]


@dataclass(frozen=True)
class Load:
    """What a box is to be given in one call."""

    trains: Mapping[Producer, Train]
    progress: Progress


class QueuedBoxes:
    """The boxes of a network by number, in topological order, with their queues in ``storage``."""

    def __init__(self, typed: TypedNetwork, storage: StorageManager, position: int, clock: int) -> None:
        self._queues = ArcQueues(typed, storage)
        self._numbers = {name: number for number, name in enumerate(typed.order)}
        self.places = _places(typed)
        arcs = [typed.arcs.producer(arc) for arc in typed.arcs]
        self._readers = {
            arc: tuple(dict.fromkeys(self._numbers[reader.box] for reader in typed.consumers(arc))) for arc in arcs
        }
        self._only_reader = {arc: self._hands_to(found) for arc, found in self._readers.items()}
        self._seq = position
        self._clock = clock
        self._positions = [position] * len(self.places)
        self._busy = [False] * len(self.places)
        self._log = ClockLog()
        self._timed = [number for number, place in enumerate(self.places) if place.timed]
        self._merging = [number for number, place in enumerate(self.places) if place.merges]
        self._stale: set[int] = set()
        self.touched: set[int] = set()
        """Boxes of which ``ready`` has changed since somebody cleared this."""
        self.ready: Ints = np.zeros(len(self.places), np.int64)
        self.arrival_us = np.zeros(len(self.places))
        self.tuple_bytes = np.ones(len(self.places))

    def _hands_to(self, readers: tuple[int, ...]) -> int:
        """The box that can be handed what is on an arc: its only reader, if that minds neither time nor order."""
        if len(readers) == 1:
            place = self.places[readers[0]]
            if (
                not place.timed
                and not place.merges
                and len({producer for _, producer in place.inputs}) == len(place.inputs)
            ):
                return readers[0]
        return _NOBODY

    # Tuples come and go

    def enter(self, trains: Mapping[Producer, Train], progress: Progress) -> None:
        """Tuples have entered the network."""
        if self._timed:
            self._log.append(progress.first, progress.clocks)
        # An arc is not complete up to a number before it has all the tuples.
        for producer, train in trains.items():
            self.put(producer, train, progress.seq)
        self._seq, self._clock = progress.seq, progress.clock
        self._stale.update(self._merging)

    def put(self, producer: Producer, train: Train, upto: int) -> None:
        """A train goes to the queue of its arc, if any box reads that."""
        readers = self._readers[producer]
        if readers:
            self._queues.put(producer, train, upto)
            for box in readers:
                self._refresh(box)

    def is_empty(self, producer: Producer) -> bool:
        """Whether nothing waits on an arc."""
        return not any(self.ready[box] for box in self._readers[producer])

    def begin(self, box: int, most: int) -> Load | None:
        """Takes at most about so many tuples for a box, which is then busy until ``end``; None if a call is of no use.

        Tuples of one number are not parted.
        """
        place = self.places[box]
        if self._busy[box]:
            return None
        if place.timed or place.merges:
            load = self._up_to_a_number(box, place, most)
        else:
            load = self._as_they_stand(box, place, most)
        self._busy[box] = load is not None
        return load

    def end(
        self, box: int, progress: Progress, made: Iterable[tuple[Producer, Train]], following: dict[int, Load | None]
    ) -> None:
        """The box has been run; what it made goes to the queues.

        A box that is called later by the same worker, before anybody else can, is handed its tuples in ``following``
        instead, if none wait for it; it is busy from now on.
        """
        for producer, train in made:
            reader = self._only_reader[producer]
            if reader in following and not self.ready[reader]:
                load = following[reader]
                if load is not None:
                    following[reader] = Load({**load.trains, producer: train}, load.progress)
                    continue
                if not self._busy[reader]:
                    self._busy[reader] = True
                    handed = Progress(progress.seq, progress.clock, progress.seq + 1, _NO_CLOCKS)
                    following[reader] = Load({producer: train}, handed)
                    continue
            self.put(producer, train, progress.seq)
        self._busy[box] = False
        self._positions[box] = max(self._positions[box], progress.seq)
        self._refresh(box)
        self._stale.update(self.places[box].below)
        if self.places[box].timed:
            self._log.forget(min(self._positions[number] for number in self._timed))

    def give_back(self, box: int, load: Load) -> None:
        """A box that was handed its tuples is not called after all; they wait for it."""
        self._busy[box] = False
        for producer, train in load.trains.items():
            self.put(producer, train, load.progress.seq)

    def _as_they_stand(self, box: int, place: Place, most: int) -> Load | None:
        """Where order among inputs does not matter, or there is one: so many of each, first come, first served."""
        trains: dict[Producer, Train] = {}
        last = self._positions[box]
        for reader, producer in place.inputs:
            if place.numbered and self._queues.waiting(reader).tuples > most:
                train = self._queues.take(reader, _ALL, self._queues.number_at(reader, most))
            else:
                train = self._queues.take(reader, most)
            if train is not None:
                trains[producer] = train
                if train.arrival_us is None:
                    last = max(last, int(train.frame.get_column(ORDER)[-1]) >> 1)
        self._refresh(box)
        if not trains:
            return None
        return Load(trains, Progress(last, self._clock, last + 1, _NO_CLOCKS))

    def _up_to_a_number(self, box: int, place: Place, most: int) -> Load | None:
        upto = self._frontier(place)
        for reader, _ in place.inputs:
            number = self._queues.number_at(reader, most)
            if number is not None and number < upto and self._queues.waiting(reader).tuples > most:
                upto = number
        position = self._positions[box]
        if upto <= position:
            return None
        trains = {}
        for reader, producer in place.inputs:
            train = self._queues.take(reader, _ALL, upto)
            if train is not None:
                trains[producer] = train
        self._refresh(box)
        if not trains and not place.timed:
            self._positions[box] = upto
            return None
        if not place.timed:
            return Load(trains, Progress(upto, self._clock, upto + 1, _NO_CLOCKS))
        clocks = self._log.between(position + 1, upto)
        return Load(trains, Progress(upto, int(clocks[-1]), position + 1, clocks))

    # The network changes

    def is_done(self, box: int) -> bool:
        """Whether the box has taken all that entered."""
        place = self.places[box]
        if self._busy[box] or any(self._queues.waiting(reader).tuples for reader, _ in place.inputs):
            return False
        return not place.timed or self._frontier(place) <= self._positions[box]

    def take_over(self, old: QueuedBoxes, kept: Mapping[str, str]) -> None:
        """Goes on from the boxes of another network; ``kept`` has by new names the old ones of those that stay."""
        self._seq, self._clock, self._log = old._seq, old._clock, old._log
        self._positions = [old._seq] * len(self.places)
        for box, was in kept.items():
            self._positions[self._numbers[box]] = old._positions[old._numbers[was]]
        self._queues.take_over(old._queues, kept)
        for number in range(len(self.places)):
            self._refresh(number)

    # What is known

    def refresh(self) -> None:
        """Brings ``ready`` up to date for boxes that wait for several inputs."""
        for box in self._stale:
            self._refresh(box)
        self._stale.clear()

    def behind(self, clock_us: int = 0) -> list[int]:
        """Boxes that wait for time, and have not been told of what came in for so long."""
        found = []
        for box in self._timed:
            upto = self._frontier(self.places[box])
            position = self._positions[box]
            waits = upto > position and not self._busy[box]
            if waits and self._log.at(upto) - self._log.at(position + 1) >= clock_us:
                found.append(box)
        return found

    @property
    def clock_us(self) -> int:
        """Where the clock stood when the last tuple entered."""
        return self._clock

    def complete(self, producer: Producer) -> int:
        """The number up to which an arc has got everything that it will ever get."""
        box = self._numbers.get(producer.name)
        if box is None:
            return self._seq
        place, position = self.places[box], self._positions[box]
        if self._busy[box] or place.timed:
            return position
        upto = self._frontier(place)
        for reader, _ in place.inputs:
            head = self._queues.number_at(reader, 1)
            if head is not None:
                upto = min(upto, head - 1)
        return max(position, upto)

    @property
    def entered(self) -> int:
        """The number of the last tuple that has entered."""
        return self._seq

    def waiting(self) -> dict[Consumer, int]:
        """How many tuples wait before each reader before which some do."""
        found = {}
        for box in np.flatnonzero(self.ready).tolist():
            inputs = self.places[box].inputs
            if len(inputs) == 1:
                found[inputs[0][0]] = int(self.ready[box])
            else:
                found |= {reader: self._queues.waiting(reader).tuples for reader, _ in inputs}
        return found

    def sieve(self, sieving: Sieving) -> None:
        """From now on these are the sieves before readers; what waits is thinned too."""
        for box in self._queues.sieve(sieving):
            self._refresh(self._numbers[box])
            self._stale.update(self.places[self._numbers[box]].below)

    def take_tally(self) -> Tally:
        """What has been dropped on the way into queues since it was last asked for."""
        tally, self._queues.tally = self._queues.tally, Tally()
        return tally

    def queues(self) -> dict[Consumer, Queued]:
        """What waits before each reader before which something does."""
        found = {}
        # What a box that merges cannot take yet waits as well.
        for box in {*np.flatnonzero(self.ready).tolist(), *self._merging}:
            for reader, _ in self.places[box].inputs:
                waiting = self._queues.waiting(reader)
                if waiting.tuples:
                    found[reader] = Queued(waiting.tuples, waiting.bytes, waiting.arrival_us_first)
        return found

    def lagging(self, box: int) -> Producer | None:
        """Of the inputs of a box, the arc that has come least far; None if it has none."""
        return min((arc for _, arc in self.places[box].inputs), key=self.complete, default=None)

    def _frontier(self, place: Place) -> int:
        return min((self.complete(producer) for _, producer in place.inputs), default=self._seq)

    def _refresh(self, box: int) -> None:
        place = self.places[box]
        upto = self._frontier(place) if place.merges else None
        tuples = size = 0
        arrival = 0.0
        for reader, _ in place.inputs:
            waiting = self._queues.waiting(reader, upto)
            if waiting.tuples:
                tuples += waiting.tuples
                size += waiting.bytes
                arrival += waiting.arrival_us_mean * waiting.tuples
        self.ready[box] = tuples
        self.touched.add(box)
        if tuples:
            self.arrival_us[box] = arrival / tuples
            self.tuple_bytes[box] = size / tuples


def _places(typed: TypedNetwork) -> list[Place]:
    numbers = {name: number for number, name in enumerate(typed.order)}
    merging = {name for name in typed.order if _merges(typed, name)}
    below: dict[str, set[str]] = {}
    for name in reversed(typed.order):
        found: set[str] = set()
        for port in typed.network.boxes[name].output_ports():
            for consumer in typed.consumers((name, port)):
                found |= below[consumer.box] | ({consumer.box} & merging)
        below[name] = found
    return [
        Place(
            name,
            tuple((Consumer(name, port), producer) for port, producer in _live_inputs(typed, name)),
            tuple(Producer(name, port) for port in typed.network.boxes[name].output_ports()),
            typed.network.boxes[name].keeps_time(),
            name in merging,
            # Where no box asks for numbers, trains may come without; and what is not in step is not in their order.
            typed.network.boxes[name].in_step and all(map(typed.asked_for_hidden, typed.inputs[name])),
            tuple(sorted(numbers[box] for box in below[name])),
        )
        for name in typed.order
    ]


def _live_inputs(typed: TypedNetwork, name: str) -> list[tuple[int, Producer]]:
    types = typed.input_types(name)
    return [(port, producer) for port, producer in enumerate(typed.inputs[name]) if not types[port].static]


def _merges(typed: TypedNetwork, name: str) -> bool:
    return len(_live_inputs(typed, name)) > 1 and typed.network.boxes[name].in_step
