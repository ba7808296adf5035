"""``aurora run``: a network over finite files, to their end."""

from __future__ import annotations

import json
from collections.abc import Callable
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
from aurora.connectors.files import open_sink, open_source
from aurora.connectors.rejected import RejectedWriter
from aurora.connectors.source import Sink, Source
from aurora.engine.run import DEFAULT_TRAIN, Run
from aurora.errors import InputError, did_you_mean
from aurora.model.check import typecheck
from aurora.model.document import load
from aurora.model.typed import TypedNetwork

PROCESSORS = ("local", "spark")
SCHEDULERS = ("fifo",)
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
    state: Path | None
    stats: Path | None
    rejected: Path | None
    functions: tuple[str, ...]
    quiet: bool


def run_files(request: Request) -> int:
    """Runs and gives the exit code. Everything that can be wrong with files and options is found before the start."""
    _check_options(request)
    import_all(request.functions)
    typed = typecheck(load(request.network))
    wiring = wire(typed, request.network.parent, request.inputs, request.outputs)
    _check_clock(request.clock, typed)
    if len(wiring.unwritten) == len(typed.outputs) and not request.quiet:
        unwritten = ", ".join(wiring.unwritten) or "there are none"
        say(f"note: no --output is given; tuples of the outputs ({unwritten}) are counted but not written")
    timed = [
        name for name, box in typed.network.boxes.items() if getattr(getattr(box, "window", None), "timeout", None)
    ]
    if timed and request.clock == "wall" and not request.quiet:
        say(
            f"note: timeouts ({', '.join(timed)}) follow the wall clock, which hardly moves while files are read; "
            "--clock COLUMN lets a column drive them"
        )
    if request.stats is not None and request.stats.resolve() in [file.resolve() for file in wiring.files]:
        raise InputError(f"--stats {request.stats}: the run reads or writes this file; name another")
    names = (*wiring.streams, *wiring.statics)
    folder = wiring.folder if request.rejected is None else None
    rejected = RejectedWriter(names, folder=folder, file=request.rejected, spare=wiring.files)
    with ExitStack() as stack:
        stack.callback(rejected.close)
        interrupt = Interrupt()
        run, share = _prepared(request, typed, wiring, rejected, interrupt, stack)
        stopped = _run_to_the_end(run, request, share, interrupt)
    for name, count in rejected.counts.items():
        if name in run.statistics.inputs:
            run.statistics.inputs[name].rejected = count
    if request.stats is not None:
        text = json.dumps({**run.statistics.to_dict(), "interrupted": stopped}, indent=2)
        request.stats.write_text(text + "\n", encoding="utf-8")
    if not request.quiet:
        show_summary(run.statistics, wiring.outputs, stopped=stopped)
    show_rejected(rejected)
    return INTERRUPTED if stopped else 0


def _prepared(
    request: Request,
    typed: TypedNetwork,
    wiring: Wiring,
    rejected: RejectedWriter,
    interrupt: Interrupt,
    stack: ExitStack,
) -> tuple[Run, Callable[[], float | None]]:
    """The run with its files open, and a way to ask which share of the input has been read."""

    def source(name: str, file: str) -> Source:
        opened = open_source(file, typed.arcs[name].schema, stream=name, on_reject=rejected)
        stack.callback(opened.close)
        return opened

    statics = {name: _whole(source(name, file), typed, name) for name, file in wiring.statics.items()}
    sources = {name: source(name, file) for name, file in wiring.streams.items()}
    sinks: dict[str, Sink] = {}
    for name, file in wiring.outputs.items():
        sinks[name] = open_sink(file, typed.arcs[typed.outputs[name]].schema)
        stack.callback(sinks[name].close)
    clock = None if request.clock == "wall" else request.clock
    inputs = {name: InterruptibleSource(source, interrupt) for name, source in sources.items()}
    run = Run(typed, inputs, sinks, statics=statics, train=request.train or DEFAULT_TRAIN, clock=clock)

    def share() -> float | None:
        shares = [source.fraction() for source in sources.values()]
        known = [share for share in shares if share is not None]
        return sum(known) / len(known) if len(known) == len(shares) and known else None

    return run, share


def _whole(source: Source, typed: TypedNetwork, name: str) -> pl.DataFrame:
    """Static data, which is held in memory."""
    empty = pl.DataFrame(schema=typed.arcs[name].schema.to_polars())
    return pl.concat([empty, *source.batches(_STATIC_BATCH_TUPLES)])


def _run_to_the_end(run: Run, request: Request, share: Callable[[], float | None], interrupt: Interrupt) -> bool:
    """Whether the run was interrupted."""
    with Meter(shown=not request.quiet) as meter, interrupt.handled():
        try:
            for statistics in run.epochs():
                meter.update(sum(entry.tuples for entry in statistics.inputs.values()), share())
                interrupt.stop_if_asked()
            if request.at_end == "flush":
                run.flush()
        except KeyboardInterrupt:
            return True
    return False


def _check_options(request: Request) -> None:
    _check_choice("--processor", request.processor, PROCESSORS)
    _check_choice("--scheduler", request.scheduler, SCHEDULERS)
    _check_choice("--at-end", request.at_end, AT_END)
    if request.processor == "spark" or request.master is not None:
        raise InputError(
            "the Spark processor is not available in this version; leave --processor spark and --master out"
        )
    if request.state is not None:
        raise InputError("--state is not available in this version: state is kept in memory; leave it out")
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
