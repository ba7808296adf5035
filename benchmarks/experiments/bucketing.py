"""What figures 13 and 14 share, and the goals: 200 straight-line applications of five boxes, 1,000 boxes in all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aurora.scheduler.settings import SchedulerSettings
from aurora.scheduler.train_rules import TrainRule
from benchmarks.experiments.figure import Effort, median
from benchmarks.experiments.harness import Outcome, run
from benchmarks.experiments.workload import Arrivals, Points, Workload, chains, in_phase, uniform

APPLICATIONS = 200
PARTITIONS = (1, 2, 5, 10, 20, 30, 50, 100, 200, 300)
CAPACITY = 0.3
EACH = 8
GRAPHS_S = 0.8
ONE = TrainRule(tuples=1, qos=False)
SLOPE_SLACK = "slope-slack"


@dataclass(frozen=True)
class Sweep:
    """Average QoS and the scheduler's share of the run, by the number of partitions; and of the unbucketed policy."""

    utility: dict[float, float]
    overhead: dict[float, float]
    plain_utility: float
    plain_overhead: float
    round_robin_utility: float


def graph(number: int) -> Points:
    """Every application has its own: good for up to 0.8 s, then falling to nothing within 0.08 to 0.8 s."""
    random = np.random.default_rng(100 + number)
    good_s = GRAPHS_S * random.uniform(0.0, 1.0)
    return ((0.0, 1.0), (good_s, 1.0), (good_s + GRAPHS_S * random.uniform(0.1, 1.0), 0.0))


def network(scale: float) -> Workload:
    """Costs are the paper's times ``scale``."""
    return chains(APPLICATIONS, 5, uniform(np.random.default_rng(13), scale * 1e-4, scale * 1e-3), graph)


def load(workload: Workload, rounds: int, capacity: float, each: int) -> Arrivals:
    """All applications get tuples at once, again and again; so the order in which they are served decides."""
    rate_per_s = workload.rate_per_s(capacity)
    return in_phase(APPLICATIONS, rate_per_s, rounds * APPLICATIONS * each / rate_per_s, each)


_KEPT: dict[Effort, Sweep] = {}


def sweep(effort: Effort) -> Sweep:
    """Both figures come from the same runs, which are done once."""
    if effort in _KEPT:
        return _KEPT[effort]
    workload = network(0.1)
    arrivals = load(workload, max(round(effort.seconds(2)), 1), CAPACITY, EACH)
    first = load(workload, 1, CAPACITY, EACH)

    def runs(settings: SchedulerSettings) -> tuple[float, float]:
        found = [run(workload, settings, arrivals, most_s=10, warm_up=first) for _ in range(min(effort.repeats, 2))]
        return median(one.utility for one in found), median(share(one) for one in found)

    utility: dict[float, float] = {}
    overhead: dict[float, float] = {}
    for partitions in effort.some(PARTITIONS):
        effort.say(f"{partitions:g} partitions")
        settings = SchedulerSettings("buckets", partitions=int(partitions), horizon=1, train=ONE)
        utility[partitions], overhead[partitions] = runs(settings)
    effort.say(SLOPE_SLACK)
    plain = runs(SchedulerSettings("qos", horizon=1, train=ONE))
    in_turns, _ = runs(SchedulerSettings("round_robin", horizon=1, train=ONE))
    _KEPT[effort] = Sweep(utility, overhead, *plain, in_turns)
    return _KEPT[effort]


def share(one: Outcome) -> float:
    """The scheduler's share of the time in which the engine was not idle, in percent."""
    return 100 * one.scheduler_s / one.busy_s
