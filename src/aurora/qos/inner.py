"""QoS of inner arcs, derived from the outputs that they feed.

Nobody draws graphs for inner arcs; they follow from those of the outputs. A tuple that is t seconds old on an arc, and
still has d seconds of work before it at an output, will be t + d old there: the arc's latency graph is the output's,
shifted by d. Where an arc feeds several outputs, its utility is the sum of theirs, and may exceed 1. What is dropped
from an arc is missing at the output in the same proportion, so a loss graph holds on inner arcs as it is.
A value graph is about a column, and holds as far up as the boxes hand the tuples on unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aurora.model.qos import Graph, ValueGraph
from aurora.model.typed import Producer, TypedNetwork
from aurora.qos.curve import Floats

HANDING_ON = frozenset({"filter", "union", "bsort", "drop", "group_by"})
"""The kinds of box that hand tuples on with their columns as they were."""


@dataclass(frozen=True)
class InnerQoS:
    """``delay_s`` is the work that is still before a tuple, by output. ``value`` is by output as well."""

    latency: Graph | None
    loss: Graph | None
    value: Mapping[str, ValueGraph]
    delay_s: Mapping[str, float]


def shifted(graph: Graph, delay_s: float) -> Graph:
    """The graph at a place from where it takes ``delay_s`` to where the graph holds.

    >>> shifted(Graph(((0.0, 1.0), (2.0, 1.0), (4.0, 0.0))), 3.0).points
    ((0.0, 0.5), (1.0, 0.0))
    """
    if delay_s <= 0:
        return graph
    later = tuple((x - delay_s, utility) for x, utility in graph.points if x > delay_s)
    return Graph(((0.0, graph.utility(delay_s)), *later))


def summed(graphs: Sequence[Graph]) -> Graph | None:
    """The sum of graphs, with a point wherever one of them has one; None of none.

    >>> summed([Graph(((0.0, 1.0), (2.0, 0.0))), Graph(((1.0, 1.0), (2.0, 0.0)))]).points
    ((0.0, 2.0), (1.0, 1.5), (2.0, 0.0))
    """
    if len(graphs) <= 1:
        return graphs[0] if graphs else None
    places = sorted({x for graph in graphs for x, _ in graph.points})
    return Graph(tuple((x, sum(graph.utility(x) for graph in graphs)) for x in places))


class Flow:
    """Where the tuples of an arc go, and what becomes of them on the way."""

    def __init__(self, typed: TypedNetwork) -> None:
        self._typed = typed
        self._number = {name: number for number, name in enumerate(typed.order)}
        self._after: dict[Producer, dict[str, tuple[int, ...]]] = {}

    def boxes(self, arc: Producer) -> dict[str, tuple[int, ...]]:
        """The boxes between an arc and each output it feeds, in topological order."""
        if arc not in self._after:
            self._after[arc] = self._find(arc)
        return self._after[arc]

    def _find(self, arc: Producer) -> dict[str, tuple[int, ...]]:
        found: dict[str, set[int]] = {output: set() for output in self._typed.delivered_to(arc)}
        for box, _ in self._typed.consumers(arc):
            for port in self._typed.network.boxes[box].output_ports():
                for output, boxes in self.boxes(Producer(box, port)).items():
                    found.setdefault(output, set()).update((self._number[box], *boxes))
        return {output: tuple(sorted(boxes)) for output, boxes in found.items()}

    def shares(self, arc: Producer, selectivity: Floats, port_share: Callable[[Producer], float]) -> dict[str, float]:
        """How many tuples of each output one tuple of the arc becomes.

        ``selectivity`` is by box number, and ``port_share`` says which part of a box's tuples goes to a port.
        """
        reached: dict[str, float] = {}
        flows = {arc: 1.0}
        between = sorted({box for boxes in self.boxes(arc).values() for box in boxes})
        for number in between:
            name = self._typed.order[number]
            flow = sum(flows.get(producer, 0.0) for producer in self._typed.inputs[name]) * float(selectivity[number])
            for port in self._typed.network.boxes[name].output_ports():
                producer = Producer(name, port)
                flows[producer] = flow * port_share(producer)
        for producer, flow in flows.items():
            for output in self._typed.delivered_to(producer):
                reached[output] = reached.get(output, 0.0) + flow
        return reached

    def qos(self, arc: Producer, cost_s: Floats) -> InnerQoS:
        """The arc's graphs. ``cost_s`` is what each box adds to the age of a tuple, by box number."""
        declared = self._typed.network.outputs
        delays = {output: float(sum(cost_s[box] for box in boxes)) for output, boxes in self.boxes(arc).items()}
        specified = {output: qos for output in delays if (qos := declared[output].qos) is not None}
        return InnerQoS(
            latency=summed(
                [shifted(qos.latency, delays[o]) for o, qos in specified.items() if qos.latency is not None]
            ),
            loss=summed([qos.loss for qos in specified.values() if qos.loss is not None]),
            value={o: qos.value for o, qos in specified.items() if qos.value is not None and self._unchanged(arc, o)},
            delay_s=delays,
        )

    def _unchanged(self, arc: Producer, output: str) -> bool:
        """Whether the output's tuples are tuples of the arc, with all their columns."""
        kinds = (self._typed.network.boxes[self._typed.order[box]].kind for box in self.boxes(arc)[output])
        return all(kind in HANDING_ON for kind in kinds)
