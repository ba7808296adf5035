"""Why a box runs or does not: the reason that is given is the one that the scheduler would act on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.model.qos import Graph
from aurora.scheduler.plan import Why
from aurora.scheduler.policies import SchedulerSettings, make_policy
from aurora.scheduler.standing import Standing, Thinned, explain
from aurora.scheduler.state import Snapshot, Topology
from tests.unit.scheduler.simulated import settled, topologies

SOON = Graph(((0.0, 1.0), (1.0, 1.0), (2.0, 0.0)))
LATER = Graph(((0.0, 1.0), (10.0, 1.0), (20.0, 0.0)))
NOW_US = 100_000_000

TOPOLOGY = Topology.build(
    {"clean": [], "soon": ["clean"], "later": ["clean"], "logged": ["clean"]},
    {"alarms": "soon", "reports": "later", "log": "logged"},
    {"alarms": SOON, "reports": LATER},
)


def standing(
    ready: Mapping[str, tuple[int, float]], called_s: Mapping[str, float] | None = None, **more: Any
) -> Standing:
    """``ready`` has how many tuples wait and how old they are, ``called_s`` how long ago boxes were called."""
    state = Snapshot.empty(len(TOPOLOGY.boxes))
    state.now_us = NOW_US
    for box, (tuples, age_s) in ready.items():
        number = TOPOLOGY.boxes.index(box)
        state.ready[number], state.arrival_us[number] = tuples, NOW_US - age_s * 1e6
    ago = called_s or {}
    called_us = [round(NOW_US - ago[box] * 1e6) if box in ago else None for box in TOPOLOGY.boxes]
    return Standing("qos", TOPOLOGY, state, state.ready.copy(), called_us, **more)


def test_a_box_waits_behind_the_one_that_loses_more() -> None:
    found = explain(standing({"soon": (100, 1.5), "later": (100, 1.5)}))
    assert found["soon"].state == "waiting"
    assert found["soon"].behind is None
    assert found["soon"].utility_per_s == pytest.approx(1.0)
    assert found["later"].behind == "soon"
    assert "costs reports 0 of utility per second, but alarms 1 at soon" in found["later"].why
    assert found["later"].slack_s == pytest.approx(8.5, abs=0.01)


def test_a_box_waits_behind_the_one_that_has_less_time() -> None:
    found = explain(standing({"soon": (1, 0.1), "later": (1, 0.1)}))
    assert "soon has less time: 0.9 s until alarms loses; this one has 9.9 s" in found["later"].why


def test_what_is_too_late_is_worth_nothing() -> None:
    found = explain(standing({"soon": (5, 7.0), "later": (1, 12.0)}))
    assert (found["soon"].state, found["soon"].behind) == ("worthless", "later")
    assert "7 s old on delivery, worth nothing to alarms" in found["soon"].why


def test_nobody_waits_for_a_box_without_a_latency_graph() -> None:
    found = explain(standing({"soon": (1, 0.0), "logged": (9, 50.0)}))
    assert found["logged"].why == "No output with a latency graph waits for it, so soon goes first."
    assert found["logged"].utility_per_s is None


def test_a_box_that_has_nothing_left_keeps_up_and_says_why_it_ran() -> None:
    why = Why("qos", "clean", "alarms", 12, "", 0.5, 0.2, 0.8)
    found = explain(standing({}, {"clean": 0.1, "soon": 0.1}, said={0: why, 1: why}))
    assert found["clean"].state == found["soon"].state == "keeping_up"
    assert "Chosen last because: utility 0.5/s" in found["clean"].why
    assert "Ran last with clean" in found["soon"].why
    assert found["clean"].last_ran_s == pytest.approx(0.1)


def test_a_box_that_gets_nothing_is_told_who_keeps_it_from_it() -> None:
    found = explain(standing({"clean": (7, 1.0)}, {"clean": 60.0}))
    assert found["soon"].state == "starved"
    assert found["soon"].why == "Nothing waits for it. 7 tuples wait at clean."
    found = explain(standing({}, {"clean": 0.5}))
    assert found["soon"].why == "clean ran, and let nothing through for it."
    found = explain(standing({}, {"clean": 60.0, "soon": 60.0}))
    assert (found["soon"].why, found["later"].why) == ("Nothing comes in.", "Nothing has come for it yet.")


def test_drops_upstream_are_a_reason() -> None:
    found = explain(standing({}, {"clean": 0.1}, thinned=[Thinned(2, "clean before later", 0.25)]))
    assert found["later"].state == "starved"
    assert "lets 25% through at clean before later" in found["later"].why
    found = explain(standing({}, {"later": 0.1}, thinned=[Thinned(2, "clean before later", None)]))
    assert found["later"].state == "keeping_up"
    assert "drops what matters least at clean before later" in found["later"].why


def test_inputs_that_keep_step_hold_a_box_up() -> None:
    stands = standing({}, lagging={2: "quotes"})
    found = explain(replace(stands, queued=np.array([0, 0, 1, 0])))
    assert found["later"].state == "held"
    assert found["later"].why == "1 tuple waits, but its inputs must keep step, and those of quotes are not there."


def test_a_paused_network_runs_nothing_and_a_running_box_runs() -> None:
    stands = standing({"soon": (3, 0.0)})
    assert explain(stands, paused=True)["soon"].why == "The network is paused, so nothing runs; 3 tuples wait for it."
    stands.state.running[1] = True
    assert explain(stands)["soon"].state == "running"


def test_where_turns_are_taken_nothing_is_said_of_utility() -> None:
    found = explain(replace(standing({"soon": (1, 0.0), "later": (1, 0.0)}), policy="round_robin"))
    assert found["soon"].why == "Its turn comes; one other box has tuples waiting."


@given(topologies(), st.integers(0, 1_000))
def test_every_box_gets_a_reason_and_the_first_is_the_one_that_is_planned(topology: Topology, seed: int) -> None:
    state = settled(topology, seed)
    stands = Standing("qos", topology, state.copy(state.now_us), state.ready.copy(), [None] * len(topology.boxes))
    found = explain(stands)
    assert set(found) == set(topology.boxes)
    assert all(one.why for one in found.values())
    planned = make_policy(SchedulerSettings("qos"), topology).plan(state)
    if planned:
        first = topology.boxes[planned[0].calls[0].box]
        assert found[first].behind is None
        assert {one.behind for one in found.values() if one.state in ("waiting", "worthless")} <= {None, first}
