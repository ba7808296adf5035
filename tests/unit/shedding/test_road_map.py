"""The road map against plans from scratch."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora.shedding.road_map import RoadMap
from tests.unit.shedding.networks import Case, cases
from tests.unit.shedding.test_greedy import FLAT, STEEP, two_branches


@settings(deadline=None, max_examples=25)
@given(cases(), st.floats(0, 1.2), st.floats(0.1, 10))
def test_a_plan_that_is_looked_up_is_the_one_that_would_be_made(case: Case, share: float, growth: float) -> None:
    """Also when all loads have grown alike since the map was made. A better one for less room is taken instead."""
    planner = case.planner()
    road_map = RoadMap.build(planner, steps=10)
    load = growth * planner.load_before
    step = road_map.step(load, share * load)
    from_scratch = [case.planner().plan(share * planner.load_before) for share in road_map.shares[step:]]
    best = max(plan.utility for plan in from_scratch)
    assert road_map.plan(load, share * load) == next(plan for plan in from_scratch if plan.utility == best)
    if load and step < len(road_map.plans) - 1:
        assert road_map.plans[step].fits
        assert road_map.plans[step].load <= share * planner.load_before * (1 + 1e-8)
    if step > 0:
        assert road_map.shares[step - 1] > share, "an earlier plan would have done"


@settings(deadline=None, max_examples=25)
@given(cases())
def test_more_room_is_never_worse(case: Case) -> None:
    road_map = RoadMap.build(case.planner(), steps=20)
    utilities = [plan.utility for plan in road_map.plans]
    assert utilities == sorted(utilities, reverse=True)
    assert utilities[0] == pytest.approx(len(case.graphs))
    assert all(move.gain > 0 and move.loss >= 0 for move in road_map.moves)


def test_the_map_goes_from_no_drop_to_all_that_may_go() -> None:
    road_map = RoadMap.build(two_branches(l=FLAT, r=STEEP).planner(), steps=50)
    assert len(road_map.plans) == 51
    assert road_map.plans[0].drops == ()
    assert road_map.plans[-1].delivered == {"l": 0.0, "r": 0.0}
    assert road_map.plan(5.0, 5.0) is road_map.plans[0]
    assert road_map.plan(1.0, 0.0) is road_map.plans[-1]
    assert road_map.plan(5.0, 4.5).delivered == pytest.approx({"l": 0.75, "r": 1.0})
    assert road_map.plan(10.0, 9.0) is road_map.plan(5.0, 4.5)


def test_a_network_without_load_has_a_map_of_one_plan() -> None:
    case = two_branches(l=FLAT, r=STEEP)
    idle = Case(case.typed, case.profiles, {"s": 0.0}, case.graphs, 0.0)
    road_map = RoadMap.build(idle.planner())
    assert len(road_map.plans) == 1
    assert road_map.plan(0.0, 1.0).drops == ()
