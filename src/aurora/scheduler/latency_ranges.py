"""The latency axes of all applications, cut beforehand where a box would pass from one bucket to the next."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from aurora.qos.curve import Curve
from aurora.scheduler.state import Floats, Ints

_SHIFT = 44
_LONGEST_US = 2 ** (_SHIFT - 1)
"""About a hundred days; longer latencies count as this."""

NEVER = 2**62


class Cut(NamedTuple):
    """A range starts at ``start_us``; the loss per second is ``loss`` in it, and the slack is in range ``slack``."""

    start_us: int
    loss: float
    slack: int


def cut(curve: Curve, width_s: float, partitions: int) -> list[Cut]:
    """Slack is cut into ranges of one width; behind the last critical point it is in a range of its own, the last.

    >>> from aurora.model.qos import Graph
    >>> for found in cut(Curve(Graph(((0.0, 1.0), (4.0, 1.0), (5.0, 0.0)))), 2.0, 2):
    ...     print(found)
    Cut(start_us=0, loss=0.0, slack=1)
    Cut(start_us=2000000, loss=0.0, slack=0)
    Cut(start_us=4000000, loss=1.0, slack=0)
    Cut(start_us=5000000, loss=0.0, slack=2)
    """
    found: list[Cut] = []
    begin_us = 0
    ends = [min(round(1e6 * critical), _LONGEST_US - 1) for critical in curve.critical.tolist()]
    for end_us, loss in zip([*ends, None], curve.losses.tolist(), strict=True):
        if end_us is None:
            found.append(Cut(begin_us, loss, partitions))
        elif end_us > begin_us:
            inner = [(round(end_us - 1e6 * part * width_s), part - 1) for part in range(partitions - 1, 0, -1)]
            inner = [(start_us, slack) for start_us, slack in inner if start_us > begin_us]
            found.append(Cut(begin_us, loss, inner[0][1] + 1 if inner else 0))
            found += (Cut(start_us, loss, slack) for start_us, slack in inner)
            begin_us = end_us
    return found


class Places(NamedTuple):
    """Where latencies lie; ``rest_us`` is how long it is to the next range, NEVER where there is none."""

    loss: Floats
    slack: Ints
    rest_us: Ints


class Axis(NamedTuple):
    """The cuts of one axis, as lists: a single latency is found faster on these."""

    starts_us: list[int]
    losses: list[float]
    slacks: list[int]

    def find(self, latency_s: float) -> tuple[float, int, int]:
        """Loss, slack and rest, as in ``Places``."""
        at_us = min(max(int(latency_s * 1e6), 0), _LONGEST_US)
        following = bisect_right(self.starts_us, at_us)
        rest_us = self.starts_us[following] - at_us if following < len(self.starts_us) else NEVER
        return self.losses[following - 1], self.slacks[following - 1], rest_us


class LatencyRanges:
    """All axes stand one behind the other on one axis of whole numbers, so that one search serves all."""

    def __init__(self, curves: Mapping[int, Curve], partitions: int) -> None:
        bends = [[0.0, *curve.critical.tolist()] for curve in curves.values()]
        longest = max((end - begin for points in bends for begin, end in pairwise(points)), default=0.0)
        self.slack_width_s = longest / partitions if longest > 0 else 1.0
        # Many applications have the same graph.
        axes = {curve.graph: curve for curve in curves.values()}
        number = {graph: axis for axis, graph in enumerate(axes)}
        ranges = [(axis, cut(curve, self.slack_width_s, partitions)) for axis, curve in enumerate(axes.values())]
        flat = [(axis << _SHIFT, found) for axis, cuts in ranges for found in cuts]
        self._starts = np.array([at + found.start_us for at, found in flat] + [len(axes) << _SHIFT], np.int64)
        self._losses = np.array([found.loss for _, found in flat])
        self._slacks = np.array([found.slack for _, found in flat], np.int64)
        self._axis = {place: number[curve.graph] << _SHIFT for place, curve in curves.items()}
        lists = [Axis(*map(list, zip(*cuts, strict=True))) for _, cuts in ranges]
        self.of = {place: lists[number[curve.graph]] for place, curve in curves.items()}
        """By place of the application."""

    def axes(self, places: list[int]) -> Ints:
        """Where the axes of these applications begin."""
        return np.array([self._axis[place] for place in places], np.int64)

    def find(self, axes: Ints, latency_s: Floats) -> Places:
        """Where each latency lies on its axis."""
        at_us = np.minimum(np.maximum(latency_s * 1e6, 0), _LONGEST_US).astype(np.int64)
        at_us += axes
        found = self._starts.searchsorted(at_us, side="right")
        rest_us = self._starts[found] - at_us
        rest_us[rest_us >= _LONGEST_US] = NEVER
        found -= 1
        return Places(self._losses[found], self._slacks[found], rest_us)
