"""By priority: the boxes whose waiting costs most, then those that are nearest to losing more."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from aurora.scheduler.plan import Superbox, Why
from aurora.scheduler.planning import Draft, Planner
from aurora.scheduler.priorities import Expected
from aurora.scheduler.state import Snapshot
from aurora.scheduler.train_rules import TrainRule


class ByPriority(Planner):
    """What policies share that rank boxes: a chosen box, and with ``push`` what is downstream of it."""

    own_train = TrainRule()
    ranks = True

    def chosen(self, ranked: Iterable[int], waiting: int, state: Snapshot) -> list[Superbox]:
        """A superbox for each of the first boxes. All are free to run, and ``waiting`` is how many there are."""
        most = self.at_once(waiting)
        taken = set(state.running.nonzero()[0].tolist())
        pushed: list[list[int]] = []
        for box in ranked:
            if len(pushed) == most:
                break
            if box not in taken:
                boxes = self._pushed(box, taken) if self.settings.push else [box]
                taken.update(boxes)
                pushed.append(boxes)
        ready, expected = state.ready.item, self.priorities.expected_latencies_s
        drafts = [
            Draft(boxes, partial(self._why, boxes[0], ready(boxes[0]), expected(boxes[0], state))) for boxes in pushed
        ]
        return self.superboxes(drafts, state)

    def _why(self, box: int, ready: int, expected: Expected) -> Why:
        name, reason = self.topology.boxes[box], self.priorities.reason(expected)
        if not reason.application:
            return Why(self.name, name, "", ready, "no output with a latency graph waits for it")
        return Why(self.name, name, reason.application, ready, "", *reason[1:])

    def _pushed(self, box: int, taken: set[int]) -> list[int]:
        """The box and those downstream, as far as they can be reached through boxes that are free."""
        downstream = self.topology.downstream(box)
        if taken.isdisjoint(downstream):
            return list(downstream)
        fed = {box}
        found: list[int] = []
        for later in downstream:
            if later in fed and later not in taken:
                found.append(later)
                fed.update(self.topology.successors[later])
        return found


class ByQoS(ByPriority):
    """State-based: computes the priorities of all boxes for every plan."""

    def plan(self, state: Snapshot) -> list[Superbox]:
        waiting = np.flatnonzero(state.free())
        if not len(waiting):
            return []
        self.refresh(state)
        return self.chosen(self.priorities.order(waiting, state).tolist(), len(waiting), state)
