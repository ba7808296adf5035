"""The queues of arcs as the boxes see them, with drops in front of them.

What is dropped is dropped as it is put: it must not wait for the turn of a box that hardly ever gets one. An arc has
one queue for all its readers; a reader that is to get less than the others gets a queue of its own beside it, with what
is left for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aurora.model.train import ORDER, Train
from aurora.model.typed import Consumer, Producer, TypedNetwork
from aurora.processors.sieve import Sieving, Tally
from aurora.storage.manager import StorageManager
from aurora.storage.queues import Waiting

_ALL = 2**62
_MOVED = 1_000_000
"""Tuples that are moved at a time."""


class Own(NamedTuple):
    """A reader at the queue of its own."""

    box: str
    port: int
    own: bool = True


def queues_of(typed: TypedNetwork) -> dict[Producer, Sequence[Consumer | Own]]:
    """The queues of a network's arcs, and who reads each."""
    arcs = [Producer(name) for name in typed.network.streams]
    arcs += [Producer(name, port) for name in typed.order for port in typed.network.boxes[name].output_ports()]
    found: dict[Producer, Sequence[Consumer | Own]] = {arc: typed.consumers(arc) for arc in arcs}
    own = {_own_arc(arc, reader): [Own(*reader)] for arc in arcs for reader in _sharing(typed, arc)}
    return {arc: readers for arc, readers in found.items() if readers} | own


def _sharing(typed: TypedNetwork, arc: Producer) -> tuple[Consumer, ...]:
    readers = typed.consumers(arc)
    return readers if len(readers) > 1 else ()


def _own_arc(arc: Producer, reader: Consumer) -> Producer:
    return Producer(f"{arc} before {reader.box}", str(reader.port))


class ArcQueues:
    """The queues of ``queues_of`` in ``storage``. What is dropped is counted in ``tally`` until somebody takes that."""

    def __init__(self, typed: TypedNetwork, storage: StorageManager) -> None:
        self._typed = typed
        self._storage = storage
        self._sieving = Sieving(typed)
        self._thinned: Mapping[Producer, tuple[Consumer, ...]] = {}
        self._apart: set[Consumer] = set()
        """The readers whose own queues are in use."""
        self.tally = Tally()

    def put(self, arc: Producer, train: Train, upto: int) -> None:
        thinned = self._thinned.get(arc)
        if thinned is None:
            self._storage.put(arc, train, upto)
        elif len(self._typed.consumers(arc)) == 1:
            self._storage.put(arc, self._sieving.before(thinned[0], train, self.tally), upto)
        else:
            self._storage.put(arc, train, upto)
            for reader in thinned:
                self._move(arc, reader)

    def take(self, reader: Consumer, most: int, upto: int | None = None) -> Train | None:
        """As a storage manager does."""
        if reader not in self._apart:
            return self._storage.take(reader, most, upto)
        own = Own(*reader)
        train = self._storage.take(own, most, upto)
        if self._storage.waiting(own, upto).tuples:
            return train
        if not self._storage.waiting(own).tuples and not self._is_thinned(reader):
            self._apart.discard(reader)
        rest = self._storage.take(reader, most - (0 if train is None else len(train)), upto)
        if train is None or rest is None:
            return rest if train is None else train
        return Train.concat([train, rest])

    def waiting(self, reader: Consumer, upto: int | None = None) -> Waiting:
        shared = self._storage.waiting(reader, upto)
        if reader not in self._apart:
            return shared
        own = self._storage.waiting(Own(*reader), upto)
        if not own.tuples or not shared.tuples:
            return own if own.tuples else shared
        tuples = own.tuples + shared.tuples
        mean = (own.tuples * own.arrival_us_mean + shared.tuples * shared.arrival_us_mean) / tuples
        return Waiting(tuples, own.bytes + shared.bytes, mean, own.arrival_us_first)

    def number_at(self, reader: Consumer, place: int) -> int | None:
        """The number of a tuple that waits; of the last in the own queue where that is shorter."""
        own = self._storage.number_at(Own(*reader), place) if reader in self._apart else None
        return self._storage.number_at(reader, place) if own is None else own

    def take_over(self, old: ArcQueues, kept: Mapping[str, str]) -> None:
        """What waits for boxes that go on, by their new names the old ones, waits here from now on."""
        for box, was in kept.items():
            for port, arc in enumerate(self._typed.inputs[box]):
                reader = Consumer(box, port)
                sharing = len(self._typed.consumers(arc)) > 1
                if self._typed.arcs[arc].static:
                    continue
                while (train := old.take(Consumer(was, port), _MOVED)) is not None:
                    self._put_back(_own_arc(arc, reader) if sharing else arc, train)
                    if sharing:
                        self._apart.add(reader)

    # Drops

    def sieve(self, sieving: Sieving) -> set[str]:
        """From now on these are the sieves. Gives the boxes before which something waits less now.

        What waits is thinned at once, but for what is on disk, which is thinned when it is taken.
        """
        self._sieving = sieving
        thinned: dict[Producer, dict[Consumer, None]] = {}
        for place in sieving.places():
            if place.reader is not None:
                thinned.setdefault(place.arc, {})[place.reader] = None
        self._thinned = {arc: tuple(readers) for arc, readers in thinned.items()}
        changed: set[str] = set()
        if not self._storage.used_disk:
            for place in sieving.places():
                readers = self._typed.consumers(place.arc) if place.reader is None else (place.reader,)
                for reader in readers:
                    self._thin(place.arc, reader, all_alike=place.reader is None)
                    changed.add(reader.box)
        return changed

    def _thin(self, arc: Producer, reader: Consumer, *, all_alike: bool) -> None:
        """Thins what waits before a reader."""
        sharing = len(self._typed.consumers(arc)) > 1
        left = []
        # What all readers lose is counted with the first of them.
        tally = self.tally if not all_alike or reader == self._typed.consumers(arc)[0] else Tally()
        while (train := self.take(reader, _ALL)) is not None:
            if all_alike:
                left.append(self._sieving.on(arc, train, tally))
            else:
                left.append(self._sieving.before(reader, train, tally))
        for train in left:
            self._put_back(_own_arc(arc, reader) if sharing else arc, train)
        if sharing and left:
            self._apart.add(reader)

    def _move(self, arc: Producer, reader: Consumer) -> None:
        """What has come for a reader goes to its own queue, as far as it is to get it."""
        self._apart.add(reader)
        while (train := self._storage.take(reader, _ALL)) is not None:
            self._put_back(_own_arc(arc, reader), self._sieving.before(reader, train, self.tally))

    def _put_back(self, queue: Producer, train: Train) -> None:
        if len(train):
            # Nobody asks for the numbers of bare trains.
            upto = _ALL if train.arrival_us is not None else int(train.frame.item(-1, ORDER)) >> 1
            self._storage.put(queue, train, upto)

    def _is_thinned(self, reader: Consumer) -> bool:
        return reader in self._thinned.get(self._typed.inputs[reader.box][reader.port], ())
