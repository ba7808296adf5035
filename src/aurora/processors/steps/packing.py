"""Which tasks go together: bundles of about the same cost, one for each slot."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def packed(tasks: Sequence[T], slots: int, cost: Callable[[T], float]) -> list[list[T]]:
    """At most ``slots`` bundles. The costliest task first, each to the bundle that has least so far.

    >>> packed(["a", "bb", "ccc", "dddd"], 2, len)
    [['dddd', 'a'], ['ccc', 'bb']]
    """
    bundles: list[list[T]] = [[] for _ in range(min(slots, len(tasks)))]
    loads = [(0.0, 0, number) for number in range(len(bundles))]
    for task in sorted(tasks, key=cost, reverse=True):
        load, count, number = heapq.heappop(loads)
        bundles[number].append(task)
        heapq.heappush(loads, (load + cost(task), count + 1, number))
    return bundles
