"""Costs of boxes against least squares over all calls, and against boxes whose cost is known."""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.engine.box_costs import ASSUMED, DIFFER, LEAST_KEPT, USUAL_COST_S, USUAL_OVERHEAD_S, BoxCosts, Floats
from aurora.qos.smoothing import RESOLUTION_US

CALLS = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 20_000), st.integers(0, 5_000_000)),
        st.integers(0, 500),
        st.integers(0, 500),
        # Within a factor of four, so that every call is believed.
        st.floats(1e-4, 3e-4),
    ),
    min_size=1,
    max_size=25,
)


def weights(times_us: list[int], half_life_s: float) -> list[float]:
    """What is remembered of each call at the last one. Calls that follow each other quickly count as one moment."""
    moments_us: list[int] = []
    moment = []
    for time_us in times_us:
        if not moments_us or time_us - moments_us[-1] >= RESOLUTION_US:
            moments_us.append(time_us)
        moment.append(len(moments_us) - 1)
    found = []
    for own in moment:
        weight = 1.0
        for earlier_us, later_us in pairwise(moments_us[own:]):
            weight *= max(0.5 ** ((later_us - earlier_us) / 1e6 / half_life_s), LEAST_KEPT)
        found.append(weight)
    return found


@given(CALLS, st.floats(0.2, 20))
def test_they_are_the_line_through_the_calls_that_are_remembered(
    calls: list[tuple[int, int, int, float]], half_life_s: float
) -> None:
    costs = BoxCosts(2, half_life_s=half_life_s)
    times_us = list(accumulate(call[0] for call in calls))
    for now_us, (_, tuples_in, tuples_out, seconds) in zip(times_us, calls, strict=True):
        costs.note(1, tuples_in, tuples_out, seconds, now_us)
    costs.catch_up()
    assert (costs.cost_s[0], costs.overhead_s[0], costs.selectivity[0]) == (USUAL_COST_S, USUAL_OVERHEAD_S, 1.0)
    w = np.array(weights(times_us, half_life_s))
    n, out, s = (np.array([call[part] for call in calls], float) for part in (1, 2, 3))
    if n.sum() == 0:
        assert costs.overhead_s[1] == pytest.approx((w * s).sum() / w.sum())
        return
    assert costs.selectivity[1] == pytest.approx((w * out).sum() / (w * n).sum())
    # What the line says of all calls is what they took, ...
    told = costs.overhead_s[1] * w.sum() + costs.cost_s[1] * (w * n).sum()
    assert told == pytest.approx((w * s).sum(), rel=1e-6) or costs.cost_s[1] == 0
    if not differ(w, n) and any(differ(np.ones(end), n[:end]) for end in range(2, len(n) + 1)):
        # What a call costs is remembered from when trains differed.
        return
    # ... and it is the line of least squares, as far as no call costs less than nothing or more than it took.
    rows = np.sqrt(np.append(w, ASSUMED))
    places = np.stack((np.ones(len(n) + 1), np.append(n, 0.0)), axis=1)
    values = np.append(s, min(USUAL_OVERHEAD_S, s.min()))
    (_, slope), *_ = np.linalg.lstsq(places * rows[:, None], values * rows, rcond=None)
    level = ((w * s).sum() - slope * (w * n).sum()) / w.sum()
    if 0 < level < s.min():
        assert costs.overhead_s[1] == pytest.approx(level, rel=1e-4, abs=1e-9)
    else:
        assert costs.overhead_s[1] == 0 if level <= 0 else costs.overhead_s[1] >= s.min() * 0.999


def differ(w: Floats, n: Floats) -> bool:
    return bool(w.sum() * (w * n * n).sum() > (1 + DIFFER) * ((w * n).sum()) ** 2)


def test_what_a_call_costs_is_remembered_when_trains_are_alike() -> None:
    costs = BoxCosts(1, half_life_s=1.0)
    for now_s, tuples in enumerate([100, 1_000, 100, 1_000] + [100] * 40):
        costs.note(0, tuples, 0, 1e-3 + tuples * 2e-6, now_s * 1_000_000)
    costs.catch_up()
    assert costs.overhead_s[0] == pytest.approx(1e-3, rel=0.01)
    assert costs.cost_s[0] == pytest.approx(2e-6, rel=0.05)


def test_what_longer_trains_would_save() -> None:
    costs = BoxCosts(2, half_life_s=1.0)
    for call in range(1_000):
        costs.note(0, 10 if call % 2 else 30, 0, 1e-3 + (10 if call % 2 else 30) * 1e-4, call * 10_000)
    costs.catch_up()
    share = costs.elastic(10.0, 10_000_000)
    # A call takes 3 ms, of which 1 ms is overhead; there are 100 calls a second, and 10 would do.
    assert share[0] == pytest.approx(1 / 3 * 0.9, rel=0.05)
    assert share[1] == 0
    assert costs.elastic(200.0, 10_000_000)[0] == 0


def test_where_trains_differ_overhead_and_cost_are_told_apart() -> None:
    costs = BoxCosts(1)
    random = np.random.default_rng(1)
    for call in range(2000):
        tuples = int(random.integers(1, 200))
        seconds = 100e-6 + 3e-6 * tuples + abs(random.normal(0, 5e-6))
        costs.note(0, tuples, tuples // 2, seconds, call * 1000)
    costs.catch_up()
    assert costs.overhead_s[0] == pytest.approx(104e-6, rel=0.05)
    assert costs.cost_s[0] == pytest.approx(3e-6, rel=0.03)
    assert costs.selectivity[0] == pytest.approx(0.5, rel=0.02)


def test_where_all_trains_are_alike_the_overhead_is_the_usual_one() -> None:
    costs = BoxCosts(1, overhead_s=50e-6)
    for call in range(100):
        costs.note(0, 10, 10, 250e-6, call * 1000)
    costs.catch_up()
    assert costs.overhead_s[0] == pytest.approx(50e-6)
    assert costs.cost_s[0] == pytest.approx(20e-6)


def test_no_overhead_is_more_than_the_quickest_call_took() -> None:
    costs = BoxCosts(1, overhead_s=1.0)
    for call in range(100):
        costs.note(0, 1, 1, 10e-6, call * 1000)
    costs.catch_up()
    assert 0 < costs.overhead_s[0] <= 10e-6
    assert costs.overhead_s[0] + costs.cost_s[0] == pytest.approx(10e-6)


def test_a_call_that_was_held_up_does_not_tilt_the_line() -> None:
    costs = BoxCosts(1)
    random = np.random.default_rng(2)
    for call in range(3000):
        tuples = int(random.integers(50, 150))
        held_up_s = 0.02 if call % 500 == 499 else 0.0
        costs.note(0, tuples, tuples, 50e-6 + 2e-6 * tuples + held_up_s, call * 1000)
    costs.catch_up()
    assert costs.overhead_s[0] == pytest.approx(50e-6, rel=0.25)


def test_when_a_box_gets_dearer_it_is_seen_within_some_half_lives() -> None:
    costs = BoxCosts(1, half_life_s=1.0)
    for call in range(10_000):
        dear = 100 if call >= 5000 else 1
        costs.note(0, call % 90 + 10, 1, dear * (10e-6 + (call % 90 + 10) * 1e-6), call * 1000)
    costs.catch_up()
    assert costs.cost_s[0] == pytest.approx(100e-6, rel=0.2)


def test_a_box_that_is_seldom_called_is_known_by_its_last_calls() -> None:
    costs = BoxCosts(1, half_life_s=1.0)
    for call in range(100):
        costs.note(0, 10, 10 if call % 2 else 0, 1e-3, call * 60_000_000)
    costs.catch_up()
    assert costs.selectivity[0] == pytest.approx(0.5, rel=0.1)


def test_word_of_progress_for_ever_leaves_the_cost_as_it_was() -> None:
    costs = BoxCosts(1)
    costs.note(0, 100, 50, 400e-6, 0)
    costs.catch_up()
    cost_s, selectivity = costs.cost_s[0], costs.selectivity[0]
    for call in range(5000):
        costs.note(0, 0, 0, 20e-6, call * 1_000_000)
    costs.catch_up()
    assert costs.overhead_s[0] == pytest.approx(20e-6)
    assert costs.selectivity[0] == pytest.approx(selectivity)
    assert costs.cost_s[0] == pytest.approx(cost_s, rel=0.5)


def test_a_scheduler_sees_changes_where_it_looked_before() -> None:
    costs = BoxCosts(3)
    seen = costs.cost_s
    costs.note(2, 10, 10, 1.0, 0)
    costs.catch_up()
    assert seen[2] > 0.05
