"""What happens by itself is found out by comparing, told once, and forgotten after an hour."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from aurora.clock import ManualClock
from aurora.connectors.live.state import Status
from aurora.server.events import Events, Noticing

STATUS = Status("feed", "source", "tcp", "s", "connected", 0, "", None, 1, 0, 0, 0, 0, 0, 0, 0)


class Watched:
    def __init__(self) -> None:
        self.clock = ManualClock(start_us=10_000_000_000)
        self.events = Events(self.clock)
        self.noticing = Noticing(self.events)

    def drops(self, *drops: dict[str, Any], seconds: int = 1) -> None:
        for _ in range(seconds):
            self.noticing.drops(drops, self.clock.now_us())
            self.clock.move_s(1)

    def said(self) -> list[str]:
        return [event.text for event in self.events.last(3600)]


def drop(keep: float, shed: int = 0, place: str = "ticks before late") -> dict[str, Any]:
    return {"place": place, "reason": "random", "keep": keep, "outputs": ["alarms"], "since": "", "shed": shed}


def test_drops_begin_change_and_end() -> None:
    watched = Watched()
    watched.drops(drop(0.5, shed=100), seconds=5)
    watched.drops(drop(0.4, shed=200), seconds=30)
    watched.drops(drop(0.2, shed=1334), seconds=5)
    watched.drops(seconds=15)
    assert watched.said() == [
        "Drops begin at ticks before late: 50% of the tuples stay",
        "Drops at ticks before late: now 20% of the tuples stay",
        "Drops end at ticks before late, after 39 s; 1,234 tuples were dropped",
    ]
    events = watched.events.last(3600)
    assert {(event.kind, event.of, event.name) for event in events} == {("shedding", "arc", "ticks")}
    assert events[-1].at_us - events[0].at_us == 39_000_000


def test_a_drop_that_is_away_for_a_moment_is_still_there() -> None:
    watched = Watched()
    for _ in range(5):
        watched.drops(drop(0.5), seconds=3)
        watched.drops(seconds=8)
    assert len(watched.said()) == 1


def test_a_passing_thought_of_the_shedder_is_not_told() -> None:
    watched = Watched()
    watched.drops(drop(0.5), seconds=2)
    watched.drops(seconds=15)
    assert watched.said() == []


def test_what_is_dropped_at_one_place_is_told_together() -> None:
    watched = Watched()
    by_value = {"place": "s", "reason": "semantic", "where": '"level" < 60.123456', "spared": 0.0, "shed": 0}
    windows = {**drop(0.5), "reason": "windows"}
    watched.drops(by_value, drop(0.25, place="s"), {**drop(0.5), "reason": "tuples"}, windows, seconds=3)
    assert watched.said() == [
        "Drops begin at s: 25% of the tuples stay, and those with level < 60.12 go",
        "Drops begin at ticks before late: 50% of the windows stay",
    ]


def test_a_long_condition_is_cut() -> None:
    watched = Watched()
    where = " or ".join(f"level between {low} and {low + 5}" for low in range(0, 100, 10))
    watched.drops({"place": "s", "reason": "semantic", "where": where, "spared": 0.0, "shed": 0}, seconds=3)
    (said,) = watched.said()
    assert said.startswith("Drops begin at s: those with level between 0 and 5 or level")
    assert said.endswith(" … go")
    assert len(said) < 120


def test_want_of_room_begins_and_ends() -> None:
    watched = Watched()
    for tuples in (5, 5, 10, 30, 30, 30, 30, 30):
        watched.noticing.turned_away(tuples, watched.clock.now_us())
        watched.clock.move_s(1)
    assert watched.said() == [
        "No room for more tuples: what comes in is turned away",
        "There is room again; 25 tuples were turned away",
    ]


def test_connectors_fail_and_recover() -> None:
    watched = Watched()
    states: list[tuple[Any, str]] = [
        ("connected", ""),
        ("retrying", "refused"),
        ("retrying", "refused"),
        ("connected", ""),
        ("failed", "no such host"),
        ("ended", ""),
    ]
    for state, error in states:
        watched.noticing.connectors([replace(STATUS, state=state, last_error=error)])
    assert watched.said() == [
        "Source feed tries again: refused",
        "Source feed works again",
        "Source feed failed: no such host",
        "Source feed has nothing more",
    ]


def test_a_retry_between_two_looks_is_not_missed() -> None:
    watched = Watched()
    watched.noticing.connectors([STATUS])
    watched.noticing.connectors([replace(STATUS, retries=2, last_error="reset")])
    assert watched.said() == ["Source feed had to try again: reset"]


def test_failures_are_told_once() -> None:
    watched = Watched()
    for before, now in (("running", "failed"), ("failed", "failed")):
        watched.noticing.stage(before, now, "it failed: division")
    watched.noticing.rejected({"score": 0})
    watched.noticing.rejected({"score": 3})
    watched.noticing.rejected({"score": 9})
    assert watched.said() == ["it failed: division", "The code in score fails on tuples; they are rejected"]


def test_events_are_kept_for_an_hour() -> None:
    watched = Watched()
    watched.events.note("started", "Started")
    watched.clock.move_s(1800)
    watched.events.note("paused", "Paused")
    assert watched.said() == ["Started", "Paused"]
    assert [event.text for event in watched.events.last(60)] == ["Paused"]
    watched.clock.move_s(1801)
    assert watched.said() == ["Paused"]
