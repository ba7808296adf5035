"""The shape of a loop-free graph of boxes: an order to visit it in, its cycles, what is up and down from a box.

A graph is given as ``reads``: for every node the nodes it reads from. Names that are no node of the graph (streams,
for a graph of boxes) are ignored.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping

Reads = Mapping[str, Iterable[str]]


def order(reads: Reads) -> tuple[str, ...]:
    """The nodes so that each comes after all it reads from; among the free ones, as ``reads`` has them.

    Nodes on a cycle, and those behind one, are left out.

    >>> order({"c": ["b"], "b": [], "a": []})
    ('b', 'c', 'a')
    """
    rank = {name: index for index, name in enumerate(reads)}
    readers = _turned(reads)
    waiting = {name: len({up for up in ups if up in rank}) for name, ups in reads.items()}
    names = list(reads)
    free = [rank[name] for name, missing in waiting.items() if missing == 0]
    heapq.heapify(free)
    found: list[str] = []
    while free:
        name = names[heapq.heappop(free)]
        found.append(name)
        for reader in readers[name]:
            waiting[reader] -= 1
            if waiting[reader] == 0:
                heapq.heappush(free, rank[reader])
    return tuple(found)


def cycles(reads: Reads) -> list[tuple[str, ...]]:
    """Cycles of the graph, each in the direction of flow, from its first node on; none shares a node with another.

    >>> cycles({"a": ["b"], "b": ["a"], "c": ["a"]})
    [('a', 'b')]
    """
    rank = {name: index for index, name in enumerate(reads)}
    left = {name: [up for up in ups if up in rank] for name, ups in reads.items()}
    found: list[tuple[str, ...]] = []
    while True:
        left = _without(left, set(order(left)))
        if not left:
            return sorted(found, key=lambda cycle: rank[cycle[0]])
        # Every node that is left reads from one that is left, so walking up comes back to where it was.
        done: set[str] = set()
        on_cycles: set[str] = set()
        for name in left:
            walk: dict[str, None] = {}
            while name not in done and name not in walk:
                walk[name] = None
                name = left[name][0]
            done |= walk.keys()
            if name in walk:
                steps = list(walk)
                cycle = steps[steps.index(name) :][::-1]
                at = cycle.index(min(cycle, key=rank.__getitem__))
                found.append(tuple(cycle[at:] + cycle[:at]))
                on_cycles.update(cycle)
        left = _without(left, on_cycles)


def _without(reads: dict[str, list[str]], gone: set[str]) -> dict[str, list[str]]:
    return {name: [up for up in ups if up not in gone] for name, ups in reads.items() if name not in gone}


def upstream(reads: Reads, name: str) -> frozenset[str]:
    """Everything that what leaves ``name`` is made from, sources included."""
    return _reachable(reads, name)


def downstream(reads: Reads, name: str) -> frozenset[str]:
    """Every node that sees something of what leaves ``name``."""
    return _reachable(_turned(reads), name)


def _turned(reads: Reads) -> dict[str, list[str]]:
    turned: dict[str, list[str]] = {name: [] for name in reads}
    for name, ups in reads.items():
        for up in dict.fromkeys(ups):
            turned.setdefault(up, []).append(name)
    return turned


def _reachable(edges: Reads, start: str) -> frozenset[str]:
    seen: set[str] = set()
    front = [start]
    while front:
        for name in edges.get(front.pop(), ()):
            if name not in seen:
                seen.add(name)
                front.append(name)
    return frozenset(seen)
