"""The storage manager: budgets, what leaves memory first, what comes back, and what a failing disk does."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from aurora.errors import StorageError
from aurora.model.train import ORDER, Train
from aurora.model.typed import Consumer, Producer
from aurora.storage import spill
from aurora.storage.manager import StorageManager
from aurora.storage.queues import NOTHING_WAITS, Queue

A, B = Producer("a"), Producer("b")
LOW, HIGH = Consumer("low", 0), Consumer("high", 0)
ROWS = 1_000


def train(first: int, rows: int = ROWS) -> Train:
    numbers = np.arange(first, first + rows)
    frame = pl.DataFrame({"n": numbers, "text": pl.Series(numbers).cast(pl.String)})
    return Train.of(frame, 2 * numbers + 1, numbers, numbers)


def fill(manager: StorageManager, arc: Producer, trains: int, rows: int = ROWS) -> None:
    for number in range(trains):
        manager.put(arc, train(number * rows, rows), (number + 1) * rows - 1)


def drain(manager: StorageManager, reader: Consumer, most: int) -> Iterator[int]:
    while (taken := manager.take(reader, most)) is not None:
        yield from taken.frame.get_column("n").to_list()


def queue_of(manager: StorageManager, arc: Producer) -> Queue:
    return manager._queues[arc]


def on_disk(manager: StorageManager, arc: Producer) -> list[bool]:
    return [entry.train is None for entry in queue_of(manager, arc).entries]


@pytest.fixture
def two(tmp_path: Path) -> Iterator[StorageManager]:
    """Two queues that fill a budget of about ten trains."""
    made = StorageManager({A: [LOW], B: [HIGH]}, memory=400_000, block_bytes=20_000, folder=tmp_path)
    yield made
    made.close()


def test_on_the_fast_path_a_train_comes_out_as_the_object_that_was_put() -> None:
    manager = StorageManager({A: [LOW, HIGH]})
    put = train(0)
    manager.put(A, put, ROWS - 1)
    assert manager.take(LOW, ROWS) is put
    assert manager.take(HIGH, 2 * ROWS, ROWS - 1) is put
    assert manager.used_memory == 0
    assert manager.waiting(LOW) == NOTHING_WAITS


def test_a_slice_shares_the_memory_of_its_train() -> None:
    manager = StorageManager({A: [LOW]})
    put = train(0)
    manager.put(A, put, ROWS - 1)
    taken = manager.take(LOW, 10)
    assert taken is not None
    start = put.hidden(ORDER).__array_interface__["data"][0]
    assert taken.hidden(ORDER).__array_interface__["data"][0] == start


@pytest.mark.parametrize("rows", [1, 40, 1_000, 200_000])
def test_queues_twenty_times_the_budget_keep_within_it_and_lose_nothing(tmp_path: Path, rows: int) -> None:
    total = max(rows, 3_000)
    size = sum(train(number, rows).frame.estimated_size() for number in range(0, total, rows))
    memory = int(size) // 20
    manager = StorageManager({A: [LOW, HIGH]}, memory=memory, folder=tmp_path)
    for number in range(0, total, rows):
        manager.put(A, train(number, rows), number + rows - 1)
        assert manager.used_memory <= memory
    assert manager.used_disk > 10 * memory
    for reader, most in ((LOW, 700), (HIGH, 100)):
        seen = []
        while (taken := manager.take(reader, most)) is not None:
            assert manager.used_memory <= memory
            seen += taken.frame.get_column("n").to_list()
        assert seen == list(range(total))
    assert manager.used_memory == manager.used_disk == 0
    assert not list(tmp_path.rglob("*.arrow"))
    manager.close()
    assert not list(tmp_path.iterdir())


def test_blocks_that_stand_together_are_written_and_read_together(tmp_path: Path) -> None:
    manager = StorageManager({A: [LOW]}, memory=2_000_000, block_bytes=10_000, folder=tmp_path)
    manager.put(A, train(0, 100_000), 99_999)
    assert manager._files.writes == 1
    assert manager._files.blocks_written > 20
    assert len(manager.take(LOW, 100_000) or ()) == 100_000
    assert manager._files.reads == 1
    assert manager._files.blocks_read == manager._files.blocks_written


def test_blocks_grow_with_their_queue_and_shrink_again(tmp_path: Path) -> None:
    manager = StorageManager({A: [LOW], B: [HIGH]}, memory=1_000_000, block_bytes=4_000, folder=tmp_path)
    fill(manager, A, 100)
    assert queue_of(manager, A).block_bytes > 4_000
    assert sum(1 for _ in drain(manager, LOW, 5_000)) == 100 * ROWS
    fill(manager, B, 40)
    fill(manager, A, 1)
    manager.set_priorities({"low": 0, "high": 1})
    fill(manager, B, 40)
    assert all(on_disk(manager, A))
    assert queue_of(manager, A).block_bytes == 4_000


def test_the_queue_of_the_lowest_priority_leaves_first(two: StorageManager) -> None:
    two.set_priorities({"low": 1, "high": 2})
    fill(two, B, 3)
    fill(two, A, 20)
    assert two.table.residency("high") == 1
    assert two.table.residency("low") < 1
    assert two.table.residencies().tolist() == [two.table.residency("low"), 1]


def test_within_a_queue_what_is_needed_last_leaves_first(two: StorageManager) -> None:
    fill(two, A, 20)
    left = on_disk(two, A)
    assert left[0] is False
    assert True in left
    # Only what came in since stands behind the first that left.
    assert left[left.index(True) :].count(False) <= 2


def test_what_a_slow_reader_needs_last_leaves_before_what_a_fast_one_needs_next(tmp_path: Path) -> None:
    manager = StorageManager({A: [LOW, HIGH], B: []}, memory=400_000, block_bytes=20_000, folder=tmp_path)
    fill(manager, A, 7)
    assert manager.take(HIGH, 6 * ROWS) is not None
    manager.put(A, train(7 * ROWS, 4_000), 11_000)
    entries = queue_of(manager, A).entries
    gone = [entry.first for entry in entries if entry.train is None]
    assert gone
    assert 6 * ROWS not in gone
    assert max(first for first in gone if first < 6 * ROWS) >= 5 * ROWS


def test_a_higher_priority_brings_blocks_back_in_place_of_others(two: StorageManager) -> None:
    two.set_priorities({"low": 2, "high": 1})
    fill(two, A, 7)
    fill(two, B, 7)
    assert two.table.residency("high") < 1
    before = two.table.residency("high")
    for _ in range(10):
        two.set_priorities({"low": 1, "high": 2})
        assert two.used_memory <= 400_000
    assert two.table.residency("high") > before
    assert two.table.residency("low") < 1
    assert list(drain(two, HIGH, 300)) == list(range(7 * ROWS))
    assert list(drain(two, LOW, 300)) == list(range(7 * ROWS))


def test_priorities_that_swing_do_not_move_blocks_all_the_time(two: StorageManager) -> None:
    fill(two, A, 20)
    fill(two, B, 20)
    two.set_priorities({"low": 1, "high": 1})
    reads, writes = two._files.reads, two._files.writes
    for swing in range(64):
        two.set_priorities({"low": swing % 2, "high": 1 - swing % 2})
    assert two._files.reads - reads <= 2
    assert two._files.writes == writes


def test_room_that_has_become_free_is_used_for_what_is_needed_next(two: StorageManager) -> None:
    two.set_priorities({"low": 1, "high": 2})
    fill(two, B, 8)
    fill(two, A, 8)
    assert two.table.residency("low") < 0.5
    assert sum(1 for _ in drain(two, HIGH, ROWS)) == 8 * ROWS
    for _ in range(10):
        two.set_priorities({"low": 1, "high": 2})
    assert two.table.residency("low") > 0.5
    writes = two._files.writes
    assert list(drain(two, LOW, 300)) == list(range(8 * ROWS))
    assert two._files.writes == writes


def test_a_running_box_keeps_what_it_found_in_memory(two: StorageManager) -> None:
    two.set_priorities({"low": 1, "high": 2})
    fill(two, A, 5)
    two.pin("low")
    assert two.table.running == {"low"}
    fill(two, B, 30)
    assert two.table.residency("low") == 1
    assert two.used_memory <= 400_000
    two.unpin("low")
    fill(two, B, 5)
    assert two.table.residency("low") < 1


def test_what_comes_while_a_box_runs_may_leave(two: StorageManager) -> None:
    fill(two, A, 5)
    two.pin("low")
    two.pin("high")
    for number in range(5, 30):
        two.put(A, train(number * ROWS), (number + 1) * ROWS)
        assert two.used_memory <= 400_000
    assert on_disk(two, A)[:5] == [False] * 5
    assert list(drain(two, LOW, 300)) == list(range(30 * ROWS))


def test_without_disk_memory_is_overrun_and_full_says_so(tmp_path: Path) -> None:
    manager = StorageManager({A: [LOW]}, memory=100_000, disk=0, folder=tmp_path)
    assert manager.room_for(100_000)
    assert not manager.room_for(100_001)
    assert not manager.full
    fill(manager, A, 5)
    assert manager.full
    assert not manager.room_for(1)
    assert list(drain(manager, LOW, 300)) == list(range(5 * ROWS))
    assert not manager.full
    assert not list(tmp_path.iterdir())


def test_the_budget_of_the_disk_is_kept(tmp_path: Path) -> None:
    manager = StorageManager({A: [LOW]}, memory=100_000, disk=150_000, block_bytes=10_000, folder=tmp_path)
    seen_full = False
    for number in range(20):
        manager.put(A, train(number * ROWS), (number + 1) * ROWS)
        assert manager.used_disk <= 150_000
        seen_full = seen_full or manager.full
    assert manager.used_disk > 75_000
    assert seen_full
    assert list(drain(manager, LOW, 300)) == list(range(20 * ROWS))
    fill(manager, A, 3)
    assert manager.used_memory <= 100_000


class _FullDisk:
    """A writer of Arrow files that finds the disk full at the second block."""

    def __init__(self, *args: Any) -> None:
        self._blocks = 0

    def __enter__(self) -> _FullDisk:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def write_batch(self, _batch: object) -> None:
        self._blocks += 1
        if self._blocks > 1:
            raise OSError(errno.ENOSPC, "No space left on device")


def test_a_disk_that_fails_is_reported_and_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = StorageManager({A: [LOW], B: [HIGH]}, memory=400_000, block_bytes=10_000, folder=tmp_path)
    fill(manager, A, 5)
    with monkeypatch.context() as patch:
        patch.setattr(spill.pa.ipc, "new_file", _FullDisk)
        with pytest.raises(StorageError, match=r"write to .*No space left on device.*free space there, name another"):
            fill(manager, B, 10)
        assert not list(tmp_path.rglob("*.arrow"))
        stored = queue_of(manager, B).end
        assert 0 < stored < 10 * ROWS
        assert manager.used_memory <= 400_000
        taken = manager.take(LOW, 100)
        assert taken is not None
        # What was not stored can be stored again once there is room.
        assert len(taken) == 100
    manager.put(B, train(stored, ROWS), stored + ROWS - 1)
    assert manager.used_disk > 0
    assert list(drain(manager, HIGH, 300)) == list(range(stored + ROWS))
    assert list(drain(manager, LOW, 300)) == list(range(100, 5 * ROWS))


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    manager = StorageManager({A: [LOW]}, memory=10_000, folder=tmp_path / "file" / "folder")
    with pytest.raises(StorageError, match=r"cannot make a folder in .*file"):
        manager.put(A, train(0), ROWS)
    assert manager.used_memory == 0
    assert manager.take(LOW, 1) is None


def test_closing_deletes_everything(two: StorageManager, tmp_path: Path) -> None:
    fill(two, A, 30)
    assert list(tmp_path.rglob("*.arrow"))
    two.close()
    assert not list(tmp_path.iterdir())
    assert two.used_memory == two.used_disk == 0
    assert two.take(LOW, 1) is None


def test_rows_of_the_table_stand_in_the_order_that_was_given() -> None:
    manager = StorageManager({A: [LOW], B: [HIGH]}, boxes=["high", "idle", "low"])
    assert manager.table.boxes == ("high", "idle", "low")
    manager.set_priorities(np.array([3.0, 2.0, 1.0]))
    manager.table.apply()
    assert queue_of(manager, B).cursors[0].priority == 3
    assert queue_of(manager, A).cursors[0].priority == 1
    assert manager.table.residencies().tolist() == [1, 1, 1]
