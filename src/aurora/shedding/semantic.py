"""Semantic shedding: to drop the tuples that are worth least, by the value graph of their output.

Each output with a value graph is watched: a histogram says how often values of each interval came. What an interval
is worth is its frequency times the utility of its values. Intervals go in the order of utility lost per load saved: one
that is worth little only because it is rare would save little, too. What goes becomes a condition on the output's
column, and is carried upstream (``backward``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from aurora.expressions import Interval
from aurora.model.qos import Graph, ValueGraph
from aurora.shedding.backward import Pushed, push_back
from aurora.shedding.places import Places

BINS = 64
_NEXT_TO_NOTHING = 1e-6


@dataclass(frozen=True)
class Histogram:
    """How often values came: below the first bound, from each bound up to the next, and from the last one on.

    ``sums`` has the sums of the values. NULL is in no interval; NaN is above every number, so it counts in the last
    interval, but not in its sum.
    """

    bounds: tuple[float, ...]
    counts: tuple[int, ...]
    sums: tuple[float, ...]
    nulls: int = 0

    @classmethod
    def over(cls, graph: Graph, least: float, most: float, bins: int = BINS) -> Histogram:
        """An empty histogram. It has a bound wherever the graph bends, so that utility is linear in each interval."""
        even = np.linspace(least, most, bins + 1).tolist() if most > least else [least]
        bounds = tuple(sorted({*even, *(x for x, _ in graph.points)}))
        return cls(bounds, (0,) * (len(bounds) + 1), (0.0,) * (len(bounds) + 1))

    @classmethod
    def of(cls, graph: Graph, values: pl.Series, bins: int = BINS) -> Histogram:
        """Bounds spread evenly over the values there are.

        >>> found = Histogram.of(Graph(((0.0, 0.0), (10.0, 1.0))), pl.Series([1.0, 2.0, 9.0, 30.0, None]), bins=1)
        >>> found.bounds, found.counts, found.nulls
        ((0.0, 1.0, 10.0, 30.0), (0, 0, 3, 0, 1), 1)
        """
        numbers = values.drop_nulls().to_numpy().astype(np.float64)
        finite = numbers[np.isfinite(numbers)]
        least, most = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
        return cls.over(graph, least, most, bins).add(values)

    def add(self, values: pl.Series) -> Histogram:
        """The histogram with more values in it."""
        numbers = values.drop_nulls().to_numpy().astype(np.float64)
        at = np.searchsorted(self.bounds, numbers, side="right")
        size = len(self.counts)
        counts = np.bincount(at, minlength=size) + self.counts
        finite = np.isfinite(numbers)
        sums = np.bincount(at[finite], numbers[finite], minlength=size) + self.sums
        return replace(
            self, counts=tuple(counts.tolist()), sums=tuple(sums.tolist()), nulls=self.nulls + values.null_count()
        )

    def scaled(self, factor: float) -> Histogram:
        """What came long ago counts less if the histogram is scaled now and then."""
        counts = tuple(round(count * factor) for count in self.counts)
        sums = tuple(
            total * kept / count if count else 0.0
            for total, count, kept in zip(self.sums, self.counts, counts, strict=True)
        )
        return replace(self, counts=counts, sums=sums, nulls=round(self.nulls * factor))

    @property
    def tuples(self) -> int:
        return sum(self.counts) + self.nulls

    def intervals(self) -> tuple[Interval, ...]:
        lows = (None, *self.bounds)
        highs = (*self.bounds, None)
        return tuple(Interval(lo, hi, hi_open=hi is not None) for lo, hi in zip(lows, highs, strict=True))


@dataclass(frozen=True)
class Worth:
    """What the tuples of an interval are worth: ``frequency`` is their share, ``utility`` that of one of them."""

    interval: Interval
    frequency: float
    utility: float

    @property
    def expected(self) -> float:
        """What the output loses if the interval goes."""
        return self.frequency * self.utility


def worths(histogram: Histogram, graph: Graph) -> tuple[Worth, ...]:
    """The intervals that values came from, as they lie.

    >>> graph = Graph(((0.0, 0.0), (10.0, 1.0)))
    >>> for worth in worths(Histogram.of(graph, pl.Series([1.0, 3.0, 30.0, 30.0]), bins=1), graph):
    ...     print(worth.interval.lo, worth.interval.hi, worth.frequency, worth.utility)
    1.0 10.0 0.5 0.2
    30.0 None 0.5 1.0
    """
    tuples = histogram.tuples
    found = []
    for interval, count, total in zip(histogram.intervals(), histogram.counts, histogram.sums, strict=True):
        if count:
            found.append(Worth(interval, count / tuples, graph.utility(_within(interval, total / count))))
    return tuple(found)


def _within(interval: Interval, mean: float) -> float:
    """NaN and infinities are no part of sums, and sums are rounded: the mean may lie beside the interval."""
    lo = -math.inf if interval.lo is None else float(interval.lo)
    hi = math.inf if interval.hi is None else float(interval.hi)
    return min(max(mean, lo), hi)


@dataclass(frozen=True)
class Candidate:
    """An output that may be shed by value. ``load`` is what its tuples cost from where they would be dropped on."""

    worths: Sequence[Worth]
    load: float


@dataclass(frozen=True)
class Lowest:
    """The intervals of an output that go; neighbours are joined."""

    intervals: tuple[Interval, ...]
    share: float
    loss: float


def lowest_intervals(candidates: Mapping[str, Candidate], needed: float) -> dict[str, Lowest]:
    """The intervals that go so that ``needed`` load is saved, cheapest first, over all outputs.

    The last one goes as a whole, so a little more may go than has to. If all together are not enough, all go.
    """
    offers = [
        (worth.utility / candidate.load, -worth.frequency * candidate.load, output, number)
        for output, candidate in candidates.items()
        if candidate.load > 0
        for number, worth in enumerate(candidate.worths)
    ]
    chosen: dict[str, list[int]] = {}
    left = needed
    for _, less, output, number in sorted(offers):
        if left <= 0:
            break
        chosen.setdefault(output, []).append(number)
        left += less
    return {output: _lowest(candidates[output].worths, sorted(numbers)) for output, numbers in chosen.items()}


def lowest_share(worths: Sequence[Worth], share: float) -> Lowest:
    """The intervals of one output that make up at least a share of its tuples, those worth least first."""
    found = lowest_intervals({"": Candidate(worths, 1.0)}, share)
    return found.get("", Lowest((), 0.0, 0.0))


def lowest_exactly(worths: Sequence[Worth], share: float) -> tuple[Lowest, Lowest, float]:
    """What makes up just a share of the tuples: intervals that go as a whole, and one of which some tuples are spared.

    Gives both, and the share of the second that stays. Many tuples may have one and the same value.

    >>> graph = Graph(((0.0, 0.0), (10.0, 1.0)))
    >>> found = worths(Histogram.of(graph, pl.Series([1.0, 5.0, 5.0, 9.0]), bins=8), graph)
    >>> whole, part, spared = lowest_exactly(found, 0.5)
    >>> whole.share, part.share, spared
    (0.25, 0.5, 0.5)
    """
    order = sorted(range(len(worths)), key=lambda number: (worths[number].utility, -worths[number].frequency))
    left, count = share, 0
    for number in order:
        if worths[number].frequency > left + _NEXT_TO_NOTHING:
            break
        left -= worths[number].frequency
        count += 1
    part = order[count : count + 1] if left > _NEXT_TO_NOTHING else []
    spared = 1 - left / worths[part[0]].frequency if part else 0.0
    return _lowest(worths, sorted(order[:count])), _lowest(worths, part), spared


def _lowest(worths: Sequence[Worth], numbers: Sequence[int]) -> Lowest:
    intervals: list[Interval] = []
    before = -2
    for number in numbers:
        interval = worths[number].interval
        # Between two neighbours in the list no value ever came; the gap may go with them.
        if number == before + 1:
            intervals[-1] = replace(intervals[-1], hi=interval.hi, hi_open=interval.hi_open)
        else:
            intervals.append(interval)
        before = number
    taken = [worths[number] for number in numbers]
    return Lowest(
        tuple(intervals), math.fsum(worth.frequency for worth in taken), math.fsum(worth.expected for worth in taken)
    )


@dataclass(frozen=True)
class SemanticPlan:
    """Conditions that drop the tuples of an output that are worth least. ``share`` and ``loss`` are expectations."""

    output: str
    column: str
    lowest: Lowest
    filters: tuple[Pushed, ...]


def plan_filters(places: Places, output: str, value: ValueGraph, histogram: Histogram, share: float) -> SemanticPlan:
    """What to drop of an output, and where, so that at least a share of its tuples goes."""
    lowest = lowest_share(worths(histogram, value.graph), share)
    filters = push_back(places, output, value.on, lowest.intervals) if lowest.intervals else ()
    return SemanticPlan(output, value.on, lowest, filters)
