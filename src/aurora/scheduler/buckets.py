"""By priority, roughly: boxes stand in buckets of similar utility and slack, and move when their time has come.

Sorting all boxes for every plan costs more the more boxes there are. While nothing happens to a box, its tuples only
grow older, so it is known beforehand when its output's latency graph will bend, or its slack fall into the next range.
These moments are events in a calendar. A plan handles the events that are due and the boxes that it was told of, and
takes boxes from the best buckets; the other boxes are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from aurora.scheduler.by_qos import ByPriority
from aurora.scheduler.calendar_queue import CalendarQueue
from aurora.scheduler.latency_ranges import NEVER, LatencyRanges
from aurora.scheduler.plan import Superbox
from aurora.scheduler.settings import SchedulerSettings
from aurora.scheduler.state import Ints, Snapshot, Topology

_NOWHERE = -1


class Assignment(NamedTuple):
    """The bucket of each box if it has something to do, and how long it will stay there if nothing happens to it."""

    rank: Ints
    rest_us: Ints


class Buckets(ByPriority):
    """A bucket's number is its rank: by range of utility, and inside that by range of slack, least slack highest.

    Boxes in one bucket take turns. An event that was set too early, because a box got younger tuples, is left where it
    is: when it is due, the box is looked at, and a new one is set.
    """

    wants_changes = True

    def __init__(self, settings: SchedulerSettings, topology: Topology) -> None:
        super().__init__(settings, topology)
        partitions = settings.partitions
        curves = self.priorities.curves
        self.ranges = LatencyRanges(curves, partitions)
        self._axes = self.ranges.axes(self.priorities.places)
        steepest = {place: float(curve.losses.max()) for place, curve in curves.items()}
        reached = ([steepest[place] for place in topology.reaches(box) if place in curves] for box in self._numbers)
        most = max(map(sum, reached), default=0.0)
        self.utility_width = most / partitions if most > 0 else 1.0
        self._rank = np.full(len(topology.boxes), _NOWHERE)
        self._event_us = np.full(len(topology.boxes), NEVER)
        self._buckets: list[dict[int, None]] = [{} for _ in range(partitions * (partitions + 1))]
        self._filled = 0
        """A bit for every bucket that holds boxes."""
        self._calendar = CalendarQueue()
        self._pending = set(self._numbers)
        self.assigned = 0
        """How many times a box was given its bucket: what the work is measured by, with the calendar's ``steps``."""

    @property
    def _numbers(self) -> range:
        return range(len(self.topology.boxes))

    @property
    def steps(self) -> int:
        """The work done so far: boxes given their bucket, and what the calendar looked at."""
        return self.assigned + self._calendar.steps

    def changed(self, boxes: Iterable[int], state: Snapshot) -> None:
        self._pending.update(boxes)

    def plan(self, state: Snapshot) -> list[Superbox]:
        # Only boxes that ran can have new costs, and these it was told of.
        told = np.fromiter(self._pending, np.int64, len(self._pending))
        self._pending.update(self.priorities.refresh(state, told).tolist())
        if due := self._calendar.due(state.now_us):
            self._event_us[due] = NEVER
            self._pending.update(due)
        planned = self._planned(state)
        if not planned and len(waiting := np.flatnonzero(state.free())):
            # Nobody told of these.
            self._pending.update(waiting.tolist())
            planned = self._planned(state)
        return planned

    def rank(self, box: int) -> int:
        """The bucket that a box stands in; below 0 where it stands in none."""
        return int(self._rank[box])

    def assignment(self, boxes: Ints, state: Snapshot) -> Assignment:
        """Where boxes belong, if they have something to do."""
        partitions = self.settings.partitions
        utility = np.zeros(len(boxes))
        slack, rest_us = np.full(len(boxes), partitions), np.full(len(boxes), NEVER)
        pairs = self.priorities.pairs(boxes)
        if len(pairs.at):
            found = self.ranges.find(self._axes[pairs.at], self.priorities.expected_latency_s(pairs, state))
            utility[pairs.covered] = np.add.reduceat(found.loss, pairs.starts)
            slack[pairs.covered] = np.minimum.reduceat(found.slack, pairs.starts)
            rest_us[pairs.covered] = np.minimum.reduceat(found.rest_us, pairs.starts)
        by_utility = np.minimum((utility / self.utility_width).astype(np.int64), partitions - 1)
        return Assignment(by_utility * (partitions + 1) + partitions - slack, rest_us)

    def _planned(self, state: Snapshot) -> list[Superbox]:
        if self._pending:
            self._assign(state)
        waiting = int(np.count_nonzero(self._rank != _NOWHERE))
        planned = self.chosen(self._best_first(state), waiting, state) if waiting else []
        self._take_out(np.array([box for superbox in planned for box, _ in superbox.calls], np.int64))
        return planned

    def _assign(self, state: Snapshot) -> None:
        boxes = np.fromiter(self._pending, np.int64, len(self._pending))
        boxes.sort()
        self._pending.clear()
        self.assigned += len(boxes)
        free = (state.ready[boxes] > 0) & ~state.running[boxes]
        self._take_out(boxes[~free])
        boxes = boxes[free]
        if not len(boxes):
            return
        rank, rest_us = self.assignment(boxes, state)
        moved = np.flatnonzero(rank != self._rank[boxes])
        self._put_in(boxes[moved], rank[moved])
        event_us = state.now_us + rest_us
        sooner = (rest_us < NEVER) & (event_us < self._event_us[boxes])
        self._event_us[boxes[sooner]] = event_us[sooner]
        for box, time in zip(boxes[sooner].tolist(), event_us[sooner].tolist(), strict=True):
            self._calendar.put(box, time)

    def _take_out(self, boxes: Ints) -> None:
        """Takes boxes out of their buckets, if they are in any. Their events stay, and will find nothing to do."""
        inside = boxes[self._rank[boxes] != _NOWHERE]
        for box, before in zip(inside.tolist(), self._rank[inside].tolist(), strict=True):
            bucket = self._buckets[before]
            del bucket[box]
            if not bucket:
                self._filled ^= 1 << before
        self._rank[inside] = _NOWHERE

    def _put_in(self, boxes: Ints, rank: Ints) -> None:
        self._take_out(boxes)
        self._rank[boxes] = rank
        for box, to in zip(boxes.tolist(), rank.tolist(), strict=True):
            self._buckets[to][box] = None
            self._filled |= 1 << to

    def _best_first(self, state: Snapshot) -> Iterator[int]:
        left = self._filled
        while left:
            best = left.bit_length() - 1
            left ^= 1 << best
            for box in self._buckets[best]:
                if state.ready[box]:
                    yield box
