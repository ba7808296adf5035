"""A network's branches: boxes that hang together through what they hand each other, and not only through a stream.

What one branch has taken does not matter to another. So where boxes run in steps, which are too dear for single boxes,
branches are what a scheduler can choose among.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aurora.model.qos import Graph
from aurora.model.typed import TypedNetwork
from aurora.scheduler.state import Topology

_NAMED = 3


def branches(typed: TypedNetwork) -> tuple[tuple[str, ...], ...]:
    """The boxes of every branch, in topological order; branches in the order of their first boxes."""
    branch: dict[str, list[str]] = {}
    for box in typed.order:
        joined = [box]
        for above in {id(b): b for arc in typed.inputs[box] if (b := branch.get(arc.name)) is not None}.values():
            joined = above + joined
        branch |= dict.fromkeys(joined, joined)
    place = {box: number for number, box in enumerate(typed.order)}
    found = {id(boxes): tuple(sorted(boxes, key=place.__getitem__)) for boxes in branch.values()}
    return tuple(sorted(found.values(), key=lambda boxes: place[boxes[0]]))


def branch_name(boxes: Sequence[str]) -> str:
    """
    >>> branch_name(["a", "b"]), branch_name(["a", "b", "c", "d"])
    ('a+b', 'a+...+d')
    """
    return "+".join(boxes if len(boxes) <= _NAMED else [boxes[0], "...", boxes[-1]])


def topology_of_branches(typed: TypedNetwork, found: Sequence[Sequence[str]]) -> Topology:
    """The network as policies see it that choose among branches: each is a box that reads from no other."""
    names = {box: branch_name(boxes) for boxes in found for box in boxes}
    declared = typed.network.outputs
    graphs: Mapping[str, Graph | None] = {
        name: qos.latency for name in typed.outputs if (qos := declared[name].qos) is not None
    }
    outputs = {name: names.get(arc.name, "") for name, arc in typed.outputs.items()}
    return Topology.build({branch_name(boxes): [] for boxes in found}, outputs, dict(graphs))
