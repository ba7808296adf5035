"""Made-up tuples: how many are due when, what is in them, and that a seed gives the same ones however they are cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.clock import ManualClock
from aurora.connectors.sources.generator import GeneratorSource, Maker, Pace
from aurora.model.schema import Schema
from aurora.model.source_kinds import GeneratorSource as Declared
from tests.unit.connectors.live.stand_ins import CountedHalt, Recorder, inlet

SCHEMA = Schema.of(ticker="string", price="double", volume="int", at="timestamp", side="bool", note="string")
COLUMNS: dict[str, Any] = {
    "ticker": {"choice": {"IBM": 3, "MSF": 1}},
    "price": {"walk": [100, 0.5]},
    "volume": {"uniform": [1, 6]},
    "at": "time",
    "side": "n % 2 = 0 and price > 0",
}


def _made(cuts: list[int], seed: int = 1) -> pl.DataFrame:
    maker = Maker(COLUMNS, SCHEMA, seed)
    frames, first = [], 0
    for count in cuts:
        frames.append(maker.make(first, np.arange(first, first + count) * 1000))
        first += count
    return pl.concat(frames)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=6))
def test_how_they_are_cut_does_not_matter(cuts: list[int]) -> None:
    assert _made(cuts).equals(_made([sum(cuts)]))


def test_a_seed_is_a_stream_of_its_own() -> None:
    assert not _made([100], seed=1).equals(_made([100], seed=2))


def test_columns_are_as_they_were_asked_for() -> None:
    frame = _made([20_000])
    assert dict(frame.schema) == SCHEMA.to_polars()
    assert 0.74 < (frame["ticker"] == "IBM").mean() < 0.76
    assert sorted(frame["volume"].unique()) == [1, 2, 3, 4, 5, 6]
    assert abs(float(frame["volume"].mean()) - 3.5) < 0.05
    steps = frame["price"].diff().drop_nulls()
    assert abs(float(steps.std()) - 0.5) < 0.02
    assert frame["at"].cast(pl.Int64).to_list()[:3] == [0, 1000, 2000]
    assert frame["side"].to_list()[:4] == [True, False, True, False]
    assert frame["note"].null_count() == frame.height


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ({"sequence": [10, 5]}, [10, 15, 20]),
        ({"uniform": [2, 2]}, [2, 2, 2]),
        ({"normal": [7, 0]}, [7, 7, 7]),
        ({"choice": [4]}, [4, 4, 4]),
        ("n * n", [0, 1, 4]),
        ("42", [42, 42, 42]),
    ],
)
def test_ways_of_making_whole_numbers(way: Any, expected: list[int]) -> None:
    made = Maker({"x": way}, Schema.of(x="int"), 0).make(0, np.zeros(3, np.int64))
    assert made["x"].to_list() == expected


PACES = [Pace(7), Pace(1000.5), Pace(10, every_s=10, last_s=1, burst_rate=100), Pace(3, 1.0, 0.25, 0.5)]


@pytest.mark.parametrize("pace", PACES)
def test_a_tuple_is_due_when_its_time_has_come(pace: Pace) -> None:
    times_s = pace.times_s(np.arange(500))
    assert (np.diff(times_s) > 0).all()
    for number in (0, 1, 17, 250, 499):
        assert pace.due(float(times_s[number]) + 1e-6) == number + 1
        assert pace.due(float(times_s[number]) - 1e-6) == number


def test_bursts_come_at_the_end_of_each_period() -> None:
    pace = Pace(10, every_s=10, last_s=1, burst_rate=100)
    assert [pace.due(t) for t in (9, 10, 19, 20)] == [90, 190, 280, 380]


def _ran(waits: int, **given: Any) -> tuple[Recorder, str]:
    clock, target = ManualClock(1_000_000), Recorder()
    declared = Declared(name="it", into="s", columns={"x": "n", "t": "time"}, **given)
    way = inlet(target, CountedHalt(clock, waits), clock)
    GeneratorSource(declared, Schema.of(x="int", t="timestamp")).run(way)
    return target, way.meter.status().state


def test_it_keeps_the_rate() -> None:
    target, _ = _ran(50, rate=100)
    assert [row[0] for row in target.rows] == list(range(100))
    micros = pl.concat(target.frames)["t"].cast(pl.Int64)
    assert micros.to_list()[:2] == [1_010_000, 1_020_000]


def test_it_ends_after_its_count() -> None:
    target, _ = _ran(10_000, rate=100_000, count=120_001)
    assert len(target.rows) == 120_001
    assert max(frame.height for frame in target.frames) <= 50_000
