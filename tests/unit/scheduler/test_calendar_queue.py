"""The calendar against a sorted list, and its work per event as the number of events grows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.scheduler.calendar_queue import CalendarQueue

ITEMS, TIMES = st.integers(0, 60), st.one_of(st.integers(0, 300), st.integers(0, 10**12))
PUTS = st.tuples(st.just("put"), ITEMS, TIMES)
REMOVALS = st.tuples(st.just("remove"), ITEMS, st.just(0))
DUES = st.tuples(st.just("due"), st.just(0), st.one_of(st.integers(0, 50), st.integers(0, 10**12)))


@given(st.lists(st.one_of(PUTS, PUTS, PUTS, REMOVALS, DUES), max_size=300))
def test_it_is_a_priority_queue(steps: list[tuple[str, int, int]]) -> None:
    queue, expected, now = CalendarQueue(), dict[int, int](), 0
    for what, item, number in steps:
        if what == "put":
            queue.put(item, number)
            expected[item] = max(number, now)
        elif what == "remove":
            queue.remove(item)
            expected.pop(item, None)
        else:
            now += number
            ripe = sorted((time, item) for item, time in expected.items() if time <= now)
            assert queue.due(now) == [item for _, item in ripe]
            for _, item in ripe:
                del expected[item]
        assert len(queue) == len(expected)


def steps_per_event(count: int, spread: str) -> float:
    """Holds ``count`` events: each that comes due is put in again, as boxes in buckets do."""
    rng = np.random.default_rng(7)

    def ahead() -> int:
        if spread == "even":
            return int(rng.integers(1, 2_000_000))
        if spread == "exponential":
            return 1 + int(rng.exponential(500_000))
        # Many soon, and some in a far cluster.
        return int(rng.integers(1, 1_000)) if rng.random() < 0.5 else 3_600_000_000 + int(rng.integers(0, 1_000))

    queue, now, events = CalendarQueue(), 0, 0
    for item in range(count):
        queue.put(item, ahead())
    queue.steps = 0
    while events < 4 * count:
        now += 2_000
        for item in queue.due(now):
            queue.put(item, now + ahead())
            events += 1
        if spread == "clusters" and now > 200_000_000:
            break
    return queue.steps / max(events, 1)


@pytest.mark.parametrize("spread", ["even", "exponential"])
def test_work_per_event_does_not_grow_with_the_number_of_events(spread: str) -> None:
    few, many = steps_per_event(200, spread), steps_per_event(6_400, spread)
    assert many < 20
    assert many < 2 * few + 5


def test_waiting_for_events_that_are_far_away_costs_nothing() -> None:
    queue = CalendarQueue()
    for item in range(1_000):
        queue.put(item, 3_600_000_000 + item)
    queue.steps = 0
    for now in range(0, 3_500_000_000, 1_000_000):
        assert not queue.due(now)
    assert queue.steps == 0
    queue.put(7, 3_500_000_000)
    assert queue.due(3_550_000_000) == [7]
    spent = queue.steps
    for now in range(3_550_000_000, 3_599_000_000, 10_000):
        assert not queue.due(now)
    assert queue.steps - spent < 30_000
