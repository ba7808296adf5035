"""Plans for every overload, made beforehand, so that to change the plan at run time is to look it up.

What should be dropped depends on how much of the load may stay. If all inputs grow alike, so does every load, and the
same plan is right for the same share; so plans are kept by that share. The map is made anew when costs,
selectivities or the proportions of the inputs change.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from aurora.shedding.greedy import Move, Plan, Planner

STEPS = 100
"""A plan is at most one step further than it would have to be: one percent of what can be shed at all."""


@dataclass(frozen=True)
class RoadMap:
    """``shares`` falls from 1, and ``plans[i]`` brings the load to ``shares[i]`` of what it is without drops, or below.

    ``moves`` is the way: what was lowered after what, by loss of utility per load gained. Loads in the plans are those
    at the time when the map was made.
    """

    shares: tuple[float, ...]
    plans: tuple[Plan, ...]
    moves: tuple[Move, ...]
    _more: tuple[float, ...]

    @classmethod
    def build(cls, planner: Planner, steps: int = STEPS) -> RoadMap:
        """All plans from no drop at all to as much as may be dropped, at equal distances of load."""
        load, least = planner.load_before, planner.least_load
        shares = tuple(1 - (1 - least / load) * step / steps for step in range(steps + 1)) if load > least else (1.0,)
        plans = planner.plans([share * load for share in shares])
        for step in reversed(range(len(plans) - 1)):
            # The walk is greedy. Where it does better with less room, that plan serves for more room as well.
            if plans[step + 1].utility > plans[step].utility and plans[step + 1].fits:
                plans[step] = plans[step + 1]
        return cls(shares, tuple(plans), planner.moves, tuple(-share for share in shares))

    def step(self, load: float, capacity: float) -> int:
        """The number of the plan for a load that would be there without drops; the last where none is enough.

        Drops that are in place already make the measured load smaller: they must be added again before this is asked.
        """
        if load <= capacity:
            return 0
        return min(bisect_left(self._more, -capacity / load), len(self.plans) - 1)

    def plan(self, load: float, capacity: float) -> Plan:
        """The plan with the least loss in the map that makes the load fit."""
        return self.plans[self.step(load, capacity)]
