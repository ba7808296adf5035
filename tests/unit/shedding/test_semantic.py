"""Histograms, what intervals are worth, and which go first."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aurora as au
from aurora.expressions import Interval
from aurora.model.check import typecheck
from aurora.model.qos import Graph, ValueGraph
from aurora.shedding.places import Places
from aurora.shedding.semantic import (
    Candidate,
    Histogram,
    Worth,
    lowest_intervals,
    lowest_share,
    plan_filters,
    worths,
)
from aurora.testing import run_rows

RISING = Graph(((0.0, 0.0), (10.0, 1.0)))
VALUES = st.lists(st.none() | st.floats(-20, 40) | st.sampled_from([math.nan, math.inf, -math.inf]))


def test_worth_is_utility_times_frequency() -> None:
    histogram = Histogram.over(RISING, 0.0, 10.0, bins=2).add(pl.Series([1.0, 3.0, 6.0, 12.0, None]))
    assert histogram.bounds == (0.0, 5.0, 10.0)
    found = worths(histogram, RISING)
    assert [(w.interval.lo, w.interval.hi) for w in found] == [(0.0, 5.0), (5.0, 10.0), (10.0, None)]
    assert [w.frequency for w in found] == [0.4, 0.2, 0.2]
    assert [w.utility for w in found] == pytest.approx([0.2, 0.6, 1.0])
    assert [w.expected for w in found] == pytest.approx([0.08, 0.12, 0.2])


@given(VALUES, VALUES)
def test_a_histogram_counts_every_value_once(first: list[float | None], second: list[float | None]) -> None:
    histogram = Histogram.over(RISING, -5.0, 25.0, bins=7)
    both = histogram.add(pl.Series(first, dtype=pl.Float64)).add(pl.Series(second, dtype=pl.Float64))
    at_once = histogram.add(pl.Series(first + second, dtype=pl.Float64))
    assert (both.counts, both.nulls) == (at_once.counts, at_once.nulls)
    assert both.tuples == len(first) + len(second)
    for interval, count in zip(both.intervals(), both.counts, strict=True):
        numbers = [value for value in first + second if value is not None]
        assert count == sum(interval.hi is None if math.isnan(value) else interval.contains(value) for value in numbers)


@given(VALUES)
def test_all_intervals_together_are_worth_what_the_tuples_are(values: list[float | None]) -> None:
    finite = [value for value in values if value is None or math.isfinite(value)]
    series = pl.Series(finite, dtype=pl.Float64)
    expected = sum(RISING.utility(value) for value in finite if value is not None)
    found = worths(Histogram.of(RISING, series), RISING)
    assert sum(worth.expected for worth in found) * len(finite) == pytest.approx(expected, abs=1e-6)


def test_the_intervals_worth_least_per_tuple_go_first_and_neighbours_are_joined() -> None:
    listed = [
        Worth(Interval(0, 1, hi_open=True), 0.3, 0.1),
        Worth(Interval(1, 2, hi_open=True), 0.3, 0.2),
        Worth(Interval(2, 3, hi_open=True), 0.01, 0.9),
        Worth(Interval(3, None), 0.39, 0.25),
    ]
    lowest = lowest_share(listed, 0.5)
    assert lowest.intervals == (Interval(0, 2, hi_open=True),)
    assert (lowest.share, lowest.loss) == (pytest.approx(0.6), pytest.approx(0.09))
    more = lowest_share(listed, 0.7)
    assert more.intervals == (Interval(0, 2, hi_open=True), Interval(3, None))
    assert lowest_share(listed, 0.0).intervals == ()


def test_over_several_outputs_the_loss_per_load_decides() -> None:
    cheap = Candidate([Worth(Interval(0, 1), 0.5, 0.2), Worth(Interval(1, 2), 0.5, 0.8)], load=1.0)
    dear = Candidate([Worth(Interval(0, 1), 0.5, 0.3), Worth(Interval(1, 2), 0.5, 0.9)], load=4.0)
    found = lowest_intervals({"cheap": cheap, "dear": dear, "idle": Candidate(cheap.worths, 0.0)}, needed=2.0)
    assert {output: lowest.share for output, lowest in found.items()} == {"dear": 0.5}
    everything = lowest_intervals({"cheap": cheap, "dear": dear}, needed=99.0)
    assert {output: lowest.share for output, lowest in everything.items()} == {"dear": 1.0, "cheap": 1.0}


@given(st.lists(st.integers(0, 100), min_size=1), st.floats(0, 1))
def test_no_other_choice_of_as_many_tuples_loses_less(values: list[int], share: float) -> None:
    """With an interval for every value, what goes is worth least, tuple by tuple."""
    graph = Graph(((0.0, 1.0), (30.0, 0.2), (60.0, 0.9), (100.0, 0.0)))
    histogram = Histogram.over(graph, 0.0, 100.0, bins=100).add(pl.Series([float(v) for v in values]))
    lowest = lowest_share(worths(histogram, graph), share)
    gone = round(lowest.share * len(values))
    cheapest = sum(sorted(graph.utility(value) for value in values)[:gone])
    assert lowest.share >= share - 1e-9
    assert lowest.loss * len(values) == pytest.approx(cheapest, abs=1e-6)


def test_an_old_histogram_fades() -> None:
    histogram = Histogram.over(RISING, 0.0, 10.0, bins=2).add(pl.Series([1.0, 3.0, 6.0, 6.0]))
    faded = histogram.scaled(0.5)
    assert faded.counts == (0, 1, 1, 0)
    assert [w.utility for w in worths(faded, RISING)] == [w.utility for w in worths(histogram, RISING)]


def test_from_the_graph_to_drop_boxes_at_the_input() -> None:
    """The tuples that are worth least go, whole intervals of them, and what is left comes out as before."""
    net = au.Network("n")
    net.output("out", net.stream("s", x="int").map("scaled", compute={"v": "x * 0.5 + 1"}))
    value = ValueGraph("v", Graph(((0.0, 0.0), (51.0, 1.0))))
    rows = [{"x": x} for x in range(100)]
    values = run_rows(net, {"s": rows}).outputs["out"]["v"]
    plan = plan_filters(Places(typecheck(net)), "out", value, Histogram.of(value.graph, values, bins=20), share=0.3)
    (found,) = plan.filters
    assert str(found.place) == "s"
    shed = au.Network("m")
    stream = shed.stream("s", x="int").drop("shed", where=found.condition)
    shed.output("out", stream.map("scaled", compute={"v": "x * 0.5 + 1"}))
    left = run_rows(shed, {"s": rows}).outputs["out"]["v"]
    assert 60 <= len(left) <= 70
    assert len(left) == round(100 * (1 - plan.lowest.share))
    assert left.to_list() == values.to_list()[100 - len(left) :]
