"""One step through a network: which boxes ran, what each took and made, and how its state changed by that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from aurora.engine.breakpoints import Hit
from aurora.engine.flow import Given
from aurora.model.train import Train
from aurora.model.typed import Producer
from aurora.processors.local import LocalProcessor
from aurora.processors.plan import BoxCost, FileRows, Processor


@dataclass(frozen=True)
class Seen:
    """What went over an arc in a step: how many tuples, and the first of them."""

    arc: str
    tuples: int
    first: pl.DataFrame


@dataclass(frozen=True)
class BoxStep:
    """One call of a box. ``state`` has for every part of its state how many rows it had before and after; None on
    Spark, where state stays with the workers."""

    box: str
    taken: tuple[Seen, ...]
    made: tuple[Seen, ...]
    cost_s: float
    late: int = 0
    rejected: int = 0
    state: Mapping[str, tuple[int, int]] | None = None


@dataclass(frozen=True)
class Step:
    """What happened in a step. It counts as false if there was nothing to do, and then time may have passed.

    ``entered`` is what was taken from the streams, ``hits`` the break-points that were hit. With ``whole`` all boxes
    ran as one superbox, as they do on Spark.
    """

    worked: bool
    entered: tuple[Seen, ...] = ()
    boxes: tuple[BoxStep, ...] = ()
    hits: tuple[Hit, ...] = ()
    whole: bool = False

    def __bool__(self) -> bool:
        return self.worked


class Recording:
    """Notes a step. Of every train the first ``rows`` tuples are kept."""

    def __init__(self, processor: Processor, rows: int) -> None:
        self._local = processor if isinstance(processor, LocalProcessor) else None
        self._rows = rows
        self._before: Mapping[str, int] = {}
        self.took: list[Seen] = []
        self.boxes: list[BoxStep] = []

    def entered(self, trains: Given) -> None:
        for arc, train in trains.items():
            opened = train.open() if isinstance(train, FileRows) else train
            self.took.append(self._seen(arc, opened))

    def before(self, box: str) -> None:
        if self._local is not None:
            self._before = self._local.state_rows(box)

    def after(self, box: str, taken: Mapping[Producer, Train], made: Mapping[Producer, Train], cost: BoxCost) -> None:
        if not taken and not made:
            # It heard of the time, and had nothing to say.
            return
        state = None
        if self._local is not None:
            now = self._local.state_rows(box)
            state = {part: (self._before.get(part, 0), rows) for part, rows in now.items()}
        self.boxes.append(
            BoxStep(
                box,
                tuple(self._seen(arc, train) for arc, train in taken.items()),
                tuple(self._seen(arc, train) for arc, train in made.items()),
                cost.cost_s,
                cost.late,
                cost.rejected,
                state,
            )
        )

    def _seen(self, arc: Producer, train: Train) -> Seen:
        return Seen(str(arc), len(train), train.visible[: self._rows])
