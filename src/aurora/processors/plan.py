"""The one seam between deciding and doing: a plan of superbox executions goes in, trains and costs come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from aurora.model.train import Progress, Train
from aurora.model.typed import Producer

Trains = Mapping[Producer, Train]


@dataclass(frozen=True)
class Execution:
    """Boxes to run one after another as one, in topological order, and what to give them."""

    boxes: tuple[str, ...]
    trains: Trains
    progress: Progress


@dataclass
class BoxCost:
    """What a box did and what it cost."""

    tuples_in: int = 0
    tuples_out: int = 0
    calls: int = 0
    cost_s: float = 0.0
    late: int = 0
    rejected: int = 0
    nulled: int = 0

    def add(self, other: BoxCost) -> None:
        self.tuples_in += other.tuples_in
        self.tuples_out += other.tuples_out
        self.calls += other.calls
        self.cost_s += other.cost_s
        self.late += other.late
        self.rejected += other.rejected
        self.nulled += other.nulled


@dataclass(frozen=True)
class Result:
    """The trains that the executed boxes produced, by arc, and what each box did in this execution."""

    trains: Trains
    costs: Mapping[str, BoxCost]


class Processor(Protocol):
    def run(self, plan: Sequence[Execution]) -> list[Result]: ...
