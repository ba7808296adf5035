"""Application at a time: one superbox per output, with all that is upstream of it; outputs take turns."""

from __future__ import annotations

from functools import partial

from aurora.scheduler.plan import Superbox, Why
from aurora.scheduler.planning import Draft, Planner
from aurora.scheduler.settings import SchedulerSettings
from aurora.scheduler.state import Snapshot, Topology
from aurora.scheduler.superboxes import Superboxes


class Applications(Planner):
    """A box that several outputs need goes with the first whose turn it is."""

    def __init__(self, settings: SchedulerSettings, topology: Topology) -> None:
        super().__init__(settings, topology)
        self._superboxes = Superboxes(topology, settings.traversal)
        self._next = 0

    def plan(self, state: Snapshot) -> list[Superbox]:
        self._superboxes.refresh(state)
        roots = self.topology.roots
        turns = [*roots[self._next :], *roots[: self._next]]
        grown = self._superboxes.grown(turns, state, self.settings.horizon)
        if grown:
            self._next = (roots.index(grown[-1].root) + 1) % len(roots)
        names = self.topology.boxes
        drafts = [
            Draft(
                calls,
                partial(Why, self.name, names[calls[0]], self.topology.root_name(root), ready, "turn of its output"),
            )
            for root, calls, ready in grown
        ]
        return self.superboxes(drafts, state)
