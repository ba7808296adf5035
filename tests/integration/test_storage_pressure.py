"""Queues that exceed their memory many times over: the run completes, within the budget, with the right answers."""

from __future__ import annotations

import polars as pl
import pytest

from benchmarks.pressure import Outcome, run, tables

ROWS = 80_000
PIECE = 500


@pytest.fixture(scope="module")
def data() -> dict[str, pl.DataFrame]:
    return tables(ROWS)


@pytest.fixture(scope="module")
def wanted(data: dict[str, pl.DataFrame]) -> Outcome:
    return run(data, 2**30, PIECE)


@pytest.mark.parametrize(("policy", "workers"), [("qos", 1), ("round_robin", 2), ("buckets", 1)])
def test_queues_twenty_times_as_large_as_memory(
    policy: str, workers: int, data: dict[str, pl.DataFrame], wanted: Outcome
) -> None:
    total = sum(int(table.estimated_size()) for table in data.values())
    budget, piece = total // 20, PIECE * total // sum(table.height for table in data.values())
    found = run(data, budget, PIECE, scheduler=policy, workers=workers)
    assert found.disk > 10 * budget
    # What two boxes are about to take stays in memory, and a train that comes is in it before another leaves; each with
    # its numbers and clocks.
    assert found.memory <= budget + 5 * piece
    for name, frame in wanted.answers.items():
        assert frame.height
        assert found.answers[name].equals(frame), name
