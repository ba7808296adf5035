"""The same comparison on Spark, where a step that is a job costs a hundred times a local call: trains, superboxes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from aurora.model import loads, typecheck
from aurora.model.train import Progress, Train
from aurora.model.typed import Producer, TypedNetwork
from aurora.processors.plan import Execution, Processor
from benchmarks.experiments.figure import Effort, Experiment, Finding, Measured, median
from benchmarks.experiments.plots import Axis, line_chart
from benchmarks.spark import Place

BOXES: Mapping[str, str] = {
    "some": "kind: filter, where: x % 10 <> 0",
    "plus": "kind: map, compute: {key: key, x: x + 1}",
    "most": "kind: filter, where: x % 7 <> 0",
    "times": "kind: map, compute: {key: key, x: x * 2}",
    "positive": "kind: filter, where: x >= 0",
}
TRAINS = (100.0, 1_000.0, 10_000.0, 100_000.0, 1_000_000.0)
SUPERBOX, BOX = "one superbox", "box by box"
_STREAM = Producer("s")


def chain(names: Sequence[str]) -> TypedNetwork:
    """Some of the boxes, one behind the other."""
    sources = ["s", *names]
    boxes = "\n".join(
        f"  {name}: {{in: {source}, {BOXES[name]}}}" for source, name in zip(sources, names, strict=False)
    )
    return typecheck(
        loads(f"aurora: 1\nnetwork: chain\nstreams: {{s: {{schema: {{key: int, x: int}}}}}}\nboxes:\n{boxes}\n"
              f"outputs: {{out: {{from: {names[-1]}}}}}\n")
    )  # fmt: skip


class Steps:
    """Networks through which a train goes one after the other, each in a step of its own."""

    def __init__(self, place: Place, parts: Sequence[Sequence[str]]) -> None:
        self._networks = [chain(part) for part in parts]
        self._processors: list[Processor] = [place.processor(typed, standing=False) for typed in self._networks]
        self._taken = 0

    def seconds(self, tuples: int) -> float:
        """What a train of so many tuples takes from end to end."""
        numbers = np.arange(self._taken, self._taken + tuples)
        clocks = np.zeros(tuples, np.int64)
        train: Train | None = Train.of(
            pl.DataFrame({"key": numbers % 500, "x": numbers}), 2 * numbers + 1, clocks, clocks
        )
        progress = Progress(self._taken + tuples - 1, 0, self._taken, clocks)
        self._taken += tuples
        began = time.perf_counter()
        for typed, processor in zip(self._networks, self._processors, strict=True):
            given = {} if train is None else {_STREAM: train}
            (result,) = processor.run([Execution(typed.order, given, progress)])
            train = result.trains.get(typed.outputs["out"])
        return time.perf_counter() - began

    def close(self) -> None:
        for processor in self._processors:
            processor.close()


def measure(effort: Effort) -> Measured:
    taken: dict[str, dict[float, float]] = {SUPERBOX: {}, BOX: {}}
    steps = max(round(12 * effort.scale), 3)
    with tempfile.TemporaryDirectory() as folder:
        effort.say("starting Spark")
        place = Place(Path(folder) / "spark.log")
        try:
            found = {SUPERBOX: Steps(place, [list(BOXES)]), BOX: Steps(place, [[name] for name in BOXES])}
            for name, networks in found.items():
                for _ in range(5):
                    networks.seconds(100)
                for tuples in effort.some(TRAINS):
                    effort.say(f"{name}, trains of {tuples:,.0f}")
                    networks.seconds(int(tuples))
                    taken[name][tuples] = median(networks.seconds(int(tuples)) for _ in range(steps))
                networks.close()
        finally:
            place.close()
    rates = {name: [(tuples, tuples / seconds) for tuples, seconds in times.items()] for name, times in taken.items()}
    times = {name: [(tuples, seconds * 1e3) for tuples, seconds in found.items()] for name, found in taken.items()}
    short, long = min(TRAINS), max(TRAINS)
    ours = dict(rates[SUPERBOX])
    small, large = (taken[BOX][tuples] / taken[SUPERBOX][tuples] for tuples in (short, long))
    note = "a chain of five boxes on local[2]: the whole network in a step, or a step for every box"
    x = Axis("tuples in a train", log=True)
    return Measured(
        {"tuples_per_s": rates, "train_ms": times},
        {
            "spark_rates": line_chart("On Spark: throughput", note, x, Axis("tuples per second", log=True), rates),
            "spark_times": line_chart(
                "On Spark: time of a train", note, x, Axis("time of a train (ms)", log=True), times
            ),
        },
        (
            Finding(
                f"Trains of {long:,.0f} reach {ours[long] / ours[short]:,.0f} times the throughput of trains of "
                f"{short:,.0f}; the shortest takes {taken[SUPERBOX][short] * 1e3:.0f} ms, the longest "
                f"{taken[SUPERBOX][long] * 1e3:.0f} ms.",
                ours[long] > 100 * ours[short],
            ),
            Finding(
                f"Box by box a train takes {small:.1f} times as long as in one superbox with {short:,.0f} tuples, and "
                f"{large:.1f} times with {long:,.0f}.",
                small > 2.5,
            ),
        ),
    )


EXPERIMENT = Experiment(
    "spark",
    "Trains and superboxes on Spark",
    "Not in the paper: if batching pays where a box call costs a tenth of a millisecond, it should pay far more "
    "where a step costs tens of milliseconds.",
    "A chain of five boxes (filters and maps) on Spark inside the process, every step a job. Trains of different "
    "lengths go through it, either all boxes in one step, as the engine does it, or every box in a step of its own, "
    "with its answers as the next box's train.",
    "",
    measure,
)
