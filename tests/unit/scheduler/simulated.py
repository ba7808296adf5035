"""Random networks, and an engine on paper that runs plans over counted tuples and checks what policies promise."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from aurora.model.qos import Graph
from aurora.scheduler.plan import Policy, Superbox
from aurora.scheduler.state import Snapshot, Topology


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Latency graphs of two to five points with falling utility."""
    count = draw(st.integers(2, 5))
    xs = sorted(draw(st.sets(st.integers(0, 5_000), min_size=count, max_size=count)))
    us = sorted(draw(st.lists(st.integers(0, 10), min_size=count - 1, max_size=count - 1)), reverse=True)
    return Graph(tuple(zip([x / 1e3 for x in xs], [1.0, *(u / 10 for u in us)], strict=True)))


@st.composite
def topologies(draw: st.DrawFn, most: int = 12, *, trees: bool = False) -> Topology:
    """Loop-free networks, some boxes of which lead to no output. In ``trees`` a box feeds one box at most."""
    count = draw(st.integers(1, most))
    reads: dict[str, list[str]] = {}
    free: list[str] = []
    for number in range(count):
        known = free if trees else list(reads)
        chosen = draw(st.lists(st.sampled_from(known), max_size=3, unique=True)) if known else []
        if trees:
            free = [box for box in free if box not in chosen]
        reads[f"b{number}"] = chosen
        free.append(f"b{number}")
    roots = free if trees else draw(st.lists(st.sampled_from(list(reads)), min_size=1, max_size=4))
    outputs = {f"o{place}": root for place, root in enumerate(roots)}
    latency = {name: draw(st.none() | graphs()) for name in outputs}
    return Topology.build(reads, outputs, latency)


@dataclass
class Simulation:
    """``workers`` superboxes of a plan run at once: all their boxes are running before the first is done."""

    topology: Topology
    policy: Policy
    selectivity: list[float]
    tells: bool = True
    workers: int = 1
    state: Snapshot = field(init=False)
    log: list[tuple[int, int]] = field(default_factory=list)
    plans: int = 0

    def __post_init__(self) -> None:
        self.state = Snapshot.empty(len(self.topology.boxes), cost_s=1e-3, overhead_s=1e-4)
        self.state.selectivity[:] = self.selectivity
        self._owed = [0.0] * len(self.topology.boxes)
        self._changed: set[int] = set()

    def arrive(self, box: int, tuples: int, age_us: int = 0) -> None:
        if not tuples:
            return
        state = self.state
        before = int(state.ready[box])
        mean = (before * state.arrival_us[box] + tuples * (state.now_us - age_us)) / (before + tuples)
        state.ready[box], state.arrival_us[box] = before + tuples, mean
        self._changed.add(box)

    def plan(self) -> list[Superbox]:
        """Asks the policy, and checks what every plan must be like."""
        state = self.state
        if self.tells:
            self.policy.changed(sorted(self._changed), state)
            self._changed.clear()
        planned = self.policy.plan(state)
        self.plans += 1
        assert bool(planned) == bool(state.free().any())
        seen: set[int] = set()
        for superbox in planned:
            boxes = {call.box for call in superbox.calls}
            assert not boxes & seen, "a box stands in two superboxes"
            assert not state.running[list(boxes)].any(), "a running box was planned"
            assert state.ready[superbox.calls[0].box] > 0, "nothing waits at the first box"
            assert all(call.most >= 1 for call in superbox.calls)
            assert superbox.why.sentence()
            seen |= boxes
        return planned

    def step(self) -> bool:
        """Runs one plan; False if there was nothing to do."""
        planned = self.plan()
        for start in range(0, len(planned), self.workers):
            batch = planned[start : start + self.workers]
            boxes = [call.box for superbox in batch for call in superbox.calls]
            self.state.running[boxes] = True
            if start + self.workers < len(planned):
                others = [call.box for superbox in planned[start + self.workers :] for call in superbox.calls]
                self.state.running[others] = True
            for superbox in batch:
                for call in superbox.calls:
                    self._call(call.box, call.most)
            self.state.running[boxes] = False
            self._changed.update(boxes)
        return bool(planned)

    def _call(self, box: int, most: int) -> None:
        state = self.state
        taken = min(int(state.ready[box]), most)
        self.log.append((box, taken))
        age_us = int(state.now_us - state.arrival_us[box])
        state.now_us += int(1e6 * (state.overhead_s[box] + taken * state.cost_s[box]))
        state.ready[box] -= taken
        self._changed.add(box)
        self._owed[box] += taken * self.selectivity[box]
        made = int(self._owed[box])
        self._owed[box] -= made
        for successor in self.topology.successors[box]:
            self.arrive(successor, made, age_us)

    def drain(self, most_plans: int) -> None:
        while self.step():
            assert self.plans < most_plans, "the queues do not drain"


def settled(topology: Topology, seed: int) -> Snapshot:
    """A snapshot with random queues, ages, costs and selectivities."""
    rng = np.random.default_rng(seed)
    count = len(topology.boxes)
    state = Snapshot.empty(count)
    state.now_us = 50_000_000
    state.ready[:] = rng.integers(0, 4, count)
    state.arrival_us[:] = state.now_us - rng.integers(0, 6_000_000, count)
    state.cost_s[:] = rng.choice([1e-5, 1e-3, 0.05, 0.3], count)
    state.selectivity[:] = rng.choice([0.0, 0.3, 1.0, 2.0], count)
    state.running[:] = rng.random(count) < 0.2
    return state
