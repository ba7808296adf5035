"""The calls of a superbox, by the traversal that was chosen. What depends only on costs is kept until they change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

import numpy as np

from aurora.scheduler.cost_model import BoxModel, forecast
from aurora.scheduler.estimates import ENOUGH, Estimates
from aurora.scheduler.state import Snapshot, Topology
from aurora.scheduler.traversal import (
    Traversal,
    by_output_cost,
    memory_rates,
    min_cost,
    min_latency,
    min_memory,
    output_costs,
)
from aurora.scheduler.tree import Tree

_MOST_OUTLOOKS = 64
"""What is remembered per tree."""

_LONGEST_COMPARED = 2_000
"""Longer sequences are not compared: the comparison would take as long as what it saves."""


class Grown(NamedTuple):
    """The calls of a root's superbox, and how many tuples wait for them."""

    root: int
    calls: list[int]
    ready: int


class Outlook(NamedTuple):
    """Which of two traversals has its outputs out sooner on average, and how long min-latency takes in all."""

    sooner: Traversal
    early_total_s: float


class Superboxes:
    """One tree for every root; ``calls`` traverses it."""

    def __init__(self, topology: Topology, traversal: str) -> None:
        self.trees = {root: Tree(topology, root) for root in topology.roots}
        self._traversal = cast(Traversal, traversal)
        self._estimates = Estimates(len(topology.boxes))
        roots_of: list[list[int]] = [[] for _ in topology.boxes]
        for root, tree in self.trees.items():
            for box in tree.boxes:
                roots_of[box].append(root)
        self._roots_of = tuple(map(tuple, roots_of))
        self._kept = self._estimates.lists
        self._orders: dict[int, tuple[int, ...]] = {}
        self._rates: dict[int, dict[int, float]] = {}
        self._outlooks: dict[tuple[int, ...], Outlook] = {}
        self._call_s = 0.0
        self._now_us = 0
        self._grown_us: dict[int, int] = {}
        """When each root last had a superbox."""

    def refresh(self, state: Snapshot) -> None:
        """Forgets what was computed from costs that have changed much since."""
        changed = self._estimates.refresh(state)
        self._now_us = state.now_us
        dearer = abs(state.call_s - self._call_s) > ENOUGH * self._call_s
        if dearer:
            self._call_s = state.call_s
        if changed or dearer:
            self._outlooks.clear()
        for root in {root for box in changed for root in self._roots_of[box]}:
            self._orders.pop(root, None)
            self._rates.pop(root, None)

    def roots_of(self, box: int) -> tuple[int, ...]:
        """The roots whose trees the box is in."""
        return self._roots_of[box]

    def busy(self, state: Snapshot) -> set[int]:
        """The roots of superboxes that have something to do."""
        starts = np.flatnonzero(state.free()).tolist()
        return {root for box in starts for root in self._roots_of[box]}

    def grown(self, roots: Iterable[int], state: Snapshot, most: int) -> list[Grown]:
        """The superboxes of at most so many roots that have something to do. No box is in two of them."""
        busy = self.busy(state)
        found: list[Grown] = []
        if not busy:
            return found
        ready, blocked = state.ready.tolist(), state.running.tolist()
        for root in roots:
            if root in busy and (calls := self.calls(root, ready, blocked)):
                found.append(Grown(root, calls, sum(map(ready.__getitem__, set(calls)))))
                if len(found) == most:
                    break
                for box in calls:
                    blocked[box] = True
        return found

    def calls(self, root: int, ready: Sequence[int], blocked: Sequence[bool]) -> list[int]:
        """The boxes to call, in order; none where nothing waits.

        ``ready`` has the tuples at each box; boxes that are ``blocked`` are not called, and what they would feed is
        called only if something else calls for it.
        """
        tree = self.trees[root]
        starts = [box for box in tree.boxes if ready[box] and not blocked[box]]
        if not starts:
            return []
        waiting = [False] * len(ready)
        for box in starts:
            waiting[box] = True
        how = self._traversal if self._traversal != "auto" else self._choice(tree, starts, waiting, ready)
        self._grown_us[root] = self._now_us
        found = self._sequence(how, tree, waiting)
        return _reachable(found, tree, waiting, blocked) if any(map(blocked.__getitem__, tree.boxes)) else found

    def _sequence(self, how: Traversal, tree: Tree, waiting: Sequence[bool]) -> list[int]:
        if how == "min_latency":
            return min_latency(tree, waiting, self._order(tree))
        if how == "min_memory":
            return min_memory(tree, waiting, self._rate(tree))
        return min_cost(tree, waiting)

    def _choice(self, tree: Tree, starts: list[int], waiting: Sequence[bool], ready: Sequence[int]) -> Traversal:
        """Min-cost or min-latency, whichever has its outputs out sooner on average.

        What waits came since the last superbox of this root. Where min-latency would take longer than that for it, it
        would fall behind, and everything later would be late: then it is min-cost. As long as the same boxes have
        about as many tuples, give or take a factor of two, the outlook is kept.
        """
        if len(starts) == 1:
            return "min_cost"
        key = (tree.root, *starts, sum(map(ready.__getitem__, starts)).bit_length())
        known = self._outlooks.get(key)
        if known is None:
            if len(self._outlooks) >= _MOST_OUTLOOKS * len(self.trees):
                self._outlooks.clear()
            known = self._outlooks[key] = self._outlook(tree, waiting, ready)
        before_us = self._grown_us.get(tree.root)
        if before_us is not None and 1e6 * known.early_total_s > self._now_us - before_us:
            return "min_cost"
        return known.sooner

    def compared(self, tree: Tree, waiting: Sequence[bool], ready: Sequence[float]) -> Traversal:
        """The outcome of both traversals on paper, compared."""
        return self._outlook(tree, waiting, ready).sooner

    def _outlook(self, tree: Tree, waiting: Sequence[bool], ready: Sequence[float]) -> Outlook:
        cost_s, overhead_s, selectivity, _ = self._kept
        models = {
            box: BoxModel(
                cost_s[box], overhead_s[box] + self._call_s, selectivity[box], ready[box] if waiting[box] else 0.0
            )
            for box in tree.boxes
        }
        early = min_latency(tree, waiting, self._order(tree))
        if len(early) > _LONGEST_COMPARED:
            return Outlook("min_cost", 0.0)
        cheap = forecast(min_cost(tree, waiting), models, tree.after, tree.root)
        dear = forecast(early, models, tree.after, tree.root)
        return Outlook("min_latency" if dear.latency_s < cheap.latency_s else "min_cost", dear.total_s)

    def _order(self, tree: Tree) -> tuple[int, ...]:
        if tree.root not in self._orders:
            cost_s, _, selectivity, _ = self._kept
            self._orders[tree.root] = by_output_cost(tree, output_costs(tree, cost_s, selectivity))
        return self._orders[tree.root]

    def _rate(self, tree: Tree) -> dict[int, float]:
        if tree.root not in self._rates:
            cost_s, _, selectivity, tuple_bytes = self._kept
            self._rates[tree.root] = memory_rates(tree, cost_s, selectivity, tuple_bytes)
        return self._rates[tree.root]


def _reachable(calls: list[int], tree: Tree, waiting: list[bool], blocked: Sequence[bool]) -> list[int]:
    """The calls that have something to do when blocked boxes are left out."""
    filled = {box for box in tree.boxes if waiting[box]}
    found: list[int] = []
    for box in calls:
        if box in filled and not blocked[box]:
            found.append(box)
            filled.discard(box)
            filled.update(tree.after[box])
    return found
