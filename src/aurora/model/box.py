"""The base of every box's declaration, and the list of the kinds of box there are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Protocol, TypeVar

import polars as pl
import pyarrow as pa
from pydantic import Field

from aurora.errors import Report
from aurora.model.element import Element, InputNames
from aurora.model.forms import Holds
from aurora.model.schema import ArcType
from aurora.model.train import Emission, Progress, Train

OUT = "out"
LATE = "late"


class Kernel(Protocol):
    """What runs. A kernel is given trains in arc order and told how far the engine has come.

    A kernel may hold tuples back in ``process`` and emit them in ``advance``: only after ``advance`` does it know
    that every port has been given everything up to a number, and how the clock moved in between. What comes out
    must not depend on how the stream was cut into trains.
    """

    def rank(self) -> None:
        """Called first where the kernel gets one part of streams that are split: its tuples must have ranks."""

    def process(self, port: int, train: Train) -> Emission: ...

    def advance(self, progress: Progress) -> Emission: ...

    def snapshot(self) -> pa.Table: ...

    def restore(self, state: pa.Table) -> None: ...


@dataclass(frozen=True)
class Partitioning:
    """How a box's input may be split over workers.

    ``columns`` None: anywhere, tuples do not meet. Some columns for each input: tuples that agree on them must stay
    together. None for any input: all tuples must stay together. ``progress`` names, for each input, the column whose
    progress over the whole stream every worker must see, if there is one.
    """

    columns: tuple[tuple[str, ...], ...] | None
    progress: tuple[str | None, ...] = (None,)

    @classmethod
    def by(cls, columns: Sequence[str], progress: str | None = None) -> Partitioning:
        """A box with one input."""
        return cls((tuple(columns),), (progress,))

    @property
    def keyed(self) -> bool:
        return self.columns is not None and bool(self.columns) and all(self.columns)


ANYWHERE = Partitioning(None)
TOGETHER = Partitioning(((),))


@dataclass(frozen=True)
class Port:
    """One output port of a kind, or several, as its parameters have it.

    ``name`` is there always, or ``when`` a parameter is given or true. ``each`` names a mapping whose keys are ports,
    ``named_by`` a parameter that names a port, ``of`` one that names registered code, which has ports of its own.
    """

    name: str = ""
    when: str = ""
    each: str = ""
    named_by: str = ""
    of: str = ""

    def names(self, box: Box) -> tuple[str, ...]:
        if self.of:
            return box.registered().get(getattr(box, self.of), (OUT,))
        if self.each:
            return tuple(getattr(box, self.each))
        if self.named_by:
            named = getattr(box, self.named_by)
            return () if named is None else (named,)
        return (self.name,) if not self.when or getattr(box, self.when) not in (None, False) else ()


class Box(Element):
    """A box as its author declares it: drawable, storable, and able to derive what comes out of it.

    Subclasses set ``kind`` and ``arity`` (the least and the greatest number of inputs; None for no limit).
    """

    kind: ClassVar[str]
    arity: ClassVar[tuple[int, int | None]] = (1, 1)
    takes_static: ClassVar[bool] = False
    tuplewise: ClassVar[bool] = False
    """Whether every tuple that comes out is one that came in, with all that it carries."""
    in_step: ClassVar[bool] = True
    """Whether its inputs must have come to the same number before it is run on their tuples."""
    in_driver: ClassVar[bool] = False
    """Whether the box runs beside the engine, however the others are spread."""

    ports: ClassVar[tuple[Port, ...]] = (Port(OUT),)
    """The output ports that the kind has, by its parameters."""

    inputs: Annotated[InputNames, Holds("arcs")] = Field(alias="in")

    def output_ports(self) -> tuple[str, ...]:
        """The names of the ports; the first is the one that a bare box name means."""
        return tuple(name for port in self.ports for name in port.names(self))

    @classmethod
    def registered(cls) -> Mapping[str, tuple[str, ...]]:
        """The operator's code that boxes of the kind may name, with its ports; empty for kinds that run none."""
        return {}

    @abstractmethod
    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        """What each output port carries. Everything wrong goes to ``report``, under the parameter's path.

        A port whose schema cannot be known because of a problem is left out.
        """

    def asks_hidden(self) -> bool:
        """Whether the box reads the number, the clock or the arrival time of its tuples."""
        return True

    def runs_user_code(self) -> bool:
        """Whether the operator's code runs on tuples, which may fail on some of them."""
        return False

    def keeps_time(self) -> bool:
        """Whether something may come out because time passes, without a tuple."""
        return False

    def partitioning(self, inputs: Sequence[ArcType]) -> Partitioning:
        """How the input may be split; called for valid boxes only."""
        return ANYWHERE

    @abstractmethod
    def kernel(self, inputs: Sequence[ArcType], statics: Mapping[int, pl.DataFrame]) -> Kernel:
        """A fresh kernel; called for valid boxes only. ``statics`` holds the data of static input ports."""


KINDS: dict[str, type[Box]] = {}
"""Every kind of box by name; the modules of ``aurora.boxes`` fill it when they are imported."""

B = TypeVar("B", bound=type[Box])


def box_kind(declaration: B) -> B:
    """Class decorator that puts a declaration on the list of kinds."""
    KINDS[declaration.kind] = declaration
    return declaration
