"""What queues mean, as slowly and obviously as possible: a list per arc, and a place in it for each reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from aurora.model.train import ARRIVAL, ORDER, Train


@dataclass(frozen=True)
class Told:
    """A tuple: its value, its ``ORDER`` (0 in a bare train), when it came, and the ``upto`` that it was put with."""

    value: int
    order: int
    arrival_us: int
    upto: int

    def is_upto(self, number: int | None, bare: bool) -> bool:
        if number is None:
            return True
        return self.upto <= number if bare else self.order <= 2 * number + 1


@dataclass
class ModelQueue:
    bare: bool
    tuples: list[Told] = field(default_factory=list)
    heads: dict[str, int] = field(default_factory=dict)

    def waiting(self, reader: str, upto: int | None) -> list[Told]:
        found = []
        for told in self.tuples[self.heads[reader] :]:
            if not told.is_upto(upto, self.bare):
                break
            found.append(told)
        return found

    def take(self, reader: str, most: int, upto: int | None) -> list[Told]:
        taken = self.waiting(reader, upto)[:most]
        self.heads[reader] += len(taken)
        return taken


def text_of(value: int) -> str | None:
    return None if value % 7 == 0 else "tuple " * (value % 5) + str(value)


def visible(values: Sequence[int]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "value": values,
            "text": [text_of(value) for value in values],
            "list": [list(range(value % 3)) for value in values],
        },
        schema={"value": pl.Int64, "text": pl.String, "list": pl.List(pl.Int64)},
    )


def train_of(tuples: Sequence[Told], *, bare: bool) -> Train:
    frame = visible([told.value for told in tuples])
    if bare:
        return Train(frame, tuples[0].arrival_us)
    orders = np.array([told.order for told in tuples], np.int64)
    arrivals = np.array([told.arrival_us for told in tuples], np.int64)
    return Train.of(frame, orders, orders * 10, arrivals)


def assert_same(train: Train | None, expected: Sequence[Told], *, bare: bool) -> None:
    if not expected:
        assert train is None
        return
    assert train is not None
    assert train.visible.equals(visible([told.value for told in expected]))
    if bare:
        assert train.arrival_us == min(told.arrival_us for told in expected)
        came = np.broadcast_to(train.arrivals_us(), len(train))
        assert came.tolist() == [told.arrival_us for told in expected]
    else:
        assert train.arrival_us is None
        assert train.hidden(ORDER).tolist() == [told.order for told in expected]
        assert train.hidden(ARRIVAL).tolist() == [told.arrival_us for told in expected]
