"""What values outputs have delivered lately, and what their tuples are worth by them.

Tuples that are dropped by value no longer show at the output. They must not be forgotten for that: the share that they
had is kept as long as they are dropped, and only what still comes through is renewed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.expressions import Interval
from aurora.model.qos import Graph, ValueGraph
from aurora.qos.curve import Curve
from aurora.shedding.semantic import Histogram, Worth, worths
from aurora.shedding.thinning import Floats

REMEMBERED = 4096
ENOUGH = 200
"""With fewer values nothing is said about what tuples are worth."""

_AT_ONCE = 256
"""So many of a train's values are looked at."""

_LEVELS = 8
"""So many bends are enough for a plan; the last of its moves ends anywhere between them."""


@dataclass(frozen=True)
class WorthCurve:
    """What an output's tuples are worth together when those worth least are gone, against the share that is left.

    ``shares`` rises from 0 to 1; ``totals`` is the sum of the utilities per tuple that there was.
    """

    shares: Floats
    totals: Floats

    @classmethod
    def of(cls, found: tuple[Worth, ...]) -> WorthCurve:
        best = sorted(found, key=lambda worth: -worth.utility)
        shares = np.cumsum([0.0, *(worth.frequency for worth in best)])
        totals = np.cumsum([0.0, *(worth.expected for worth in best)])
        return cls(shares, totals)

    @property
    def mean(self) -> float:
        """The utility of a tuple if all are delivered."""
        return float(self.totals[-1] / self.shares[-1])

    def total(self, share: Floats) -> Floats:
        return np.interp(share, self.shares, self.totals)

    def graph(self) -> Graph:
        """Where the curve bends: few points, and the same number of tuples between them at the least."""
        wanted = np.linspace(0.0, 1.0, _LEVELS + 1)[1:-1] * self.shares[-1]
        at = np.unique(np.searchsorted(self.shares, wanted))
        bends = np.unique([0, *at.tolist(), len(self.shares) - 1])
        slopes = np.diff(self.totals[bends]) / np.diff(self.shares[bends])
        turns = np.abs(np.diff(slopes)) > 0.02
        kept = bends[np.concatenate(([True], turns, [True]))]
        return Graph(tuple((100 * float(self.shares[i]), float(self.totals[i])) for i in kept))


class Values:
    """The latest values of every output that has a value graph."""

    def __init__(self, graphs: Mapping[str, ValueGraph]) -> None:
        self._graphs = dict(graphs)
        self._kept: dict[str, Floats] = {name: np.zeros(0) for name in graphs}
        self._next = dict.fromkeys(graphs, 0)
        self._gone: dict[str, tuple[Interval, ...]] = {}

    def note(self, output: str, values: pl.Series) -> None:
        kept = self._kept.get(output)
        if kept is None or not len(values):
            return
        # An odd step, because what alternates must not be missed.
        fresh = values.gather_every(len(values) // _AT_ONCE | 1).cast(pl.Float64).to_numpy()
        gone = self._gone.get(output, ())
        fresh = fresh[~_inside(fresh, gone)]
        room = REMEMBERED - len(kept)
        if room:
            kept = np.concatenate([kept, fresh[:room]])
            fresh = fresh[room:]
        if len(fresh):
            old = np.flatnonzero(~_inside(kept, gone))
            if len(old):
                at = (self._next[output] + np.arange(len(fresh))) % len(old)
                kept[old[at]] = fresh
                self._next[output] = int(at[-1]) + 1
        self._kept[output] = kept

    def dropped(self, gone: Mapping[str, tuple[Interval, ...]]) -> None:
        """From now on tuples with these values are dropped."""
        self._gone = dict(gone)

    def worths(self, output: str) -> tuple[Worth, ...] | None:
        """None while too little is known."""
        kept = self._kept.get(output)
        if kept is None or len(kept) < ENOUGH:
            return None
        graph = self._graphs[output].graph
        return worths(Histogram.of(graph, pl.Series(kept, nan_to_null=True)), graph) or None

    def mean(self, output: str) -> float:
        """The utility of a tuple; what tells that values have changed."""
        kept = self._kept[output]
        known = kept[~np.isnan(kept)]
        return float(Curve(self._graphs[output].graph).utility(known).mean()) if len(known) else 0.0


def _inside(values: Floats, intervals: tuple[Interval, ...]) -> npt.NDArray[np.bool_]:
    found = np.zeros(len(values), bool)
    for interval in intervals:
        lo = -np.inf if interval.lo is None else float(interval.lo)
        hi = np.inf if interval.hi is None else float(interval.hi)
        above = values > lo if interval.lo_open else values >= lo
        found |= above & (values < hi if interval.hi_open else values <= hi)
    return found
