"""What holds for every policy, and what is particular to the simple ones."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.errors import InputError
from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.model.qos import Graph
from aurora.scheduler.plan import WHOLE_QUEUE, Why
from aurora.scheduler.policies import SchedulerSettings, TrainRule, make_policy
from aurora.scheduler.settings import POLICIES
from aurora.scheduler.state import NO_BOX, Application, Snapshot, Topology
from tests.unit.scheduler.simulated import Simulation, topologies

TRAVERSALS = ("auto", "min_cost", "min_latency", "min_memory")
TRAINS = (
    None,
    TrainRule(),
    TrainRule(tuples=3),
    TrainRule(cost_s=0.005),
    TrainRule(age_s=0.1),
    TrainRule(memory_bytes=500),
    TrainRule(share=0.3),
)


@st.composite
def settings(draw: st.DrawFn) -> SchedulerSettings:
    policy = draw(st.sampled_from(POLICIES))
    return SchedulerSettings(
        policy,
        traversal=draw(st.sampled_from(TRAVERSALS)),
        train=None if policy == "tuple_at_a_time" else draw(st.sampled_from(TRAINS)),
        horizon=draw(st.sampled_from([1, 2, 32])),
        push=draw(st.booleans()),
        partitions=draw(st.sampled_from([1, 3, 20])),
        spanned=draw(st.sampled_from([1, 3])),
    )


ARRIVALS = st.lists(st.lists(st.tuples(st.integers(0, 11), st.integers(1, 9), st.integers(0, 5_000_000))), max_size=4)


def ran(chosen: SchedulerSettings, topology: Topology, arrivals: list[Any], **how: Any) -> Simulation:
    count = len(topology.boxes)
    selectivity = [(0.4, 1.0, 0.0, 1.3)[box % 4] for box in range(count)]
    simulation = Simulation(topology, make_policy(chosen, topology), selectivity, **how)
    simulation.state.now_us = 10_000_000
    for burst in arrivals:
        for box, tuples, age_us in burst:
            simulation.arrive(box % count, tuples, age_us)
        simulation.step()
    simulation.drain(20_000)
    return simulation


@given(settings(), topologies(), ARRIVALS, st.booleans(), st.sampled_from([1, 3]))
def test_queues_drain_under_every_policy(
    chosen: SchedulerSettings, topology: Topology, arrivals: list[Any], tells: bool, workers: int
) -> None:
    simulation = ran(chosen, topology, arrivals, tells=tells, workers=workers)
    assert not simulation.state.ready.any()


@given(settings(), topologies(), ARRIVALS)
def test_the_same_events_give_the_same_calls(
    chosen: SchedulerSettings, topology: Topology, arrivals: list[Any]
) -> None:
    assert ran(chosen, topology, arrivals).log == ran(chosen, topology, arrivals).log


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_is_planned_when_nothing_waits_or_all_that_waits_is_running(policy: str) -> None:
    topology = Topology.build({"a": [], "b": ["a"]}, {"out": "b"})
    made = make_policy(SchedulerSettings(policy), topology)
    state = Snapshot.empty(2)
    assert made.plan(state) == []
    state.ready[0] = 5
    state.running[0] = True
    made.changed([0], state)
    assert made.plan(state) == []
    state.running[0] = False
    made.changed([0], state)
    (superbox,) = made.plan(state)
    assert superbox.calls[0].box == 0
    assert made.name == policy


def test_round_robin_goes_on_where_it_ended_and_takes_whole_queues() -> None:
    topology = Topology.build({name: [] for name in "abcde"}, {})
    policy = make_policy(SchedulerSettings("round_robin", horizon=2), topology)
    state = Snapshot.empty(5)
    state.ready[:] = [3, 0, 1, 1, 1]
    turns = [[call for superbox in policy.plan(state) for call in superbox.calls] for _ in range(3)]
    assert [[call.box for call in turn] for turn in turns] == [[0, 2], [3, 4], [0, 2]]
    assert turns[0][0].most == WHOLE_QUEUE


def test_tuple_at_a_time_takes_one() -> None:
    policy = make_policy(SchedulerSettings("tuple_at_a_time"), Topology.build({"a": [], "b": ["a"]}, {"out": "b"}))
    state = Snapshot.empty(2)
    state.ready[:] = 7
    assert [superbox.calls for superbox in policy.plan(state)] == [((0, 1),), ((1, 1),)]


def test_applications_take_turns_and_a_shared_box_goes_with_the_first() -> None:
    reads = {"shared": [], "left": ["shared"], "right": ["shared"], "lonely": []}
    topology = Topology.build(reads, {"l": "left", "r": "right", "l_again": "left"})
    policy = make_policy(SchedulerSettings("applications", "min_cost", horizon=2), topology)
    state = Snapshot.empty(4)
    state.ready[:] = 1
    first, second = policy.plan(state), policy.plan(state)
    assert [[call.box for call in superbox.calls] for superbox in first] == [[0, 1], [2]]
    assert [superbox.why.application for superbox in first] == ["l", "r"]
    # What leads to no output is run all the same.
    assert [[call.box for call in superbox.calls] for superbox in second] == [[3], [0, 1]]
    assert second[0].why.application == "lonely"


def test_a_topology_of_a_network() -> None:
    schema = {"schema": {"x": "double"}}
    network = Network.from_document(
        {
            "aurora": 1,
            "network": "n",
            "streams": {"s": schema, "t": schema},
            "boxes": {
                "both": {"kind": "union", "in": ["t", "high", "s"]},
                "high": {"kind": "filter", "in": "s", "where": "x > 1"},
            },
            "outputs": {
                "alarms": {"from": "both", "qos": {"latency": [["0s", 1], ["2s", 1], ["5s", 0]]}},
                "raw": {"from": "s"},
            },
        }
    )
    topology = Topology.of(typecheck(network))
    assert topology.boxes == ("high", "both")
    assert topology.predecessors == ((), (0,))
    assert topology.successors == ((1,), ())
    graph = Graph(((0.0, 1.0), (2.0, 1.0), (5.0, 0.0)))
    assert topology.applications == (Application("alarms", 1, graph), Application("raw", NO_BOX))
    assert topology.tree(0) == (0, 1)
    assert topology.tree(1) == ()
    assert topology.roots == (1,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"policy": "fifo"},
            "there is no scheduling policy 'fifo'; choices: round_robin, tuple_at_a_time, applications",
        ),
        ({"traversal": "min_costs"}, "did you mean 'min_cost'\\? choices: auto, min_cost"),
        ({"horizon": 0}, "scheduler setting horizon is 0; give a whole number"),
        ({"partitions": 2.5}, "scheduler setting partitions is 2.5"),
        ({"good": 1.5}, "scheduler setting good is 1.5"),
        ({"policy": "tuple_at_a_time", "train": TrainRule()}, "takes one tuple per call"),
    ],
)
def test_bad_settings_are_explained(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SchedulerSettings(**given)


def test_a_reason_in_words() -> None:
    late = Why("qos", "late", "nyse_alarms", 1200, "", 0.31, 2.4, 0.2)
    assert late.sentence() == (
        "box late: utility 0.31/s at expected latency 2.4 s, "
        "0.2 s before the next critical point of nyse_alarms; 1,200 tuples ready"
    )
    lost = Why("qos", "late", "nyse_alarms", 1, "", 0.0, 12.0, float("inf"))
    assert lost.sentence() == (
        "box late: utility 0/s at expected latency 12 s, no critical point of nyse_alarms lies ahead; 1 tuple ready"
    )
    assert Why("round_robin", "f", "", 3, "its turn").sentence() == "box f: its turn; 3 tuples ready"
