"""Merging the ports of a box by the order of an arc."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from aurora.boxes.segments import sorting
from aurora.model.train import CLOCK, ORDER, Train, rows_at


def in_order(train: Train) -> Train:
    """The train's tuples in arc order; those with the same place stay as they stand."""
    return Train(rows_at(train.frame, sorting(train.hidden(ORDER), train.hidden(CLOCK))))


class Merge:
    """Collects what comes on each port and gives it back as one train in arc order.

    At a tie the earlier port goes first.
    """

    def __init__(self, ports: int, empty: Train) -> None:
        self._waiting: list[list[Train]] = [[] for _ in range(ports)]
        self._empty = empty

    def put(self, port: int, train: Train) -> None:
        self._waiting[port].append(train)

    def take(self) -> Train | None:
        """Everything that waited, merged; None if nothing did."""
        active = [trains for trains in self._waiting if trains]
        if not active:
            return None
        merged = Train.concat([train for trains in active for train in trains])
        self._waiting = [[] for _ in self._waiting]
        if len(active) == 1:
            return merged
        return in_order(merged)

    def state(self) -> dict[str, pl.DataFrame]:
        return {f"port{port}": Train.concat([self._empty, *trains]).frame for port, trains in enumerate(self._waiting)}

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        for port in range(len(self._waiting)):
            frame = state[f"port{port}"]
            self._waiting[port] = [Train(frame)] if frame.height else []
