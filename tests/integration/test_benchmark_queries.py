"""The queries that the box benchmark times give the answers that Polars gives."""

from __future__ import annotations

import pytest

from benchmarks.box_queries import QUERIES, MemorySink, Query, difference, run, run_polars
from benchmarks.picture import Bar, bar_chart
from benchmarks.ticks import ticks


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
@pytest.mark.parametrize("train", [999, 40_000])
def test_the_engine_and_polars_agree(query: Query, train: int) -> None:
    inputs = query.inputs(ticks(60_000))
    sink = MemorySink()
    run(query, inputs, train, sink)
    assert difference(query, sink.frame(), run_polars(query, inputs)) == ""


def test_one_in_a_hundred_ticks_is_late_and_slack_forgives_all() -> None:
    stamps = ticks(50_000)["ts"]
    behind = stamps.cum_max() - stamps
    assert behind.max().total_seconds() <= 0.2
    assert 0.005 < (behind.dt.total_milliseconds() > 0).mean() < 0.015


def test_the_picture_shows_every_bar() -> None:
    bars = [Bar("Q1 <filter>", 0.4, 0.33, True), Bar("Q2", 0.1, 0.33, False)]
    picture = bar_chart("title", "note", bars)
    assert "Q1 &lt;filter&gt;" in picture
    assert picture.count("<rect") == 2 + 3
