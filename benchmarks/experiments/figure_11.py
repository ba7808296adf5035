"""Figure 11: scheduling by QoS against round-robin, as the load rises."""

from __future__ import annotations

import numpy as np

from aurora.scheduler.settings import SchedulerSettings
from benchmarks.experiments.figure import Effort, Experiment, Finding, Measured, median
from benchmarks.experiments.harness import run
from benchmarks.experiments.plots import Axis, line_chart
from benchmarks.experiments.workload import Points, chains, clustered, evenly, uniform

APPLICATIONS = 20
SCALE = 0.1
"""Of the paper's times, costs and graphs alike."""
TIGHT: Points = ((0.0, 1.0), (0.001 * SCALE, 1.0), (1.0 * SCALE, 0.0))
LOOSE: Points = ((0.0, 1.0), (4.0 * SCALE, 1.0), (5.0 * SCALE, 0.0))
CAPACITIES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2)
CLUSTER = 30
POLICIES = {
    "p-tuple": SchedulerSettings("qos", horizon=1),
    "RR": SchedulerSettings("round_robin", horizon=1),
}


def measure(effort: Effort) -> Measured:
    random = np.random.default_rng(11)
    tight = random.permutation(APPLICATIONS) < APPLICATIONS // 2
    workload = chains(APPLICATIONS, 5, uniform(random, 1e-4, 1e-3), lambda number: TIGHT if tight[number] else LOOSE)
    lines: dict[str, list[tuple[float, float]]] = {name: [] for name in POLICIES}
    seconds = effort.seconds(3.0)
    first = evenly(APPLICATIONS, workload.rate_per_s(0.5), 0.5)
    for capacity in effort.some(CAPACITIES):
        effort.say(f"capacity {capacity:g}")
        utilities: dict[str, list[float]] = {name: [] for name in POLICIES}
        for repeat in range(min(effort.repeats, 2)):
            arrivals = clustered(
                np.random.default_rng(repeat), APPLICATIONS, workload.rate_per_s(capacity), seconds, CLUSTER
            )
            for name, settings in POLICIES.items():
                utilities[name].append(run(workload, settings, arrivals, most_s=2 * seconds, warm_up=first).utility)
        for name in POLICIES:
            lines[name].append((capacity, median(utilities[name])))
    ours, theirs = dict(lines["p-tuple"]), dict(lines["RR"])
    gaps = {capacity: ours[capacity] - theirs[capacity] for capacity in ours}
    calm = [gap for capacity, gap in gaps.items() if capacity <= 0.7]
    last = max(ours)
    full = [gap for capacity, gap in gaps.items() if capacity <= 0.9]
    picture = line_chart(
        "Figure 11: scheduling by QoS",
        f"20 chains of 5 boxes, half with tight and half with loose QoS; tuples come about {CLUSTER} at once",
        Axis("load, as a fraction of ideal capacity"),
        Axis("average QoS"),
        lines,
    )
    return Measured(
        {"utility": lines},
        {"figure_11": picture},
        (
            Finding(
                f"p-tuple is above round-robin at every load up to 0.9; up to 0.7 by {min(calm):.2f} to "
                f"{max(calm):.2f}.",
                min(full) > 0.0 and median(calm) > 0.05,
            ),
            Finding(
                f"Beyond capacity both fall: at {last:g} to {ours[last]:.2f} and {theirs[last]:.2f}.",
                ours[last] < 0.8 * ours[min(ours)] and theirs[last] < 0.8 * theirs[min(theirs)],
            ),
        ),
    )


EXPERIMENT = Experiment(
    "11",
    "QoS-aware scheduling",
    "Scheduling by p-tuples gives a clearly higher average QoS than round-robin. The difference is stable up to a "
    "capacity of 0.7; beyond it the system is overloaded, and both fall drastically.",
    "Twenty applications, chains of five boxes. Half of them have tight QoS, (0, 1), (0.001, 1), (1, 0), the others "
    "loose QoS, (0, 1), (4, 1), (5, 0); times of the graphs are scaled by 0.1. Both policies decide on one thing at "
    "a time.",
    "Tuples come in clusters at random times. Where they come evenly, our engine is done with each before the next "
    "comes, and any policy is as good as any other.",
    measure,
)
