"""Aurora on Spark against Spark's own Structured Streaming, and against Aurora without Spark.

    python -m benchmarks.spark [--quick]

Measures in one run: what a step costs when there is next to nothing to do, against a bare Spark job and against a
micro-batch; and the throughput of the five queries over the same Parquet files. Writes spark.json and spark.svg to the
folder results beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl
from pyspark.sql import SparkSession
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from aurora.connectors.slices import FileSlices
from aurora.engine import Run
from aurora.model import loads, typecheck
from aurora.model.train import Progress, Train
from aurora.model.typed import Producer, TypedNetwork
from aurora.processors.plan import Execution, Processor
from aurora.processors.spark.masters import Master
from aurora.processors.spark.place import SparkPlace
from aurora.processors.spark.runner import SparkRunner
from aurora.processors.spark.session import start_session, stop_session
from aurora.processors.steps.processor import StepProcessor
from aurora.storage.tiers import Tiers
from benchmarks import structured_streaming as structured
from benchmarks import ticks
from benchmarks.box_queries import QUERIES, MemorySink, Query
from benchmarks.picture import Bar, bar_chart

RESULTS = Path(__file__).parent / "results"
MASTER = Master.parse("local[2]")
_LONG_S = 20.0
"""What takes so long is not measured again."""
STEP_ROWS = 1_000
OVER_BARE, OVER_STATELESS, OVER_STATEFUL = 1.5, 0.5, 0.125
OVER_STRUCTURED, OVER_LOCAL = 5.0, 0.5
OPPONENTS = {"Q4": "Q4 state"}
"""Where Structured Streaming has several ways: the one that its own manual names for such a query."""
OTHER_WAYS = {"Q4": "Q4"}
"""A way around Spark's state that is quicker; it is shown beside."""

STATELESS = """
aurora: 1
network: step
streams: {s: {schema: {key: int, at: timestamp}}}
boxes: {even: {kind: filter, in: s, where: key % 2 = 0}}
outputs: {out: {from: even}}
"""
STATEFUL = """
aurora: 1
network: step
streams: {s: {schema: {key: int, at: timestamp}}}
boxes:
  counts: {kind: aggregate, in: s, group_by: key, order_by: at, slack: 1s, window: {size: 1s}, compute: {n: count(*)}}
outputs: {out: {from: counts}}
"""


@dataclass(frozen=True)
class Ratio:
    """A measured ratio and its goal; ``at_least`` says on which side of the goal it should be."""

    name: str
    ratio: float
    goal: float
    at_least: bool
    detail: str

    @property
    def passed(self) -> bool:
        return self.ratio >= self.goal if self.at_least else self.ratio <= self.goal


class Place:
    """A session and the folders of its runs."""

    def __init__(self, log: Path, extra: Mapping[str, str] | None = None) -> None:
        self.session: SparkSession = start_session(MASTER, log=log, extra=extra or {})
        self.tiers = Tiers(None, None)
        self._place: SparkPlace | None = None

    def processor(self, typed: TypedNetwork, *, standing: bool = True) -> Processor:
        """One after the other: tasks that stood by for the last one leave."""
        if self._place is not None:
            self._place.dismiss()
        self._place = SparkPlace(self.session, MASTER.slots or 1, standing=standing)
        runner = SparkRunner(self._place, self.tiers.fastest)
        return StepProcessor(typed, runner, self.tiers.blocks, self.tiers.fastest)

    def close(self) -> None:
        if self._place is not None:
            self._place.dismiss()
        stop_session(self.session)
        self.tiers.close()


def step_seconds(place: Place, document: str, steps: int) -> list[float]:
    """What steps of a thousand tuples take that the driver has; the tuples of each are one second later."""
    typed = typecheck(loads(document))
    processor = place.processor(typed)
    taken = []
    for number in range(steps + 10):
        keys = pl.Series("key", range(STEP_ROWS), pl.Int64) % 500
        times = pl.Series("at", [number * 1_000_000] * STEP_ROWS, pl.Int64).cast(pl.Datetime("us", "UTC"))
        first = number * STEP_ROWS
        clocks = pl.Series([number * 1_000_000] * STEP_ROWS, dtype=pl.Int64).to_numpy()
        order = 2 * pl.Series(range(first, first + STEP_ROWS), dtype=pl.Int64).to_numpy() + 1
        train = Train.of(pl.DataFrame([keys, times]), order, clocks, clocks)
        progress = Progress(first + STEP_ROWS - 1, int(clocks[-1]), first, clocks)
        started = time.perf_counter()
        processor.run([Execution(typed.order, {Producer("s"): train}, progress)])
        taken.append(time.perf_counter() - started)
    processor.close()
    return taken[10:]


def overheads(place: Place, steps: int, say: Callable[[str], None]) -> list[Ratio]:
    """A step against a bare job on the same session, and against micro-batches, in turns."""
    bare: list[float] = []
    plain: list[float] = []
    with_state: list[float] = []
    for number in range(3):
        say(f"steps and bare jobs, round {number + 1} of 3")
        bare += structured.bare_job_overhead(place.session, steps)
        plain += step_seconds(place, STATELESS, steps)
        with_state += step_seconds(place, STATEFUL, steps)
    say("micro-batches")
    stateless = structured.micro_batch_overhead(place.session, stateful=False)
    stateful = structured.micro_batch_overhead(place.session, stateful=True)
    job, ours, ours_stateful, theirs, theirs_stateful = (
        statistics.median(seconds) for seconds in (bare, plain, with_state, stateless, stateful)
    )

    def ratio(name: str, one: float, other: float, goal: float) -> Ratio:
        return Ratio(name, one / other, goal, False, f"{one * 1e3:.0f} ms against {other * 1e3:.0f} ms")

    return [
        ratio("a step against a bare job", ours, job, OVER_BARE),
        ratio("a step against a stateless micro-batch", ours, theirs, OVER_STATELESS),
        ratio("a stateful step against a stateful micro-batch", ours_stateful, theirs_stateful, OVER_STATEFUL),
    ]


def our_seconds(query: Query, streams: Mapping[str, Path], processor: Processor | None) -> tuple[float, int]:
    """The query over the files; on no processor in particular it runs in this process."""
    files = {
        name: FileSlices(sorted(map(str, folder.iterdir())), query.typed.arcs[name].schema)
        for name, folder in streams.items()
    }
    sink = MemorySink(keep=False)
    started = time.perf_counter()
    Run(query.typed, files, {"answer": sink}, clock=query.clock, processor=processor).to_end()
    return time.perf_counter() - started, sink.tuples


def _their_seconds(
    place: Place, name: str, paths: structured.Inputs, folder: Path, rounds: int, say: Callable[[str], None]
) -> float:
    say(f"{name} in Structured Streaming")
    structured.warm_up(place.session, name, paths, folder)
    batch = structured.BATCH_ROWS[name]
    taken = []
    for _ in range(rounds):
        taken.append(structured.run_query(place.session, name, paths, folder, batch)[0])
        if taken[-1] > _LONG_S:
            break
    return min(taken)


def queries(data: pl.DataFrame, folder: Path, rounds: int, say: Callable[[str], None]) -> list[Ratio]:
    paths = structured.write_inputs(folder / "inputs", data)
    tuples = {query.name: sum(f.height for f in query.inputs(data).values()) for query in QUERIES}
    theirs: dict[str, float] = {}
    others: dict[str, float] = {}
    structured.provide_pandas(say)
    place = Place(folder / "structured.log", structured.JAVA)
    try:
        for query in QUERIES:
            theirs[query.name] = _their_seconds(
                place, OPPONENTS.get(query.name, query.name), paths, folder, rounds, say
            )
            if query.name in OTHER_WAYS:
                others[query.name] = _their_seconds(place, OTHER_WAYS[query.name], paths, folder, rounds, say)
    finally:
        place.close()
    ratios = []
    place = Place(folder / "aurora.log")
    try:
        for query in QUERIES:
            streams = paths.streams(query.name)
            on_spark: list[float] = []
            alone: list[float] = []
            for number in range(rounds + 1):
                say(f"{query.name} in Aurora, {'to warm up' if not number else f'round {number} of {rounds}'}")
                processor = place.processor(query.typed)
                on_spark.append(our_seconds(query, streams, processor)[0])
                processor.close()
                alone.append(our_seconds(query, streams, None)[0])
            ours, local = min(on_spark[1:]), min(alone[1:])
            rate = tuples[query.name] / 1e6
            detail = (
                f"{rate / ours:.2f} M tuples/s; Structured Streaming {rate / theirs[query.name]:.2f}, "
                f"without Spark {rate / local:.2f}"
            )
            if query.name in others:
                detail += f"; by a window function over each micro-batch {rate / others[query.name]:.2f}"
            against = {
                "Structured Streaming": (theirs[query.name] / ours, OVER_STRUCTURED),
                "Aurora without Spark": (local / ours, OVER_LOCAL),
            }
            for peer, (ratio, goal) in against.items():
                ratios.append(Ratio(f"{query.name} against {peer}", ratio, goal, True, detail))
    finally:
        place.close()
    return ratios


def table(ratios: list[Ratio]) -> Table:
    shown = Table(box=SIMPLE_HEAD, title="Aurora on Spark", title_justify="left")
    for heading in ("what", "ratio", "goal", "", "detail"):
        shown.add_column(heading, justify="right" if heading in ("ratio", "goal") else "left")
    for entry in ratios:
        sign = "≥" if entry.at_least else "≤"
        verdict = "[green]holds[/]" if entry.passed else "[red]missed[/]"
        shown.add_row(entry.name, f"{entry.ratio:.2f}", f"{sign} {entry.goal:g}", verdict, entry.detail)
    return shown


def picture(ratios: list[Ratio]) -> str:
    named = {entry: entry.name.replace(" against", ":") for entry in ratios if entry.at_least}
    bars = [Bar(name, entry.ratio, entry.goal, entry.passed) for entry, name in named.items()]
    return bar_chart("Aurora on Spark", "throughput, as a multiple of that of", bars)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a fifth of the ticks, and one round")
    parser.add_argument("--only", choices=("steps", "queries"), help="one half of it")
    options = parser.parse_args()
    console = Console()
    folder = structured.memory_folder()

    def say(line: str) -> None:
        console.print(f"[dim]{line}[/]", highlight=False)

    ratios: list[Ratio] = []
    try:
        if options.only != "queries":
            place = Place(folder / "steps.log")
            try:
                ratios += overheads(place, 20 if options.quick else 50, say)
            finally:
                place.close()
        if options.only != "steps":
            data = ticks.ticks(1_000_000 if options.quick else 5_000_000)
            ratios += queries(data, folder, 1 if options.quick else 3, say)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    console.print(table(ratios))
    if options.only is None and not options.quick:
        RESULTS.mkdir(exist_ok=True)
        machine = {"cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}
        written = [{**asdict(entry), "passed": entry.passed} for entry in ratios]
        (RESULTS / "spark.json").write_text(json.dumps({"machine": machine, "ratios": written}, indent=2) + "\n")
        (RESULTS / "spark.svg").write_text(picture(ratios) + "\n")


if __name__ == "__main__":
    main()
