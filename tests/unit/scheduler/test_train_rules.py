"""How long trains are, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from aurora.errors import InputError
from aurora.model.qos import Graph
from aurora.scheduler.plan import WHOLE_QUEUE
from aurora.scheduler.planning import COSTS_US
from aurora.scheduler.policies import make_policy
from aurora.scheduler.priorities import Priorities
from aurora.scheduler.settings import SchedulerSettings
from aurora.scheduler.state import Snapshot, Topology
from aurora.scheduler.train_rules import TrainRule, Trains

GRAPH = Graph(((0.0, 1.0), (2.0, 1.0), (5.0, 0.0)))


def most(rule: TrainRule, graph: Graph | None = None, *, age_s: float = 0.0, **columns: float) -> int:
    """Of the first of two boxes in a row, at which 1,000 tuples wait."""
    topology = Topology.build({"a": [], "b": ["a"]}, {"out": "b"}, {"out": graph})
    state = Snapshot.empty(2, cost_s=0.001, overhead_s=0.0)
    state.now_us = 60_000_000
    state.ready[0] = 1_000
    state.arrival_us[0] = state.now_us - age_s * 1e6
    for name, value in columns.items():
        getattr(state, name)[:] = value
    priorities = Priorities(topology)
    priorities.refresh(state)
    return Trains(rule, priorities).most([0], state)[0]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (TrainRule(qos=False), WHOLE_QUEUE),
        (TrainRule(tuples=7, qos=False), 7),
        (TrainRule(cost_s=0.05, qos=False), 50),
        (TrainRule(memory_bytes=2_000, qos=False), 20),
        (TrainRule(share=0.2, qos=False), 200),
        (TrainRule(tuples=7, cost_s=0.05, memory_bytes=300, qos=False), 3),
        (TrainRule(memory_bytes=1, qos=False), 1),
    ],
)
def test_the_tightest_limit_holds(rule: TrainRule, expected: int) -> None:
    assert most(rule) == expected


def test_by_age_a_train_has_the_tuples_that_came_within_it() -> None:
    # The mean is a second old, so the oldest came two seconds ago.
    assert most(TrainRule(age_s=0.5, qos=False), age_s=1.0) == 250
    assert most(TrainRule(age_s=3, qos=False), age_s=1.0) == WHOLE_QUEUE


def test_a_train_comes_out_before_the_next_critical_point() -> None:
    patient = TrainRule(patience=1)
    # Two boxes of a millisecond per tuple, so 500 tuples per second.
    assert most(patient, GRAPH, age_s=1.5) == pytest.approx(250, abs=1)
    assert most(patient, GRAPH, age_s=1.9) == pytest.approx(50, abs=1)
    # Too late for the first point: the second is what counts, as far as patience goes.
    assert most(patient, GRAPH, age_s=4.0) == pytest.approx(500, abs=1)
    assert most(patient, GRAPH, age_s=9.0) == 2_000
    assert most(TrainRule(), None, age_s=9.0) == WHOLE_QUEUE


def test_a_train_does_not_hold_up_the_tightest_output() -> None:
    # A tenth of two seconds.
    assert most(TrainRule(), GRAPH) == pytest.approx(200, abs=1)
    assert most(TrainRule(patience=0.01), GRAPH) == pytest.approx(20, abs=1)


def test_dear_calls_make_longer_trains_unless_the_output_cannot_wait() -> None:
    local, spark = {"overhead_s": 1e-5, "cost_s": 1e-6}, {"overhead_s": 0.02, "cost_s": 1e-6}
    rule = TrainRule(cost_s=1e-4, qos=False)
    assert most(rule, **local) == 490
    assert most(rule, **spark) == 980_000
    assert most(TrainRule(cost_s=1e-4, qos=False, overhead=0.05), **spark) == 380_000
    assert most(TrainRule(cost_s=1e-4), GRAPH, age_s=1.9, **spark) == pytest.approx(30_000, rel=0.01)
    # A count and a memory limit are never exceeded.
    assert most(TrainRule(tuples=10, cost_s=1e-4), **spark) == 10


def test_trains_of_boxes_at_which_nothing_waits_follow_costs() -> None:
    topology = Topology.build({"a": [], "b": ["a"]}, {"out": "b"}, {"out": GRAPH})
    policy = make_policy(SchedulerSettings("buckets"), topology)
    state = Snapshot.empty(2, cost_s=0.001, overhead_s=0.0)
    state.ready[0] = 1

    def trains() -> list[int]:
        policy.changed([0, 1], state)
        (superbox,) = policy.plan(state)
        return [call.most for call in superbox.calls]

    def pass_us(microseconds: int) -> None:
        state.now_us += microseconds
        state.arrival_us[0] = state.now_us

    # A tenth of two seconds, by what a tuple costs. At first every plan looks at costs.
    assert trains() == pytest.approx([200, 200], abs=1)
    state.cost_s[1] = 0.002
    assert trains() == pytest.approx([200, 100], abs=1)
    pass_us(10 * COSTS_US)
    assert trains() == pytest.approx([200, 100], abs=1)
    state.cost_s[1] = 0.01
    pass_us(COSTS_US - 1)
    assert trains() == pytest.approx([200, 100], abs=1)
    pass_us(1)
    assert trains() == pytest.approx([181, 20], abs=1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tuples": 0}, "train rule tuples is 0; give a number above 0"),
        ({"tuples": 1.5}, "give a whole number of tuples"),
        ({"age_s": "1s"}, "train rule age_s is '1s'"),
        ({"share": 2}, "train rule share is 2; give a fraction, at most 1"),
        ({"overhead": -1}, "train rule overhead is -1"),
    ],
)
def test_bad_rules_are_explained(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        TrainRule(**given)
