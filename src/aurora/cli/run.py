"""``aurora run``: a network over finite files, to their end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import polars as pl

import aurora.boxes  # noqa: F401  (puts the kinds of box on their list)
from aurora.cli.failure import INTERRUPTED, say
from aurora.cli.functions import import_all
from aurora.cli.interrupt import Interrupt, InterruptibleSource
from aurora.cli.progress import Meter
from aurora.cli.summary import show_rejected, show_summary
from aurora.cli.wiring import Wiring, wire
from aurora.connectors.bytes_in import STANDARD
from aurora.connectors.files import open_sink, open_source
from aurora.connectors.rejected import OnReject, Rejected, RejectedWriter
from aurora.connectors.slices import FileSlices, can_slice
from aurora.connectors.source import LazySink, Sink, Source
from aurora.engine.delivery import rejected_by
from aurora.engine.flow import FIFO, AtOnce, FlowMaker
from aurora.engine.intake import Input
from aurora.engine.recovery import Committed, Recovery
from aurora.engine.room import DEFAULT_DISK, DEFAULT_MEMORY, Room
from aurora.engine.run import Run
from aurora.engine.scheduled import make_flow
from aurora.engine.workplace import DEFAULT_MASTER, Workplace, identity
from aurora.errors import InputError, StateError, did_you_mean
from aurora.model.check import typecheck
from aurora.model.document import load
from aurora.model.schema import Schema
from aurora.model.typed import TypedNetwork
from aurora.processors.local import LocalProcessor
from aurora.processors.poison import REJECTED, runs_user_code
from aurora.scheduler.settings import POLICIES
from aurora.storage.tiers import parse_bytes

PROCESSORS = ("spark", "local")
SCHEDULERS = (FIFO, *POLICIES)
AT_END = ("flush", "hold")
_STATIC_BATCH_TUPLES = 65_536


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    network: Path
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    processor: str
    master: str | None
    train: int | None
    clock: str
    at_end: str
    scheduler: str
    state: str | None
    memory: str | None
    ui: bool
    stats: Path | None
    rejected: Path | None
    functions: tuple[str, ...]
    quiet: bool


def run_files(request: Request) -> int:
    """Runs and gives the exit code. Everything that can be wrong with files and options is found before the start."""
    _check_options(request)
    import_all(request.functions)
    typed = typecheck(load(request.network))
    wiring = wire(typed, request.network.parent, request.inputs, request.outputs, resumable=request.state is not None)
    _check_clock(request.clock, typed)
    _note_what_may_surprise(request, typed, wiring)
    if request.stats is not None and request.stats.resolve() in [file.resolve() for file in wiring.files]:
        raise InputError(f"--stats {request.stats}: the run reads or writes this file; name another")
    with ExitStack() as stack:
        workplace = Workplace(
            "local" if request.processor == "local" else "spark",
            master=request.master or DEFAULT_MASTER,
            state=request.state,
            memory=None if request.memory is None else parse_bytes(request.memory),
            ui=request.ui,
            say=(lambda line: None) if request.quiet else say,
        )
        stack.callback(workplace.close)
        prepared = prepare(request, typed, wiring, workplace, stack)
        stopped = _run_to_the_end(prepared, request)
    statistics, rejected = prepared.run.statistics, prepared.rejected
    _count_rejected(prepared)
    if request.stats is not None:
        text = json.dumps({**statistics.to_dict(), "interrupted": stopped}, indent=2)
        request.stats.write_text(text + "\n", encoding="utf-8")
    if not request.quiet:
        show_summary(statistics, wiring.outputs, stopped=stopped)
    show_rejected(rejected)
    return INTERRUPTED if stopped else 0


def _note_what_may_surprise(request: Request, typed: TypedNetwork, wiring: Wiring) -> None:
    if request.quiet:
        return
    if len(wiring.unwritten) == len(typed.outputs):
        unwritten = ", ".join(wiring.unwritten) or "there are none"
        say(f"note: no --output is given; tuples of the outputs ({unwritten}) are counted but not written")
    timed = [name for name, box in typed.network.boxes.items() if box.keeps_time()]
    if timed and request.clock == "wall":
        say(
            f"note: timeouts ({', '.join(timed)}) follow the wall clock, which hardly moves while files are read; "
            "--clock COLUMN lets a column drive them"
        )


@dataclass(frozen=True)
class Prepared:
    """A run with its files open. ``share`` tells which share of the input has been read."""

    run: Run
    sinks: Mapping[str, Sink]
    rejected: RejectedWriter
    interrupt: Interrupt
    share: Callable[[], float | None]
    recovery: Recovery | None
    staging: Path | None


def prepare(request: Request, typed: TypedNetwork, wiring: Wiring, workplace: Workplace, stack: ExitStack) -> Prepared:
    """Opens everything, at the place where an earlier run with the same state stopped."""
    options = {
        "clock": request.clock,
        "at_end": request.at_end,
        "inputs": dict(wiring.streams) | dict(wiring.statics),
        "outputs": dict(wiring.outputs),
    }
    recovery = workplace.recovery(identity(typed.network, options))
    committed = None if recovery is None else recovery.peek()
    finished = committed is not None and committed.stage == "finished"
    names = (*wiring.streams, *wiring.statics)
    folder = wiring.folder if request.rejected is None else None
    rejected = RejectedWriter(names, folder=folder, file=request.rejected, spare=wiring.files)
    stack.callback(rejected.close)
    interrupt = Interrupt()

    def source(name: str, file: str, on_reject: OnReject, skip: int = 0) -> Source:
        opened = open_source(file, typed.arcs[name].schema, stream=name, on_reject=on_reject, skip=skip)
        stack.callback(opened.close)
        return opened

    held: list[Rejected] = []
    statics = {name: _whole(source(name, file, held.append), typed, name) for name, file in wiring.statics.items()}
    # A run that is finished needs nobody to run boxes.
    processor = LocalProcessor(typed, boxes=()) if finished else workplace.processor(typed, statics, committed)
    stack.callback(processor.close)
    if finished:
        say(f"note: this run is finished already, according to {request.state}; its outputs are left as they are")
    elif recovery is not None:
        committed = recovery.resume(processor)
        for skipped in recovery.skipped:
            say(f"note: a commit was harmed and the one before it is used: {skipped}")
        if committed is not None and not request.quiet:
            say(f"going on from {request.state}: {committed.position.seq:,} tuples had been taken")
    read = {} if committed is None else committed.position.read
    inputs: dict[str, Input] = {}
    for name, file in wiring.streams.items():
        schema = typed.arcs[name].schema
        if request.processor == "spark" and file != STANDARD and can_slice(file, schema):
            inputs[name] = _sliced(file, schema, read.get(name, 0))
        else:
            inputs[name] = InterruptibleSource(source(name, file, rejected, read.get(name, 0)), interrupt)
    staging = None if request.state is None else Path(request.state, "outputs")
    sinks = _open_sinks(typed, wiring, committed, staging, stack)
    rejected.begin(_complete_rejected(committed))
    for row in held:
        rejected(row)
    run = Run(
        typed,
        inputs,
        sinks,
        statics=statics,
        train=request.train,
        clock=None if request.clock == "wall" else request.clock,
        processor=processor,
        recovery=recovery,
        resumed=committed,
        flow=_flow(request, list(inputs)),
        at_end="flush" if request.at_end == "flush" else "hold",
    )
    stack.callback(run.close)

    def share() -> float | None:
        shares = [
            run.statistics.inputs[name].tuples / max(source.rows, 1)
            if isinstance(source, FileSlices)
            else source.fraction()
            for name, source in inputs.items()
        ]
        known = [share for share in shares if share is not None]
        return sum(known) / len(known) if len(known) == len(shares) and known else None

    return Prepared(run, sinks, rejected, interrupt, share, recovery, staging)


def _flow(request: Request, streams: list[str]) -> FlowMaker:
    if request.scheduler == FIFO:
        return AtOnce
    room = Room(request.memory or DEFAULT_MEMORY, DEFAULT_DISK, "block", streams)
    return make_flow(request.processor, request.scheduler, 1, room, request.train)


def _complete_rejected(committed: Committed | None) -> dict[str, int] | None:
    """How many rows of each stream were rejected, if their files are complete: otherwise they are read again."""
    if committed is None or committed.stage == "running":
        return None
    return {name: entry["rejected"] for name, entry in committed.statistics["inputs"].items()}


def _sliced(file: str, schema: Schema, read: int) -> FileSlices:
    slices = FileSlices(file, schema)
    if slices.rows < read:
        raise StateError(
            f"cannot continue reading {file}: {read} tuples had been read of it, and now it has only {slices.rows}; "
            "put the file back as it was, or start anew with an empty state folder"
        )
    return slices


def _open_sinks(
    typed: TypedNetwork, wiring: Wiring, committed: Committed | None, staging: Path | None, stack: ExitStack
) -> dict[str, Sink]:
    sinks: dict[str, Sink] = {}
    if committed is not None and committed.stage == "finished":
        return sinks
    for name, file in wiring.outputs.items():
        at = None if committed is None else committed.outputs.get(name)
        sinks[name] = open_sink(file, typed.arcs[typed.outputs[name]].schema, resume=at, staging=staging)
        # With state, what is not finished is left for the next run; without, the files are as complete as can be.
        stack.callback(sinks[name].close if staging is None else sinks[name].suspend)
    for box in filter(lambda name: runs_user_code(typed.network.boxes[name]), typed.order):
        sinks[rejected_by(box)] = sink = _sink_of_rejected(box, wiring, committed)
        stack.callback(sink.close)
    return sinks


def _sink_of_rejected(box: str, wiring: Wiring, committed: Committed | None) -> Sink:
    file = wiring.folder / f"{rejected_by(box)}.jsonl"
    at = 0 if committed is None else committed.outputs.get(rejected_by(box), 0)
    if at:
        return open_sink(file, REJECTED, resume=at)
    return LazySink(lambda: open_sink(file, REJECTED))


def _whole(source: Source, typed: TypedNetwork, name: str) -> pl.DataFrame:
    """Static data, which is held in memory."""
    empty = pl.DataFrame(schema=typed.arcs[name].schema.to_polars())
    return pl.concat([empty, *source.batches(_STATIC_BATCH_TUPLES)])


def _run_to_the_end(prepared: Prepared, request: Request) -> bool:
    """Whether the run was interrupted."""
    run, interrupt = prepared.run, prepared.interrupt
    with Meter(shown=not request.quiet) as meter, interrupt.handled():
        try:
            for statistics in run.epochs():
                meter.update(sum(entry.tuples for entry in statistics.inputs.values()), prepared.share())
                interrupt.stop_if_asked()
            if request.at_end == "flush":
                run.flush()
        except KeyboardInterrupt:
            if not interrupt.abrupt:
                run.commit()
            return True
    if prepared.recovery is not None and not run.finished:
        prepared.rejected.close(durable=True)
        _count_rejected(prepared)
        run.commit("flushed")
        for sink in prepared.sinks.values():
            sink.close()
        run.commit("finished")
        # A second time, so that one harmed record does not lead back to outputs that are no longer staged.
        run.commit("finished")
    if prepared.staging is not None:
        shutil.rmtree(prepared.staging, ignore_errors=True)
    return False


def _count_rejected(prepared: Prepared) -> None:
    for name, count in prepared.rejected.counts.items():
        if name in prepared.run.statistics.inputs:
            prepared.run.statistics.inputs[name].rejected = count


def _check_options(request: Request) -> None:
    _check_choice("--processor", request.processor, PROCESSORS)
    _check_choice("--scheduler", request.scheduler, SCHEDULERS)
    _check_choice("--at-end", request.at_end, AT_END)
    if request.master is not None and request.processor != "spark":
        raise InputError(f"--master {request.master} is for --processor spark; leave one of them out")
    if request.scheduler != FIFO and request.processor == "spark":
        raise InputError(
            f"--scheduler {request.scheduler}: on Spark all boxes run as one superbox, since a step costs as much as "
            "thousands of calls; leave it out, or take --processor local"
        )
    if request.memory is not None:
        parse_bytes(request.memory)
    if request.stats is not None and not request.stats.parent.is_dir():
        raise InputError(f"--stats {request.stats}: there is no folder {request.stats.parent}; give an existing one")


def _check_choice(option: str, value: str, legal: tuple[str, ...]) -> None:
    if value not in legal:
        hint = did_you_mean(value, legal)
        raise InputError(f"{option} {value}: use {' or '.join(legal)}" + (f"; {hint}" if hint else ""))


def _check_clock(clock: str, typed: TypedNetwork) -> None:
    """A column that no stream has is most likely misspelt; the engine checks the rest."""
    columns = sorted({column for stream in typed.network.streams.values() for column in stream.schema})
    if clock != "wall" and clock not in columns:
        hint = did_you_mean(clock, [*columns, "wall"])
        raise InputError(
            f"--clock {clock}: no stream has such a column; use wall, or a column of every stream: "
            f"{', '.join(columns)}" + (f"; {hint}" if hint else "")
        )
