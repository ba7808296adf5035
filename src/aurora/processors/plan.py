"""The one seam between deciding and doing: a plan of superbox executions goes in, trains and costs come out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import polars as pl

from aurora.boxes.thinned import Rule
from aurora.model.train import Ints, Progress, Train
from aurora.model.typed import Producer, TypedNetwork
from aurora.processors.poison import RejectedTuple
from aurora.processors.sieve import Shed, Sieve


class Readable(Protocol):
    """A file that any worker can read rows of; it can be pickled."""

    def read(self, start: int, stop: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """The rows from ``start`` up to before ``stop``, or some columns of them."""

    def pieces(self, start: int, stop: int, rows: int) -> Iterable[tuple[int, int]]:
        """These rows in pieces of about so many, cut where it suits the reading."""


@dataclass(frozen=True)
class FileRows:
    """Rows of a file, which whoever runs the boxes reads, and what they carry as tuples.

    ``numbers`` are the tuples' numbers, None where they count on from ``first``. ``clocks`` is the clock at each, or
    at all of them. A ``bare`` train goes without these.
    """

    file: Readable
    start: int
    stop: int
    first: int
    clocks: Ints | int
    numbers: Ints | None = None
    bare: bool = False

    def __len__(self) -> int:
        return self.stop - self.start

    def open(self, columns: Sequence[str] | None = None) -> Train:
        """The train that the rows are, with some columns or all."""
        frame = self.file.read(self.start, self.stop, columns)
        if self.bare:
            return Train(frame, self.clocks if isinstance(self.clocks, int) else int(self.clocks[-1]))
        clocks = self.clocks_of_all()
        return Train.of(frame, self.orders(), clocks, clocks)

    def orders(self) -> Ints:
        """The hidden column ``__order`` of the tuples."""
        if self.numbers is None:
            return np.arange(2 * self.first + 1, 2 * (self.first + len(self)) + 1, 2)
        return 2 * self.numbers + 1

    def clocks_of_all(self) -> Ints:
        return np.full(len(self), self.clocks) if isinstance(self.clocks, int) else self.clocks


Trains = Mapping[Producer, Train]


@dataclass(frozen=True)
class Execution:
    """Boxes to run one after another as one, in topological order, and what to give them.

    ``sieves`` and ``rules``, by box, say what is to be dropped on the way. With ``sifted`` the trains have been through
    the sieves on their arcs before; those before single readers are still to come. What is put on the arcs in ``shown``
    comes back whatever the processor.
    """

    boxes: tuple[str, ...]
    trains: Mapping[Producer, Train | FileRows]
    progress: Progress
    sieves: tuple[Sieve, ...] = ()
    rules: Mapping[str, Rule] = field(default_factory=dict)
    sifted: bool = False
    shown: Collection[Producer] = ()


@dataclass
class BoxCost:
    """What a box did and what it cost.

    Tuples that were ``shed`` by its rule are not among those it took. ``error`` is the sum of the relative standard
    errors of the ``estimated`` windows.
    """

    tuples_in: int = 0
    tuples_out: int = 0
    calls: int = 0
    cost_s: float = 0.0
    late: int = 0
    rejected: int = 0
    nulled: int = 0
    shed: int = 0
    estimated: int = 0
    error: float = 0.0

    def add(self, other: BoxCost) -> None:
        self.tuples_in += other.tuples_in
        self.tuples_out += other.tuples_out
        self.calls += other.calls
        self.cost_s += other.cost_s
        self.late += other.late
        self.rejected += other.rejected
        self.nulled += other.nulled
        self.shed += other.shed
        self.estimated += other.estimated
        self.error += other.error


@dataclass(frozen=True)
class Result:
    """The trains that came out by arc, at least those of outputs and of arcs to be shown; what boxes did and rejected.

    ``shed`` counts what was dropped, by place and reason; ``sieve_s`` is how long sieves took.
    """

    trains: Trains
    costs: Mapping[str, BoxCost]
    rejected: Sequence[RejectedTuple] = ()
    shed: Shed = field(default_factory=dict)
    sieve_s: float = 0.0


class Processor(Protocol):
    """Where kernels run. ``kind`` is its name for people."""

    kind: str

    def run(self, plan: Sequence[Execution]) -> list[Result]: ...

    def checkpoint(self) -> dict[str, Any]:
        """Makes sure that the state of all boxes is stored, and says where; plain values that a journal can keep."""

    def resume(self, checkpoint: Mapping[str, Any]) -> None:
        """Takes over the state of a checkpoint; raises StateError if it is not intact."""

    def forget(self, kept: Sequence[Mapping[str, Any]]) -> None:
        """Lets go of stored state that neither the present nor these checkpoints need."""

    def close(self) -> None: ...


@runtime_checkable
class Modifiable(Processor, Protocol):
    """A processor whose network can be changed while it runs."""

    def modified(self, typed: TypedNetwork, statics: Mapping[str, pl.DataFrame], kept: Mapping[str, str]) -> Modifiable:
        """One of the kind for another network, whose boxes in ``kept`` (by new names the old ones) go on with their
        state. It is ready when it has taken over; until then this one runs. StateError if that cannot be."""

    def take_over(self, old: Any, kept: Mapping[str, str]) -> None:
        """Goes on from the processor that made this one, which runs no more. If it fails that one goes on."""
