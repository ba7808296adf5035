"""Who runs what somebody brings: the one who brings it, as long as that is soon done. And when: perhaps with more."""

from __future__ import annotations

import pytest

from aurora.engine import loop as loops
from aurora.engine.loop import Gathering, Habits, Loop

LONG_S = 0.08
SHORT_S = 0.0005


def test_what_takes_long_is_left_alone_and_seldom_tried_again() -> None:
    habits = Habits()
    tried = 0
    for _ in range(2_000):
        if habits.allow(1_600):
            tried += 1
            habits.note(1_600, LONG_S)
    assert 2 <= tried <= 30


def test_what_has_become_cheap_is_run_by_who_brings_it() -> None:
    habits = Habits()
    for _ in range(100):
        habits.note(1_600, LONG_S)
    allowed = [habits.allow(1_600) for _ in range(400)]
    assert not allowed[0]
    assert allowed[-1]


def test_one_hiccup_does_not_make_a_habit() -> None:
    habits = Habits()
    for took_s in [SHORT_S] * 50 + [0.01]:
        habits.note(2, took_s)
    assert habits.allow(2)


def test_sizes_have_habits_of_their_own() -> None:
    habits = Habits()
    for _ in range(100):
        habits.note(2_000, LONG_S)
        habits.note(2, SHORT_S)
    assert not habits.allow(1_999)
    assert habits.allow(3)


class Boxes:
    """They only count how often they are run."""

    def __init__(self) -> None:
        self.runs = 0
        self.plenty = False

    def turn(self) -> bool:
        self.runs += 1
        return False

    def tick(self) -> None:
        pass

    @property
    def has_plenty(self) -> bool:
        return self.plenty


def test_a_sender_whose_tuples_take_long_hands_them_over() -> None:
    boxes = Boxes()
    loop = Loop(boxes, tick_s=lambda: None)  # its thread is not started: whatever runs is run here
    loop.bring(100)
    assert boxes.runs == 1
    for _ in range(100):
        loop._habits.note(100, LONG_S)
    loop.bring(100)
    assert boxes.runs == 1
    assert not loop.resting


def test_it_pays_to_wait_for_more_as_long_as_more_comes() -> None:
    gathering = Gathering()
    for _ in range(100):
        assert gathering.pays()
        gathering.note(more=True)


def test_it_is_tried_ever_more_seldom_where_nothing_comes_and_again_at_once_when_something_does() -> None:
    gathering = Gathering()
    tried = 0
    for _ in range(1_000):
        if gathering.pays():
            tried += 1
            gathering.note(more=False)
    assert 10 <= tried <= 30
    while not gathering.pays():
        pass
    gathering.note(more=True)
    assert gathering.pays()


@pytest.mark.parametrize(
    ("since_s", "plenty", "tables", "waits"),
    [(0.001, False, 1, True), (1.0, False, 1, False), (0.001, True, 1, False), (0.001, False, 0, False)],
)
def test_a_large_table_waits_for_the_next_if_the_last_was_run_just_now(
    monkeypatch: pytest.MonkeyPatch, since_s: float, plenty: bool, tables: int, waits: bool
) -> None:
    monkeypatch.setattr(loops.time, "perf_counter", lambda: 100.0)
    boxes = Boxes()
    boxes.plenty = plenty
    loop = Loop(boxes, tick_s=lambda: None)
    waited: list[float] = []
    monkeypatch.setattr(loop._halted, "wait", waited.append)
    loop._ran_s = 100.0 - since_s
    for _ in range(tables):
        loop.wake(table=True)
    loop._gather()
    assert bool(waited) == waits
    waited.clear()
    loop._gather()
    assert not waited  # it has waited for them once
