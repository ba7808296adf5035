"""A quick measurement of what boxes cost: the network is run over samples of its inputs for a few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from aurora.clock import Clock
from aurora.connectors.source import Source
from aurora.engine.run import Run
from aurora.errors import InputError
from aurora.model.typed import TypedNetwork
from aurora.processors.local import LocalProcessor

CALIBRATION_S = 3.0


def calibrate(
    typed: TypedNetwork,
    samples: Callable[[], Mapping[str, Source]],
    *,
    statics: Mapping[str, pl.DataFrame] | None = None,
    clock: str | None = None,
    wall: Clock | None = None,
    seconds: float = CALIBRATION_S,
) -> dict[str, Any]:
    """What ``--stats`` would write of runs over the samples on the local processor, for about so many seconds.

    ``samples`` opens the inputs anew. A sample that ends sooner is run again and again, each time with fresh boxes;
    the first time does not count then, since it pays for what is done only once. One that takes longer is broken off.
    """

    def once(until_s: float | None = None) -> tuple[dict[str, Any], bool]:
        processor = LocalProcessor(typed, statics)
        sources = samples()
        try:
            return _run(Run(typed, sources, {}, statics=statics, clock=clock, wall=wall, processor=processor), until_s)
        finally:
            for source in sources.values():
                source.close()

    began_s = time.perf_counter()
    total, ended = once(began_s + seconds)
    if not any(entry["tuples"] for entry in total["inputs"].values()):
        raise InputError("the samples have no tuples, so nothing can be measured; give files with some")
    if not ended:
        return total
    total, _ = once()
    while time.perf_counter() < began_s + seconds:
        again, _ = once()
        _add(total, again)
    return total


def _run(run: Run, until_s: float | None) -> tuple[dict[str, Any], bool]:
    """The statistics, and whether the samples were read to their end."""
    for _ in run.epochs():
        if until_s is not None and time.perf_counter() >= until_s:
            return run.statistics.to_dict(), False
    run.flush()
    return run.statistics.to_dict(), True


def _add(total: dict[str, Any], more: Mapping[str, Any]) -> None:
    for section, keys in (
        ("boxes", ("tuples_in", "tuples_out", "calls", "cost_s")),
        ("inputs", ("tuples",)),
        ("outputs", ("tuples",)),
    ):
        for name, entry in more[section].items():
            for key in keys:
                total[section][name][key] += entry[key]
