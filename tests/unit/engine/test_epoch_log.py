"""What has entered, for several who take it at their own pace."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from aurora.engine.epoch_log import EpochLog
from aurora.model.train import Progress, Train
from aurora.model.typed import Producer

S, T = Producer("s"), Producer("t")


def train(numbers: list[int]) -> Train:
    """Tuple number n arrived at 1,000 times n."""
    orders = np.array(numbers, np.int64)
    return Train.of(pl.DataFrame({"x": numbers}), 2 * orders + 1, 10 * orders, 1_000 * orders)


@pytest.fixture
def log() -> EpochLog:
    """Numbers 0 to 3 and 4 to 9; those divisible by 3 are of one stream, all others of another."""
    made = EpochLog()
    for first, last in ((0, 3), (4, 9)):
        numbers = range(first, last + 1)
        trains = {
            S: train([n for n in numbers if n % 3 == 0]),
            T: train([n for n in numbers if n % 3]),
        }
        clocks = 10 * np.arange(first, last + 1)
        made.put(trains, Progress(last, int(clocks[-1]), first, clocks))
    return made


def taken(log: EpochLog, arcs: list[Producer], after: int, upto: int) -> tuple[dict[str, list[int]], Progress]:
    trains, progress = log.between(arcs, after, upto, clocks=True)
    return {arc.name: some.frame.get_column("x").to_list() for arc, some in trains.items()}, progress


@pytest.mark.parametrize("after", range(-1, 9))
@pytest.mark.parametrize("upto", range(10))
def test_any_stretch_of_numbers_can_be_taken(log: EpochLog, after: int, upto: int) -> None:
    if upto <= after:
        return
    got, progress = taken(log, [S, T], after, upto)
    numbers = range(after + 1, upto + 1)
    wanted = {"s": [n for n in numbers if n % 3 == 0], "t": [n for n in numbers if n % 3]}
    assert got == {name: some for name, some in wanted.items() if some}
    assert (progress.seq, progress.clock, progress.first) == (upto, 10 * upto, after + 1)
    assert progress.clocks.tolist() == [10 * n for n in numbers]


def test_who_does_not_wait_for_time_is_told_no_clocks(log: EpochLog) -> None:
    trains, progress = log.between([S], 1, 6, clocks=False)
    assert trains[S].frame.get_column("x").to_list() == [3, 6]
    assert (progress.seq, progress.clock, progress.first, len(progress.clocks)) == (6, 60, 7, 0)


@pytest.mark.parametrize("after", range(-1, 10))
def test_what_waits_is_counted(log: EpochLog, after: int) -> None:
    numbers = [n for n in range(after + 1, 10) if n % 3 == 0]
    count, arrivals_us = log.waiting(S, after)
    queued = log.queued(S, after)
    assert count == queued.tuples == len(numbers)
    assert queued.oldest_us == (1_000 * numbers[0] if numbers else None)
    if after == -1:
        assert arrivals_us == 1_000 * sum(numbers)


@pytest.mark.parametrize("most", range(1, 9))
@pytest.mark.parametrize("after", range(-1, 9))
def test_a_number_for_about_so_many_tuples_lies_ahead(log: EpochLog, most: int, after: int) -> None:
    upto = log.number_at([T], after, most)
    assert after < upto <= 9
    trains, _ = log.between([T], after, upto, clocks=False)
    assert sum(map(len, trains.values())) <= most + 1


def test_what_all_have_taken_is_forgotten(log: EpochLog) -> None:
    whole = log.bytes
    log.forget(2)
    assert log.bytes == whole
    log.forget(3)
    assert 0 < log.bytes < whole
    assert log.waiting(S, -1)[0] == 2
    log.forget(9)
    assert log.bytes == 0
