"""Places and what is below them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

import aurora as au
from aurora.model.check import typecheck
from aurora.model.typed import Consumer, Producer
from aurora.shedding.places import Place, Places
from tests.unit.shedding.networks import Case, cases


def places() -> Places:
    """s → clean → {routes.low → low, routes.high → big → high, tap (leads nowhere)}; a diamond behind t."""
    net = au.Network("n")
    clean = net.stream("s", x="int").filter("clean", "x > 0")
    routes = clean.filter("routes", routes={"low": "x < 5"}, otherwise="high")
    net.output("low", routes["low"].map("small", compute={"x": "x"}))
    net.output("high", routes["high"].map("big", compute={"x": "x"}))
    clean.map("tap", compute={"x": "x"})
    t = net.stream("t", x="int")
    net.output("both", t.map("a", compute={"x": "x"}).union("joined", t.map("b", compute={"x": "x"})))
    return Places(typecheck(net))


def shown(found: tuple[Place, ...]) -> list[str]:
    return [str(place) for place in found]


def test_a_place_has_the_outputs_that_are_below_it() -> None:
    found = places()
    assert dict(found.outputs(Place(Producer("clean")))) == {"low": 1, "high": 1}
    assert dict(found.outputs(Place(Producer("routes", "high")))) == {"high": 1}
    assert found.is_vital(Place(Producer("s")))
    assert not found.is_vital(Place(Producer("clean"), Consumer("routes", 0)))


def test_the_highest_place_is_not_above_a_split_that_feeds_others() -> None:
    found = places()
    assert shown(found.highest({"high"})) == ["routes.high"]
    assert shown(found.highest({"high", "low"})) == ["clean before routes"]
    assert shown(found.highest({"both"})) == ["t"]
    assert set(shown(found.highest({"high", "both"}))) == {"routes.high", "t"}


def test_a_pair_counts_each_of_its_inputs() -> None:
    net = au.Network("n")
    left, right = net.stream("a", t="int", x="int"), net.stream("b", t="int", y="int")
    net.output("out", left.join("pairs", right, within=5, left_order_by="t", right_order_by="t"))
    found = Places(typecheck(net))
    assert dict(found.outputs(Place(Producer("a")))) == {"out": 2}


def test_above_a_large_backlog_places_are_closed() -> None:
    found = places()
    waiting = {Consumer("big", 0): 2.0, Consumer("small", 0): 0.5}
    closed = found.above_backlog(waiting, 1.0)
    assert {str(place) for place in closed} == {"clean before routes", "clean", "s before clean", "s"}
    assert found.above_backlog(waiting, 3.0) == frozenset()
    also = found.above_backlog({**waiting, Consumer("routes", 0): 2.0}, 1.0)
    assert {str(place) for place in also} == {"clean", "s before clean", "s"}


@settings(deadline=None)
@given(cases(), st.data())
def test_the_highest_places_hurt_nobody_else_and_nothing_higher_would_do(case: Case, data: st.DataObject) -> None:
    found = Places(case.typed)
    outputs = frozenset(data.draw(st.lists(st.sampled_from(sorted(case.graphs)), min_size=1)))
    highest = found.highest(outputs)
    assert len(set(highest)) == len(highest)
    for place in highest:
        assert set(found.outputs(place)) <= outputs
        assert not found.is_vital(place)
        assert found.highest_above(place, outputs) == ()
