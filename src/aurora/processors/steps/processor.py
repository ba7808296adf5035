"""The step processor: a plan becomes levels of tasks, which a runner places on workers."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any, Protocol

import numpy as np
import polars as pl

import aurora.errors
from aurora.boxes import python, spark
from aurora.errors import AuroraError, StateError
from aurora.expressions import registry
from aurora.model.schema import Schema
from aurora.model.train import CLOCK, ORDER, Progress, Train, frame_of
from aurora.model.typed import Producer, TypedNetwork
from aurora.processors.plan import BoxCost, Execution, FileRows, Result
from aurora.processors.poison import RejectedTuple
from aurora.processors.sieve import Sieving, Tally
from aurora.processors.steps.carrying import Carrying
from aurora.processors.steps.moving import check_movable, moved_states
from aurora.processors.steps.packing import packed
from aurora.processors.steps.task import (
    Cargo,
    FromBlocks,
    FromFile,
    FromShare,
    FromSplit,
    Outcome,
    Program,
    SplitBlocks,
    Task,
    Word,
)
from aurora.processors.steps.worker import Worker, opened
from aurora.scheduler.segments import Segment, Split
from aurora.storage.blocks import Block, BlockStore, write_block
from aurora.storage.folder import open_folder
from aurora.storage.states import StateStore, state_name

MOST_READERS = 4
"""Up to so many parts each reads a whole stream and picks its keys; with more, the stream is split first."""


class Runner(Protocol):
    """Places bundles of tasks on workers. ``slots`` is how many run at once."""

    kind: str
    slots: int

    def prepare(self, program: Program) -> None: ...

    def run(self, bundles: Sequence[Sequence[Task]], label: str) -> list[Outcome]: ...

    def close(self) -> None: ...


class InlineRunner:
    """Runs tasks one after the other in this process: how a network is spread can be tried without a cluster."""

    kind = "inline"

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._workers: list[Worker] = []

    def prepare(self, program: Program) -> None:
        self._workers = [Worker(program) for _ in range(self.slots)]

    def run(self, bundles: Sequence[Sequence[Task]], label: str) -> list[Outcome]:
        # Bundles go to another worker each time, so that no worker can rely on what it did before.
        self._workers.append(self._workers.pop(0))
        return [worker.run(task) for worker, bundle in zip(self._workers, bundles, strict=False) for task in bundle]

    def close(self) -> None:
        self._workers.clear()


class StepProcessor:
    """Runs a network's segments level by level; ``parts`` is how many parts keyed segments have.

    Up to ``most_readers`` parts read whole streams themselves.

    Tuples go through ``blocks``; ``states`` is the address of the folder where state is stored after every step.
    """

    def __init__(
        self,
        typed: TypedNetwork,
        runner: Runner,
        blocks: BlockStore,
        states: str,
        *,
        statics: Mapping[str, pl.DataFrame] | None = None,
        parts: int | None = None,
        most_readers: int = MOST_READERS,
        durable: bool = False,
        prepare: bool = True,
    ) -> None:
        self.kind = runner.kind
        self._most_readers = most_readers
        self._sieving = Sieving(typed)
        self._runner = runner
        self._states = StateStore(open_folder(states), durable=False)
        self._durable = durable
        self._secured: set[str] = set()
        parts = runner.slots if parts is None else parts
        self._carrying = Carrying(typed, parts, statics or {})
        typed = self._carrying.lean
        timed = frozenset(name for name in typed.order if typed.network.boxes[name].keeps_time())
        self._layout = _Layout(typed, self._carrying.segments, parts, parts <= most_readers, timed, blocks)
        self._program = Program(
            uuid.uuid4().hex[:12],
            typed.network,
            parts,
            states,
            statics or {},
            dict(registry.FUNCTIONS),
            dict(registry.AGGREGATES),
            dict(python.REGISTERED),
            {name: registered.output for name, registered in spark.REGISTERED.items()},
        )
        if prepare:
            runner.prepare(self._program)
        self._own = Worker(self._program)
        self.carried: frozenset[Producer] = frozenset()
        """Arcs of boxes that should have all their columns, because somebody looks at them."""
        self._carries: frozenset[Producer] = frozenset()
        self._step = 0
        self._latest: dict[tuple[int, int], str] = {}
        self._rows: dict[Producer, int] = {}
        self._predicted: dict[tuple[int, int], float] = {}

    def run(self, plan: Sequence[Execution]) -> list[Result]:
        return [self._execute(execution) for execution in plan]

    def carried_columns(self, arc: Producer) -> Schema:
        """The columns that an arc has here from now on; nothing may run meanwhile."""
        self._carry()
        return self._layout.typed.arcs[arc].schema

    def _carry(self) -> None:
        """Has workers carry what is looked at, and no more than that."""
        if self.carried == self._carries:
            return
        self._carries = self.carried
        typed = self._carrying.for_arcs(self._carries)
        if typed.network.streams != self._layout.typed.network.streams:
            self._layout = replace(self._layout, typed=typed)
            self._program = replace(self._program, run=uuid.uuid4().hex[:12], network=typed.network)
            self._runner.prepare(self._program)
            self._own = Worker(self._program)

    def _execute(self, execution: Execution) -> Result:
        self._carry()
        self._step += 1
        tally = Tally()
        self._sieving = self._sieving.renewed(execution.sieves)
        if execution.sieves:
            execution = replace(execution, trains=self._sifted(execution, tally))
        costs = {box: BoxCost() for box in execution.boxes}
        rejected: list[RejectedTuple] = []
        step = _Step(self._layout, self._step, self._latest, self._rows, execution, self._sieving)
        try:
            for level, found in groupby(enumerate(self._layout.segments), key=lambda entry: entry[1].level):
                tasks, own = step.tasks(list(found))
                outcomes = [self._own.run(task) for task in own]
                if tasks:
                    label = f"step {self._step}, level {level}: " + ", ".join(self._names(tasks))
                    bundles = packed(tasks, self._runner.slots, lambda t: self._predicted.get((t.segment, t.part), 0.0))
                    outcomes += self._runner.run(bundles, label)
                self._take(outcomes, step, costs, rejected)
                for outcome in outcomes:
                    tally.add(outcome.shed, outcome.sieve_s)
            wanted = {*self._layout.typed.outputs.values(), *execution.shown}
            trains = {producer: train for producer in wanted if (train := step.train(producer))}
        finally:
            self._layout.blocks.release(step.blocks)
        return Result(trains, costs, sorted(rejected, key=lambda tuple: tuple.number), tally, tally.seconds)

    def _sifted(self, execution: Execution, tally: Tally) -> dict[Producer, Train | FileRows]:
        """The trains of streams behind the sieves on their arcs: what is dropped here no worker is bothered with."""
        trains: dict[Producer, Train | FileRows] = {}
        for arc, train in execution.trains.items():
            if self._sieving.has(arc) and not execution.sifted:
                left = self._sieving.on(arc, train.open() if isinstance(train, FileRows) else train, tally)
                if len(left):
                    trains[arc] = left
            else:
                trains[arc] = train
        return trains

    def _names(self, tasks: Iterable[Task]) -> list[str]:
        return list(dict.fromkeys(self._layout.segments[task.segment].name for task in tasks))

    def _take(
        self, outcomes: Sequence[Outcome], step: _Step, costs: dict[str, BoxCost], rejected: list[RejectedTuple]
    ) -> None:
        # Slices stand in the order of the stream, whichever was done first.
        outcomes = sorted(outcomes, key=lambda outcome: (outcome.segment, outcome.part))
        for outcome in outcomes:
            step.note(outcome)
        for outcome in outcomes:
            if outcome.failure is not None:
                kind = getattr(aurora.errors, outcome.failure.kind, AuroraError)
                if outcome.failure.kind not in vars(aurora.errors):
                    where = self._layout.segments[outcome.segment].name
                    raise AuroraError(f"in {where}: {outcome.failure.message}\n{outcome.failure.trace}")
                raise kind(outcome.failure.message)
            rejected += outcome.rejected
            for box, cost in outcome.costs.items():
                costs[box].add(cost)
            if outcome.state is not None:
                self._latest[outcome.segment, outcome.part] = outcome.state
            self._predicted[outcome.segment, outcome.part] = outcome.seconds

    def checkpoint(self) -> dict[str, Any]:
        if self._durable:
            # Tasks do not wait for the disk; only what a commit names must be there for good.
            self._states.secure(set(self._latest.values()) - self._secured)
            self._secured = set(self._latest.values())
        return {
            "parts": self._layout.parts,
            "step": self._step,
            "states": {f"{segment}/{part}": name for (segment, part), name in self._latest.items()},
            "rows": {f"{producer.name}/{producer.port}": rows for producer, rows in self._rows.items()},
        }

    def resume(self, checkpoint: Mapping[str, Any]) -> None:
        if checkpoint["parts"] != self._layout.parts:
            raise StateError(f"the state is of {checkpoint['parts']} parts, but the run has {self._layout.parts}")
        for name in checkpoint["states"].values():
            self._states.read(name)
        self._step = checkpoint["step"]
        self._latest = {
            (int(segment), int(part)): name
            for key, name in checkpoint["states"].items()
            for segment, part in [key.split("/")]
        }
        self._rows = {Producer(*key.split("/")): rows for key, rows in checkpoint["rows"].items()}

    def modified(
        self, typed: TypedNetwork, statics: Mapping[str, pl.DataFrame], kept: Mapping[str, str]
    ) -> StepProcessor:
        layout = self._layout
        made = StepProcessor(
            typed,
            self._runner,
            layout.blocks,
            self._program.states,
            statics=statics,
            parts=layout.parts,
            most_readers=self._most_readers,
            durable=self._durable,
            prepare=False,
        )
        lean = self._carrying.lean
        check_movable(lean, layout.segments, made._layout.typed, made._layout.segments, statics, kept)
        return made

    def take_over(self, old: StepProcessor, kept: Mapping[str, str]) -> None:
        try:
            self._runner.prepare(self._program)
            states = moved_states(
                old._layout.segments, old._latest, self._layout.segments, self._states.read, kept, self._own.fresh
            )
            self._step = old._step + 1
            for (segment, part), tables in states.items():
                name = state_name(f"{self._program.run}-{segment}", part, self._step)
                self._states.write(name, tables)
                self._latest[segment, part] = name
        except BaseException:
            self._runner.prepare(old._program)
            raise
        arcs = {Producer(was, arc.port): Producer(name, arc.port) for name, was in kept.items() for arc in old._rows}
        arcs |= {Producer(name): Producer(name) for name in self._layout.typed.network.streams}
        self._rows = {arcs[arc]: rows for arc, rows in old._rows.items() if arc in arcs}

    def forget(self, kept: Sequence[Mapping[str, Any]]) -> None:
        names = {name for checkpoint in kept for name in checkpoint["states"].values()}
        self._states.retain(names | set(self._latest.values()))

    def close(self) -> None:
        self._runner.close()


@dataclass(frozen=True)
class _Layout:
    """How a network is spread, which all its steps have in common.

    ``shares``: parts of a segment by keys read whole streams themselves. ``timed`` are the boxes that time moves.
    """

    typed: TypedNetwork
    segments: Sequence[Segment]
    parts: int
    shares: bool
    timed: frozenset[str]
    blocks: BlockStore


class _Step:
    """One execution on its way: what has been written so far, and the tasks that read it.

    ``latest`` names the states that tasks start from; ``rows`` counts the rows of every arc that is split, and goes on.
    """

    def __init__(
        self,
        layout: _Layout,
        number: int,
        latest: Mapping[tuple[int, int], str],
        rows: dict[Producer, int],
        execution: Execution,
        sieving: Sieving,
    ) -> None:
        self._sieving = sieving
        self._layout = layout
        self._number = number
        self._latest = latest
        self._rows = rows
        self._execution = execution
        self._written: dict[Producer, list[FromBlocks]] = {}
        self._splits: dict[tuple[Producer, tuple[str, ...]], list[SplitBlocks]] = {}
        self._pushed: dict[Producer, FromBlocks] = {}
        self._pulled: dict[Producer, tuple[FileRows, Block | None]] = {}
        self._firsts: dict[Producer, int] = {}
        self._shares = {p for segment in layout.segments if self._shared(segment) for p in segment.reads}
        self.blocks: list[Block] = []
        self._folders = layout.blocks.folders(sum(map(_size, execution.trains.values())))
        for producer, train in execution.trains.items():
            self._enter(producer, train)
        self._word = self._put_word(execution.progress)

    def _put(self, name: str, frame: pl.DataFrame) -> Block:
        block = write_block(self._folders, f"{self._number}-{name}", frame)
        self._layout.blocks.note([block])
        self.blocks.append(block)
        return block

    def _enter(self, producer: Producer, train: Train | FileRows) -> None:
        if isinstance(train, Train):
            columns = [train.frame.get_column(name) for name in self._columns(producer)]
            block = self._put(f"in-{producer}", frame_of([*columns, *train.hidden_columns]))
            self._pushed[producer] = FromBlocks((block,), arrival_us=train.arrival_us)
            return
        numbering = None
        if not train.bare and not (train.numbers is None and isinstance(train.clocks, int)):
            numbers = np.arange(train.first, train.first + len(train)) if train.numbers is None else train.numbers
            clocks = np.broadcast_to(np.asarray(train.clocks, np.int64), len(train))
            numbering = self._put(f"in-{producer}", pl.DataFrame({ORDER: 2 * numbers + 1, CLOCK: clocks}))
        self._pulled[producer] = (train, numbering)

    def _columns(self, producer: Producer) -> tuple[str, ...]:
        return tuple(self._layout.typed.arcs[producer].schema)

    def _put_word(self, progress: Progress) -> Word:
        clocks: Block | int = progress.clock
        count = len(progress.clocks)
        if not self._layout.timed:
            count = 0
        elif count and int(progress.clocks[0]) != progress.clock:
            clocks = self._put("clocks", pl.DataFrame({CLOCK: progress.clocks}))
        return Word(progress.seq, progress.clock, progress.first, clocks, count, progress.end)

    def note(self, outcome: Outcome) -> None:
        self.blocks += outcome.blocks()
        self._layout.blocks.note(outcome.blocks())
        for producer, cargo in outcome.written.items():
            self._written.setdefault(producer, []).append(cargo)
        for key, made in outcome.splits.items():
            self._splits.setdefault(key, []).append(made)

    def tasks(self, found: Sequence[tuple[int, Segment]]) -> tuple[list[Task], list[Task]]:
        """The tasks of a level, and those that are done here: boxes of the driver, and to split what is here."""
        tasks: list[Task] = []
        own: list[Task] = []
        for number, segment in found:
            passing = not segment.boxes and all(producer in self._pushed for producer in segment.reads)
            (own if passing or segment.in_driver else tasks).extend(self._of_segment(number, segment))
        return tasks, own

    def _of_segment(self, number: int, segment: Segment) -> list[Task]:
        if segment.spread == "slices":
            loads = self._slices(segment)
        elif segment.spread == "keys":
            loads = [self._part(segment, part) for part in range(self._layout.parts)]
        else:
            loads = [{p: cargo for p in segment.reads if (cargo := self._whole(p)) is not None}]
        timed = any(box in self._layout.timed for box in segment.boxes)
        latest = self._latest
        return [
            Task(
                number,
                part,
                self._number,
                load,
                self._word,
                latest.get((number, part)),
                self._folders,
                not self._shared(segment),
                self._execution.sieves,
                {box: self._execution.rules[box] for box in segment.boxes if box in self._execution.rules},
                tuple(arc for arc in self._execution.shown if arc.name in segment.boxes),
            )
            for part, load in enumerate(loads)
            # At the end only boxes with state have something to give.
            if load or timed or (self._word.end and (number, part) in latest)
        ]

    def _shared(self, segment: Segment) -> bool:
        """Whether who reads a stream by key takes all of it, which is quicker than an exchange for few parts."""
        return segment.spread == "slices" and not segment.boxes and self._layout.shares

    def _slices(self, segment: Segment) -> list[dict[Producer, Cargo]]:
        """The one stream that a segment reads in slices, cut for every worker."""
        (producer,) = segment.reads
        if self._shared(segment) and not segment.writes:
            return []
        count = self._layout.parts if segment.boxes or producer in self._pulled else 1
        if producer in self._pulled:
            rows, numbering = self._pulled[producer]
            columns = self._columns(producer)
            return [{producer: _file_cut(rows, columns, numbering, *cut)} for cut in _cuts(len(rows), count)]
        if producer in self._pushed:
            cargo = self._pushed[producer]
            cuts = _cuts(cargo.blocks[0].rows, count)
            return [{producer: FromBlocks(cargo.blocks, rows=cut, arrival_us=cargo.arrival_us)} for cut in cuts]
        return [{} for _ in range(count)]

    def _part(self, segment: Segment, part: int) -> dict[Producer, Cargo]:
        cargo: dict[Producer, Cargo] = {}
        for producer, form in segment.reads.items():
            assert isinstance(form, Split)
            if producer in self._shares:
                source = self._whole(producer)
                if isinstance(source, FromFile | FromBlocks):
                    rows = len(self._execution.trains[producer])
                    first = self._first(producer, rows)
                    form = replace(form, progress=self._sieving.told(producer, form.progress))
                    cargo[producer] = FromShare(source, form, part, self._layout.parts, first)
                continue
            made = self._splits.get((producer, form.keys))
            if made:
                offsets = np.cumsum([0, *(some.rows for some in made)])
                own = tuple((some.parts[part], int(at)) for some, at in zip(made, offsets, strict=False))
                first = self._first(producer, int(offsets[-1]))
                cargo[producer] = FromSplit(own, tuple(some.whole for some in made), first)
        return cargo

    def _first(self, producer: Producer, rows: int) -> int:
        """The number on the arc of the first row of this step's train."""
        if producer not in self._firsts:
            self._firsts[producer] = self._rows.get(producer, 0)
            self._rows[producer] = self._firsts[producer] + rows
        return self._firsts[producer]

    def _whole(self, producer: Producer) -> Cargo | None:
        if producer in self._pulled:
            rows, numbering = self._pulled[producer]
            return _file_cut(rows, self._columns(producer), numbering, 0, len(rows))
        if producer in self._pushed:
            return self._pushed[producer]
        return self._made(producer)

    def _made(self, producer: Producer) -> FromBlocks | None:
        made = self._written.get(producer)
        if not made:
            return None
        blocks = tuple(block for cargo in made for block in cargo.blocks)
        return FromBlocks(blocks, made[0].ranked, None, made[0].arrival_us)

    def train(self, producer: Producer) -> Train | None:
        """What came out on an arc; the memory stays when its blocks are deleted."""
        made = self._made(producer)
        return None if made is None else opened(made)


def _size(train: Train | FileRows) -> int:
    return int(train.frame.estimated_size()) if isinstance(train, Train) else 40 * len(train)


def _cuts(rows: int, count: int) -> list[tuple[int, int]]:
    """Slices of about the same length that are not empty."""
    bounds = [rows * number // count for number in range(count + 1)]
    return [(start, stop) for start, stop in pairwise(bounds) if stop > start]


def _file_cut(rows: FileRows, columns: tuple[str, ...], numbering: Block | None, start: int, stop: int) -> FromFile:
    clock = rows.clocks if isinstance(rows.clocks, int) else int(rows.clocks[-1])
    return FromFile(
        rows.file,
        columns,
        rows.start + start,
        rows.start + stop,
        rows.first + start,
        clock,
        rows.bare,
        numbering,
        start,
    )
