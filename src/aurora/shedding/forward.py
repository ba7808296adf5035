"""Forward interval propagation: a condition found by trial, where a box in between cannot be inverted.

A sample of tuples at the place is sent through the boxes in between, again and again, each time without the
tuples of some interval of a column. What is missing at the output then tells how good the interval is: it should
take away outputs that are to go, and hardly any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from aurora.expressions import Interval
from aurora.model.types import of_polars
from aurora.shedding.regions import Region

Through = Callable[[pl.DataFrame], pl.DataFrame]
"""Sends tuples of the place through the boxes in between and gives what comes out."""

BLOCKS = 16


@dataclass(frozen=True)
class Trial:
    """An interval of the column at the place. Dropping it takes ``removed`` of the outputs that should go, and ``lost``
    of the others, both as shares of what came out of the sample. ``runs`` says how often the sample was sent through.
    """

    interval: Interval
    removed: float
    lost: float
    runs: int


class _Sample:
    def __init__(self, sample: pl.DataFrame, column: str, through: Through, unwanted: Region, output: str) -> None:
        self._sample = sample
        self._values = sample.get_column(column)
        self._through = through
        self._unwanted = unwanted
        self._output = output
        self._known: dict[tuple[int, int], tuple[float, float]] = {}
        self.runs = 0
        numbers = self._values.drop_nulls()
        if numbers.dtype.is_float():
            numbers = numbers.drop_nans()
        self.steps = numbers.unique().sort()
        self._all = self._came(sample)

    def _came(self, tuples: pl.DataFrame) -> tuple[int, int]:
        """How many outputs came that should go, and how many others."""
        self.runs += 1
        values = self._through(tuples).get_column(self._output)
        inside = pl.Series(np.zeros(len(values), bool))
        for lo, hi in self._unwanted.ranges:
            inside |= values.is_between(lo, hi).fill_null(False)
        if self._unwanted.nan and values.dtype.is_float():
            inside |= values.is_nan().fill_null(False)
        bad = int(inside.sum())
        return bad, len(values) - bad

    def without(self, first: int, last: int) -> tuple[float, float]:
        """The shares removed and lost without the tuples from one step to another, both included."""
        if (first, last) not in self._known:
            gone = self._values.is_between(self.steps[first], self.steps[last]).fill_null(False)
            bad, good = self._came(self._sample.filter(~gone))
            removed = max(0, self._all[0] - bad) / max(1, self._all[0])
            self._known[first, last] = removed, max(0, self._all[1] - good) / max(1, self._all[1])
        return self._known[first, last]


def find_interval(
    sample: pl.DataFrame,
    column: str,
    through: Through,
    *,
    output_column: str,
    unwanted: tuple[Interval, ...],
    tolerance: float = 0.0,
    blocks: int = BLOCKS,
) -> Trial | None:
    """The interval of a column whose tuples make what is ``unwanted`` at the output, and hardly anything else.

    At most ``tolerance`` of the other outputs may be lost. None if there is no such interval. First the sample's
    values are cut into blocks and each is left out. Then both ends of the neighbouring blocks that take away most are
    moved by bisection: outwards as far as is tolerated, and inwards again as far as nothing more comes through, so that
    no tuple goes that other outputs may be made from. What lies beyond the sample's values has not been tried.
    """
    kind = of_polars(through(sample.clear()).schema[output_column])
    tried = _Sample(sample, column, through, Region.of(unwanted, kind), output_column)
    found = _rough(tried, tolerance, blocks)
    if found is None:
        return None
    first, most = found[0], len(tried.steps) - 1
    last = _last_with(lambda end: tried.without(first, end)[1] <= tolerance, first - 1, most)
    if last < first:
        return None
    first = -_last_with(lambda begin: tried.without(-begin, last)[1] <= tolerance, -first, 0)
    removed = tried.without(first, last)[0]
    last = -_last_with(lambda end: tried.without(first, -end)[0] >= removed, -last, -first)
    first = _last_with(lambda begin: tried.without(begin, last)[0] >= removed, first, last)
    removed, lost = tried.without(first, last)
    return Trial(Interval(tried.steps[first], tried.steps[last]), removed, lost, tried.runs) if removed else None


def _rough(tried: _Sample, tolerance: float, blocks: int) -> tuple[int, int] | None:
    """The neighbouring blocks that take away most. If no block as a whole will do, the best one is cut up in turn."""
    first, beyond = 0, len(tried.steps)
    while first < beyond:
        edges = np.unique(np.linspace(first, beyond, min(blocks, beyond - first) + 1).astype(int)).tolist()
        cuts = [(begin, end - 1) for begin, end in pairwise(edges)]
        shares = [tried.without(*cut) for cut in cuts]
        run = _best_run([removed if removed > 0 and lost <= tolerance else None for removed, lost in shares])
        if run is not None:
            return cuts[run[0]][0], cuts[run[1]][1]
        best = max(range(len(cuts)), key=lambda i: shares[i][0])
        if not shares[best][0] or cuts[best] == (first, beyond - 1):
            return None
        first, beyond = cuts[best][0], cuts[best][1] + 1
    return None


def _best_run(gains: list[float | None]) -> tuple[int, int] | None:
    """The neighbours without a gap that gain most together."""
    best: tuple[float, int, int] | None = None
    start, total = 0, 0.0
    for i, gain in enumerate(gains):
        if gain is None:
            start, total = i + 1, 0.0
            continue
        total += gain
        if best is None or total > best[0]:
            best = total, start, i
    return None if best is None else best[1:]


def _last_with(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The last number for which something holds that holds at ``low`` and ceases to somewhere."""
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low
