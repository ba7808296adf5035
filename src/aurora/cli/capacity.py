"""``aurora capacity``: whether a machine can do the work that a network makes at given rates, and the ways out."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

import aurora.boxes  # noqa: F401  (puts the kinds of box on their list)
from aurora.cli.capacity_report import plain, show
from aurora.cli.failure import NETWORK_WRONG, say
from aurora.cli.functions import import_all
from aurora.cli.wiring import wire
from aurora.connectors.bytes_in import STANDARD
from aurora.connectors.files import open_source
from aurora.connectors.rejected import Rejected
from aurora.connectors.source import Source
from aurora.drawing import draw
from aurora.engine.calibration import calibrate
from aurora.errors import InputError
from aurora.model.check import typecheck
from aurora.model.document import load
from aurora.model.typed import TypedNetwork
from aurora.scheduler.segments import segments
from aurora.shedding.cures import cures
from aurora.shedding.load import BoxProfile, LoadAnalysis, analyse_load
from aurora.shedding.measured import Measured, measured

PROCESSORS = ("spark", "local")
_STATIC_BATCH_TUPLES = 65_536


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    network: Path
    rates: tuple[str, ...]
    costs: Path | None
    inputs: tuple[str, ...]
    clock: str
    headroom: float
    cores: float | None
    processor: str
    draw: str | None
    json: bool
    functions: tuple[str, ...]


def size_machine(request: Request) -> int:
    """Prints what the network needs; 1 where the machine is too small for it."""
    _check_options(request)
    import_all(request.functions)
    typed = typecheck(load(request.network))
    rates = _rates(request.rates)
    cores = float(_cores()) if request.cores is None else request.cores
    # What is wrong with rates and options is said before a calibration takes its time.
    free = {name: BoxProfile(0.0, {}) for name in typed.order}
    analyse_load(typed, free, rates, cores=cores, headroom=request.headroom)
    known = _costs(request, typed)
    places = _places(typed) if request.processor == "spark" else None
    found = analyse_load(typed, known.boxes, rates, cores=cores, headroom=request.headroom, places=places)
    if request.draw is not None:
        _write_picture(typed, found, request.draw)
    ways = cures(found)
    if request.json:
        print(json.dumps(plain(found, ways, known.notes), indent=2, ensure_ascii=False))
    else:
        show(found, ways)
        for note in known.notes:
            say(f"note: {note}")
    return 0 if found.fits else NETWORK_WRONG


def _check_options(request: Request) -> None:
    if request.costs is not None and request.inputs:
        raise InputError("--costs and --input both say what boxes cost; give one of them")
    if request.costs is None and not request.inputs:
        raise InputError(
            "what the boxes cost is not known; give --costs STATS.json, which aurora run --stats STATS.json writes, "
            "or --input STREAM=FILE with a sample of every stream"
        )
    if request.processor not in PROCESSORS:
        raise InputError(f"--processor {request.processor}: use {' or '.join(PROCESSORS)}")
    if request.draw is not None and not request.draw.lower().endswith(".svg"):
        raise InputError(f"--draw {request.draw}: a network is drawn as SVG; give a name that ends in .svg")
    if request.clock != "wall" and not request.inputs:
        raise InputError(f"--clock {request.clock} is for samples; give them with --input, or leave it out")


def _rates(texts: Sequence[str]) -> dict[str, float]:
    rates: dict[str, float] = {}
    for text in texts:
        name, equals, number = text.partition("=")
        try:
            rate = float(number)
        except ValueError:
            rate = None
        if not equals or not name or rate is None:
            raise InputError(f"--rates {text}: this is not STREAM=TUPLES_PER_SECOND; write for example ticks=5000")
        if name in rates:
            raise InputError(f"--rates {text}: {name!r} is given twice; give it once")
        rates[name] = rate
    return rates


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _places(typed: TypedNetwork) -> list[tuple[str, ...]]:
    """On Spark boxes are spread over workers, but for those that must see everything, which run in one place."""
    return [segment.boxes for segment in segments(typed, parts=2) if segment.spread == "one"]


def _costs(request: Request, typed: TypedNetwork) -> Measured:
    if request.costs is not None:
        return measured(typed, _read(request.costs), origin=str(request.costs))
    return measured(typed, _calibrated(request, typed), origin="the sample")


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"--costs {path}: cannot read it: {error.strerror}; give a file that aurora run --stats FILE wrote"
        ) from error
    except ValueError as error:
        raise InputError(
            f"--costs {path}: this is no JSON ({error}); give a file that aurora run --stats FILE wrote"
        ) from error
    return found if isinstance(found, dict) else {}


def _calibrated(request: Request, typed: TypedNetwork) -> dict[str, Any]:
    wiring = wire(typed, request.network.parent, request.inputs, ())
    if STANDARD in (*wiring.streams.values(), *wiring.statics.values()):
        raise InputError("a sample is read more than once, which standard input (-) cannot be; give a file")
    rejected: list[Rejected] = []

    def opened(name: str, file: str) -> Source:
        return open_source(file, typed.arcs[name].schema, stream=name, on_reject=rejected.append)

    def samples() -> dict[str, Source]:
        rejected.clear()
        return {name: opened(name, file) for name, file in wiring.streams.items()}

    statics = {}
    for name, file in wiring.statics.items():
        source = opened(name, file)
        empty = pl.DataFrame(schema=typed.arcs[name].schema.to_polars())
        statics[name] = pl.concat([empty, *source.batches(_STATIC_BATCH_TUPLES)])
        source.close()
    clock = None if request.clock == "wall" else request.clock
    found = calibrate(typed, samples, statics=statics, clock=clock)
    if rejected:
        rows = "row of the samples is no tuple" if len(rejected) == 1 else "rows of the samples are no tuples"
        say(f"note: {len(rejected):,} {rows}, and not measured; aurora run says why")
    return found


def _write_picture(typed: TypedNetwork, found: LoadAnalysis, path: str) -> None:
    try:
        Path(path).write_text(draw(typed.network, found), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; give a path in an existing folder") from error
