"""Figure 7: the memory that the three traversals need while a superbox runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aurora.scheduler.settings import SchedulerSettings
from benchmarks.experiments.figure import Effort, Experiment, Finding, Measured, median
from benchmarks.experiments.harness import Bench, processor_time
from benchmarks.experiments.plots import Axis, line_chart
from benchmarks.experiments.workload import Workload, forest, in_phase, uniform

TRAVERSALS = {"MM": "min_memory", "MC": "min_cost", "ML": "min_latency"}
TUPLES = 20
POINTS = 60
History = Sequence[tuple[int, int]]


def measure(effort: Effort) -> Measured:
    """The first network gives the picture; over all of them the mean memory is compared."""
    ratios: dict[str, list[float]] = {name: [] for name in TRAVERSALS}
    lines: dict[str, list[tuple[float, float]]] = {}
    tuples: dict[str, list[tuple[float, float]]] = {}
    for seed in range(max(effort.repeats * 2 - 1, 1)):
        effort.say(f"network {seed + 1}")
        random = np.random.default_rng(70 + seed)
        workload = forest(1, 5, 3, uniform(random, 1e-5, 1e-4), uniform(random, 0.0, 1.0))
        found = {name: history(workload, traversal) for name, traversal in TRAVERSALS.items()}
        end_us = found["MM"][-1][0]
        for name in TRAVERSALS:
            ratios[name].append(mean_memory(found[name], end_us) / mean_memory(found["MM"], end_us))
        if not seed:
            times = np.linspace(0, 0.95 * end_us, POINTS)
            least = memory_at(found["MM"], times)
            for name in TRAVERSALS:
                held = memory_at(found[name], times)
                lines[name] = list(zip((times / 1e3).tolist(), (held / np.maximum(least, 1)).tolist(), strict=True))
                tuples[name] = list(zip((times / 1e3).tolist(), held.tolist(), strict=True))
    means = {name: median(found) for name, found in ratios.items()}
    picture = line_chart(
        "Figure 7: memory during a superbox, relative to min-memory",
        f"one tree of 121 boxes, selectivities 0 to 1, {TUPLES} tuples at each of 81 inputs",
        Axis("time since the superbox began (ms)"),
        Axis("tuples in queues, relative to MM", zero=False),
        lines,
    )
    return Measured(
        {"relative": lines, "tuples": tuples, "mean_relative_memory": ratios},
        {"figure_07": picture},
        (
            Finding(
                f"Over the run MC holds {means['MC']:.2f} and ML {means['ML']:.2f} times as many tuples as MM "
                f"(median over {len(ratios['MM'])} random networks).",
                means["MC"] > 1.02 and means["ML"] > 1.02,
            ),
            Finding(
                f"ML is the least thrifty: it holds {means['ML'] / means['MC']:.2f} times what MC does.",
                means["ML"] > means["MC"],
            ),
        ),
    )


def history(workload: Workload, traversal: str) -> History:
    """Tuples in the queues after every box call, while a superbox takes what has come at once.

    A first load tells the scheduler what boxes cost.
    """
    streams = len(workload.streams)
    load = in_phase(streams, streams * TUPLES, 1.0, TUPLES)
    with processor_time(), Bench(workload, SchedulerSettings("applications", traversal=traversal)) as bench:
        bench.feed(load)
        bench.feed(load)
        bench.processor.waiting = streams * TUPLES
        found: list[tuple[int, int]] = []
        bench.processor.history = found
        bench.feed(load)
        return [(0, streams * TUPLES), *((at_us - bench.began_us, tuples) for at_us, tuples in found)]


def memory_at(
    found: History, times: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    at = np.array([time for time, _ in found])
    held = np.array([tuples for _, tuples in found], np.float64)
    looked_up: np.ndarray[tuple[int], np.dtype[np.float64]] = held[np.searchsorted(at, times, side="right") - 1]
    return looked_up


def mean_memory(found: History, end_us: int) -> float:
    return float(memory_at(found, np.linspace(0, end_us, 2_000)).mean())


EXPERIMENT = Experiment(
    "7",
    "Memory of the traversals",
    "Min-memory needs the least memory while a superbox runs, min-cost comes second, and min-latency is the most "
    "wasteful; towards the end MM loses its advantage, and MC, which is done first, catches up.",
    "One application tree of 121 boxes, with costs of 10 to 100 µs and selectivities of 0 to 1, and a load that "
    "waits at all inputs when the superbox begins. Costs and selectivities are those that the engine measured on "
    "two loads before.",
    "Memory is counted in tuples that wait in queues, after every box call. A call takes a whole queue at once.",
    measure,
)
