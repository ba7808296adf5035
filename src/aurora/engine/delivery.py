"""What comes out of the network: counted, its latency noted, and handed to the sinks."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np
import polars as pl

from aurora.clock import Clock
from aurora.connectors.source import Sink
from aurora.model.train import ARRIVAL, CLOCK, Ints, Train
from aurora.model.typed import Producer
from aurora.processors.poison import REJECTED, RejectedTuple

_LOG = logging.getLogger("aurora")
Tap = Callable[[Train], None]


def rejected_by(box: str) -> str:
    """The name of the sink for the tuples on which the operator's code failed in a box."""
    return f"{box}.rejected"


class Watcher(Protocol):
    """Who wants to know of every delivery."""

    def note_delivery(self, output: str, latencies_us: Ints, tuples: int, train: Train, now_us: int) -> None:
        """Tuples of an output were delivered, with a latency each or one for all."""


class Delivery:
    """Hands trains to sinks; an output without one is only noted. So are rejected tuples without a sink.

    With ``column_clock`` a tuple's latency is how far that clock moved while it was on its way. Several threads may
    deliver at the same time, but not to the same output.
    """

    def __init__(
        self, sinks: Mapping[str, Sink], wall: Clock, watchers: Sequence[Watcher], *, column_clock: bool = False
    ) -> None:
        self._sinks = sinks
        self._wall = wall
        self._watchers = list(watchers)
        self._column_clock = column_clock
        self.lock = threading.Lock()
        """Whoever notes or reads statistics holds it."""
        self.taps: dict[Producer, tuple[Tap, ...]] = {}
        """Who looks at arcs, inside the network too. Mostly nobody does, and then nothing is shown."""
        self._tapping = threading.Lock()

    def watch(self, watcher: Watcher) -> None:
        """One more wants to know."""
        self._watchers.append(watcher)

    def take_over(self, old: Delivery, arcs: Mapping[Producer, Producer]) -> None:
        """Who looked at arcs that are still there, by what they are now, looks on."""
        self.taps = {arc: old.taps[was] for arc, was in arcs.items() if was in old.taps}

    def tap(self, arc: Producer, tap: Tap) -> None:
        """``tap`` gets the trains of an arc from now on."""
        with self._tapping:
            self.taps = {**self.taps, arc: (*self.taps.get(arc, ()), tap)}

    def untap(self, arc: Producer, tap: Tap) -> None:
        with self._tapping:
            left = tuple(other for other in self.taps.get(arc, ()) if other != tap)
            others = {other: taps for other, taps in self.taps.items() if other != arc}
            self.taps = {**others, arc: left} if left else others

    def show(self, trains: Mapping[Producer, Train]) -> None:
        """What was put on arcs, for those who look at them."""
        for arc, taps in self.taps.items():
            for tap in taps if arc in trains else ():
                try:
                    tap(trains[arc])
                except Exception:
                    # One who looks on must not stop what it looks at.
                    self.untap(arc, tap)
                    _LOG.exception("somebody who looked at the arc %s failed, and is shown nothing more", arc)

    def deliver(self, output: str, train: Train) -> None:
        now_us = self._wall.now_us()
        latencies = self._latencies_us(train, now_us)
        with self.lock:
            for watcher in self._watchers:
                watcher.note_delivery(output, latencies, len(train), train, now_us)
        sink = self._sinks.get(output)
        if sink is not None:
            sink.write(train.visible)

    def _latencies_us(self, train: Train, now_us: int) -> Ints:
        if train.arrival_us is not None:
            return np.zeros(1, np.int64) if self._column_clock else now_us - train.arrivals_us()
        delivered = train.hidden(CLOCK) if self._column_clock else np.int64(now_us)
        latencies: Ints = delivered - train.hidden(ARRIVAL)
        return latencies

    def reject(self, rejected: Sequence[RejectedTuple]) -> None:
        """What boxes could not take goes to a sink of theirs."""
        for box in dict.fromkeys(entry.box for entry in rejected):
            sink = self._sinks.get(rejected_by(box))
            if sink is not None:
                rows = [(entry.box, entry.number, entry.reason, entry.text) for entry in rejected if entry.box == box]
                sink.write(pl.DataFrame(rows, schema=REJECTED.to_polars(), orient="row"))
