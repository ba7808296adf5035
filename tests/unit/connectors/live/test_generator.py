"""Made-up tuples: how many are due when, what is in them, and that a seed gives the same ones however they are cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.clock import ManualClock
from aurora.connectors.live.inlet import Inlet
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
        ({"keys": [5, 2]}, [5, 6, 5]),
        ("n * n", [0, 1, 4]),
        ("42", [42, 42, 42]),
    ],
)
def test_ways_of_making_whole_numbers(way: Any, expected: list[int]) -> None:
    made = Maker({"x": way}, Schema.of(x="int"), 0).make(0, np.zeros(3, np.int64))
    assert made["x"].to_list() == expected


def test_keys_are_names_that_differ_and_do_not_depend_on_the_seed() -> None:
    first, second = (
        Maker({"k": {"keys": [7, 5_000]}}, Schema.of(k="string"), seed).make(0, np.zeros(12_000, np.int64))["k"]
        for seed in (1, 2)
    )
    assert first.equals(second)
    assert first.n_unique() == 5_000
    assert first[:5_000].equals(first[5_000:10_000])
    assert first.str.contains("^[A-Z]{4}$").all()


def test_what_falls_silent_is_left_out() -> None:
    where = "not (k = 1 and elapsed between 1 and 2)"
    maker = Maker({"k": {"keys": [0, 2]}, "e": "elapsed"}, Schema.of(k="int", e="double"), 0, where)
    start_us = 9_000_000
    times_us = start_us + np.arange(0, 3_000_000, 500_000)
    whole = maker.make(0, times_us, start_us)
    assert whole.rows() == [(0, 0.0), (1, 0.5), (0, 1.0), (0, 2.0), (1, 2.5)]
    cut = [maker.make(at, times_us[at : at + 2], start_us) for at in (0, 2, 4)]
    assert pl.concat(cut).equals(whole)


@pytest.mark.parametrize(("where", "rows"), [("false", 0), ("true", 3), ("null", 0), ("n = 1", 1)])
def test_what_is_not_true_does_not_come(where: str, rows: int) -> None:
    assert Maker({}, Schema.of(x="int"), 0, where).make(0, np.zeros(3, np.int64)).height == rows


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
    target, _ = _ran(20, rate=100)
    assert [row[0] for row in target.rows] == list(range(100))
    micros = pl.concat(target.frames)["t"].cast(pl.Int64)
    assert micros.to_list()[:2] == [1_010_000, 1_020_000]


def test_it_ends_after_its_count() -> None:
    target, _ = _ran(10_000, rate=100_000, count=120_001)
    assert len(target.rows) == 120_001
    assert max(frame.height for frame in target.frames) <= 50_000


def _ran_at(waits: int, then: Callable[[int, Inlet, ManualClock], None], **given: Any) -> tuple[Recorder, list[int]]:
    """What came, and how many tuples there were after each wait of 50 ms; ``then`` happens before a wait ends."""
    clock, target = ManualClock(1_000_000), Recorder()
    counts: list[int] = []

    def wait(number: int) -> None:
        counts.append(len(target.rows))
        then(number, way, clock)

    way = inlet(target, CountedHalt(clock, waits, wait), clock)
    declared = Declared(name="it", into="s", columns={"x": "n", "t": "time"}, **given)
    GeneratorSource(declared, Schema.of(x="int", t="timestamp")).run(way)
    return target, counts


def test_the_rate_can_be_turned_while_it_runs() -> None:
    def turn(number: int, way: Inlet, clock: ManualClock) -> None:
        way.factor = {20: 10.0, 40: 0.5}.get(number, way.factor)

    target, counts = _ran_at(60, turn, rate=100)
    # A second at 100, one at 1,000 and one at 50; each begins when it is noticed, and so with a tick without tuples.
    assert [counts[at - 1] for at in (20, 40, 60)] == [95, 95 + 950, 95 + 950 + 47]
    assert [row[0] for row in target.rows] == list(range(len(target.rows)))
    times = pl.concat(target.frames)["t"].cast(pl.Int64)
    assert times.diff().drop_nulls().min() > 0
    assert times.diff()[600:610].to_list() == [1_000] * 10


def test_bursts_come_when_they_did_at_another_rate() -> None:
    def turn(number: int, way: Inlet, clock: ManualClock) -> None:
        way.factor = 2.0

    bursts = {"every": "1s", "last": "200ms", "rate": 1_000}
    target, _ = _ran_at(40, turn, rate=100, bursts=bursts)
    within_s = (pl.concat(target.frames)["t"].cast(pl.Int64) - 1_000_000) % 1_000_000 / 1e6
    assert ((within_s > 0.8) | (within_s == 0)).sum() == pytest.approx(2 * 400, rel=0.1)
    assert len(target.rows) == pytest.approx(2 * (400 + 160), rel=0.1)


def test_what_was_missed_for_long_is_not_made_up_for() -> None:
    def held_up(number: int, way: Inlet, clock: ManualClock) -> None:
        if number in (10, 20):
            clock.move_s({10: 0.5, 20: 600.0}[number])

    target, counts = _ran_at(30, held_up, rate=100)
    assert counts[10] == pytest.approx(50 + 50, abs=6)
    assert counts[29] == pytest.approx(100 + 50 + 50, abs=12)
    times = pl.concat(target.frames)["t"].cast(pl.Int64)
    assert times.diff().max() > 500_000_000


def test_all_of_a_count_come_even_so() -> None:
    def held_up(number: int, way: Inlet, clock: ManualClock) -> None:
        if number == 5:
            clock.move_s(60)

    target, _ = _ran_at(500, held_up, rate=100, count=150)
    assert [row[0] for row in target.rows] == list(range(150))
