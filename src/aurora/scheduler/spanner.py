"""The top-k spanner: superboxes that grow where priority is, from an output up to its boxes of highest priority."""

from __future__ import annotations

from functools import partial

import numpy as np

from aurora.scheduler.plan import Superbox, Why
from aurora.scheduler.planning import Draft, Planner
from aurora.scheduler.priorities import Expected
from aurora.scheduler.settings import SchedulerSettings
from aurora.scheduler.state import Snapshot, Topology
from aurora.scheduler.superboxes import Superboxes
from aurora.scheduler.train_rules import TrainRule


class Spanner(Planner):
    """The superbox of an output has its k boxes of highest priority, and all on their way to it.

    Outputs come in the order of the best box of each.
    """

    own_train = TrainRule()
    ranks = True

    def __init__(self, settings: SchedulerSettings, topology: Topology) -> None:
        super().__init__(settings, topology)
        self._superboxes = Superboxes(topology, settings.traversal)

    def plan(self, state: Snapshot) -> list[Superbox]:
        waiting = np.flatnonzero(state.free())
        if not len(waiting):
            return []
        self._superboxes.refresh(state)
        self.refresh(state)
        best: dict[int, list[int]] = {}
        for box in self.priorities.order(waiting, state).tolist():
            for root in self._superboxes.roots_of(box):
                spanned = best.setdefault(root, [])
                if len(spanned) < self.settings.spanned:
                    spanned.append(box)
        return self.superboxes(self._drafts(best, state), state)

    def _drafts(self, best: dict[int, list[int]], state: Snapshot) -> list[Draft]:
        ready, taken = state.ready.tolist(), set(np.flatnonzero(state.running).tolist())
        most = self.at_once(len(best))
        expected = self.priorities.expected_latencies_s
        drafts: list[Draft] = []
        for root, spanned in best.items():
            tree = self._superboxes.trees[root]
            blocked = [True] * len(ready)
            for box in spanned:
                for down in tree.down(box):
                    blocked[down] = down in taken
            if calls := self._superboxes.calls(root, ready, blocked):
                taken.update(calls)
                first = next(box for box in (*spanned, *calls) if box in calls)
                told = partial(self._why, root, first, len(set(calls)), ready[first], expected(first, state))
                drafts.append(Draft(calls, told))
            if len(drafts) == most:
                break
        return drafts

    def _why(self, root: int, box: int, boxes: int, ready: int, expected: Expected) -> Why:
        output, reason = self.topology.root_name(root), self.priorities.reason(expected)
        return Why(
            self.name,
            self.topology.boxes[box],
            output,
            ready,
            f"one of {boxes} boxes that lead to {output}",
            reason.utility,
            reason.expected_latency_s if reason.application else None,
            reason.slack_s,
        )
