"""The histogram of latencies against sorted lists of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.engine.latencies import Latencies

TRAINS = st.lists(st.lists(st.integers(-5, 10**12), min_size=1, max_size=20), min_size=1, max_size=6)


@given(TRAINS, st.sampled_from([0.01, 0.5, 0.9, 0.99, 1.0]))
def test_all_that_is_read_is_exact_to_one_percent(trains: list[list[int]], q: float) -> None:
    noted = Latencies()
    for train in trains:
        noted.note(np.array(train, np.int64), len(train))
    each = [max(latency, 0) for train in trains for latency in train]
    assert noted.tuples == len(each)
    expected = float(np.quantile(each, q, method="inverted_cdf")) / 1e6
    # A microsecond counts as nothing.
    assert noted.quantile(q) == pytest.approx(expected, rel=0.01, abs=1.01e-6)
    assert noted.mean() == pytest.approx(sum(each) / len(each) / 1e6, rel=0.01, abs=6e-6)
    loaded = Latencies()
    loaded.load(noted.to_list())
    assert loaded.quantile(q) == noted.quantile(q)
    assert loaded.mean() == pytest.approx(noted.mean(), rel=0.01, abs=6e-6)


@given(st.lists(st.integers(0, 10**10), min_size=1, max_size=30), st.lists(st.integers(0, 10**10), max_size=5))
def test_counts_up_to_bounds(latencies: list[int], bounds_us: list[int]) -> None:
    noted = Latencies()
    noted.note(np.array(latencies), len(latencies))
    for bound_us, found in zip(bounds_us, noted.up_to([us / 1e6 for us in bounds_us]), strict=True):
        assert sum(latency <= bound_us for latency in latencies) <= found
        assert found <= sum(latency <= bound_us * 1.01 + 1 for latency in latencies)


@given(st.integers(0, 10**13), st.integers(1, 1000))
def test_one_latency_for_all_is_the_same_as_for_each(latency: int, tuples: int) -> None:
    noted = [Latencies() for _ in range(3)]
    noted[0].note(latency, tuples)
    noted[1].note(np.array([latency]), tuples)
    noted[2].note(np.full(tuples, latency), tuples)
    assert noted[0].to_list() == noted[1].to_list() == noted[2].to_list()
    assert noted[0].sum_s == pytest.approx(noted[2].sum_s)


@given(st.lists(st.tuples(st.integers(-5, 10**7), st.integers(1, 300)), min_size=1, max_size=8))
def test_tuples_that_came_together_are_noted_as_each_alone(runs: list[tuple[int, int]]) -> None:
    together, alone = Latencies(), Latencies()
    latencies = np.repeat([latency for latency, _ in runs], [tuples for _, tuples in runs])
    together.note(latencies, len(latencies))
    for latency in latencies.tolist():
        alone.note(latency, 1)
    # One that has seen only short latencies has a shorter list.
    longest = max(len(together.to_list()), len(alone.to_list()))
    padded = [found.to_list() + [0] * (longest - len(found.to_list())) for found in (together, alone)]
    assert padded[0] == padded[1]
    assert together.sum_s == pytest.approx(alone.sum_s)


@pytest.mark.parametrize("size", [1_025, 50_000, 131_073])
def test_long_trains_are_exact_to_one_percent_too(size: int) -> None:
    latencies = np.random.default_rng(size).lognormal(9, 1, size).astype(np.int64)
    noted = Latencies()
    noted.note(latencies, size)
    assert noted.tuples == size
    for q in (0.1, 0.5, 0.9, 0.99, 0.999):
        exact = float(np.quantile(latencies, q, method="inverted_cdf")) / 1e6
        assert noted.quantile(q) == pytest.approx(exact, rel=0.01, abs=1.01e-6)
    assert noted.mean() == pytest.approx(latencies.mean() / 1e6)


def test_a_copy_stays_as_it_is() -> None:
    noted = Latencies()
    noted.note(100, 1)
    copied = noted.copy()
    noted.note(100, 1)
    noted.note(10**9, 1)
    assert (copied.tuples, noted.tuples) == (1, 3)
    assert copied.sum_s == pytest.approx(1e-4)
