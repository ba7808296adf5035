"""What all policies share: a network, settings, trains, and the way from chosen boxes to superboxes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, NamedTuple

from aurora.scheduler.plan import Call, Superbox, Why
from aurora.scheduler.priorities import Priorities
from aurora.scheduler.settings import SchedulerSettings
from aurora.scheduler.state import Snapshot, Topology
from aurora.scheduler.train_rules import WHOLE, TrainRule, Trains

_ONE_OF = 3
"""With a fifth QoS was no better, and the scheduler took a fifth longer."""
_FEWEST = 2

COSTS_US = 500_000
"""How often it is looked whether costs have changed, in the long run. They are means over seconds, and the look is at
all boxes."""


class Draft(NamedTuple):
    """A superbox whose trains are not decided yet."""

    boxes: list[int]
    told: Callable[[], Why]


class Planner(ABC):
    """Base of the policies: one that is told of nothing and needs no QoS."""

    wants_changes = False
    wants_utilities = False
    own_train: ClassVar[TrainRule] = WHOLE
    """The rule where the settings give none."""
    ranks: ClassVar[bool] = False
    """Whether the policy keeps the priorities fresh for its own use."""

    def __init__(self, settings: SchedulerSettings, topology: Topology) -> None:
        self.name = settings.policy
        self.settings = settings
        self.topology = topology
        self.priorities = Priorities(topology)
        self._trains = Trains(settings.train or self.own_train, self.priorities)
        self._costs_us = 0
        self._began_us: int | None = None

    def changed(self, boxes: Iterable[int], state: Snapshot) -> None:  # noqa: B027  (most need do nothing)
        """Policies that look at the snapshot as a whole need not know."""

    def note_utilities(self, utilities: Mapping[str, float]) -> None:  # noqa: B027  (the same)
        """Policies that predict need not know."""

    def at_once(self, waiting: int) -> int:
        """How many superboxes a plan has when priority matters and so many wait.

        A plan with most of what waits would be no choice: it takes a part of it, and then looks again.
        """
        return min(max(_FEWEST, waiting // _ONE_OF), self.settings.horizon)

    def refresh(self, state: Snapshot) -> list[int]:
        """Takes over costs that changed much, when it is time to look; the boxes that this concerns.

        At first costs are guesses, and every call says more: so the time between looks grows from nothing.
        """
        now_us = state.now_us
        if now_us < self._costs_us:
            return []
        self._began_us = now_us if self._began_us is None else self._began_us
        self._costs_us = now_us + min(now_us - self._began_us, COSTS_US)
        changed = self.priorities.refresh(state)
        self._trains.forget(changed)
        return changed

    @abstractmethod
    def plan(self, state: Snapshot) -> list[Superbox]: ...

    def superboxes(self, drafts: list[Draft], state: Snapshot) -> list[Superbox]:
        """Gives every call its train, all in one go."""
        if not drafts:
            return []
        if self._trains.need_costs and not self.ranks:
            self.refresh(state)
        flat = drafts[0].boxes if len(drafts) == 1 else [box for draft in drafts for box in draft.boxes]
        calls = list(map(Call, flat, self._trains.most(flat, state)))
        found: list[Superbox] = []
        start = 0
        for boxes, told in drafts:
            end = start + len(boxes)
            found.append(Superbox(tuple(calls[start:end]), told))
            start = end
        return found
