"""Policies on a machine on paper that is nearly full, and overfull: the utility that outputs get from each.

Chains of five boxes with tight and loose latency graphs, as in the scheduling paper's section 6. The scheduler itself
costs nothing here, so this shows the quality of decisions alone.
"""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from aurora.model.qos import Graph
from aurora.qos.curve import Curve
from aurora.scheduler.policies import SchedulerSettings, make_policy
from aurora.scheduler.state import Snapshot, Topology

TIGHT = Graph(((0.0, 1.0), (0.001, 1.0), (1.0, 0.0)))
LOOSE = Graph(((0.0, 1.0), (4.0, 1.0), (5.0, 0.0)))
CHAINS, DEPTH, SECONDS, OVERHEAD_S = 20, 5, 6.0, 5e-5


class Machine:
    """One worker. A tuple is its arrival time; boxes let everything through."""

    def __init__(self, settings: SchedulerSettings, load: float) -> None:
        rng = np.random.default_rng(11)
        names = [[f"b{chain}_{place}" for place in range(DEPTH)] for chain in range(CHAINS)]
        reads = {name: chain[place - 1 : place] for chain in names for place, name in enumerate(chain)}
        graphs: dict[str, Graph | None] = {f"o{chain}": (TIGHT, LOOSE)[chain % 2] for chain in range(CHAINS)}
        self.topology = Topology.build(reads, {f"o{n}": chain[-1] for n, chain in enumerate(names)}, graphs)
        self.curves = [Curve(app.latency) for app in self.topology.applications if app.latency]
        self.policy = make_policy(settings, self.topology)
        self.state = Snapshot.empty(CHAINS * DEPTH, overhead_s=OVERHEAD_S)
        self.state.cost_s[:] = rng.uniform(1e-4, 1e-3, CHAINS * DEPTH)
        each = int(SECONDS * load / self.state.cost_s.sum())
        self.coming = deque(sorted((t, n) for n in range(CHAINS) for t in rng.uniform(0, SECONDS, each).tolist()))
        self.queues: list[deque[float]] = [deque() for _ in reads]
        self.utilities: list[list[float]] = [[] for _ in range(CHAINS)]
        self.now_s = 0.0
        self.changed: set[int] = set()

    def mean_utility(self) -> float:
        while self.now_s < SECONDS:
            while self.coming and self.coming[0][0] <= self.now_s:
                arrival_s, chain = self.coming.popleft()
                self.put(chain * DEPTH, [arrival_s])
            if not self.step():
                self.now_s = self.coming[0][0] if self.coming else SECONDS
        for box, queue in enumerate(self.queues):
            self.judge(box // DEPTH, list(queue))
        return float(np.mean([np.mean(found) for found in self.utilities]))

    def step(self) -> bool:
        self.state.now_us = int(self.now_s * 1e6)
        self.policy.changed(sorted(self.changed), self.state)
        self.changed.clear()
        planned = self.policy.plan(self.state)
        for call in (call for superbox in planned for call in superbox.calls):
            self.call(call.box, call.most)
        return bool(planned)

    def call(self, box: int, most: int) -> None:
        queue = self.queues[box]
        taken = [queue.popleft() for _ in range(min(most, len(queue)))]
        if taken:
            self.now_s += OVERHEAD_S + len(taken) * float(self.state.cost_s[box])
        self.put(box, [])
        if box % DEPTH == DEPTH - 1:
            self.judge(box // DEPTH, taken)
        else:
            self.put(box + 1, taken)

    def put(self, box: int, arrivals_s: list[float]) -> None:
        queue = self.queues[box]
        queue.extend(arrivals_s)
        self.state.ready[box] = len(queue)
        self.state.arrival_us[box] = 1e6 * sum(queue) / len(queue) if queue else 0.0
        self.changed.add(box)

    def judge(self, chain: int, arrivals_s: list[float]) -> None:
        latencies = self.now_s - np.array(arrivals_s)
        self.utilities[chain] += self.curves[chain].utility(latencies).tolist()


def utility(policy: str, load: float, partitions: int = 20) -> float:
    return Machine(SchedulerSettings(policy, partitions=partitions), load).mean_utility()


@pytest.mark.parametrize("load", [0.9, 1.2])
def test_priorities_are_above_round_robin_and_buckets_near_them(load: float) -> None:
    by_turns, by_priority = utility("round_robin", load), utility("qos", load)
    assert by_priority > by_turns + (0.005 if load < 1 else 0.1)
    assert utility("buckets", load) > by_priority - 0.01
    # One bucket has no priorities.
    assert utility("buckets", load, partitions=1) < by_priority
