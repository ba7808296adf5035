"""How much a box matters now: the utility that waiting costs its outputs, and how soon that will be more.

The *expected output latency* of a box is the mean age of the tuples that wait at it, and the time to process them all
the way to an output. The utility of the box is the gradient of the output's latency graph there, what is lost per
second of waiting; its slack is the time to the graph's next critical point. With several outputs utilities add up, and
the least slack counts. Boxes run by highest utility, and among equals by least slack.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import NamedTuple

import numpy as np

from aurora.qos.curve import Curve
from aurora.scheduler.estimates import Estimates
from aurora.scheduler.state import NO_BOX, Floats, Ints, Snapshot, Topology

_LEAST_S = 1e-12


class Look(NamedTuple):
    """Of the boxes that were asked for, in their order."""

    utility: Floats
    slack_s: Floats


class Reason(NamedTuple):
    """What decided for a box: its utility over all applications, and the application that is next to lose more."""

    application: str
    utility: float
    expected_latency_s: float
    slack_s: float


Expected = list[tuple[int, float]]
"""The expected output latencies of a box, each with the place of its pair."""


class Pairs(NamedTuple):
    """Pairs of box and application; those of one box stand together, from ``starts`` on."""

    at: Ints
    starts: Ints
    covered: Ints
    """The places, among the boxes asked for, of those that have pairs."""


class Step(NamedTuple):
    """A box of an application, the boxes of it that come next, and the place of the pair."""

    box: int
    after: list[int]
    pair: int


class Priorities:
    """Works on pairs of a box and an application with a latency graph that it reaches; all tables are by pair."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self.estimates = Estimates(len(topology.boxes))
        graphs = [(place, app) for place, app in enumerate(topology.applications) if app.latency and app.root != NO_BOX]
        curves = {place: Curve(app.latency) for place, app in graphs if app.latency}
        pairs = sorted((box, place) for place, _ in graphs for box in topology.tree(place))
        self._box = np.array([box for box, _ in pairs], np.int64)
        self.places = [place for _, place in pairs]
        """The application of every pair."""
        self._place = {pair: index for index, pair in enumerate(pairs)}
        self._starts = np.searchsorted(self._box, np.arange(len(topology.boxes) + 1))
        self._counts = np.diff(self._starts)
        self.one_each = bool((self._counts == 1).all())
        """Whether every box has one pair, which then has its number."""
        self._work_s = np.zeros(len(pairs))
        self._calls_s = np.zeros(len(pairs))
        longest = max((len(curve.critical) for curve in curves.values()), default=0)
        self._critical = np.full((longest + 1, len(pairs)), np.inf)
        self._losses = np.zeros((longest + 1, len(pairs)))
        for index, (_, place) in enumerate(pairs):
            curve = curves[place]
            self._critical[: len(curve.critical), index] = curve.critical
            self._losses[: len(curve.losses), index] = curve.losses
        self._ways = [
            (topology.applications[place].name, curves[place].critical.tolist(), curves[place].losses.tolist())
            for _, place in pairs
        ]
        self._first: list[int] = self._starts.tolist()
        self._work = [0.0] * len(pairs)
        self._calls = [0.0] * len(pairs)
        self._steps: dict[int, list[Step]] = {}
        self.curves = curves
        """By place of the application."""

    @property
    def tightest_good_zone_s(self) -> float:
        """The least delay at which some output begins to lose; infinite if none ever does."""
        ends = [critical for curve in self.curves.values() for critical in curve.critical.tolist() if critical > 0]
        return min(ends, default=float("inf"))

    def refresh(self, state: Snapshot, boxes: Ints | None = None) -> list[int]:
        """Takes over costs and selectivities that changed much; these boxes, and those whose way to an output changed.

        With ``boxes`` it looks at these only.
        """
        changed = self.estimates.refresh(state, boxes)
        if not changed:
            return changed
        touched = {place for box in changed for place in self._topology.reaches(box) if place in self.curves}
        for place in touched:
            self._weigh(self._upwards(place))
        return sorted({*changed, *(box for place in touched for box, _, _ in self._upwards(place))})

    def _upwards(self, place: int) -> list[Step]:
        """The boxes of an application, the root first. Kept, since the topology looks for them anew every time."""
        steps = self._steps.get(place)
        if steps is None:
            tree = self._topology.tree(place)
            inside = set(tree)
            steps = self._steps[place] = [
                Step(
                    box, [after for after in self._topology.successors[box] if after in inside], self._place[box, place]
                )
                for box in reversed(tree)
            ]
        return steps

    def _weigh(self, steps: list[Step]) -> None:
        """What a tuple costs from each box of an application on, and what the calls on its way cost."""
        cost_s, overhead_s, selectivity, _ = self.estimates.lists
        work: dict[int, float] = {}
        calls: dict[int, float] = {}
        for box, after, pair in steps:
            work_s, calls_s = cost_s[box], overhead_s[box]
            if after:
                work_s += selectivity[box] * sum([work[successor] for successor in after])
                calls_s += max([calls[successor] for successor in after])
            work[box] = self._work[pair] = self._work_s[pair] = work_s
            calls[box] = self._calls[pair] = self._calls_s[pair] = calls_s

    def look(self, boxes: Ints, state: Snapshot) -> Look:
        """Utility and slack of these boxes. ``refresh`` comes first, when costs may have changed."""
        utility, slack_s = np.zeros(len(boxes)), np.full(len(boxes), np.inf)
        pairs = self.pairs(boxes)
        if len(pairs.at):
            _, losses, slacks = self._on_curves(pairs, state)
            if self.one_each:
                return Look(losses, slacks)
            utility[pairs.covered] = np.add.reduceat(losses, pairs.starts)
            slack_s[pairs.covered] = np.minimum.reduceat(slacks, pairs.starts)
        return Look(utility, slack_s)

    def order(self, boxes: Ints, state: Snapshot) -> Ints:
        """The boxes by priority, highest first. Among equals those in memory come first, and then the oldest."""
        if len(boxes) == 1:
            return boxes
        found = self.look(boxes, state)
        keys = (state.arrival_us[boxes], -state.resident[boxes], found.slack_s, -found.utility)
        ordered: Ints = boxes[np.lexsort(keys)]
        return ordered

    def reason(self, expected: Expected) -> Reason:
        """What the priority of a box comes from, that has these expected output latencies."""
        name, utility, latency_s, slack_s = "", 0.0, math.nan, math.inf
        for pair, expected_s in expected:
            output, critical, losses = self._ways[pair]
            at = bisect_right(critical, expected_s)
            utility += losses[at]
            rest_s = critical[at] - expected_s if at < len(critical) else math.inf
            if rest_s < slack_s or not name:
                name, latency_s, slack_s = output, expected_s, rest_s
        return Reason(name, utility, latency_s, slack_s)

    def in_time(self, box: int, age_s: float) -> float:
        """How many tuples of this age can come out of a box before the first critical point that one can still meet."""
        most = math.inf
        for pair in range(self._first[box], self._first[box + 1]):
            begin_s, work_s, critical = age_s + self._calls[pair], max(self._work[pair], _LEAST_S), self._ways[pair][1]
            ahead = bisect_right(critical, begin_s + work_s)
            if ahead < len(critical):
                most = min(most, (critical[ahead] - begin_s) / work_s)
        return most

    def expected_latency_s(self, pairs: Pairs, state: Snapshot) -> Floats:
        """The expected output latency by pair."""
        box = self._box[pairs.at]
        latency_s: Floats = 1e-6 * (state.now_us - state.arrival_us[box])
        latency_s += self._calls_s[pairs.at]
        latency_s += state.ready[box] * self._work_s[pairs.at]
        return latency_s

    def expected_latencies_s(self, box: int, state: Snapshot) -> Expected:
        """The same of one box: the place of each of its pairs, and the expected output latency."""
        age_s, count = 1e-6 * (state.now_us - state.arrival_us.item(box)), state.ready.item(box)
        work_s, calls_s = self._work, self._calls
        return [
            (pair, age_s + calls_s[pair] + count * work_s[pair])
            for pair in range(self._first[box], self._first[box + 1])
        ]

    def _on_curves(self, pairs: Pairs, state: Snapshot) -> tuple[Floats, Floats, Floats]:
        """Expected output latency, gradient and slack by pair."""
        latency_s, at = self.expected_latency_s(pairs, state), pairs.at
        critical = self._critical[:, at]
        behind = (critical <= latency_s).sum(axis=0)
        slack_s: Floats = critical[behind, np.arange(len(at))] - latency_s
        losses: Floats = self._losses[behind, at]
        return latency_s, losses, slack_s

    def pairs(self, boxes: Ints) -> Pairs:
        """The pairs of these boxes."""
        if self.one_each:
            places = np.arange(len(boxes))
            return Pairs(boxes, places, places)
        counts = self._counts[boxes]
        covered = np.flatnonzero(counts)
        counts = counts[covered]
        starts = np.concatenate(([0], np.cumsum(counts)[:-1])) if len(counts) else counts
        at = np.arange(int(counts.sum())) + np.repeat(self._starts[boxes[covered]] - starts, counts)
        return Pairs(at, starts, covered)
