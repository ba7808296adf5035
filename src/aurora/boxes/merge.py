"""Merging the ports of a box by the order of an arc."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from aurora.model.train import CLOCK, ORDER, Train


class Merge:
    """Collects what comes on each port and gives it back as one train in arc order; at a tie the earlier port goes first."""

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
        order, clock = merged.hidden(ORDER), merged.hidden(CLOCK)
        if bool((order[1:] >= order[:-1]).all()) and len(np.unique(order)) == len(order):
            return merged
        return Train(merged.frame[np.lexsort((clock, order))])

    def state(self) -> dict[str, pl.DataFrame]:
        return {f"port{port}": Train.concat([self._empty, *trains]).frame for port, trains in enumerate(self._waiting)}

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        for port in range(len(self._waiting)):
            frame = state[f"port{port}"]
            self._waiting[port] = [Train(frame)] if frame.height else []
