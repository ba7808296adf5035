"""Measured utility against all notes, tuple by tuple."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.model.qos import QoS
from aurora.qos.monitor import SLOTS, WINDOWS_S, QoSMonitor, Utility
from aurora.qos.sampling import MOST_LOOKED_AT

FULL = QoS(
    latency=[("0s", 1), ("500ms", 1), ("1s", 0.3), ("2s", 0)],
    loss=[(100, 1), (80, 0.9), (50, 0)],
    value={"on": "x", "graph": [(0, 0.1), (50, 1), (60, 0.2)]},
)


@dataclass
class Noted:
    """A note: tuples with their latencies and values, or a loss."""

    at_us: int
    latencies_us: list[int]
    values: list[float | None]
    lost: float = 0.0


def mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def oracle(noted: list[tuple[Noted, float]], qos: QoS) -> Utility:
    """Over notes with weights."""
    assert qos.latency is not None
    assert qos.loss is not None
    assert qos.value is not None
    by_latency = [(qos.latency.utility(us / 1e6), w) for note, w in noted for us in note.latencies_us]
    by_value = [
        (qos.value.utility(x), w) for note, w in noted for x in note.values if x is not None and not math.isnan(x)
    ]
    came = sum(w for _, w in by_latency)
    lost = sum(note.lost * w for note, w in noted)
    return Utility(
        latency=sum(u * w for u, w in by_latency) / came if came else None,
        loss=qos.loss.utility(100 * came / (came + lost)) if came + lost else None,
        value=sum(u * w for u, w in by_value) / sum(w for _, w in by_value) if by_value else None,
    )


def assert_same(found: Utility, expected: Utility) -> None:
    for name in ("latency", "loss", "value"):
        one, other = getattr(found, name), getattr(expected, name)
        assert one == (None if other is None else pytest.approx(other, rel=1e-9, abs=1e-9)), name


TUPLES = st.lists(
    st.tuples(
        st.integers(0, 3_000_000),
        st.one_of(st.floats(-10, 100), st.sampled_from([None, math.nan, math.inf])),
    ),
    max_size=6,
)
NOTES = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 200_000), st.integers(0, 20_000_000)),
        TUPLES,
        st.one_of(st.just(0.0), st.floats(0.1, 20)),
    ),
    max_size=25,
)


@given(NOTES, st.integers(0, 70_000_000), st.integers(0, 2_000_000_000_000_000))
def test_utility_is_that_of_all_notes_of_the_time(
    drawn: list[tuple[int, list[tuple[int, float | None]], float]], later_us: int, began_us: int
) -> None:
    monitor = QoSMonitor({"out": FULL}, half_life_s=2.0)
    now_us, noted = began_us, []
    for passed_us, tuples, lost in drawn:
        now_us += passed_us
        note = Noted(now_us, [latency for latency, _ in tuples], [value for _, value in tuples], lost)
        noted.append(note)
        values = pl.Series("x", note.values, pl.Float64)
        monitor.note("out", np.array(note.latencies_us, np.int64), len(tuples), values, now_us)
        if lost:
            monitor.note_loss("out", lost, now_us)
    now_us += later_us
    for window_s in WINDOWS_S:
        slot_us = window_s * 1_000_000 // SLOTS
        inside = [(note, 1.0) for note in noted if now_us // slot_us - note.at_us // slot_us < SLOTS]
        assert_same(monitor.over("out", window_s, now_us), oracle(inside, FULL))
    assert_same(monitor.whole("out"), oracle([(note, 1.0) for note in noted], FULL))
    # What is live forgets by whole slots of the shortest window.
    slot_us = WINDOWS_S[0] * 1_000_000 // SLOTS
    ages = [(now_us // slot_us - note.at_us // slot_us) * slot_us / 1e6 for note in noted]
    remembered = [(note, 0.5 ** (age / 2.0)) for note, age in zip(noted, ages, strict=True) if age < 60]
    if all(age < 60 for age in ages):
        assert_same(monitor.live("out", now_us), oracle(remembered, FULL))


def test_windows_move_on_slot_by_slot() -> None:
    monitor = QoSMonitor({"out": FULL})
    noted = []
    for number in range(400):
        now_us = number * 17_000
        noted.append(Noted(now_us, [number * 997_001 % 2_500_000], []))
        monitor.note("out", noted[-1].latencies_us[0], 1, None, now_us)
        slot_us = 1_000_000 // SLOTS
        inside = [(note, 1.0) for note in noted if now_us // slot_us - note.at_us // slot_us < SLOTS]
        assert_same(monitor.over("out", 1, now_us), oracle(inside, FULL))


def test_overall_is_the_product_of_the_graphs_there_are() -> None:
    assert Utility().overall is None
    assert Utility(latency=0.5).overall == 0.5
    assert Utility(latency=0.5, loss=0.4, value=0.1).overall == pytest.approx(0.02)
    assert Utility(latency=0.0, loss=1.0).overall == 0.0
    assert Utility(loss=0.7).to_dict() == {"overall": 0.7, "latency": None, "loss": 0.7, "value": None}


def test_one_latency_may_stand_for_all_tuples() -> None:
    one, each = QoSMonitor({"out": FULL}), QoSMonitor({"out": FULL})
    one.note("out", 800_000, 5, None, 0)
    one.note("out", np.array([100_000]), 5, None, 0)
    each.note("out", np.array([800_000] * 5 + [100_000] * 5), 10, None, 0)
    assert one.live("out", 0) == each.live("out", 0)


@pytest.mark.parametrize("qos", [None, QoS()])
def test_an_output_without_graphs_has_no_utility(qos: QoS | None) -> None:
    monitor = QoSMonitor({"out": qos})
    monitor.note("out", 5, 1, None, 0)
    monitor.note_loss("out", 1, 0)
    assert set(monitor.read("out", 0).values()) == {Utility()}


def test_what_is_read_has_a_name_for_every_window() -> None:
    monitor = QoSMonitor({"out": FULL})
    monitor.note("out", 0, 1, None, 0)
    read = monitor.read("out", 5_000_000)
    assert list(read) == ["live", "1s", "10s", "60s", "run"]
    assert [utility.latency for utility in read.values()] == [1.0, None, 1.0, 1.0, 1.0]


def test_where_all_tuples_were_lost_only_loss_is_known() -> None:
    monitor = QoSMonitor({"out": FULL})
    monitor.note_loss("out", 10, 0)
    assert monitor.over("out", 1, 0) == Utility(loss=0.0)


def test_a_note_of_an_earlier_time_is_not_lost() -> None:
    monitor = QoSMonitor({"out": FULL})
    monitor.note("out", 0, 1, None, 10_000_000)
    monitor.note("out", 5_000_000, 1, None, 9_000_000)
    assert monitor.over("out", 1, 10_000_000).latency == 0.5


def test_long_trains_are_judged_by_a_part_of_them() -> None:
    size = 20 * MOST_LOOKED_AT + 1
    random = np.random.default_rng(4)
    latencies = random.integers(0, 3_000_000, size)
    values = random.uniform(-10, 100, size)
    monitor = QoSMonitor({"out": FULL})
    monitor.note("out", latencies, size, pl.Series(values), 0)
    assert FULL.latency is not None
    assert FULL.value is not None
    found = monitor.over("out", 1, 0)
    assert found.latency == pytest.approx(mean([FULL.latency.utility(x / 1e6) for x in latencies.tolist()]), abs=0.02)
    assert found.value == pytest.approx(mean([FULL.value.utility(x) for x in values.tolist()]), abs=0.02)


@pytest.mark.parametrize("ends", [(0, 400_000), (2_000_000, 9_000_000)])
def test_where_the_graph_is_level_long_trains_are_exact(ends: tuple[int, int]) -> None:
    latencies = np.random.default_rng(5).integers(*ends, 1000)
    monitor = QoSMonitor({"out": FULL})
    monitor.note("out", latencies, 1000, None, 0)
    assert monitor.live("out", 0).latency == (1.0 if ends[0] == 0 else 0.0)
