"""By priority: the boxes whose waiting costs most, then those that are nearest to losing more."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from aurora.scheduler.plan import Superbox, Why
from aurora.scheduler.planning import Draft, Planner
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
        reasons = self.priorities.reasons([boxes[0] for boxes in pushed], state)
        names, ready = self.topology.boxes, state.ready.item
        drafts = []
        for boxes, why in zip(pushed, reasons, strict=True):
            name, count = names[boxes[0]], ready(boxes[0])
            if why.application:
                said = Why(self.name, name, why.application, count, "", *why[1:])
            else:
                said = Why(self.name, name, "", count, "no output with a latency graph waits for it")
            drafts.append(Draft(boxes, said))
        return self.superboxes(drafts, state)

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
        self.priorities.refresh(state)
        return self.chosen(self.priorities.order(waiting, state).tolist(), len(waiting), state)
