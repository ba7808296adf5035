"""Spilled blocks: every type comes back as it was, side by side with one read, and space is given back."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from aurora.errors import StorageError
from aurora.storage.spill import SpillFolder

ALL_TYPES = pl.DataFrame(
    {
        "int": [1, None, 3],
        "double": [0.5, float("nan"), None],
        "bool": [True, None, False],
        "string": ["", None, "a text that is longer than twelve bytes"],
        "timestamp": [datetime(2024, 1, 1, tzinfo=UTC), None, datetime(1900, 1, 1, tzinfo=UTC)],
        "duration": [timedelta(seconds=1), None, timedelta(days=-1)],
        "binary": [b"\0", None, b"x" * 50],
        "null": [None, None, None],
        "list": [["a", None], None, []],
        "lists": [[[1], []], [], None],
    },
    schema={
        "int": pl.Int64,
        "double": pl.Float64,
        "bool": pl.Boolean,
        "string": pl.String,
        "timestamp": pl.Datetime("us", "UTC"),
        "duration": pl.Duration("us"),
        "binary": pl.Binary,
        "null": pl.Null,
        "list": pl.List(pl.String),
        "lists": pl.List(pl.List(pl.Int64)),
    },
)


def test_every_type_comes_back_as_it_was(tmp_path: Path) -> None:
    folder = SpillFolder(tmp_path)
    sliced = pl.concat([ALL_TYPES, ALL_TYPES]).slice(2, 3)
    places = folder.write([ALL_TYPES, sliced], math.inf)
    first, second = folder.read(places)
    assert first.equals(ALL_TYPES)
    assert first.schema == ALL_TYPES.schema
    assert second.equals(sliced)
    folder.close()


def test_a_file_is_one_that_arrow_reads(tmp_path: Path) -> None:
    folder = SpillFolder(tmp_path)
    folder.write([ALL_TYPES, ALL_TYPES], math.inf)
    (file,) = tmp_path.rglob("*.arrow")
    with pa.OSFile(str(file)) as source:
        assert pa.ipc.open_file(source).read_all().num_rows == 6


def test_a_block_takes_the_text_of_its_own_rows_only(tmp_path: Path) -> None:
    folder = SpillFolder(tmp_path)
    frame = pl.DataFrame({"text": [f"{number:0100d}" for number in range(1_000)]})
    place = folder.write([frame.slice(500, 10)], math.inf)[0]
    assert place.bytes < 2_000


def test_neighbours_are_read_with_one_call(tmp_path: Path) -> None:
    folder = SpillFolder(tmp_path)
    frames = [pl.DataFrame({"n": [number]}) for number in range(2_000)]
    places = folder.write(frames, math.inf)
    assert folder.writes == 1
    assert [frame.item() for frame in folder.read(places[10:20])] == list(range(10, 20))
    assert folder.reads == 1
    assert [frame.item() for frame in folder.read([places[3], places[5]])] == [3, 5]
    assert folder.reads == 3
    assert [frame.item() for frame in folder.read(places)] == list(range(2_000))
    assert folder.reads == 7


def test_a_file_goes_with_the_last_of_its_blocks(tmp_path: Path) -> None:
    folder = SpillFolder(tmp_path)
    one, two = folder.write([ALL_TYPES, ALL_TYPES], math.inf)
    (file,) = tmp_path.rglob("*.arrow")
    assert folder.used == file.stat().st_size
    folder.free(one)
    assert file.exists()
    folder.free(two)
    assert not file.exists()
    assert folder.used == 0


def test_nothing_is_written_where_there_is_no_room(tmp_path: Path) -> None:
    folder = SpillFolder(tmp_path)
    folder.write([ALL_TYPES] * 3, math.inf)
    size = folder.used
    assert folder.write([ALL_TYPES] * 3, size - 500) == []
    assert len(list(tmp_path.rglob("*.arrow"))) == 1
    assert len(folder.write([ALL_TYPES] * 3, size + 500)) == 3


def test_a_file_that_was_changed_is_noticed(tmp_path: Path) -> None:
    folder = SpillFolder(tmp_path)
    places = folder.write([ALL_TYPES], math.inf)
    (file,) = tmp_path.rglob("*.arrow")
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(StorageError, match="was changed while in use"):
        folder.read(places)
    file.unlink()
    with pytest.raises(StorageError, match="cannot read"):
        folder.read(places)


def test_the_folder_goes_when_nobody_holds_it(tmp_path: Path) -> None:
    folder = SpillFolder(tmp_path)
    folder.write([ALL_TYPES], math.inf)
    assert list(tmp_path.iterdir())
    del folder
    assert not list(tmp_path.iterdir())
