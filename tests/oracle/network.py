"""A whole network, one event at a time.

An event is a tuple that enters, a time at which timeouts are due, or the end. Boxes are visited in topological
order, so within one event every box has all its input before it is asked for its output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from oracle.boxes import (
    Aggregate,
    Arc,
    Box,
    BSort,
    Drop,
    Filter,
    GroupBy,
    Latch,
    Map,
    Slide,
    Tumble,
    Union,
    names,
)
from oracle.pairs import Join, Resample
from oracle.values import Moment, Row, Tuple, to_axis

KINDS: dict[str, type[Box]] = {
    "filter": Filter,
    "map": Map,
    "union": Union,
    "bsort": BSort,
    "aggregate": Aggregate,
    "tumble": Tumble,
    "slide": Slide,
    "latch": Latch,
    "group_by": GroupBy,
    "join": Join,
    "resample": Resample,
    "drop": Drop,
}


@dataclass
class Answer:
    """What came out, and how many tuples each box found late."""

    outputs: dict[str, list[Row]] = field(default_factory=dict)
    late: dict[str, int] = field(default_factory=dict)


class Simulation:
    def __init__(self, document: Mapping[str, Any]) -> None:
        self.arcs: dict[str, Arc] = {
            name: Arc({c: str(t) for c, t in stream["schema"].items()}) for name, stream in document["streams"].items()
        }
        self.boxes: dict[str, Box] = {}
        self.sources: dict[str, list[str]] = {}
        waiting = dict(document.get("boxes", {}))
        while waiting:
            name = next(n for n, box in waiting.items() if all(arc in self.arcs for arc in names(box["in"])))
            self.add(name, waiting.pop(name))
        self.outputs = {name: output["from"] for name, output in document["outputs"].items()}
        self.answer = Answer({name: [] for name in self.outputs})

    def add(self, name: str, declaration: Mapping[str, Any]) -> None:
        self.sources[name] = names(declaration["in"])
        box = KINDS[declaration["kind"]](name, dict(declaration), [self.arcs[arc] for arc in self.sources[name]])
        self.boxes[name] = box
        for number, (port, arc) in enumerate(box.ports.items()):
            self.arcs[f"{name}.{port}"] = arc
            if number == 0:
                self.arcs[name] = arc

    def event(self, moment: Moment, entering: Mapping[str, list[Tuple]], *, end: bool = False) -> None:
        on: dict[str, list[Tuple]] = dict(entering)
        for name, box in self.boxes.items():
            if not entering and not end:
                box.fire(moment)
            for port, arc in enumerate(self.sources[name]):
                for tup in on.get(arc, []):
                    box.take(port, tup, moment)
            if end:
                box.flush(moment)
            for port_name, tuples in box.drain().items():
                on[f"{name}.{port_name}"] = tuples
                if port_name == next(iter(box.ports)):
                    on[name] = tuples
        for output, arc in self.outputs.items():
            self.answer.outputs[output] += [tup.row for tup in on.get(arc, [])]

    def run(self, merged: Sequence[tuple[str, Row, int]], *, flush: bool) -> Answer:
        """``merged`` holds stream, row and clock value of every tuple, in the order in which they enter."""
        clock: int | None = None
        for number, (stream, row, value) in enumerate(merged):
            clock = value if clock is None else max(clock, value)
            self.time_out(number, clock)
            moment = Moment(2 * number + 1, clock)
            self.event(moment, {stream: [Tuple(row, clock, moment.order)]})
        if flush:
            self.event(Moment(2 * len(merged), 0 if clock is None else clock), {}, end=True)
        self.answer.late = {name: box.late for name, box in self.boxes.items()}
        return self.answer

    def time_out(self, number: int, clock: int) -> None:
        """Time passes on the way to tuple ``number``; what times out may open windows that time out as well."""
        while (due := min((box.due() for box in self.boxes.values()), default=float("inf"))) <= clock:
            self.event(Moment(2 * number, int(due)), {})


def merge(inputs: Mapping[str, Sequence[Row]], clock: str) -> list[tuple[str, Row, int]]:
    """Always the stream whose next row has the smallest clock value; of equals the one named first."""
    left = {stream: list(rows) for stream, rows in inputs.items()}
    merged = []
    while any(left.values()):
        stream = min((s for s, rows in left.items() if rows), key=lambda s: to_axis(left[s][0][clock]))
        row = left[stream].pop(0)
        merged.append((stream, row, to_axis(row[clock])))
    return merged
