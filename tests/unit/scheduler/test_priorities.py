"""Utility, slack and their order, against formulas applied box by box; and the policies that go by them."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.model.qos import Graph
from aurora.qos.curve import Curve
from aurora.scheduler.feedback import Feedback
from aurora.scheduler.policies import SchedulerSettings, make_policy
from aurora.scheduler.priorities import Priorities
from aurora.scheduler.state import Snapshot, Topology
from tests.unit.scheduler.simulated import settled, topologies

TIGHT = Graph(((0.0, 1.0), (0.001, 1.0), (1.0, 0.0)))
LOOSE = Graph(((0.0, 1.0), (4.0, 1.0), (5.0, 0.0)))


def slow_look(topology: Topology, state: Snapshot, box: int) -> tuple[float, float]:
    """One application after the other, one path after the other."""
    utility, slack = 0.0, math.inf
    for place in topology.reaches(box):
        application = topology.applications[place]
        if application.latency is None:
            continue
        tree = set(topology.tree(place))

        def work_s(at: int, tree: set[int] = tree) -> float:
            after = sum(work_s(successor) for successor in topology.successors[at] if successor in tree)
            return float(state.cost_s[at] + state.selectivity[at] * after)

        def calls_s(at: int, tree: set[int] = tree) -> float:
            after = [calls_s(successor) for successor in topology.successors[at] if successor in tree]
            return float(state.overhead_s[at] + max(after, default=0.0))

        latency_s = (state.now_us - state.arrival_us[box]) / 1e6 + calls_s(box) + state.ready[box] * work_s(box)
        curve = Curve(application.latency)
        utility += float(curve.gradient(latency_s))
        slack = min(slack, float(curve.slack(latency_s)))
    return utility, slack


@given(topologies(), st.integers(0, 1_000))
def test_utility_and_slack_follow_the_formulas(topology: Topology, seed: int) -> None:
    state = settled(topology, seed)
    priorities = Priorities(topology)
    priorities.refresh(state)
    boxes = np.flatnonzero(state.free())
    found = priorities.look(boxes, state)
    expected = [slow_look(topology, state, box) for box in boxes.tolist()]
    assert found.utility == pytest.approx([utility for utility, _ in expected])
    assert found.slack_s == pytest.approx([slack for _, slack in expected])
    ranked = [slow_look(topology, state, box) for box in priorities.order(boxes, state).tolist()]
    for (utility, slack), (next_utility, next_slack) in pairwise(ranked):
        assert utility >= next_utility - 1e-9
        if utility == next_utility:
            assert slack <= next_slack + 1e-9


@given(topologies(), st.integers(0, 1_000))
def test_reasons_say_what_decided(topology: Topology, seed: int) -> None:
    state = settled(topology, seed)
    priorities = Priorities(topology)
    priorities.refresh(state)
    boxes = np.flatnonzero(state.free())
    found = priorities.look(boxes, state)
    reasons = [priorities.reason(priorities.expected_latencies_s(box, state)) for box in boxes.tolist()]
    assert [reason.utility for reason in reasons] == pytest.approx(found.utility.tolist())
    assert [reason.slack_s for reason in reasons] == pytest.approx(found.slack_s.tolist())


def two_chains(tight: Graph | None, loose: Graph | None) -> Topology:
    reads = {"t1": [], "l1": [], "t2": ["t1"], "l2": ["l1"]}
    return Topology.build(reads, {"tight": "t2", "loose": "l2"}, {"tight": tight, "loose": loose})


def test_the_box_that_loses_goes_first_and_pushes_its_tuples_out() -> None:
    policy = make_policy(SchedulerSettings("qos"), two_chains(TIGHT, LOOSE))
    state = Snapshot.empty(4)
    state.now_us = 10_000_000
    state.ready[:2] = 10
    state.arrival_us[:2] = [state.now_us - 500_000, state.now_us - 3_000_000]
    first, second = policy.plan(state)
    assert [call.box for call in first.calls] == [0, 2]
    assert [call.box for call in second.calls] == [1, 3]
    assert first.why.application == "tight"
    assert first.why.utility == pytest.approx(1 / 0.999)
    assert first.why.sentence().startswith("box t1: utility 1/s at expected latency 0.5 s, 0.5 s before the next")
    # Later the loose one is in its steep part, and the tight one has nothing to lose any more.
    state.now_us += 1_500_000
    assert [superbox.why.box for superbox in policy.plan(state)] == ["l1", "t1"]


def test_without_push_boxes_come_alone() -> None:
    policy = make_policy(SchedulerSettings("qos", push=False), two_chains(TIGHT, LOOSE))
    state = Snapshot.empty(4)
    state.ready[:] = 1
    assert [[call.box for call in superbox.calls] for superbox in policy.plan(state)] == [[0], [2]]


def test_a_plan_takes_a_part_of_what_waits_by_priority() -> None:
    topology = Topology.build({f"b{n}": [] for n in range(60)}, {f"o{n}": f"b{n}" for n in range(60)})
    state = Snapshot.empty(60)
    state.ready[:] = 1
    for policy in ("qos", "buckets", "spanner"):
        assert len(make_policy(SchedulerSettings(policy), topology).plan(state)) == 20
        assert len(make_policy(SchedulerSettings(policy, horizon=7), topology).plan(state)) == 7


def test_among_equals_what_is_in_memory_goes_first_and_then_what_is_oldest() -> None:
    policy = make_policy(SchedulerSettings("qos"), two_chains(None, None))
    state = Snapshot.empty(4)
    state.now_us = 100
    state.ready[:2] = 1
    state.arrival_us[:2] = [50, 40]
    assert [superbox.why.box for superbox in policy.plan(state)] == ["l1", "t1"]
    state.resident[1] = 0.5
    superboxes = policy.plan(state)
    assert [superbox.why.box for superbox in superboxes] == ["t1", "l1"]
    assert superboxes[0].why.sentence() == "box t1: no output with a latency graph waits for it; 1 tuple ready"


def test_feedback_gives_more_turns_to_an_output_that_does_badly() -> None:
    policy = make_policy(SchedulerSettings("feedback"), two_chains(TIGHT, LOOSE))
    assert isinstance(policy, Feedback)
    state = Snapshot.empty(4)
    state.ready[:2] = 1

    def turns(plans: int) -> dict[str, int]:
        found = [superbox.why.application for _ in range(plans) for superbox in policy.plan(state)]
        return {name: found.count(name) for name in ("tight", "loose")}

    assert turns(10) == {"tight": 10, "loose": 10}
    for _ in range(2):
        policy.note_utilities({"tight": 0.0, "loose": 1.0, "unknown": 0.5})
    assert policy.weights == {"tight": pytest.approx(1.95**2), "loose": 1.0}
    uneven = turns(39)
    assert uneven["tight"] > 3 * uneven["loose"]
    assert uneven["loose"] >= 9
    for _ in range(100):
        policy.note_utilities({"tight": 1.0, "loose": 1.0})
    assert policy.weights == {"tight": 1.0, "loose": 1.0}


def test_who_had_nothing_to_do_does_not_save_turns_up() -> None:
    policy = make_policy(SchedulerSettings("feedback"), two_chains(TIGHT, LOOSE))
    state = Snapshot.empty(4)
    state.ready[0] = 1
    for _ in range(50):
        policy.plan(state)
    state.ready[1] = 1
    found = [superbox.why.application for _ in range(10) for superbox in policy.plan(state)]
    assert found.count("tight") >= 9


def test_a_spanner_reaches_the_boxes_of_highest_priority_and_no_others() -> None:
    reads: dict[str, list[str]] = {f"leaf{n}": [] for n in range(4)}
    reads |= {"mid": ["leaf0", "leaf1"], "root": ["mid", "leaf2", "leaf3"]}
    topology = Topology.build(reads, {"out": "root"}, {"out": LOOSE})
    policy = make_policy(SchedulerSettings("spanner", "min_cost", spanned=2), topology)
    state = Snapshot.empty(6)
    state.now_us = 10_000_000
    state.ready[:4] = 1
    state.arrival_us[:4] = state.now_us - np.array([4.5, 1.0, 2.0, 3.0]) * 1e6
    (superbox,) = policy.plan(state)
    assert [topology.boxes[call.box] for call in superbox.calls] == ["leaf0", "mid", "leaf3", "root"]
    assert superbox.why.box == "leaf0"
    assert superbox.why.sentence().startswith("box leaf0: one of 4 boxes that lead to out, utility 1/s at")


def test_costs_that_waver_do_not_count_and_those_that_change_do() -> None:
    topology = two_chains(TIGHT, LOOSE)
    priorities = Priorities(topology)
    state = Snapshot.empty(4)
    assert priorities.refresh(state) == [0, 1, 2, 3]
    state.cost_s *= 1.1
    assert priorities.refresh(state) == []
    state.cost_s[3] *= 1.2
    assert priorities.refresh(state, np.array([0, 2])) == []
    assert priorities.refresh(state) == [1, 3]
