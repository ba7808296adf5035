"""One box after the other, whatever waits where: box at a time, or with trains of one, tuple at a time."""

from __future__ import annotations

from functools import partial

import numpy as np

from aurora.scheduler.plan import Superbox, Why
from aurora.scheduler.planning import Draft, Planner
from aurora.scheduler.state import Snapshot
from aurora.scheduler.train_rules import TrainRule


class RoundRobin(Planner):
    """Goes on where the last plan ended, so that every box gets its turn."""

    _reason = "its turn"
    _next = 0

    def plan(self, state: Snapshot) -> list[Superbox]:
        waiting = np.flatnonzero(state.free())
        if not len(waiting):
            return []
        start = int(np.searchsorted(waiting, self._next))
        chosen = np.concatenate((waiting[start:], waiting[:start]))[: self.settings.horizon]
        boxes, ready = chosen.tolist(), state.ready[chosen].tolist()
        self._next = boxes[-1] + 1
        names = self.topology.boxes
        drafts = [
            Draft([box], partial(Why, self.name, names[box], "", count, self._reason))
            for box, count in zip(boxes, ready, strict=True)
        ]
        return self.superboxes(drafts, state)


class TupleAtATime(RoundRobin):
    """The baseline that shows what trains are good for."""

    own_train = TrainRule(tuples=1, qos=False)
    _reason = "its turn, for one tuple"
