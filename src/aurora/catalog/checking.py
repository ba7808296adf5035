"""The one way in: a document's text becomes a typed network, or the list of what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass

import aurora.boxes  # noqa: F401  (puts the kinds of box on their list)
from aurora.errors import Problem
from aurora.model.check import TypedNetwork, review
from aurora.model.document.reading import read_text
from aurora.model.network import Network
from aurora.model.typed import Arcs


@dataclass(frozen=True)
class Checked:
    """``typed`` is there if none of the problems is an error; ``arcs`` are all whose type is known in spite of them."""

    text: str
    problems: tuple[Problem, ...]
    arcs: Arcs
    typed: TypedNetwork | None

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity == "error")


def checked(text: str) -> Checked:
    reviewed = review(read_text(text, format="yaml"))
    return Checked(text, reviewed.problems, reviewed.arcs, reviewed.typed)


def carried_columns(typed: TypedNetwork) -> list[tuple[str, str, str, str, int, str, str]]:
    """What every element carries, port by port: rows of the table of that name."""
    network: Network = typed.network
    arcs = [("streams", name, "out", name) for name in network.streams]
    arcs += [
        ("boxes", name, port, f"{name}.{port}") for name, box in network.boxes.items() for port in box.output_ports()
    ]
    arcs += [("outputs", name, "in", output.source) for name, output in network.outputs.items()]
    arcs += [("connection_points", name, "out", point.on or name) for name, point in network.connection_points.items()]
    return [
        (network.name, section, element, port, n, column, str(kind))
        for section, element, port, arc in arcs
        for n, (column, kind) in enumerate(typed.arcs[arc].schema.items())
    ]
