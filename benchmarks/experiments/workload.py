"""What the engine is given: networks of application trees, and tuples that arrive whether it is ready or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.model.qos import QoS
from aurora.model.typed import TypedNetwork
from benchmarks.experiments.universal import Universal

Ints = npt.NDArray[np.int64]
Points = Sequence[tuple[float, float]]
Draw = Callable[[], float]


@dataclass(frozen=True)
class Workload:
    """A network of universal boxes. ``load_s`` is the processing that a tuple of each stream makes on its way."""

    typed: TypedNetwork
    streams: tuple[str, ...]
    load_s: tuple[float, ...]
    costs_s: dict[str, float]

    @property
    def mean_load_s(self) -> float:
        """The processing time of an input tuple, all streams being as fast."""
        return sum(self.load_s) / len(self.load_s)

    def rate_per_s(self, capacity: float) -> float:
        """Input tuples per second, of all streams together, that need this share of an ideal processor."""
        return capacity / self.mean_load_s


def uniform(random: np.random.Generator, low: float, high: float) -> Draw:
    return lambda: float(random.uniform(low, high))


def constant(value: float) -> Draw:
    return lambda: value


def forest(
    trees: int,
    depth: int,
    fan_out: int,
    cost_s: Draw,
    selectivity: Draw = constant(1.0),  # noqa: B008  (it gives the same number for ever)
    latency: Callable[[int], Points] | None = None,
) -> Workload:
    """Application trees: every box reads ``fan_out`` others, down to leaves, each of which reads a stream of its own.

    ``latency`` gives the QoS graph of each application. With a fan-out of one the trees are chains.
    """
    net = Network("experiment")
    streams: list[str] = []
    load_s: list[float] = []
    costs: dict[str, float] = {}

    def declare(name: str, inputs: Sequence[str]) -> tuple[float, float]:
        cost, passed = cost_s(), selectivity()
        net.boxes[name] = Universal(name=name, **{"in": tuple(inputs)}, cost_s=cost, selectivity=passed)
        costs[name] = cost
        return cost, passed

    for tree in range(trees):
        leaves = fan_out ** (depth - 1)
        made: list[tuple[str, list[int]]] = []
        for leaf in range(leaves):
            stream = f"s{tree}_{leaf}"
            net.stream(stream, x="int")
            made.append((stream, [len(streams)]))
            streams.append(stream)
            load_s.append(0.0)
        # What is left of a tuple of each stream when it comes to the next level.
        share = dict.fromkeys(range(len(streams) - leaves, len(streams)), 1.0)
        for level in range(depth - 1, -1, -1):
            width = 1 if level == depth - 1 else fan_out
            groups = [made[at : at + width] for at in range(0, len(made), width)]
            made = []
            for number, group in enumerate(groups):
                name = f"t{tree}_l{level}_{number}"
                cost, passed = declare(name, [source for source, _ in group])
                below = [place for _, found in group for place in found]
                for place in below:
                    load_s[place] += share[place] * cost
                    share[place] *= passed
                made.append((name, below))
        qos = None if latency is None else QoS(latency=[(f"{x:.9f}s", y) for x, y in latency(tree)])
        net.output(f"app{tree}", made[0][0], qos=qos)
    return Workload(typecheck(net), tuple(streams), tuple(load_s), costs)


def chains(count: int, depth: int, cost_s: Draw, latency: Callable[[int], Points] | None = None) -> Workload:
    """Straight-line applications."""
    return forest(count, depth, 1, cost_s, latency=latency)


@dataclass(frozen=True)
class Arrivals:
    """Groups of tuples in the order of their times: ``tuples[i]`` of stream number ``stream[i]`` at ``at_us[i]``."""

    at_us: Ints
    stream: Ints
    tuples: Ints

    @property
    def total(self) -> int:
        return int(self.tuples.sum())

    @property
    def span_s(self) -> float:
        return float(self.at_us[-1]) / 1e6 if len(self.at_us) else 0.0


def evenly(streams: int, rate_per_s: float, seconds: float, burst: int = 1) -> Arrivals:
    """Every stream gets ``burst`` tuples at regular times; the streams take turns, so that nothing coincides.

    The rate is that of all streams together, and the same for every burst size.
    """
    step_us = 1e6 * burst / rate_per_s
    groups = max(int(seconds * 1e6 / step_us), 1)
    numbers = np.arange(groups)
    # Neighbouring streams of a tree are not served one after the other.
    turns = np.random.default_rng(5).permutation(streams)[numbers % streams]
    return Arrivals((numbers * step_us).astype(np.int64), turns, np.full(groups, burst))


def in_phase(streams: int, rate_per_s: float, seconds: float, each: int = 1) -> Arrivals:
    """All streams get ``each`` tuples at the same moments."""
    step_us = 1e6 * streams * each / rate_per_s
    rounds = max(round(seconds * 1e6 / step_us), 1)
    at_us = np.repeat((np.arange(rounds) * step_us).astype(np.int64), streams)
    return Arrivals(at_us, np.tile(np.arange(streams), rounds), np.full(rounds * streams, each))


def clustered(random: np.random.Generator, streams: int, rate_per_s: float, seconds: float, mean: float) -> Arrivals:
    """Clusters of tuples at random times: about ``mean`` tuples, each of a random stream, come at once."""
    groups = max(int(seconds * rate_per_s), 1)
    clusters = max(int(groups / mean), 1)
    starts = np.sort(random.uniform(0, seconds * 1e6, clusters))
    at_us = np.sort(starts[random.integers(0, clusters, groups)]).astype(np.int64)
    return Arrivals(at_us, random.integers(0, streams, groups), np.ones(groups, np.int64))
