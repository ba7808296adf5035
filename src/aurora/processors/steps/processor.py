"""The step processor: a plan becomes levels of tasks, which a runner places on workers."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
    With ``apart`` an execution may have the boxes of some branches of the network only.
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
        apart: bool = False,
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
        self._carrying = Carrying(typed, parts, statics or {}, apart=apart)
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
            apart,
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
        """Executions of branches that have nothing to do with each other share steps."""
        self._carry()
        boxes = [box for execution in plan for box in execution.boxes]
        if len(boxes) == len(set(boxes)):
            return self._together(plan)
        return [result for execution in plan for result in self._together([execution])]

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

    def _together(self, plan: Sequence[Execution]) -> list[Result]:
        """Runs level after level of all executions, whose boxes are of different branches."""
        begun = [self._begun(execution) for execution in plan]
        home = {number: one for one in begun for number in one.segments}
        try:
            for level, found in groupby(enumerate(self._layout.segments), key=lambda entry: entry[1].level):
                tasks: list[Task] = []
                outcomes: list[Outcome] = []
                for number, segment in found:
                    if number in home:
                        some, own = home[number].step.tasks(number, segment)
                        tasks += some
                        outcomes += [self._own.run(task) for task in own]
                if tasks:
                    label = f"step {self._step}, level {level}: " + ", ".join(self._names(tasks))
                    bundles = packed(tasks, self._runner.slots, lambda t: self._predicted.get((t.segment, t.part), 0.0))
                    outcomes += self._runner.run(bundles, label)
                # Slices stand in the order of the stream, whichever was done first.
                for outcome in sorted(outcomes, key=lambda outcome: (outcome.segment, outcome.part)):
                    home[outcome.segment].step.note(outcome)
                for outcome in outcomes:
                    self._take(outcome, home[outcome.segment])
            return [self._ended(one) for one in begun]
        finally:
            for one in begun:
                self._layout.blocks.release(one.step.blocks)

    def _begun(self, execution: Execution) -> _Begun:
        self._step += 1
        tally = Tally()
        self._sieving = self._sieving.renewed(execution.sieves)
        if execution.sieves:
            execution = replace(execution, trains=self._sifted(execution, tally))
        step = _Step(self._layout, self._step, self._latest, self._rows, execution, self._sieving)
        costs = {box: BoxCost() for box in execution.boxes}
        return _Begun(execution, step, self._layout.segments_of(execution.boxes), costs, tally)

    def _ended(self, one: _Begun) -> Result:
        wanted = {*self._layout.typed.outputs.values(), *one.execution.shown}
        trains = {arc: train for arc in wanted if (train := one.step.train(arc))}
        rejected = sorted(one.rejected, key=lambda tuple: tuple.number)
        return Result(trains, one.costs, rejected, one.tally, one.tally.seconds)

    def _sifted(self, execution: Execution, tally: Tally) -> dict[Producer, Train | FileRows]:
        """The trains of streams behind the sieves on their arcs: what is dropped here no worker is bothered with.

        What several branches lose is counted with the first reader.
        """
        trains: dict[Producer, Train | FileRows] = {}
        for arc, train in execution.trains.items():
            if self._sieving.has(arc) and not execution.sifted:
                readers = self._layout.typed.consumers(arc)
                counts = not readers or readers[0].box in execution.boxes
                counted = tally if counts else Tally()
                left = self._sieving.on(arc, train.open() if isinstance(train, FileRows) else train, counted)
                if not counts:
                    tally.seconds += counted.seconds
                if len(left):
                    trains[arc] = left
            else:
                trains[arc] = train
        return trains

    def _names(self, tasks: Iterable[Task]) -> list[str]:
        return list(dict.fromkeys(self._layout.segments[task.segment].name for task in tasks))

    def _take(self, outcome: Outcome, one: _Begun) -> None:
        if outcome.failure is not None:
            kind = getattr(aurora.errors, outcome.failure.kind, AuroraError)
            if outcome.failure.kind not in vars(aurora.errors):
                where = self._layout.segments[outcome.segment].name
                raise AuroraError(f"in {where}: {outcome.failure.message}\n{outcome.failure.trace}")
            raise kind(outcome.failure.message)
        one.rejected += outcome.rejected
        one.tally.add(outcome.shed, outcome.sieve_s)
        for box, cost in outcome.costs.items():
            one.costs[box].add(cost)
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
            apart=self._program.apart,
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

    def branch_of(self, producer: Producer) -> int:
        """The branch whose segments put an arc together for others to see."""
        return next(s.branch for s in self.segments if producer.name in s.boxes or producer in s.writes)

    def segments_of(self, boxes: Sequence[str]) -> frozenset[int]:
        """The numbers of the segments that run when these boxes do."""
        numbered = list(enumerate(self.segments))
        if len(boxes) == len(self.typed.order):
            return frozenset(number for number, _ in numbered)
        wanted = {segment.branch for segment in self.segments if segment.boxes and segment.boxes[0] in boxes}
        return frozenset(number for number, segment in numbered if segment.branch in wanted)


@dataclass
class _Begun:
    """An execution on its way: its segments by number, and what has come of it so far."""

    execution: Execution
    step: _Step
    segments: frozenset[int]
    costs: dict[str, BoxCost]
    tally: Tally
    rejected: list[RejectedTuple] = field(default_factory=list)


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
        self._written: dict[tuple[int, Producer], list[FromBlocks]] = {}
        self._splits: dict[tuple[int, Producer, tuple[str, ...]], list[SplitBlocks]] = {}
        self._pushed: dict[Producer, FromBlocks] = {}
        self._pulled: dict[Producer, tuple[FileRows, Block | None]] = {}
        self._firsts: dict[Producer, int] = {}
        self._shares = {(s.branch, p) for s in layout.segments if self._shared(s) for p in s.reads}
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
        # What one branch makes of a stream is not what another makes of it.
        branch = self._layout.segments[outcome.segment].branch
        for producer, cargo in outcome.written.items():
            self._written.setdefault((branch, producer), []).append(cargo)
        for key, made in outcome.splits.items():
            self._splits.setdefault((branch, *key), []).append(made)

    def tasks(self, number: int, segment: Segment) -> tuple[list[Task], list[Task]]:
        """The tasks of a segment, and those that are done here: boxes of the driver, and to split what is here."""
        passing = not segment.boxes and all(producer in self._pushed for producer in segment.reads)
        found = self._of_segment(number, segment)
        return ([], found) if passing or segment.in_driver else (found, [])

    def _of_segment(self, number: int, segment: Segment) -> list[Task]:
        if segment.spread == "slices":
            loads = self._slices(segment)
        elif segment.spread == "keys":
            loads = [self._part(segment, part) for part in range(self._layout.parts)]
        else:
            loads = [{p: cargo for p in segment.reads if (cargo := self._whole(segment.branch, p)) is not None}]
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
            if (segment.branch, producer) in self._shares:
                source = self._whole(segment.branch, producer)
                if isinstance(source, FromFile | FromBlocks):
                    rows = len(self._execution.trains[producer])
                    first = self._first(producer, rows)
                    form = replace(form, progress=self._sieving.told(producer, form.progress))
                    cargo[producer] = FromShare(source, form, part, self._layout.parts, first)
                continue
            made = self._splits.get((segment.branch, producer, form.keys))
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

    def _whole(self, branch: int, producer: Producer) -> Cargo | None:
        if producer in self._pulled:
            rows, numbering = self._pulled[producer]
            return _file_cut(rows, self._columns(producer), numbering, 0, len(rows))
        if producer in self._pushed:
            return self._pushed[producer]
        return self._made(branch, producer)

    def _made(self, branch: int, producer: Producer) -> FromBlocks | None:
        made = self._written.get((branch, producer))
        if not made:
            return None
        blocks = tuple(block for cargo in made for block in cargo.blocks)
        return FromBlocks(blocks, made[0].ranked, None, made[0].arrival_us)

    def train(self, producer: Producer) -> Train | None:
        """What came out on an arc; the memory stays when its blocks are deleted."""
        made = self._made(self._layout.branch_of(producer), producer)
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
