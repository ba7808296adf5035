"""Statistics over time: numbers are kept as samples, for as long as is wanted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from aurora.catalog import Catalog
from aurora.clock import ManualClock
from aurora.errors import InputError

READING = {
    "processor": "local",
    "wall_s": 3.0,
    "engine": {"recent_load": 0.5, "shed": {"full": 2}},
    "boxes": {"dear": {"calls": 7, "selectivity": None, "cost_s": float("nan")}},
    "outputs": {"alarms": {"latency_s": {"p50": 0.25, "p99": None}, "utility": {"live": {"overall": 1}}}},
}


def test_every_number_is_a_sample(catalog: Catalog, clock: ManualClock) -> None:
    assert catalog.note_statistics("alarms", READING) == 5
    found = {(s.what, s.element, s.metric): s.value for s in catalog.statistics("alarms")}
    assert found == {
        ("engine", "", "recent_load"): 0.5,
        ("engine", "", "shed.full"): 2.0,
        ("box", "dear", "calls"): 7.0,
        ("output", "alarms", "latency_s.p50"): 0.25,
        ("output", "alarms", "utility.live.overall"): 1.0,
    }
    assert {sample.at_us for sample in catalog.statistics("alarms")} == {clock.now_us()}


def test_samples_are_read_by_thing_metric_and_time(catalog: Catalog) -> None:
    catalog.keep_statistics(1e11)
    catalog.note_statistics("other", {"boxes": {"dear": {"calls": 9}}}, at_us=2 * 10**6)
    for second in range(5):
        catalog.note_statistics("alarms", {"boxes": {"dear": {"calls": second}}}, at_us=second * 1_000_000)
    found = catalog.statistics("alarms", what="box", element="dear", metric="calls", since_us=10**6, until_us=3 * 10**6)
    assert [sample.value for sample in found] == [1, 2, 3]
    assert catalog.statistics("alarms", metric="nothing") == []


def test_old_samples_go_and_so_do_series_without_any(
    catalog: Catalog, clock: ManualClock, rows: Callable[[str], list[tuple[object, ...]]]
) -> None:
    catalog.keep_statistics(3600)
    catalog.note_statistics("alarms", {"boxes": {"dear": {"calls": 1}, "gone": {"calls": 1}}})
    clock.move_s(3000)
    catalog.note_statistics("alarms", {"boxes": {"dear": {"calls": 2}}})
    clock.move_s(1000)
    catalog.note_statistics("alarms", {"boxes": {"dear": {"calls": 3}}})
    assert [sample.value for sample in catalog.statistics("alarms")] == [2, 3]
    assert rows("SELECT element FROM series") == [("dear",)]


def test_a_reading_at_the_same_time_replaces(catalog: Catalog) -> None:
    catalog.note_statistics("alarms", {"boxes": {"dear": {"calls": 1}}})
    catalog.note_statistics("alarms", {"boxes": {"dear": {"calls": 2}}})
    assert [sample.value for sample in catalog.statistics("alarms")] == [2]


def test_a_setting_that_makes_no_sense_does_no_harm(catalog: Catalog, other: Callable[[str], None]) -> None:
    with pytest.raises(InputError, match="above 0"):
        catalog.keep_statistics(0)
    other("INSERT INTO settings VALUES ('keep_statistics_s', 'for ever')")
    assert catalog.note_statistics("alarms", READING) == 5
    assert len(catalog.statistics("alarms")) == 5
