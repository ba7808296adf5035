"""Buckets that are kept up to date by events, against buckets computed from nothing, and against the exact order."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.model.qos import Graph
from aurora.qos.curve import Curve
from aurora.scheduler.buckets import Buckets
from aurora.scheduler.latency_ranges import NEVER, LatencyRanges
from aurora.scheduler.policies import SchedulerSettings, make_policy
from aurora.scheduler.state import Snapshot, Topology
from tests.unit.scheduler.simulated import graphs, settled, topologies

PARTITIONS = st.sampled_from([1, 2, 5, 20])
CHANGES = st.lists(
    st.tuples(
        st.integers(0, 3_000_000),
        st.lists(st.tuples(st.integers(0, 11), st.integers(0, 5), st.integers(0, 4_000_000)), max_size=4),
        st.booleans(),
    ),
    max_size=12,
)


def bucketed(topology: Topology, **settings: Any) -> Buckets:
    policy = make_policy(SchedulerSettings("buckets", **settings), topology)
    assert isinstance(policy, Buckets)
    return policy


@given(topologies(), PARTITIONS, st.integers(0, 1_000), CHANGES)
def test_events_keep_every_box_where_it_belongs(
    topology: Topology, partitions: int, seed: int, changes: list[Any]
) -> None:
    policy = bucketed(topology, partitions=partitions, horizon=1, push=False)
    state = settled(topology, seed)
    everything = np.arange(len(topology.boxes))
    planned: set[int] = set()
    for passed_us, arrivals, done in changes:
        state.now_us += passed_us
        told = {box % len(topology.boxes) for box, _, _ in arrivals}
        for box, tuples, age_us in arrivals:
            at = box % len(topology.boxes)
            state.ready[at], state.arrival_us[at] = tuples, state.now_us - age_us
        if done:
            state.running[list(planned)] = False
            told |= planned
            planned.clear()
        policy.changed(told, state)
        before = state.free()
        superboxes = policy.plan(state)
        now_planned = {call.box for superbox in superboxes for call in superbox.calls}
        fresh = bucketed(topology, partitions=partitions)
        fresh.priorities.refresh(state)
        expected = fresh.assignment(everything, state).rank
        for box in everything.tolist():
            if before[box] and box not in now_planned:
                assert policy.rank(box) == expected[box]
            else:
                assert policy.rank(box) < 0
        if superboxes:
            assert expected[superboxes[0].calls[0].box] == expected[before].max()
        state.running[list(now_planned)] = True
        planned |= now_planned


@given(topologies(), PARTITIONS, st.integers(0, 1_000))
def test_the_order_is_the_exact_one_up_to_the_width_of_a_bucket(topology: Topology, partitions: int, seed: int) -> None:
    policy = bucketed(topology, partitions=partitions, push=False)
    state = settled(topology, seed)
    waiting = np.flatnonzero(state.free()).tolist()
    ordered: list[int] = []
    while superboxes := policy.plan(state):
        planned = [superbox.calls[0].box for superbox in superboxes]
        state.running[planned] = True
        ordered += planned
    assert sorted(ordered) == waiting
    boxes = np.array(ordered, np.int64)
    exact = policy.priorities.look(boxes, state)
    ranks = policy.assignment(boxes, state).rank.tolist()
    by_utility = [rank // (partitions + 1) for rank in ranks]
    for (utility, slack, range_), (next_utility, next_slack, next_range) in pairwise(
        zip(exact.utility.tolist(), exact.slack_s.tolist(), by_utility, strict=True)
    ):
        assert utility >= next_utility - policy.utility_width * 1.001
        if range_ == next_range and slack < np.inf:
            assert slack <= next_slack + policy.ranges.slack_width_s * 1.001 + 1e-5


def test_one_bucket_is_round_robin() -> None:
    topology = Topology.build({name: [] for name in "abc"}, {name: name for name in "abc"})
    policy = bucketed(topology, partitions=1, horizon=1)
    state = Snapshot.empty(3)
    state.ready[:] = 100
    turns = []
    for _ in range(7):
        (superbox,) = policy.plan(state)
        turns.append(superbox.why.box)
        policy.changed([call.box for call in superbox.calls], state)
    assert "".join(turns) == "abcabca"


def test_a_planned_box_is_left_alone_until_told_of() -> None:
    policy = bucketed(Topology.build({"a": [], "b": []}, {"x": "a", "y": "b"}), horizon=1)
    state = Snapshot.empty(2)
    state.ready[:] = 5
    assert policy.plan(state)[0].why.box == "a"
    assert policy.plan(state)[0].why.box == "b"
    # An engine that tells nothing loses order, but no box.
    assert policy.plan(state)[0].why.box == "a"


def chains(count: int) -> Topology:
    reads: dict[str, list[str]] = {}
    for chain in range(count):
        reads |= {f"a{chain}": [], f"b{chain}": [f"a{chain}"]}
    graphs = [Graph(((0.0, 1.0), (0.5, 1.0), (2.0, 0.0))), Graph(((0.0, 1.0), (4.0, 1.0), (5.0, 0.0)))]
    outputs = {f"o{chain}": f"b{chain}" for chain in range(count)}
    return Topology.build(reads, outputs, {name: graphs[place % 2] for place, name in enumerate(outputs)})


def ranks_of(policy: Buckets) -> np.ndarray[Any, Any]:
    return np.array([policy.rank(box) for box in range(len(policy.topology.boxes))])


def steps_per_transition(count: int) -> float:
    """Boxes that wait and only grow older, a few of which run at a time and get new tuples."""
    topology = chains(count)
    policy = bucketed(topology, horizon=4)
    state = Snapshot.empty(len(topology.boxes))
    rng = np.random.default_rng(3)
    firsts = np.arange(0, 2 * count, 2)
    state.ready[firsts] = 1
    state.arrival_us[firsts] = -rng.integers(0, 3_000_000, count)
    policy.changed(firsts.tolist(), state)
    policy.plan(state)
    transitions, before, steps = 0, ranks_of(policy), policy.steps
    while transitions < 5 * count:
        state.now_us += 500
        planned = [call.box for superbox in policy.plan(state) for call in superbox.calls]
        told = [box for box in planned if box % 2 == 0]
        state.arrival_us[told] = state.now_us
        policy.changed(planned, state)
        now = ranks_of(policy)
        transitions += int((now != before).sum())
        before = now
    return (policy.steps - steps) / transitions


def test_work_per_transition_does_not_grow_with_the_number_of_boxes() -> None:
    few, many = steps_per_transition(100), steps_per_transition(1_600)
    assert many < 20
    assert many < 2 * few + 5


@pytest.mark.parametrize("partitions", [1, 20])
def test_a_network_without_graphs_has_one_bucket(partitions: int) -> None:
    policy = bucketed(Topology.build({"a": [], "b": []}, {"x": "a"}), partitions=partitions)
    state = Snapshot.empty(2)
    state.ready[:] = 1
    assert set(policy.assignment(np.arange(2), state).rank.tolist()) == {0}
    assert len(policy.plan(state)) == 2


@given(st.lists(graphs(), min_size=1, max_size=3), PARTITIONS, st.lists(st.integers(0, 6_000_000), min_size=1))
def test_latency_ranges_have_the_loss_and_the_slack_of_the_curve(
    drawn: list[Graph], partitions: int, latencies_us: list[int]
) -> None:
    curves = {place: Curve(graph) for place, graph in enumerate(drawn)}
    ranges = LatencyRanges(curves, partitions)
    for place, curve in curves.items():
        latencies_s = np.array(latencies_us) / 1e6 + 1e-7
        found = ranges.find(np.repeat(ranges.axes([place]), len(latencies_s)), latencies_s)
        assert found.loss == pytest.approx(curve.gradient(latencies_s))
        for slack_s, part, rest_us in zip(
            curve.slack(latencies_s).tolist(), found.slack.tolist(), found.rest_us.tolist(), strict=True
        ):
            if slack_s == np.inf:
                assert (part, rest_us) == (partitions, NEVER)
            else:
                # Ranges start at whole microseconds.
                assert part - 1e-4 <= slack_s / ranges.slack_width_s <= part + 1 + 1e-4
                assert rest_us <= slack_s * 1e6 + 1


def test_a_box_whose_queue_grows_is_looked_at_earlier() -> None:
    graph = Graph(((0.0, 1.0), (10.0, 1.0), (11.0, 0.0)))
    topology = Topology.build({"a": [], "b": []}, {"x": "a", "y": "b"}, {"x": graph, "y": graph})
    policy = bucketed(topology, partitions=5, horizon=1)
    state = Snapshot.empty(2, cost_s=0.001)
    state.ready[:] = 1

    def rank_of_b_after(seconds: int) -> int:
        """The other box is always older, and goes first."""
        state.now_us = seconds * 1_000_000
        state.arrival_us[0] = state.now_us - 9_500_000
        policy.changed([0], state)
        (superbox,) = policy.plan(state)
        assert superbox.why.box == "a"
        return policy.rank(1)

    # A range of slack is two seconds wide.
    fresh = rank_of_b_after(0)
    state.ready[1] = 1_500
    policy.changed([1], state)
    assert rank_of_b_after(0) == fresh
    assert rank_of_b_after(1) == fresh + 1
