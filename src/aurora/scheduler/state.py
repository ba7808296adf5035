"""What policies decide on: the shape of the network, which stays, and a snapshot of its queues, which changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aurora.model.qos import Graph
from aurora.model.typed import TypedNetwork

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

NO_BOX = -1


@dataclass(frozen=True)
class Application:
    """An output that somebody gets. ``root`` is the box that makes it; NO_BOX where a stream is an output by itself."""

    name: str
    root: int
    latency: Graph | None = None


@dataclass(frozen=True)
class Topology:
    """The boxes in topological order: a box's place is its number. ``predecessors`` stand in the order of the ports.

    >>> chain = Topology.build({"a": [], "b": ["a"], "c": ["b"], "aside": ["a"]}, {"out": "c"})
    >>> chain.downstream(1), chain.tree(0), chain.reaches(0), chain.reaches(3)
    ((1, 2), (0, 1, 2), (0,), ())
    """

    boxes: tuple[str, ...]
    successors: tuple[tuple[int, ...], ...]
    predecessors: tuple[tuple[int, ...], ...]
    applications: tuple[Application, ...]

    @classmethod
    def of(cls, typed: TypedNetwork) -> Topology:
        """The topology of a network. Streams and static data are no boxes and do not appear."""
        reads = {box: [arc.name for arc in typed.inputs[box]] for box in typed.order}
        outputs = {name: arc.name for name, arc in typed.outputs.items()}
        declared = typed.network.outputs
        graphs = {name: qos.latency for name in outputs if (qos := declared[name].qos) is not None}
        return cls.build(reads, outputs, graphs)

    @classmethod
    def build(
        cls,
        reads: dict[str, list[str]],
        outputs: dict[str, str],
        latency: dict[str, Graph | None] | None = None,
    ) -> Topology:
        """From what each box reads, boxes in topological order, and the maker of each output."""
        number = {box: place for place, box in enumerate(reads)}
        before = [tuple(number[up] for up in dict.fromkeys(ups) if up in number) for ups in reads.values()]
        after: list[list[int]] = [[] for _ in reads]
        for box, ups in enumerate(before):
            for up in ups:
                if up >= box:
                    raise ValueError(f"box {box} reads box {up}, which stands behind it: give boxes in order")
                after[up].append(box)
        graphs = latency or {}
        made = (Application(name, number.get(maker, NO_BOX), graphs.get(name)) for name, maker in outputs.items())
        return cls(tuple(reads), tuple(map(tuple, after)), tuple(before), tuple(made))

    def downstream(self, box: int) -> tuple[int, ...]:
        """The boxes that see something of what the box makes, itself included, in topological order."""
        if box not in self._downstream:
            self._downstream[box] = _reached(box, self.successors)
        return self._downstream[box]

    def reaches(self, box: int) -> tuple[int, ...]:
        """The applications (places in ``applications``) that get something of what the box makes."""
        return self._reaches[box]

    def tree(self, application: int) -> tuple[int, ...]:
        """The boxes that an application's output is made by, its root last, in topological order."""
        return self.upstream(self.applications[application].root)

    def upstream(self, root: int) -> tuple[int, ...]:
        """The boxes whose tuples end up in ``root``, itself included, in topological order."""
        return () if root == NO_BOX else _reached(root, self.predecessors)

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """A root of every superbox there can be: the makers of outputs, and the ends of what leads to no output.

        Every box is in the tree of at least one.
        """
        made = dict.fromkeys(a.root for a in self.applications if a.root != NO_BOX)
        ends = (b for b, after in enumerate(self.successors) if not after and not self._reaches[b])
        return (*made, *ends)

    def root_name(self, root: int) -> str:
        """What a root is known by: the output it makes, or its own name where it makes none."""
        return self._root_names.get(root, self.boxes[root])

    @cached_property
    def _root_names(self) -> dict[int, str]:
        return {application.root: application.name for application in reversed(self.applications)}

    @cached_property
    def _downstream(self) -> dict[int, tuple[int, ...]]:
        """Filled as it is asked for: of all boxes it would be long where the network is."""
        return {}

    @cached_property
    def _reaches(self) -> tuple[tuple[int, ...], ...]:
        found: list[list[int]] = [[] for _ in self.boxes]
        for place in range(len(self.applications)):
            for box in self.tree(place):
                found[box].append(place)
        return tuple(map(tuple, found))


def _reached(start: int, edges: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    seen = {start}
    front = [start]
    while front:
        for box in edges[front.pop()]:
            if box not in seen:
                seen.add(box)
                front.append(box)
    return tuple(sorted(seen))


@dataclass
class Snapshot:
    """Arrays by box number, which the engine owns and keeps up to date; policies only read them.

    ``ready`` counts the tuples that a box could take now, ``arrival_us`` is the mean arrival time of these and means
    nothing where there is none. ``cost_s`` is per tuple and without ``overhead_s``, what a call with no tuples costs.
    ``selectivity`` is tuples out per tuple in, ``tuple_bytes`` the size of input tuples, ``resident`` the share of the
    box's queue that is in memory. A box is ``running`` from the time it is put on the execution queue. ``call_s`` is
    what a call of any box costs outside the box: queues, delivery and bookkeeping.
    """

    now_us: int
    ready: Ints
    arrival_us: Floats
    cost_s: Floats
    overhead_s: Floats
    selectivity: Floats
    tuple_bytes: Floats
    resident: Floats
    running: Bools
    call_s: float = 0.0

    @classmethod
    def empty(cls, boxes: int, *, cost_s: float = 1e-6, overhead_s: float = 1e-5) -> Snapshot:
        """Nothing waits, everything is in memory, and costs are guesses until there are measurements."""
        return cls(
            now_us=0,
            ready=np.zeros(boxes, np.int64),
            arrival_us=np.zeros(boxes),
            cost_s=np.full(boxes, cost_s),
            overhead_s=np.full(boxes, overhead_s),
            selectivity=np.ones(boxes),
            tuple_bytes=np.full(boxes, 100.0),
            resident=np.ones(boxes),
            running=np.zeros(boxes, np.bool_),
        )

    def copy(self, now_us: int) -> Snapshot:
        """The same as of a later time, in arrays that nobody changes any more."""
        arrays: dict[str, Any] = {
            name: value.copy() for name, value in vars(self).items() if isinstance(value, np.ndarray)
        }
        return replace(self, now_us=now_us, **arrays)

    def free(self) -> Bools:
        """The boxes that have something to do and are not doing it yet."""
        waiting: Bools = self.ready > 0
        waiting &= ~self.running
        return waiting
