"""Plans by hand, and what every plan must hold to."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aurora as au
from aurora.model.check import typecheck
from aurora.model.qos import Graph
from aurora.model.typed import Consumer, Producer
from aurora.shedding.greedy import Plan, forbids_loss, plan_drops
from aurora.shedding.load import BoxProfile, analyse_load
from aurora.shedding.places import Place, Places
from tests.unit.shedding.networks import FORBIDDEN, Case, cases, flowing

FLAT = Graph(((0.0, 0.0), (50.0, 0.9), (100.0, 1.0)))
STEEP = Graph(((0.0, 0.0), (50.0, 0.1), (100.0, 1.0)))


def two_branches(**graphs: Graph | None) -> Case:
    """s → first → {left → l, right → r}: a tuple of s costs 1 ms at first and 2 ms on each branch."""
    net = au.Network("n")
    first = net.stream("s", x="int").map("first", compute={"x": "x"})
    net.output("l", first.map("left", compute={"x": "x"}))
    net.output("r", first.map("right", compute={"x": "x"}))
    costs = {"first": 1e-3, "left": 2e-3, "right": 2e-3}
    profiles = {name: BoxProfile(cost_s, {"out": 1.0}) for name, cost_s in costs.items()}
    return Case(typecheck(net), profiles, {"s": 1000.0}, graphs, 0.0)


def rates(plan: Plan) -> dict[str, float]:
    return {str(drop.place): round(drop.rate, 6) for drop in plan.drops}


def test_the_flattest_slope_goes_first_and_stands_behind_the_split() -> None:
    case = two_branches(l=FLAT, r=STEEP)
    plan = case.planner().plan(4.5)
    assert rates(plan) == {"first before left": 0.25}
    assert plan.drops[0].gain == pytest.approx(0.5)
    assert plan.load == pytest.approx(4.5)
    assert plan.delivered == pytest.approx({"l": 0.75, "r": 1.0})
    assert plan.utility == pytest.approx(0.95 + 1)


def test_the_walk_goes_on_with_another_output_where_that_becomes_flatter() -> None:
    """The second half of ``l`` costs 0.6 per core. All of ``r`` costs 0.4, as half of the shared box is saved too."""
    planner = two_branches(l=FLAT, r=STEEP).planner()
    moves = [(move.outputs, round(move.loss, 6), round(move.gain, 6)) for move in planner.moves]
    assert moves == [(("l",), 0.1, 1.0), (("r",), 1.0, 2.5), (("l",), 0.9, 1.5)]
    assert planner.plan(1.5).delivered == pytest.approx({"l": 0.5, "r": 0.0})


def test_outputs_that_share_a_dear_box_give_way_together_at_the_input() -> None:
    case = two_branches(l=None, r=None)
    case = Case(case.typed, {**case.profiles, "first": BoxProfile(10e-3, {"out": 1.0})}, case.rates, case.graphs, 0.0)
    plan = case.planner().plan(7.0)
    assert rates(plan) == {"s": 0.5}
    assert plan.delivered == {"l": 0.5, "r": 0.5}


def test_a_graph_that_falls_and_then_is_level_is_crossed_at_once() -> None:
    """A step on the way is dear, the whole way to nothing costs hardly more: all of ``l`` goes before any of ``r``."""
    cliff = Graph(((0.0, 0.4), (90.0, 0.5), (100.0, 1.0)))
    plan = two_branches(l=cliff, r=Graph(((0.0, 0.0), (100.0, 1.0)))).planner().plan(3.0)
    assert plan.delivered == pytest.approx({"l": 0.0, "r": 1.0})


def test_what_was_taken_first_is_given_back_where_a_later_move_makes_room_for_it() -> None:
    """Per core ``l`` loses least at first, so that it goes. But to make ``r`` fit takes it down to its level stretch,
    where it is worth the same with nothing: then all of ``l`` fits.
    """
    net = au.Network("n")
    stream = net.stream("s", x="int")
    net.output("l", stream.map("left", compute={"x": "x"}))
    net.output("r", stream.map("right", compute={"x": "x"}))
    profiles = {"left": BoxProfile(2e-3, {"out": 1.0}), "right": BoxProfile(1e-3, {"out": 1.0})}
    graphs = {"l": None, "r": Graph(((0.0, 0.4), (99.5, 0.4), (100.0, 1.0)))}
    plan = Case(typecheck(net), profiles, {"s": 1000.0}, graphs, 0.0).planner().plan(0.99)
    assert plan.delivered == pytest.approx({"l": 0.495, "r": 0.0})
    assert plan.utility == pytest.approx(0.895)


def test_what_forbids_loss_is_left_alone_and_an_output_without_graph_is_not() -> None:
    assert forbids_loss(FORBIDDEN)
    assert not forbids_loss(None)
    plan = two_branches(l=FORBIDDEN, r=None).planner().plan(3.5)
    assert plan.delivered == pytest.approx({"l": 1.0, "r": 0.25})
    too_much = two_branches(l=FORBIDDEN, r=None).planner().plan(1.0)
    assert not too_much.fits
    assert too_much.delivered == {"l": 1.0, "r": 0.0}
    assert too_much.load == pytest.approx(3.0)


def test_an_output_can_be_protected_whatever_its_graph() -> None:
    plan = two_branches(l=FLAT, r=STEEP).planner(protected=["l"]).plan(4.5)
    assert plan.delivered == pytest.approx({"l": 1.0, "r": 0.75})


def test_a_load_that_fits_is_left_alone() -> None:
    plan = two_branches(l=FLAT, r=STEEP).planner().plan(5.0)
    assert (plan.drops, plan.fits, plan.utility) == ((), True, 2.0)


def test_a_drop_that_costs_more_than_it_saves_is_not_made() -> None:
    case = two_branches(l=FLAT, r=STEEP)
    dear = Case(case.typed, case.profiles, case.rates, case.graphs, drop_cost_s=3e-3)
    plan = dear.planner().plan(4.9)
    assert all(drop.gain > 0 for drop in plan.drops)
    assert all(drop.place.reader is None for drop in plan.drops)


def test_half_of_each_input_leaves_a_quarter_of_the_pairs() -> None:
    net = au.Network("n")
    left, right = net.stream("a", t="int", x="int"), net.stream("b", t="int", y="int")
    pairs = left.join("pairs", right, within=5, left_order_by="t", right_order_by="t")
    net.output("out", pairs)
    profiles = {"pairs": BoxProfile(1e-3, {"out": 1.0})}
    a_quarter_will_do = Graph(((0.0, 0.0), (25.0, 1.0), (100.0, 1.0)))
    case = Case(typecheck(net), profiles, {"a": 1000.0, "b": 1000.0}, {"out": a_quarter_will_do}, 0.0)
    planner = case.planner()
    assert (planner.moves[0].loss, planner.moves[0].gain) == (0.0, pytest.approx(1.0))
    plan = planner.plan(1.0)
    assert rates(plan) == {"a": 0.5, "b": 0.5}
    assert plan.delivered["out"] == pytest.approx(0.25)


def test_one_worker_per_box_makes_a_single_busy_box_an_overload() -> None:
    """Four cores have room for 2.5 of them, but the box needs one and a half and gets one at most."""
    net = au.Network("n")
    stream = net.stream("s", x="int")
    net.output("l", stream.map("heavy", compute={"x": "x"}))
    net.output("r", stream.map("light", compute={"x": "x"}))
    profiles = {"heavy": BoxProfile(1.5e-3, {"out": 1.0}), "light": BoxProfile(1e-3, {"out": 1.0})}
    typed = typecheck(net)
    found = analyse_load(typed, profiles, {"s": 1000.0}, cores=4.0)
    plan = plan_drops(Places(typed), found, {"l": None, "r": None}, drop_cost_s=0.0)
    assert plan.fits
    assert plan.delivered == pytest.approx({"l": 2 / 3, "r": 1.0})


def test_at_a_large_backlog_the_drop_stands_there_and_not_upstream() -> None:
    net = au.Network("n")
    first = net.stream("s", x="int").map("first", compute={"x": "x"})
    net.output("o", first.map("second", compute={"x": "x"}).map("third", compute={"x": "x"}))
    typed = typecheck(net)
    profiles = {name: BoxProfile(1e-3, {"out": 1.0}) for name in typed.order}
    found = analyse_load(typed, profiles, {"s": 1000.0}, cores=2.0, places=())
    waiting = {Consumer("third", 0): 0.1, Consumer("second", 0): 5.0}

    def place(cores: float, **waits: object) -> list[str]:
        analysis = analyse_load(typed, profiles, {"s": 1000.0}, cores=cores, places=())
        return [str(drop.place) for drop in plan_drops(Places(typed), analysis, {}, **waits).drops]  # type: ignore[arg-type]

    assert found.min_cap == 3.0
    assert place(2.0) == ["s"]
    assert place(2.0, waiting_s=waiting) == ["first"]
    assert place(0.5, waiting_s=waiting) == ["s"], "behind the first box too little can be saved"


@settings(deadline=None, max_examples=60)
@given(cases(), st.floats(0, 1.1))
def test_every_plan_keeps_its_word(case: Case, share: float) -> None:
    planner = case.planner()
    capacity = share * planner.load_before
    plan = planner.plan(capacity)
    load, delivered = flowing(case, {drop.place: drop.rate for drop in plan.drops})
    before, _ = flowing(case, {})
    assert plan.load_before == pytest.approx(before)
    assert plan.load == pytest.approx(load, rel=1e-6, abs=1e-9)
    assert {name: plan.delivered[name] for name in delivered} == pytest.approx(delivered, abs=1e-6)
    assert plan.utility == pytest.approx(case.utility(plan.delivered))
    assert all(plan.delivered[name] == 1.0 for name in planner.protected)
    assert not any(set(drop.outputs) & planner.protected for drop in plan.drops)
    assert all(0 < drop.rate <= 1 for drop in plan.drops)
    assert plan.fits == (plan.load <= capacity * (1 + 1e-9))
    assert plan.fits == (capacity * (1 + 1e-9) >= planner.least_load)


@settings(deadline=None, max_examples=60)
@given(cases(forbidding=False, dead_ends=False), st.floats(0.02, 1))
def test_no_plan_is_worse_than_the_same_share_at_all_inputs(case: Case, kept: float) -> None:
    """The plan may use as much of the machine as is used when a share is kept of every input."""
    uniform = {Place(Producer(stream)): 1 - kept for stream in case.rates}
    capacity, delivered = flowing(case, uniform)
    plan = case.planner().plan(capacity)
    if capacity < plan.load_before:
        assert plan.fits
        assert plan.utility >= case.utility(dict.fromkeys(case.graphs, kept) | delivered) - 1e-6
