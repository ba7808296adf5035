"""Detector and controller against a server on paper, for simulated seconds and minutes.

Each shape of load stands for a mistake that a shedder can make: to drop without need, to notice too late, to let work
pile up, to swing to and fro, to forget to give back, and to trust costs that are wrong.
"""

from __future__ import annotations

import numpy as np
import pytest

import aurora as au
from aurora.shedding.observation import Mode
from tests.unit.shedding.fluid import Server, Trace, World

LATENCY = [("0s", 1), ("1s", 1), ("3s", 0)]
FLAT = [(100, 1), (40, 0.9), (0, 0)]
STEEP = [(100, 1), (80, 0.1), (0, 0)]
FORBIDDEN = [(100, 1), (99.9, 0)]
HALF_WORTHLESS = {"on": "x", "graph": [(0, 0.02), (50, 0.02), (51, 1)]}


@pytest.fixture(scope="module")
def world() -> World:
    """An expensive branch that can spare a lot, a cheap one that cannot, one that may lose nothing, one in which half
    of the tuples are worth nearly nothing, and one of which nobody has said anything.
    """
    net = au.Network("n")
    stream = net.stream("s", x="double")
    dear = stream.map("dear_1", extend={"x": "x"}).map("dear_2", extend={"x": "x"})
    net.output("dear", dear, qos=au.QoS(latency=LATENCY, loss=FLAT))
    cheap = stream.map("cheap_1", extend={"x": "x"})
    net.output("cheap", cheap, qos=au.QoS(latency=LATENCY, loss=STEEP))
    vital = stream.map("vital_1", extend={"x": "x"})
    net.output("vital", vital, qos=au.QoS(latency=LATENCY, loss=FORBIDDEN))
    valued = stream.map("valued_1", extend={"x": "x"})
    net.output("valued", valued, qos=au.QoS(latency=LATENCY, value=HALF_WORTHLESS))
    net.output("silent", stream.map("silent_1", extend={"x": "x"}))
    costs = {"dear_1": 2.0, "dear_2": 4.0, "cheap_1": 0.5, "vital_1": 0.3, "valued_1": 3.0, "silent_1": 0.1}
    return World.of(net, costs, {"s": 1000.0})


def constant(world: World, load: float, mode: Mode = "auto", seconds: float = 15, **options: float) -> Trace:
    return Server(world, mode, **options).run(seconds, lambda _: load)  # type: ignore[arg-type]


@pytest.mark.parametrize("load", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("error", [0.5, 1.0, 2.0])
def test_nothing_is_dropped_below_capacity(world: World, load: float, error: float) -> None:
    trace = constant(world, load, cost_error=error)
    assert not any(trace.overloaded)
    assert not trace.directions


@pytest.mark.parametrize("every_s", [0.1, 0.2, 0.24])
@pytest.mark.parametrize("load", [1.1, 1.3, 2.0, 4.0])
def test_an_overload_is_noticed_within_a_second(world: World, load: float, every_s: float) -> None:
    server = Server(world, every_s=every_s)
    server.run(12, lambda t: load if t >= 6 else 0.5)
    noticed = server.trace.first_overload_s()
    assert noticed is not None
    # What happened in the newest interval is seen at its end.
    assert 6 < noticed <= 7 + every_s


@pytest.mark.parametrize("at_entry", [False, True])
@pytest.mark.parametrize("error", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("load", [1.2, 2.0, 4.0])
def test_waiting_work_stays_bounded_and_vanishes(world: World, load: float, error: float, at_entry: bool) -> None:
    trace = constant(world, load, cost_error=error, at_entry=at_entry)
    assert max(trace.waiting_s) < 0.9 * load
    late = [s for t, s in zip(trace.times_s, trace.waiting_s, strict=True) if t > 6]
    assert max(late) < 0.2


@pytest.mark.parametrize("mode", ["auto", "random", "semantic"])
@pytest.mark.parametrize("load", [0.5, 1.0, 1.5, 2.0, 3.0, 4.0])
def test_what_is_delivered_is_worth_more_than_with_uniform_drops(world: World, load: float, mode: Mode) -> None:
    ours = constant(world, load, mode).mean_utility(3, 15)
    theirs = constant(world, load, "uniform").mean_utility(3, 15)
    assert ours >= theirs - 1e-9
    if load == 2:
        assert ours > 1.5 * theirs


def test_worthless_values_go_before_anything_else(world: World) -> None:
    """Half of the tuples of the valued branch are a sixth of the load: at 1.1 times the capacity they are enough."""
    trace = constant(world, 1.1)
    assert trace.delivered[-1]["valued"] == pytest.approx(0.55, abs=0.06)
    assert trace.delivered[-1]["dear"] > 0.9
    assert constant(world, 2.0, "auto").mean_utility(5, 15) > constant(world, 2.0, "random").mean_utility(5, 15) + 0.1


@pytest.mark.parametrize("load", [1.5, 4.0, 8.0])
@pytest.mark.parametrize("mode", ["auto", "random", "semantic"])
def test_protected_outputs_are_never_shed(world: World, load: float, mode: Mode) -> None:
    trace = constant(world, load, mode)
    assert trace.directions
    for delivered in trace.delivered:
        assert delivered["vital"] == 1
        assert delivered["silent"] == 1


def test_off_never_drops(world: World) -> None:
    trace = constant(world, 4.0, "off")
    assert not trace.directions
    assert any(trace.overloaded)


@pytest.mark.parametrize("every_s", [0.1, 0.24])
@pytest.mark.parametrize(
    ("peak", "lasts_s", "rest"), [(3.0, 5.0, 0.7), (4.0, 2.0, 0.9), (1.5, 10.0, 0.5), (6.0, 1.0, 0.8)]
)
@pytest.mark.parametrize(("mode", "at_entry"), [("auto", False), ("auto", True), ("uniform", False)])
def test_all_is_delivered_again_soon_after_a_burst(
    world: World, mode: Mode, at_entry: bool, peak: float, lasts_s: float, rest: float, every_s: float
) -> None:
    server = Server(world, mode, every_s=every_s, at_entry=at_entry)
    trace = server.run(10 + lasts_s + 10, lambda t: peak if 10 <= t < 10 + lasts_s else rest)
    assert trace.directions
    shed = [t for t, share in zip(trace.times_s, trace.kept, strict=True) if share < 1]
    assert shed[-1] < 10 + lasts_s + 5
    assert trace.directions[-1].empty
    assert trace.turns() <= 2
    assert set(trace.delivered[-1].values()) == {1.0}


@pytest.mark.parametrize("by_calls", [0.3, 0.5, 0.6])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_dear_calls_do_not_keep_drops_in_force(world: World, by_calls: float, noise: float) -> None:
    """While little comes, a tuple seems to cost a multiple of what it costs when much does."""
    server = Server(world, every_s=0.1, by_calls=by_calls, noise=noise)
    trace = server.run(20, lambda t: 3.0 if 5 <= t < 8 else 0.5)
    shed = [t for t, share in zip(trace.times_s, trace.kept, strict=True) if share < 1]
    assert shed
    assert shed[-1] < 8 + 5


@pytest.mark.parametrize("every_s", [0.1, 0.24])
def test_a_burst_that_is_digested_is_no_overload(world: World, every_s: float) -> None:
    trace = Server(world, every_s=every_s).run(15, lambda t: 3.0 if 10 <= t < 10.3 else 0.5)
    assert max(trace.waiting_s) > 0.4
    assert not any(trace.overloaded)


@pytest.mark.parametrize("pause_s", [0.3, 1.0])
@pytest.mark.parametrize("every_s", [0.1, 0.24])
def test_a_pause_is_no_overload(world: World, pause_s: float, every_s: float) -> None:
    server = Server(world, every_s=every_s)
    server.run(5, lambda _: 0.7)
    server.stall(pause_s)
    trace = server.run(8, lambda _: 0.7)
    assert max(trace.waiting_s) > 0.15
    assert not any(trace.overloaded)


@pytest.mark.parametrize("noise", [0.1, 0.2])
def test_noise_below_capacity_is_no_overload(world: World, noise: float) -> None:
    trace = Server(world, noise=noise).run(60, lambda _: 0.85)
    assert np.mean(trace.kept) > 0.995


@pytest.mark.parametrize("load", [1.0, 1.3, 2.0, 4.0])
@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_kept_does_not_swing(world: World, load: float, seed: int) -> None:
    """With noise of 10% in every tenth of a second, a turn once in five seconds at the most."""
    trace = Server(world, noise=0.1, seed=seed).run(65, lambda _: load)
    assert trace.turns(since_s=5) <= 12
    late = [s for t, s in zip(trace.times_s, trace.waiting_s, strict=True) if t > 5]
    assert max(late) < 0.4


def test_strong_noise_wastes_little(world: World) -> None:
    """Half of what is offered more or less, every tenth of a second: what is kept still fills most of the capacity."""
    trace = Server(world, noise=0.5).run(65, lambda _: 2.0)
    kept = [share for t, share in zip(trace.times_s, trace.kept, strict=True) if t > 5]
    assert 2.0 * float(np.mean(kept)) > 0.8
    assert max(trace.waiting_s) < 1.7


def test_a_load_that_climbs_is_followed(world: World) -> None:
    trace = Server(world).run(40, lambda t: 0.5 + t / 10)
    assert max(trace.waiting_s) < 0.5
    assert trace.turns() <= 6


def test_the_sentences_name_cause_and_places(world: World) -> None:
    trace = constant(world, 2.0)
    assert "of the capacity is asked for" in trace.directions[0].why
    assert "stay at" in trace.directions[0].why
