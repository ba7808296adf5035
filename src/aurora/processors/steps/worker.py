"""What runs inside a task: it opens trains, runs a segment's boxes on them, and writes what comes out and the state."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import replace

import polars as pl
import pyarrow as pa

import aurora.boxes  # noqa: F401  (puts the kinds of box on their list)
from aurora.boxes import python, spark
from aurora.errors import AuroraError
from aurora.expressions import registry
from aurora.model.check import typecheck
from aurora.model.train import ARRIVAL, CLOCK, ORDER, Progress, Train
from aurora.model.typed import Producer
from aurora.processors.local import LocalProcessor
from aurora.processors.plan import BoxCost, Execution, FileRows
from aurora.processors.sieve import Sieving
from aurora.processors.steps.cutting import PIECE_TUPLES, Trains, pieces, until
from aurora.processors.steps.exchange import Hidden, assembled, part_train, shared_part, split, thin
from aurora.processors.steps.task import (
    Cargo,
    Failure,
    FromBlocks,
    FromFile,
    FromShare,
    FromSplit,
    Outcome,
    Program,
    SplitBlocks,
    Task,
)
from aurora.scheduler.segments import Segment, segments
from aurora.storage.blocks import Block, read_block, write_block
from aurora.storage.folder import open_folder
from aurora.storage.states import StateStore, state_name


class Worker:
    """Runs tasks of one program. Kernels are kept between tasks, for as long as their state is the one asked for."""

    def __init__(self, program: Program) -> None:
        registry.FUNCTIONS.update(program.functions)
        registry.AGGREGATES.update(program.aggregates)
        python.REGISTERED.update(program.classes)
        for name, output in program.spark_outputs.items():
            # Only the driver has the functions; models that they use cannot be sent.
            spark.REGISTERED.setdefault(name, spark.Registered(name, None, output))
        self._typed = typecheck(program.network)
        self._sieving = Sieving(self._typed)
        self._run = program.run
        self._parts = program.parts
        self._segments = segments(self._typed, program.parts, apart=program.apart)
        self._statics = program.statics
        self._states = StateStore(open_folder(program.states), durable=False)
        self._kernels: dict[tuple[int, int], tuple[str | None, LocalProcessor]] = {}

    def run(self, task: Task) -> Outcome:
        """Does the task. What goes wrong is part of the answer, so that it reaches people in our words."""
        began = time.perf_counter()
        outcome = Outcome(task.segment, task.part)
        try:
            self._execute(task, outcome)
        except Exception as error:
            self._kernels.pop((task.segment, task.part), None)
            message = str(error) if isinstance(error, AuroraError) else f"{type(error).__name__}: {error}"
            outcome.failure = Failure(type(error).__name__, message, traceback.format_exc())
        outcome.seconds = time.perf_counter() - began
        return outcome

    def _execute(self, task: Task, outcome: Outcome) -> None:
        self._sieving = self._sieving.renewed(task.sieves)
        segment = self._segments[task.segment]
        if segment.boxes:
            processor = self._processor(task)
            trains = self._run_boxes(segment, processor, task, outcome)
            states = processor.snapshot()
            if any(state.num_rows for state in states.values()):
                outcome.state = state_name(f"{self._run}-{task.segment}", task.part, task.step)
                self._states.write(outcome.state, states)
            self._kernels[task.segment, task.part] = (outcome.state, processor)
        else:
            trains = _joined_trains(some for some, _ in _pieces(task))
        for producer in dict.fromkeys([*segment.writes, *task.shown]):
            if producer in trains:
                outcome.written[producer] = self._written(task, producer, trains[producer])
        for producer, forms in segment.splits.items():
            if producer in trains and task.splits:
                for number, form in enumerate(forms):
                    name = f"{_name(task, producer)}-{number}"
                    frame = trains[producer].frame
                    parts = split(frame, form.keys, self._parts)
                    outcome.splits[producer, form.keys] = SplitBlocks(
                        tuple(write_block(task.folders, f"{name}-{part}", rows) for part, rows in enumerate(parts)),
                        write_block(
                            task.folders, f"{name}-whole", thin(frame, self._sieving.told(producer, form.progress))
                        ),
                        frame.height,
                    )

    def _run_boxes(
        self,
        segment: Segment,
        processor: LocalProcessor,
        task: Task,
        outcome: Outcome,
    ) -> dict[Producer, Train]:
        """Runs the boxes on the trains piece by piece; gives what came out on the arcs that are wanted elsewhere."""
        wanted = {*segment.writes, *segment.splits, *task.shown}
        outcome.costs = {box: BoxCost() for box in segment.boxes}
        made: list[Trains] = []
        for some, word in _pieces(task):
            # Streams have been sifted in the driver, and other arcs where they were made.
            execution = Execution(segment.boxes, some, word, task.sieves, task.rules, sifted=True)
            (result,) = processor.run([execution])
            for box, cost in result.costs.items():
                outcome.costs[box].add(cost)
            outcome.rejected += result.rejected
            outcome.shed.add(result.shed, result.sieve_s)
            outcome.sieve_s = outcome.shed.seconds
            made.append({producer: result.trains[producer] for producer in wanted & result.trains.keys()})
        return _joined_trains(made)

    def fresh(self, segment: int) -> dict[str, pa.Table]:
        """The states with which the boxes of a segment start."""
        found = self._segments[segment]
        ranked = found.spread == "keys"
        return LocalProcessor(self._typed, self._statics, found.boxes, ranked=ranked).snapshot()

    def _processor(self, task: Task) -> LocalProcessor:
        state, processor = self._kernels.pop((task.segment, task.part), (None, None))
        if processor is not None and state == task.state:
            return processor
        segment = self._segments[task.segment]
        processor = LocalProcessor(self._typed, self._statics, segment.boxes, ranked=segment.spread == "keys")
        if task.state is not None:
            processor.restore(self._states.read(task.state))
        return processor

    def _written(self, task: Task, producer: Producer, train: Train) -> FromBlocks:
        block = write_block(task.folders, _name(task, producer), train.frame)
        return FromBlocks((block,), train.ranks > 0, None, train.arrival_us)


def _name(task: Task, producer: Producer) -> str:
    return f"{task.step}-{task.segment}-{task.part}-{producer}"


def _pieces(task: Task) -> Iterator[tuple[Trains, Progress]]:
    """What the task was given, piece by piece; of a file only a piece at a time is read."""
    progress = task.progress.open()
    cargo = next(iter(task.trains.values()), None)
    source = cargo.source if isinstance(cargo, FromShare) else cargo
    if len(task.trains) != 1 or not isinstance(source, FromFile):
        yield from pieces({producer: _opened(cargo) for producer, cargo in task.trains.items()}, progress)
        return
    (producer,) = task.trains
    first = progress.first
    for start, stop in source.file.pieces(source.start, source.stop, PIECE_TUPLES):
        past = start - source.start
        piece = replace(source, start=start, stop=stop, first=source.first + past, offset=source.offset + past)
        if isinstance(cargo, FromShare):
            train = _opened(replace(cargo, source=piece, first=cargo.first + past))
        else:
            train = _opened(piece)
        last = progress.seq if stop == source.stop or piece.bare else _last_number(train)
        yield {producer: train}, progress if piece.bare else until(progress, first, last)
        first = last + 1


def _last_number(train: Train) -> int:
    frame = train.frame if train.part is None else train.part.whole
    return int(frame.get_column(ORDER)[-1]) >> 1


def _joined_trains(made: Iterable[Trains]) -> dict[Producer, Train]:
    found: dict[Producer, list[Train]] = {}
    for trains in made:
        for producer, train in trains.items():
            found.setdefault(producer, []).append(train)
    return {producer: Train.concat(parts) for producer, parts in found.items()}


def _opened(cargo: Cargo) -> Train:
    if isinstance(cargo, FromFile):
        return _file_rows(cargo).open(cargo.columns)
    if isinstance(cargo, FromShare):
        return _shared(cargo)
    if isinstance(cargo, FromSplit):
        own = [(read_block(block), offset) for block, offset in cargo.own]
        return part_train(own, cargo.first, _joined(cargo.whole))
    return opened(cargo)


def opened(cargo: FromBlocks) -> Train:
    """The train that blocks hold."""
    frames = [read_block(block) for block in cargo.blocks]
    if cargo.rows is not None:
        frames = [frame[slice(*cargo.rows)] for frame in frames]
    return Train(assembled(frames, ranked=cargo.ranked), cargo.arrival_us)


def _joined(blocks: tuple[Block, ...]) -> pl.DataFrame:
    return pl.concat([read_block(block) for block in blocks], rechunk=True)


def _shared(cargo: FromShare) -> Train:
    source = cargo.source
    if isinstance(source, FromFile):
        rows = _file_rows(source)
        frame = rows.file.read(rows.start, rows.stop, source.columns)
        hidden = Hidden(rows.orders(), rows.clocks)
    else:
        train = opened(source)
        frame = train.visible
        hidden = Hidden(train.hidden(ORDER), train.hidden(CLOCK), train.hidden(ARRIVAL))
    return shared_part(frame, hidden, cargo.split, cargo.part, cargo.parts, cargo.first)


def _file_rows(cargo: FromFile) -> FileRows:
    orders, clocks = None, None
    if cargo.numbering is not None:
        numbering = read_block(cargo.numbering).slice(cargo.offset, cargo.stop - cargo.start)
        orders, clocks = (numbering.get_column(name).to_numpy() for name in (ORDER, CLOCK))
    return FileRows(
        cargo.file,
        cargo.start,
        cargo.stop,
        cargo.first,
        cargo.clock if clocks is None else clocks,
        None if orders is None else orders >> 1,
        cargo.bare,
    )
