"""Symptoms and causes, one at a time."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import aurora as au
from aurora.model.check import typecheck
from aurora.model.qos import Graph
from aurora.model.typed import Consumer
from aurora.shedding.detector import Detector, good_until
from aurora.shedding.load import BoxProfile
from aurora.shedding.meter import Meter, Smooth
from aurora.shedding.observation import Latency, Observation, Verdict

NET = au.Network("n")
NET.output(
    "o", NET.stream("s", x="int").map("b", compute={"x": "x"}), qos=au.QoS(latency=[("0s", 1), ("1s", 1), ("3s", 0)])
)
TYPED = typecheck(NET)


def seen(
    now_s: float,
    load: float,
    *,
    backlog_s: float = 0.0,
    busy: float | None = None,
    late_s: float | None = None,
    pressed: bool = False,
    cost_s: float = 1e-3,
    capacity: float = 1.0,
) -> Observation:
    return Observation(
        round(now_s * 1e6),
        {"s": load / 1e-3},
        {"b": BoxProfile(cost_s, {"out": 1.0})},
        capacity,
        min(1.0, load) if busy is None else busy,
        {Consumer("b", 0): backlog_s},
        {} if late_s is None else {"o": Latency(late_s, late_s)},
        frozenset({"s"}) if pressed else frozenset(),
    )


def noted(observations: list[Observation]) -> list[Verdict]:
    detector = Detector(TYPED)
    return [detector.note(observation) for observation in observations]


def first(verdicts: list[Verdict]) -> Verdict:
    """The one that says that there is an overload, and why."""
    return next(verdict for verdict in verdicts if verdict.overloaded)


@pytest.mark.parametrize(
    ("points", "until"),
    [
        (((0.0, 1.0), (2.0, 1.0), (5.0, 0.0)), 2.0),
        (((0.0, 1.0), (5.0, 0.0)), 5.0),
        (((0.0, 1.0), (1.0, 0.9), (5.0, 0.0)), 1.0),
        (((0.0, 1.0), (9.0, 1.0)), 9.0),
    ],
)
def test_the_good_zone(points: tuple[tuple[float, float], ...], until: float) -> None:
    assert good_until(Graph(points)) == until


def test_growing_work_and_too_much_of_it_is_an_overload() -> None:
    verdicts = noted([seen(i / 5, 1.5, backlog_s=0.1 * i) for i in range(8)])
    assert [verdict.overloaded for verdict in verdicts].index(True) <= 5
    assert "waiting work grows" in first(verdicts).why
    assert verdicts[-1].why == "150% of the capacity is asked for, 0.70s of work wait", "what holds now, not then"
    assert verdicts[-1].demand == pytest.approx(1.5)
    assert verdicts[-1].excess == pytest.approx(0.55)


def test_late_outputs_and_too_much_work_is_an_overload() -> None:
    """Queues may be full, so that nothing grows any more."""
    verdicts = noted([seen(i / 5, 1.5, backlog_s=2.0, late_s=2.0) for i in range(8)])
    assert verdicts[-1].overloaded
    assert "o is 2.00s late, good are 1s" in first(verdicts).why


def test_much_work_without_any_symptom_is_none() -> None:
    assert not any(verdict.overloaded for verdict in noted([seen(i / 5, 1.5) for i in range(20)]))


def test_late_outputs_alone_are_none() -> None:
    """A window's answer may be late because the window is long."""
    assert not any(verdict.overloaded for verdict in noted([seen(i / 5, 0.7, late_s=4.0) for i in range(20)]))


def test_a_backlog_that_would_make_outputs_late_for_long_is_an_overload() -> None:
    drained = [seen(i / 5, 0.9, backlog_s=5 - 0.02 * i, busy=1.0, late_s=5.0) for i in range(10)]
    assert noted(drained)[-1].overloaded
    soon_gone = [seen(i / 5, 0.5, backlog_s=1.2 - 0.1 * i, busy=1.0, late_s=1.2) for i in range(10)]
    assert not noted(soon_gone)[-1].overloaded


def test_held_back_senders_are_an_overload_though_they_offer_no_more_than_is_done() -> None:
    verdicts = noted([seen(i / 5, 1.0, backlog_s=3.0, pressed=True) for i in range(8)])
    assert [verdict.overloaded for verdict in verdicts].index(True) <= 4
    assert "senders of s are held back" in first(verdicts).why
    idle = noted([seen(i / 5, 0.3, pressed=True) for i in range(8)])
    assert not idle[-1].overloaded


def test_a_single_moment_is_no_overload() -> None:
    rows = [seen(i / 5, 0.6) for i in range(5)]
    rows += [seen(1.0, 4.0, backlog_s=0.6, busy=1.0, pressed=True)]
    rows += [seen(1.2 + i / 5, 0.6, backlog_s=max(0.0, 0.52 - 0.08 * i), busy=1.0) for i in range(10)]
    assert not any(verdict.overloaded for verdict in noted(rows))


def test_it_is_over_only_when_calm_has_lasted() -> None:
    detector = Detector(TYPED)
    rows = [seen(i / 5, 2.0, backlog_s=0.2 * i) for i in range(8)]
    assert [detector.note(row) for row in rows][-1].overloaded
    after = [detector.note(seen(1.6 + i / 5, 0.5, busy=0.25), 0.5).overloaded for i in range(10)]
    assert after[:3] == [True] * 3
    assert not after[-1]
    assert after == sorted(after, reverse=True)


def test_between_headroom_and_capacity_things_stay_as_they_are() -> None:
    below = noted([seen(i / 5, 0.97, backlog_s=0.01) for i in range(20)])
    assert not any(verdict.overloaded for verdict in below)
    detector = Detector(TYPED)
    for i in range(8):
        detector.note(seen(i / 5, 2.0, backlog_s=0.2 * i))
    assert all(detector.note(seen(1.6 + i / 5, 0.97, busy=0.97)).overloaded for i in range(20))


def test_without_a_capacity_nothing_is_said() -> None:
    assert not noted([seen(i / 5, 2.0, backlog_s=0.2 * i, capacity=0.0) for i in range(9)])[-1].overloaded


@pytest.mark.parametrize("error", [0.25, 0.5, 2.0, 4.0])
def test_the_meter_corrects_costs_by_what_gets_done(error: float) -> None:
    meter = Meter(TYPED)
    for i in range(6):
        meter.note(seen(i / 5, 0.8, cost_s=error * 1e-3, busy=0.8), 1.0)
    assert meter.scale == pytest.approx(1 / error)
    assert meter.demand(0.4) == pytest.approx(0.8)


def test_with_time_left_the_meter_learns_only_that_costs_are_lower() -> None:
    """Short trains are dear, which says nothing of long ones: after a burst nothing would be given back."""
    meter = Meter(TYPED)
    for i in range(6):
        meter.note(seen(i / 5, 3.0, busy=0.9), 0.3)
    for i in range(6):
        meter.note(seen(1.2 + i / 5, 0.5, busy=0.35), 0.3)
        assert meter.scale == pytest.approx(1.0)
    for i in range(6):
        meter.note(seen(2.4 + i / 5, 0.5, busy=0.25), 1.0)
    assert meter.scale == pytest.approx(0.5)


def test_the_meter_knows_of_drops() -> None:
    meter = Meter(TYPED)
    for i in range(6):
        meter.note(seen(i / 5, 2.0, busy=1.0), 0.5)
    assert meter.scale == pytest.approx(1.0)
    assert meter.demand(0.4) == pytest.approx(2.0)


def test_a_pause_does_not_change_what_the_meter_knows_of_costs() -> None:
    """In it the engine was busy and nothing got done."""
    meter = Meter(TYPED)
    for i in range(6):
        meter.note(seen(i / 5, 0.6), 1.0)
    meter.note(seen(2.0, 0.6, backlog_s=0.6, busy=1.0), 1.0)
    for i in range(8):
        meter.note(seen(2.2 + i / 5, 0.6, backlog_s=max(0.0, 0.52 - 0.08 * i), busy=1.0), 1.0)
        assert meter.scale == pytest.approx(1.0)


def test_idleness_teaches_nothing() -> None:
    meter = Meter(TYPED)
    for i in range(6):
        meter.note(seen(i / 5, 0.01, busy=0.9), 1.0)
    assert meter.scale == 1.0


def test_a_smooth_mean_ignores_noise_and_follows_a_change() -> None:
    smooth = Smooth()
    for i in range(20):
        found = smooth.next(i * 200_000, 1.0 + 0.05 * (-1) ** i, 1.0 + 0.1 * (-1) ** i)
    assert found == pytest.approx(1.0, abs=0.06)
    assert smooth.next(20 * 200_000, 2.0, 2.5) == 2.0


def test_a_smooth_mean_does_not_take_its_own_delay_for_noise() -> None:
    """What falls little by little is followed, and does not count as ever wider noise around what was."""
    smooth = Smooth()
    for i in range(20):
        smooth.next(i * 100_000, 2.5, 2.5)
    for i in range(20, 60):
        value = max(1.2, 2.5 - 0.05 * (i - 20))
        found = smooth.next(i * 100_000, value, value)
    assert found == pytest.approx(1.2, rel=0.1)


def test_rates_of_unknown_streams_are_ignored() -> None:
    meter = Meter(TYPED)
    rates: Mapping[str, float] = {"s": 100.0, "other": 1e9}
    for i in range(3):
        meter.note(Observation(i * 200_000, rates, {"b": BoxProfile(1e-3, {"out": 1.0})}, 1.0, 0.1), 1.0)
    assert meter.demand(0.4) == pytest.approx(0.1)
