"""In which order the boxes of a superbox are called.

*Min-cost* calls every box once, after all it reads from, which gives the fewest calls. *Min-latency* brings the tuples
out first that are cheapest to bring out: boxes by rising output cost, each followed by the boxes downstream of it.
*Min-memory* always calls the box that frees most memory per second among those with something to do. So a call is
followed by calls of downstream boxes that free more than what else there is, and other downstream boxes wait.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from typing import Literal

from aurora.scheduler.tree import Tree

Traversal = Literal["auto", "min_cost", "min_latency", "min_memory"]

_LEAST_S = 1e-12

_MOST_CALLS_PER_BOX = 8
"""Where branches join again and again, min-memory could call boxes again for each way to them, without end."""


def output_costs(tree: Tree, cost_s: Sequence[float], selectivity: Sequence[float]) -> dict[int, float]:
    """The time it takes to make one output tuple from the tuples that wait at each box.

    On a path it is the sum of cost(k) / o_sel(k) over the boxes k downstream, where o_sel(k) is the product of the
    selectivities from k on. Where a box feeds several, its tuples take all ways, and both work and yield add up.
    """
    work: dict[int, float] = {}
    made: dict[int, float] = {}
    for box in reversed(tree.boxes):
        after = tree.after[box]
        work[box] = cost_s[box] + selectivity[box] * sum(work[successor] for successor in after)
        made[box] = selectivity[box] * (1.0 if box == tree.root else sum(made[successor] for successor in after))
    return {box: work[box] / made[box] if made[box] > 0 else math.inf for box in tree.boxes}


def memory_rates(
    tree: Tree, cost_s: Sequence[float], selectivity: Sequence[float], tuple_bytes: Sequence[float]
) -> dict[int, float]:
    """The memory that each box frees per second of its work."""
    return {box: tuple_bytes[box] * (1 - selectivity[box]) / max(cost_s[box], _LEAST_S) for box in tree.boxes}


def by_output_cost(tree: Tree, costs: Mapping[int, float]) -> tuple[int, ...]:
    """The boxes by rising output cost; equals in post-order."""
    return tuple(sorted(tree.boxes, key=lambda box: (costs[box], tree.place[box])))


def min_cost(tree: Tree, waiting: Sequence[bool]) -> list[int]:
    """The calls in post-order of what waits, and of what that feeds. ``waiting`` is by box number, as all below."""
    fed: set[int] = set()
    calls: list[int] = []
    for box in tree.post_order:
        if waiting[box] or box in fed:
            calls.append(box)
            fed.update(tree.after[box])
    return calls


def min_latency(tree: Tree, waiting: Sequence[bool], order: Sequence[int]) -> list[int]:
    """For each waiting box in order, all boxes from it to the root."""
    calls: list[int] = []
    for box in order:
        if waiting[box]:
            calls += tree.down(box)
    return calls


def min_memory(tree: Tree, waiting: Sequence[bool], rates: Mapping[int, float]) -> list[int]:
    """Always the box with the highest rate among those that have tuples; equals in post-order."""
    heap = [(-rates[box], tree.place[box], box) for box in tree.boxes if waiting[box]]
    heapq.heapify(heap)
    filled = {box for _, _, box in heap}
    calls: list[int] = []
    most = _MOST_CALLS_PER_BOX * len(tree.boxes)
    while heap and len(calls) < most:
        _, _, box = heapq.heappop(heap)
        filled.discard(box)
        calls.append(box)
        for successor in tree.after[box]:
            if successor not in filled:
                filled.add(successor)
                heapq.heappush(heap, (-rates[successor], tree.place[successor], successor))
    if heap:
        rest = [False] * len(waiting)
        for box in filled:
            rest[box] = True
        calls += min_cost(tree, rest)
    return calls
