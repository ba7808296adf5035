"""The boxes above one root: what a superbox is made of."""

from __future__ import annotations

from collections.abc import Sequence

from aurora.scheduler.state import Topology


class Tree:
    """``boxes`` in topological order, ``after`` the successors of each inside the tree.

    Where boxes share a predecessor it is a loop-free graph rather than a tree; each box is in it once all the same.
    ``post_order`` has every box behind all that it reads from, depth first and by the order of ports: the way through
    the tree that keeps what was just made near to where it is used.
    """

    def __init__(self, topology: Topology, root: int) -> None:
        self.root = root
        self.boxes = topology.upstream(root)
        inside = set(self.boxes)
        self.after = {box: tuple(s for s in topology.successors[box] if s in inside) for box in self.boxes}
        self.post_order = _post_order(root, topology.predecessors)
        self.place = {box: place for place, box in enumerate(self.post_order)}
        self._down: dict[int, tuple[int, ...]] = {}

    def down(self, box: int) -> tuple[int, ...]:
        """The boxes from this one to the root, both included, in topological order."""
        if box not in self._down:
            found = {box}
            front = [box]
            while front:
                fresh = [after for after in self.after[front.pop()] if after not in found]
                found.update(fresh)
                front += fresh
            self._down[box] = tuple(sorted(found))
        return self._down[box]


def _post_order(root: int, before: Sequence[Sequence[int]]) -> tuple[int, ...]:
    found: dict[int, None] = {}
    entered = {root}
    way = [(root, iter(before[root]))]
    while way:
        box, ups = way[-1]
        fresh = next((up for up in ups if up not in entered), None)
        if fresh is None:
            found[box] = None
            way.pop()
        else:
            entered.add(fresh)
            way.append((fresh, iter(before[fresh])))
    return tuple(found)
