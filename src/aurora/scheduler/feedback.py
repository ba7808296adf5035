"""By results: outputs that do badly get more turns, those that do well fewer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from aurora.scheduler.plan import Superbox, Why
from aurora.scheduler.planning import Draft, Planner
from aurora.scheduler.settings import SchedulerSettings
from aurora.scheduler.state import Snapshot, Topology
from aurora.scheduler.superboxes import Superboxes

_MOST_TURNS = 16.0
_CALMING = 0.9


class Feedback(Planner):
    """Every output has a weight: the turns it gets for each turn of an output that does well.

    A turn moves an output's place on a line of turns ahead by 1 / weight; those that are furthest back are next.
    Weights grow with the utility that is missing, and shrink slowly while an output is in its good zone.
    """

    wants_utilities = True

    def __init__(self, settings: SchedulerSettings, topology: Topology) -> None:
        super().__init__(settings, topology)
        self._superboxes = Superboxes(topology, settings.traversal)
        self._weights = {topology.root_name(root): 1.0 for root in topology.roots}
        self._turns = dict.fromkeys(topology.roots, 0.0)
        self._roots = {app.name: topology.root_name(app.root) for app in topology.applications if app.root >= 0}

    @property
    def weights(self) -> Mapping[str, float]:
        """By output; outputs that one box makes share the weight of the first."""
        return self._weights

    def note_utilities(self, utilities: Mapping[str, float]) -> None:
        worst: dict[str, float] = {}
        for name, utility in utilities.items():
            if name in self._roots:
                root = self._roots[name]
                worst[root] = min(utility, worst.get(root, utility))
        for name, utility in worst.items():
            missing = self.settings.good - utility
            grown = self._weights[name] * (1 + missing if missing > 0 else _CALMING)
            self._weights[name] = min(max(grown, 1.0), _MOST_TURNS)

    def plan(self, state: Snapshot) -> list[Superbox]:
        self._superboxes.refresh(state)
        busy = self._superboxes.busy(state)
        if not busy:
            return []
        back = min(self._turns[root] for root in busy)
        near = back + 1 / max(self._weights.values())
        # Those in front wait for the others to catch up, unless nobody else has anything to do.
        order = sorted((root for root in busy if self._turns[root] <= near), key=lambda root: (self._turns[root], root))
        grown = self._superboxes.grown(order, state, self.settings.horizon)
        for root in self._turns:
            # Who had nothing to do does not save turns up.
            self._turns[root] = max(self._turns[root], back)
        for root, _, _ in grown:
            self._turns[root] += 1 / self._weights[self.topology.root_name(root)]
        return self.superboxes([self._draft(*found) for found in grown], state)

    def _draft(self, root: int, calls: list[int], ready: int) -> Draft:
        output = self.topology.root_name(root)
        reason = f"turn of its output, which gets {self._weights[output]:.3g} times the turns of one that does well"
        return Draft(calls, partial(Why, self.name, self.topology.boxes[calls[0]], output, ready, reason))
