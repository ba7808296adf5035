"""The quick model against the full one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aurora as au
from aurora.model.check import typecheck
from aurora.model.qos import Graph
from aurora.model.typed import Consumer, Producer
from aurora.shedding.contraction import Contracted, Knob
from aurora.shedding.greedy import Planner
from aurora.shedding.load import BoxProfile, analyse_load
from aurora.shedding.places import Place, Places
from aurora.shedding.thinning import Thinning
from tests.unit.shedding.networks import Case, cases


def models(case: Case) -> tuple[Thinning, Contracted]:
    full = Thinning(Places(case.typed), case.found, drop_cost_s=0.0)
    return full, Contracted(full)


@given(cases(), st.integers(0, 2**32 - 1))
@settings(max_examples=200, deadline=None)
def test_where_drops_cost_nothing_both_know_the_same_load(case: Case, seed: int) -> None:
    full, quick = models(case)
    wanted = np.random.default_rng(seed).random((5, len(full.outputs)))
    np.testing.assert_allclose(quick.evaluate(wanted).load, full.evaluate(wanted).load, rtol=1e-9, atol=1e-12)


@given(cases(forbidding=False), st.floats(0.1, 0.95))
@settings(max_examples=60, deadline=None)
def test_a_quick_plan_is_nearly_as_good_and_fits(case: Case, share: float) -> None:
    full, quick = models(case)
    thorough = Planner(full, case.graphs)
    hasty = Planner(quick, case.graphs, quick=True)
    capacity = share * thorough.load_before
    best, found = thorough.plan(capacity), hasty.plan(capacity)
    assert found.fits == best.fits
    assert found.load <= capacity * (1 + 1e-6) or not best.fits
    assert found.utility >= best.utility - 0.05 * len(case.graphs) - 1e-9


def test_both_inputs_of_a_join_are_thinned_by_the_root() -> None:
    net = au.Network("n")
    left = net.stream("a", t="int", x="int").map("first", extend={"x": "x"})
    right = net.stream("b", t="int", y="int").map("second", extend={"y": "y"})
    pairs = left.join("pairs", right, within=5, left_order_by="t", right_order_by="t")
    net.output("o", pairs.map("last", compute={"x": "x"}), qos=au.QoS(loss=[(100, 1), (0, 0)]))
    profiles = {name: BoxProfile(1e-3, {"out": 1.0}) for name in ("first", "second", "pairs", "last")}
    found = analyse_load(typecheck(net), profiles, {"a": 100.0, "b": 100.0})
    full = Thinning(Places(typecheck(net)), found, drop_cost_s=0.0)
    wanted = np.array([[0.25], [1.0], [0.04]])
    np.testing.assert_allclose(Contracted(full).evaluate(wanted).load, full.evaluate(wanted).load)


def test_closed_places_and_least_shares_hold_in_both() -> None:
    net = au.Network("n")
    first = net.stream("s", x="int").map("first", compute={"x": "x"})
    net.output("o", first.map("second", compute={"x": "x"}))
    profiles = {name: BoxProfile(1e-3, {"out": 1.0}) for name in ("first", "second")}
    found = analyse_load(typecheck(net), profiles, {"s": 100.0})
    places = Places(typecheck(net))
    entrance = Place(Producer("first"), Consumer("second", 0))
    full = Thinning(places, found, closed=places.above(entrance), least={entrance: 0.4}, drop_cost_s=0.0)
    for model in (full, Contracted(full)):
        thinned = model.evaluate(np.array([[0.7], [0.1]]))
        assert thinned.load == pytest.approx([0.1 + 0.07, 0.1 + 0.04])
        assert thinned.delivered[:, 0] == pytest.approx([0.7, 0.4])


def test_a_knob_saves_by_itself_and_of_what_is_left() -> None:
    net = au.Network("n")
    net.output("o", net.stream("s", x="int").map("b", compute={"x": "x"}))
    found = analyse_load(typecheck(net), {"b": BoxProfile(1e-3, {"out": 1.0})}, {"s": 1000.0})
    model = Contracted(Thinning(Places(typecheck(net)), found, drop_cost_s=0.0), [Knob("o", 0.8)])
    assert model.outputs == ("o", "o by value")
    assert model.evaluate(np.array([[1.0, 0.5], [0.5, 0.5]])).load == pytest.approx([0.6, 0.3])


def test_a_planner_turns_the_knob_that_loses_less() -> None:
    """At random half of the load costs half of the utility; by value the first half costs nothing."""
    net = au.Network("n")
    net.output("o", net.stream("s", x="int").map("b", compute={"x": "x"}))
    found = analyse_load(typecheck(net), {"b": BoxProfile(1e-3, {"out": 1.0})}, {"s": 1000.0})
    knob = Knob("o", 1.0)
    model = Contracted(Thinning(Places(typecheck(net)), found, drop_cost_s=0.0), [knob])
    bends = {"o": None, knob.name: Graph(((0.0, 0.0), (50.0, 1.0), (100.0, 1.0)))}
    planner = Planner(model, bends, worth=lambda d: d[:, 0] * np.minimum(1.0, 2 * d[:, 1]), quick=True)
    plan = planner.plan(0.5)
    assert plan.delivered == pytest.approx({"o": 1.0, "o by value": 0.5}, abs=2e-3)
    assert plan.utility == pytest.approx(1.0, abs=2e-3)
