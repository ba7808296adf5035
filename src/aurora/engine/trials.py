"""Trials for the load shedder: what becomes of a sample of tuples on their way to an output.

A condition on an output's value can be carried upstream by reasoning only through boxes that can be inverted. Past
others it is found by trial. The sample is sent through once; as every box on the way takes tuples one by one, what
would come of some of them is then known.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from aurora.clock import Clock
from aurora.errors import AuroraError
from aurora.model.train import ORDER, Progress, Train
from aurora.model.typed import Producer, TypedNetwork
from aurora.processors.local import LocalProcessor
from aurora.processors.plan import Execution, Trains
from aurora.shedding.forward import Through
from aurora.shedding.places import Place

SAMPLE = 256
_FRESH_US = 2_000_000
"""A sample is taken no more often: to send it through costs as much as any tuples do."""


class Trials:
    """Keeps a sample of every stream that ``note`` is told of; a call answers as ``shedding.by_value.Trying`` asks."""

    def __init__(self, typed: TypedNetwork, statics: Mapping[str, pl.DataFrame], wall: Clock) -> None:
        self._typed = typed
        self._statics = statics
        self._wall = wall
        self._samples: dict[str, tuple[int, pl.DataFrame]] = {}
        self._known: dict[str, tuple[int, Trains]] = {}
        self._ways = {name: self._way(producer) for name, producer in typed.outputs.items()}

    def note(self, stream: str, train: Train) -> None:
        """Tuples have come in, before any drop."""
        now_us = self._wall.now_us()
        known = self._samples.get(stream)
        if len(train) and (known is None or now_us - known[0] > _FRESH_US or known[1].height < SAMPLE > len(train)):
            some = train.visible.gather_every(max(1, len(train) // SAMPLE)).head(SAMPLE)
            if known is not None and known[1].height < SAMPLE and now_us - known[0] <= _FRESH_US:
                some, now_us = pl.concat([known[1], some]).tail(SAMPLE), known[0]
            self._samples[stream] = (now_us, some)

    def __call__(self, place: Place, output: str) -> tuple[pl.DataFrame, Through] | None:
        way = self._ways[output]
        if way is None or way[0] not in self._samples:
            return None
        trains = self._sent(output, *way)
        end = self._typed.outputs[output]
        if place.arc not in trains:
            return None
        empty = self._typed.arcs[end].schema.to_polars()
        came = trains[end].frame if end in trains else pl.DataFrame(schema={**empty, ORDER: pl.Int64})

        def through(tuples: pl.DataFrame) -> pl.DataFrame:
            return came.filter(pl.col(ORDER).is_in(tuples.get_column(ORDER).implode()))

        return trains[place.arc].frame, through

    def _way(self, producer: Producer) -> tuple[str, tuple[str, ...]] | None:
        """The stream that an output comes from and the boxes on the way, if all of them take tuples one by one."""
        boxes: list[str] = []
        while producer.name not in self._typed.network.streams:
            box = self._typed.network.boxes.get(producer.name)
            # A Python box may keep what it has seen.
            if box is None or not box.tuplewise or box.kind in ("python", "drop"):
                return None
            boxes.append(producer.name)
            (producer,) = self._typed.inputs[producer.name]
        return producer.name, tuple(reversed(boxes))

    def _sent(self, output: str, stream: str, boxes: tuple[str, ...]) -> Trains:
        """The trains on the way, once the sample has gone it; none if the operator's code fails on it."""
        taken_us, sample = self._samples[stream]
        known = self._known.get(output)
        if known is not None and known[0] == taken_us and len(known[1][Producer(stream)]) == sample.height:
            return known[1]
        numbers = np.arange(sample.height)
        clocks = np.full(sample.height, taken_us)
        given = {Producer(stream): Train.of(sample, 2 * numbers + 1, clocks, clocks)}
        progress = Progress(sample.height - 1, taken_us, 0, clocks)
        try:
            processor = LocalProcessor(self._typed, self._statics, boxes)
            (result,) = processor.run([Execution(boxes, given, progress)])
            trains: Trains = result.trains
        except AuroraError:
            trains = given
        self._known[output] = (taken_us, trains)
        return trains
