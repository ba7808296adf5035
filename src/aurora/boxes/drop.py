"""drop: discards tuples, at random at a rate or by a condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Self

import numpy as np
import numpy.typing as npt
import polars as pl
from pydantic import Field, model_validator

from aurora.boxes.kernel import BaseKernel, Projection, asks_arrival, typed
from aurora.errors import Report
from aurora.expressions import Scope, analyse, columns_used
from aurora.model.box import OUT, Box, Kernel, box_kind
from aurora.model.element import Predicate
from aurora.model.schema import ArcType
from aurora.model.train import ORDER, Emission, Ints, Train, rows_where
from aurora.model.types import BOOL

Mask = npt.NDArray[np.bool_]


@box_kind
class Drop(Box):
    """Discards a share of the tuples (``rate``), or those for which ``where`` holds.

    At random means: decided from the ``seed`` and the tuple's number, so that the same tuples go whatever the trains.

    >>> from aurora.testing import run_rows
    >>> run_rows('''
    ... aurora: 1
    ... network: example
    ... streams: {s: {schema: {x: int}}}
    ... boxes: {few: {kind: drop, in: s, where: x < 3}}
    ... outputs: {out: {from: few}}
    ... ''', {"s": [{"x": 1}, {"x": 5}, {"x": None}]}).rows("out")
    [(5,), (None,)]
    """

    kind: ClassVar[str] = "drop"
    tuplewise: ClassVar[bool] = True

    rate: Annotated[float, Field(ge=0, le=1)] | None = None
    seed: int = 0
    where: Predicate | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.rate is None) == (self.where is None):
            raise ValueError("a drop needs either `rate` or `where`, and not both")
        return self

    def asks_hidden(self) -> bool:
        return self.where is None or asks_arrival([self.where])

    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        if self.where is not None:
            typed(self.where, Scope.of(inputs[0].schema), report.at("where"), expect=BOOL)
        return {OUT: inputs[0]}

    def kernel(self, inputs: Sequence[ArcType], statics: Mapping[int, pl.DataFrame]) -> Kernel:
        if self.where is not None:
            return DropWhereKernel(Condition(self.where, inputs[0]))
        return DropRateKernel(self.rate or 0.0, self.seed)


def chances(seed: int, numbers: Ints) -> npt.NDArray[np.float64]:
    """A number in [0, 1) for each tuple, fixed by the seed and the tuple's number (the splitmix64 generator)."""
    golden, first, second = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
    mixed = numbers.astype(np.uint64) + np.uint64((seed * 0xD1342543DE82EF95 + golden) % 2**64)
    for multiplier, shift in ((first, 30), (second, 27)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(multiplier)
    mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53


def lucky(seed: int, rate: float, numbers: Ints) -> Mask:
    """Which tuples stay of those with these numbers. At a higher rate fewer of the same tuples do."""
    return chances(seed, numbers) >= rate


class Condition:
    """Which tuples are meant by a condition over a stream's columns; where it is NULL they are not."""

    def __init__(self, text: str, arc: ArcType) -> None:
        scalar = analyse(text, Scope.of(arc.schema), expect=BOOL)
        self.columns = columns_used(scalar)
        self._values = Projection({"match": scalar}, keep=())

    def __call__(self, frame: pl.DataFrame) -> tuple[Mask, int]:
        """For each row whether it is meant, and how many values became NULL on the way."""
        values, nulled = self._values(frame)
        return values.get_column("match").fill_null(False).to_numpy(), nulled


class DropRateKernel(BaseKernel):
    def __init__(self, rate: float, seed: int) -> None:
        self._rate = rate
        self._seed = seed

    def process(self, port: int, train: Train) -> Emission:
        stays = lucky(self._seed, self._rate, train.hidden(ORDER) >> 1)
        return Emission({OUT: Train(rows_where(train.frame, stays))})


class DropWhereKernel(BaseKernel):
    def __init__(self, condition: Condition) -> None:
        self._condition = condition

    def process(self, port: int, train: Train) -> Emission:
        goes, nulled = self._condition(train.frame)
        return Emission({OUT: train.where(~goes)}, nulled=nulled)
