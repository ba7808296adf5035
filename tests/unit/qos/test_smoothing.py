"""Smoothed rates against the sum over all that was noted."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.qos.smoothing import RESOLUTION_US, Rate

NOTES = st.lists(st.tuples(st.integers(0, 3_000_000), st.floats(0, 1e6)), max_size=30)


@given(NOTES, st.floats(0.1, 10), st.integers(0, 5_000_000), st.integers(0, 10**15))
def test_a_rate_is_the_sum_of_what_is_remembered(
    notes: list[tuple[int, float]], half_life_s: float, later_us: int, began_us: int
) -> None:
    rate = Rate(began_us, half_life_s)
    now_us = counted_us = began_us
    noted = []
    for passed_us, amount in notes:
        now_us += passed_us
        rate.note(amount, now_us)
        # What comes soon after counts as of the same time.
        counted_us = now_us if now_us - counted_us >= RESOLUTION_US else counted_us
        noted.append((counted_us, amount))
    now_us += later_us
    if now_us == began_us:
        assert rate.read(now_us) == 0
        return
    remembered = sum(amount * 0.5 ** ((now_us - at_us) / 1e6 / half_life_s) for at_us, amount in noted)
    of_a_steady_flow = sum(
        0.5 ** ((i + 0.5) / 10_000 * (now_us - began_us) / 1e6 / half_life_s) for i in range(10_000)
    ) * ((now_us - began_us) / 1e6 / 10_000)
    assert rate.read(now_us) == pytest.approx(remembered / of_a_steady_flow, rel=1e-5, abs=1e-300)


@pytest.mark.parametrize("seconds", [1, 30])
def test_a_steady_flow_is_read_as_it_is_from_the_start(seconds: float) -> None:
    rate = Rate(0)
    for milliseconds in range(round(seconds * 1000)):
        rate.note(5, milliseconds * 1000 + 500)
    assert rate.read(round(seconds * 1e6)) == pytest.approx(5_000, rel=0.02)


def test_after_a_burst_the_rate_falls_by_half_in_each_half_life() -> None:
    rate = Rate(0, half_life_s=2.0)
    rate.note(1e6, 100_000_000)
    first, second = rate.read(100_000_000), rate.read(102_000_000)
    assert second == pytest.approx(first / 2)
    assert first == pytest.approx(1e6 * math.log(2) / 2)


def test_a_time_that_goes_back_counts_as_now() -> None:
    forth, back = Rate(0), Rate(0)
    for rate, second_us in ((forth, 1_000_000), (back, 900_000)):
        rate.note(1, 1_000_000)
        rate.note(1, second_us)
    assert forth.read(2_000_000) == back.read(2_000_000)
    assert forth.read(500_000) == forth.read(1_000_000)
