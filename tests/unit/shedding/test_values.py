"""What is remembered of delivered values."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from aurora.expressions import Interval
from aurora.model.qos import Graph, ValueGraph
from aurora.shedding.semantic import lowest_exactly
from aurora.shedding.values import ENOUGH, REMEMBERED, Values, WorthCurve

STEP = ValueGraph("x", Graph(((0.0, 0.0), (49.0, 0.0), (50.0, 1.0))))


def uniform(count: int, least: float = 0.0, most: float = 100.0) -> pl.Series:
    return pl.Series("x", np.random.default_rng(3).uniform(least, most, count))


def test_little_is_no_ground_for_a_plan() -> None:
    values = Values({"o": STEP})
    values.note("o", uniform(ENOUGH - 1))
    assert values.worths("o") is None
    values.note("o", uniform(1))
    assert values.worths("o") is not None
    values.note("unknown", uniform(3))


def test_old_values_make_room_for_new_ones() -> None:
    values = Values({"o": STEP})
    for _ in range(40):
        values.note("o", uniform(200, 0, 40))
    assert values.mean("o") == 0
    for _ in range(REMEMBERED // 200 + 1):
        values.note("o", uniform(200, 60, 100))
    assert values.mean("o") == 1


def test_what_is_dropped_by_value_is_not_forgotten() -> None:
    """While values below 50 are dropped none of them comes; they still are half of what would come."""
    values = Values({"o": STEP})
    for _ in range(40):
        values.note("o", uniform(200))
    before = values.mean("o")
    values.dropped({"o": (Interval(None, 50.0, hi_open=True),)})
    for _ in range(100):
        values.note("o", uniform(200, 50, 70))
    assert values.mean("o") == pytest.approx(before, abs=0.02)
    found = values.worths("o")
    assert found is not None
    curve = WorthCurve.of(found)
    assert curve.total(np.array([0.5]))[0] == pytest.approx(curve.totals[-1], abs=0.06)
    values.dropped({})
    for _ in range(40):
        values.note("o", uniform(200, 50, 70))
    assert values.mean("o") == 1


def test_nulls_and_nans_are_no_values() -> None:
    values = Values({"o": STEP})
    values.note("o", pl.Series("x", [1.0, None, float("nan"), 80.0] * 60))
    assert values.mean("o") == 0.5
    found = values.worths("o")
    assert found is not None
    assert sum(worth.frequency for worth in found) == pytest.approx(0.5)


def test_a_worth_curve_is_concave_and_its_graph_stays_near() -> None:
    graph = Graph(((0.0, 0.0), (30.0, 0.2), (60.0, 0.9), (100.0, 1.0)))
    values = Values({"o": ValueGraph("x", graph)})
    for _ in range(40):
        values.note("o", uniform(200))
    found = values.worths("o")
    assert found is not None
    curve = WorthCurve.of(found)
    slopes = np.diff(curve.totals) / np.diff(curve.shares)
    assert (np.diff(slopes) <= 1e-9).all()
    rough = curve.graph()
    assert len(rough.points) <= 10
    for share in np.linspace(0, 1, 21):
        assert rough.utility(100 * share) == pytest.approx(float(curve.total(np.array([share]))[0]), abs=0.03)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.33, 0.5, 0.77, 1.0])
def test_exactly_a_share_goes(share: float) -> None:
    values = Values({"o": STEP})
    values.note("o", pl.Series("x", [1.0] * 80 + [30.0] * 20 + [60.0] * 100))
    found = values.worths("o")
    assert found is not None
    whole, part, spared = lowest_exactly(found, share)
    assert whole.share + part.share * (1 - spared) == pytest.approx(share)
    assert 0 <= spared < 1
