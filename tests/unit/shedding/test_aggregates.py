"""Where aggregates let tuples go, and what they are told."""

from __future__ import annotations

import pytest

import aurora as au
from aurora.boxes.thinned import Weighted, WholeWindows
from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.model.typed import Consumer, Producer
from aurora.shedding.aggregates import Entrances, shares_left
from aurora.shedding.load import BoxProfile, analyse_load
from aurora.shedding.observation import Dropping
from aurora.shedding.places import Place, Places
from tests.unit.shedding.fluid import Server, World

LOSS = au.QoS(latency=[("0s", 1), ("1s", 1), ("3s", 0)], loss=[(100, 1), (0, 0)])


def network(shed: str = "windows") -> Network:
    """s → clean → {sums → scaled → windows, plain → rows}."""
    net = au.Network("n")
    clean = net.stream("s", t="int", x="double").map("clean", extend={"x": "x"})
    given = {"order_by": "t", "window": {"size": 10}, "compute": {"x": "sum(x)"}, "shed": shed}
    sums = net.box("aggregate", "sums", clean, **given)
    net.output("windows", sums.map("scaled", extend={"x": "x / 2"}), qos=LOSS)
    net.output("rows", clean.map("plain", extend={"x": "x"}), qos=LOSS)
    return net


ENTRANCE = Place(Producer("clean"), Consumer("sums", 0))


def test_nothing_goes_at_random_above_an_exact_aggregate() -> None:
    found = Entrances.of(Places(typecheck(network())))
    assert found.windows == {ENTRANCE: "sums"}
    assert found.least[ENTRANCE] == pytest.approx(1 / 11)
    above = {Place(Producer("clean")), Place(Producer("s"), Consumer("clean", 0)), Place(Producer("s"))}
    assert found.closed == above
    assert not found.scaled


def test_an_author_may_choose_tuples() -> None:
    found = Entrances.of(Places(typecheck(network("tuples"))))
    assert not found.closed
    assert not found.windows
    assert found.scaled == ("sums",)


def test_an_aggregate_of_aggregates_closes_the_first_one_too() -> None:
    net = network()
    sums = net.stream("r", t="int", x="double").aggregate(
        "a", order_by="t", window={"size": 5}, compute={"x": "sum(x)"}
    )
    net.output("twice", sums.aggregate("b", order_by="t", window={"size": 50}, compute={"x": "max(x)"}), qos=LOSS)
    found = Entrances.of(Places(typecheck(net)))
    assert Place(Producer("r"), Consumer("a", 0)) in found.closed
    assert found.windows[Place(Producer("a"), Consumer("b", 0))] == "b"


def test_a_latch_is_closed_and_so_are_windows_that_overlap_too_much() -> None:
    net = au.Network("n")
    stream = net.stream("s", t="int", x="double")
    net.output("life", stream.latch("life_1", compute={"n": "count(*)"}), qos=LOSS)
    slow = stream.aggregate("slow", order_by="t", window={"size": 100, "advance": 1}, compute={"x": "sum(x)"})
    net.output("often", slow, qos=LOSS)
    found = Entrances.of(Places(typecheck(net)))
    assert not found.windows
    assert {Place(Producer("s"), Consumer(name, 0)) for name in ("life_1", "slow")} <= found.closed


def test_shares_multiply_on_the_way_and_mix_in_a_union() -> None:
    net = au.Network("n")
    first = net.stream("s", x="int").map("first", compute={"x": "x"})
    both = first.union("both", net.stream("r", x="int"))
    net.output("o", both.map("last", compute={"x": "x"}))
    typed = typecheck(net)
    profiles = {name: BoxProfile(1e-6, {"out": 1.0}) for name in ("first", "both", "last")}
    found = analyse_load(typed, profiles, {"s": 300.0, "r": 100.0})
    drops = [
        Dropping(Place(Producer("s")), "random", ("o",), keep=0.5),
        Dropping(Place(Producer("first"), Consumer("both", 0)), "random", ("o",), keep=0.8),
        Dropping(Place(Producer("both")), "semantic", ("o",), where="x < 3"),
    ]
    left = shares_left(Places(typed), found, drops)
    assert left == pytest.approx({"first": 0.5, "both": 0.75 * 0.4 + 0.25, "last": 0.55})


def test_under_overload_windows_go_at_the_entrance_only() -> None:
    costs = {"clean": 0.5, "sums": 3.0, "scaled": 0.5, "plain": 3.0}
    server = Server(World.of(network(), costs, {"s": 1000.0}))
    trace = server.run(12, lambda _: 2.0)
    now = server.shedder.directions
    assert {str(drop.place) for drop in now.drops} <= {"clean before plain", "plain", "sums"}
    assert [(box.box, box.reason) for box in now.boxes] == [("sums", "windows")]
    assert isinstance(now.boxes[0].rule, WholeWindows)
    assert now.boxes[0].rule.max_gap == 10
    assert max(trace.waiting_s[40:]) < 0.2
    assert {box.keep for way in trace.directions for box in way.boxes} - {1.0}
    assert all(box.keep >= 1 / 11 - 1e-9 for way in trace.directions for box in way.boxes)


def test_under_overload_tuples_go_at_the_input_and_the_aggregate_scales() -> None:
    costs = {"clean": 5.0, "sums": 3.0, "scaled": 0.5, "plain": 3.0}
    server = Server(World.of(network("tuples"), costs, {"s": 1000.0}))
    server.run(12, lambda _: 2.0)
    now = server.shedder.directions
    (drop,) = [drop for drop in now.drops if str(drop.place) == "s"]
    (sums,) = now.boxes
    assert sums.rule == Weighted(sums.keep)
    others = [other.keep for other in now.drops if str(other.place) == "clean before sums"]
    assert sums.keep == pytest.approx(drop.keep * (others[0] if others else 1.0))
