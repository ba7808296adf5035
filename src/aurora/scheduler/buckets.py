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
from aurora.scheduler.state import Floats, Ints, Snapshot, Topology

_NOWHERE = -1

FEW = 32
"""Up to so many boxes a loop is faster than array operations, each of which costs as much as several boxes."""


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
        self._axis_of = [self.ranges.of[place] for place in self.priorities.places]
        steepest = {place: float(curve.losses.max()) for place, curve in curves.items()}
        reached = ([steepest[place] for place in topology.reaches(box) if place in curves] for box in self._numbers)
        most = max(map(sum, reached), default=0.0)
        self.utility_width = most / partitions if most > 0 else 1.0
        self._rank = [_NOWHERE] * len(topology.boxes)
        self._waiting = 0
        """How many boxes stand in buckets."""
        self._event_us = [NEVER] * len(topology.boxes)
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
        self._pending.update(self.refresh(state))
        if due := self._calendar.due(state.now_us):
            for box in due:
                self._event_us[box] = NEVER
            self._pending.update(due)
        planned = self._planned(state)
        if not planned and len(waiting := np.flatnonzero(state.free())):
            # Nobody told of these.
            self._pending.update(waiting.tolist())
            planned = self._planned(state)
        return planned

    def rank(self, box: int) -> int:
        """The bucket that a box stands in; below 0 where it stands in none."""
        return self._rank[box]

    def assignment(self, boxes: Ints, state: Snapshot) -> Assignment:
        """Where boxes belong, if they have something to do."""
        pairs = self.priorities.pairs(boxes)
        found = self.ranges.find(self._axes[pairs.at], self.priorities.expected_latency_s(pairs, state))
        if self.priorities.one_each:
            return Assignment(self._ranks(found.loss, found.slack), found.rest_us)
        utility = np.zeros(len(boxes))
        slack, rest_us = np.full(len(boxes), self.settings.partitions), np.full(len(boxes), NEVER)
        if len(pairs.at):
            utility[pairs.covered] = np.add.reduceat(found.loss, pairs.starts)
            slack[pairs.covered] = np.minimum.reduceat(found.slack, pairs.starts)
            rest_us[pairs.covered] = np.minimum.reduceat(found.rest_us, pairs.starts)
        return Assignment(self._ranks(utility, slack), rest_us)

    def _ranks(self, utility: Floats, slack: Ints) -> Ints:
        partitions = self.settings.partitions
        by_utility = np.minimum((utility / self.utility_width).astype(np.int64), partitions - 1)
        return by_utility * (partitions + 1) + partitions - slack

    def _assigned(self, box: int, state: Snapshot) -> tuple[int, int]:
        """The same for one box. Few have something new in most plans, and array operations cost more than these."""
        partitions = self.settings.partitions
        utility, slack, rest_us = 0.0, partitions, NEVER
        for pair, latency_s in self.priorities.expected_latencies_s(box, state):
            loss, its_slack, its_rest_us = self._axis_of[pair].find(latency_s)
            utility += loss
            slack = min(slack, its_slack)
            rest_us = min(rest_us, its_rest_us)
        return min(int(utility / self.utility_width), partitions - 1) * (partitions + 1) + partitions - slack, rest_us

    def _planned(self, state: Snapshot) -> list[Superbox]:
        if self._pending:
            self._assign(state)
        if not self._waiting:
            return []
        planned = self.chosen(self._best_first(state), self._waiting, state)
        ranks = self._rank
        for calls, _ in planned:
            for box, _ in calls:
                if ranks[box] != _NOWHERE:
                    self._take_out(box)
        return planned

    def _assign(self, state: Snapshot) -> None:
        ready, running, ranks = state.ready.item, state.running.item, self._rank
        boxes: list[int] = []
        # Most of those that one is told of have just run, and nothing waits at them.
        for box in sorted([box for box in self._pending if ready(box) or ranks[box] != _NOWHERE]):
            if ready(box) and not running(box):
                boxes.append(box)
            elif ranks[box] != _NOWHERE:
                self._take_out(box)
        self.assigned += len(self._pending)
        self._pending.clear()
        if len(boxes) <= FEW:
            found = [self._assigned(box, state) for box in boxes]
        else:
            many = self.assignment(np.array(boxes, np.int64), state)
            found = list(zip(many.rank.tolist(), many.rest_us.tolist(), strict=True))
        self._settle(boxes, found, state.now_us)

    def _settle(self, boxes: list[int], found: list[tuple[int, int]], now_us: int) -> None:
        """Puts boxes where they belong, and sets their events."""
        ranks, buckets, event_us = self._rank, self._buckets, self._event_us
        filled, events = self._filled, []
        for box, (rank, rest_us) in zip(boxes, found, strict=True):
            before = ranks[box]
            if before != rank:
                if before == _NOWHERE:
                    self._waiting += 1
                else:
                    left = buckets[before]
                    del left[box]
                    if not left:
                        filled ^= 1 << before
                ranks[box] = rank
                bucket = buckets[rank]
                if not bucket:
                    filled |= 1 << rank
                bucket[box] = None
            if now_us + rest_us < event_us[box]:
                event_us[box] = now_us + rest_us
                events.append((box, now_us + rest_us))
        self._filled = filled
        self._calendar.put_all(events)

    def _take_out(self, box: int) -> None:
        """Takes a box out of the bucket it is in. Its event stays, and will find nothing to do."""
        rank = self._rank[box]
        bucket = self._buckets[rank]
        del bucket[box]
        if not bucket:
            self._filled ^= 1 << rank
        self._rank[box] = _NOWHERE
        self._waiting -= 1

    def _best_first(self, state: Snapshot) -> Iterator[int]:
        ready = state.ready.item
        left = self._filled
        while left:
            best = left.bit_length() - 1
            left ^= 1 << best
            for box in self._buckets[best]:
                if ready(box):
                    yield box
