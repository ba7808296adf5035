"""What a worker is asked to do in one step, and what it answers: descriptors only, never tuples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import polars as pl

from aurora.boxes.python import Registered
from aurora.boxes.thinned import Rule
from aurora.expressions.registry import UserAggregate, UserFunction
from aurora.model.network import Network
from aurora.model.schema import Schema
from aurora.model.train import CLOCK, Progress
from aurora.model.typed import Producer
from aurora.processors.plan import BoxCost, Readable
from aurora.processors.poison import RejectedTuple
from aurora.processors.sieve import Sieve, Tally
from aurora.scheduler.segments import Keys, Split
from aurora.storage.blocks import Block, read_block


@dataclass(frozen=True)
class Program:
    """What every worker must know: the network, the operator's code, static data, and where state is kept.

    ``run`` tells the states of this run from those that an earlier one may still be writing. ``apart`` says how the
    network is cut into segments.
    """

    run: str
    network: Network
    parts: int
    states: str
    statics: Mapping[str, pl.DataFrame]
    functions: Mapping[str, UserFunction]
    aggregates: Mapping[str, UserAggregate]
    classes: Mapping[str, Registered]
    spark_outputs: Mapping[str, Schema]
    apart: bool = False


@dataclass(frozen=True)
class FromFile:
    """Columns of rows that the worker reads from a file.

    ``numbering`` has the rows' numbers and clocks, from row ``offset`` on.
    """

    file: Readable
    columns: tuple[str, ...]
    start: int
    stop: int
    first: int
    clock: int
    bare: bool
    numbering: Block | None = None
    offset: int = 0


@dataclass(frozen=True)
class FromBlocks:
    """Blocks read as they are, or some rows of the only one. ``ranked`` blocks were made by parts."""

    blocks: tuple[Block, ...]
    ranked: bool = False
    rows: tuple[int, int] | None = None
    arrival_us: int | None = None


@dataclass(frozen=True)
class FromSplit:
    """One part of an arc: its blocks, each with the place of its first row, and what is known of all rows."""

    own: tuple[tuple[Block, int], ...]
    whole: tuple[Block, ...]
    first: int


@dataclass(frozen=True)
class FromShare:
    """One part of an arc that nobody has split: the worker takes all of it and picks the rows of its keys."""

    source: FromFile | FromBlocks
    split: Split
    part: int
    parts: int
    first: int


Cargo: TypeAlias = FromFile | FromBlocks | FromSplit | FromShare


@dataclass(frozen=True)
class Word:
    """A progress on its way to a worker. ``clocks`` is a block, or the one clock that all tuples had."""

    seq: int
    clock: int
    first: int
    clocks: Block | int
    count: int
    end: bool

    def open(self) -> Progress:
        if isinstance(self.clocks, Block):
            clocks = read_block(self.clocks).get_column(CLOCK).to_numpy()
        else:
            clocks = np.full(self.count, self.clocks)
        return Progress(self.seq, self.clock, self.first, clocks, self.end)


@dataclass(frozen=True)
class Task:
    """One part of one segment in one step. Doing it twice does no harm: it writes the same under the same names.

    ``splits`` False: those who read what is split take it themselves. ``sieves`` and ``rules`` say what is dropped.
    ``shown`` are arcs of the segment that somebody looks at; they are written too, and no other task reads them.
    """

    segment: int
    part: int
    step: int
    trains: Mapping[Producer, Cargo]
    progress: Word
    state: str | None
    folders: tuple[str, ...]
    splits: bool = True
    sieves: tuple[Sieve, ...] = ()
    rules: Mapping[str, Rule] = field(default_factory=dict)
    shown: tuple[Producer, ...] = ()


@dataclass(frozen=True)
class SplitBlocks:
    """An arc's train split: a block per part, what is known of all rows, and how many these are."""

    parts: tuple[Block, ...]
    whole: Block
    rows: int


@dataclass(frozen=True)
class Failure:
    """Why a task could not be done; ``kind`` is the name of the error's class."""

    kind: str
    message: str
    trace: str


@dataclass
class Outcome:
    """What a task did. ``state`` names the state that it stored, if its boxes have any."""

    segment: int
    part: int
    costs: dict[str, BoxCost] = field(default_factory=dict)
    written: dict[Producer, FromBlocks] = field(default_factory=dict)
    splits: dict[tuple[Producer, Keys], SplitBlocks] = field(default_factory=dict)
    state: str | None = None
    rejected: list[RejectedTuple] = field(default_factory=list)
    shed: Tally = field(default_factory=Tally)
    sieve_s: float = 0.0
    failure: Failure | None = None
    seconds: float = 0.0

    def blocks(self) -> list[Block]:
        """Everything that the task has written."""
        found = [block for cargo in self.written.values() for block in cargo.blocks]
        for made in self.splits.values():
            found += [*made.parts, made.whole]
        return found
