"""Slices of Parquet and Arrow files: the same rows as a source gives."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from unittest import mock

import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.connectors import slices
from aurora.connectors.row_groups import cut_at
from aurora.connectors.slices import FileSlices, can_slice, read_slice
from aurora.errors import InputError
from aurora.model.schema import Schema
from unit.connectors.reading import read

SCHEMA = Schema.of(
    s="string", n="int", f="double", t="timestamp", u="timestamp", c="string", l="list<int>", d="duration"
)
ROWS = 23
NAMES = ["a.parquet", "a.arrow", "a.feather"]


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    slices._KEPT.files.clear()
    with mock.patch.object(slices, "_AHEAD_ROWS", 5):
        yield
    slices._KEPT.files.clear()


def table(rows: int = ROWS) -> pa.Table:
    noon = datetime(2024, 1, 1, 12, tzinfo=UTC)
    numbers = range(rows)
    return pa.table(
        {
            "extra": pa.array(numbers, pa.int64()),
            "n": pa.array([None if n % 5 == 2 else n for n in numbers], pa.int16()),
            "f": pa.array([n / 3 for n in numbers], pa.float32()),
            "s": pa.array([None if n % 7 == 3 else f"a longer text, number {n}" for n in numbers]),
            "t": pa.array([noon] * rows, pa.timestamp("us", "Europe/Paris")),
            "u": pa.array([n * 1001 for n in numbers], pa.timestamp("ns")),
            "c": pa.array(["x" if n % 2 else "y" for n in numbers]).dictionary_encode(),
            "l": pa.array([[n, None][: n % 3] for n in numbers], pa.list_(pa.int64())),
            "d": pa.array([n * 10**6 for n in numbers], pa.int64()),
        }
    )


def make(folder: Path, name: str, content: pa.Table, group: int = 6) -> str:
    path = folder / name
    if name.endswith(".parquet"):
        pq.write_table(content, path, row_group_size=group)
    else:
        options = ipc.IpcWriteOptions(compression="lz4" if name.endswith(".feather") else None)
        with ipc.new_file(path, content.schema, options=options) as writer:
            writer.write_table(content, max_chunksize=group)
    return str(path)


@pytest.mark.parametrize("name", NAMES)
def test_every_slice_is_what_the_source_gives(tmp_path: Path, name: str) -> None:
    file = make(tmp_path, name, table())
    whole, rejected = read(Path(file), SCHEMA)
    assert rejected == []
    assert can_slice(file, SCHEMA)
    assert FileSlices(file, SCHEMA).rows == whole.height == ROWS
    assert FileSlices(file, SCHEMA).read(2, 9).equals(whole.slice(2, 7))
    for start in range(ROWS + 1):
        for stop in range(start, ROWS + 1):
            found = read_slice(file, SCHEMA, start, stop)
            assert found.schema == SCHEMA.to_polars()
            assert found.equals(whole.slice(start, stop - start)), (start, stop)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [1, 4, 6, 10, 23])
def test_one_slice_after_the_other(tmp_path: Path, name: str, size: int) -> None:
    """Here a slice starts in what was read for the one before."""
    file = make(tmp_path, name, table())
    whole, _ = read(Path(file), SCHEMA)
    for columns in (None, ["n"], ["u", "s"]):
        found = [read_slice(file, SCHEMA, start, min(ROWS, start + size), columns) for start in range(0, ROWS, size)]
        assert pl.concat(found).equals(whole if columns is None else whole.select(columns))


def reads(opened: slices._Opened) -> mock._patch[mock.Mock]:
    return mock.patch.object(opened, "read", mock.Mock(wraps=opened.read))


@pytest.mark.parametrize("name", NAMES)
def test_small_slices_are_read_ahead(tmp_path: Path, name: str) -> None:
    file = make(tmp_path, name, table())
    names = tuple(SCHEMA)
    with reads(slices._opened(file)) as read_rows:
        for start in range(0, 20, 2):
            read_slice(file, SCHEMA, start, start + 2)
        assert [call.args[:2] for call in read_rows.call_args_list] == [(0, 6), (6, 12), (12, 18), (18, 23)]
        assert {call.args[2] for call in read_rows.call_args_list} == {names}
        read_rows.reset_mock()
        read_slice(file, SCHEMA, 1, 7)
        read_slice(file, SCHEMA, 4, 9)
        assert [call.args[:2] for call in read_rows.call_args_list] == [(1, 7), (7, 9)]


def test_reading_ahead_has_a_bound(tmp_path: Path) -> None:
    file = make(tmp_path, "a.parquet", table(), group=ROWS)
    with reads(slices._opened(file)) as read_rows:
        read_slice(file, SCHEMA, 0, 2)
        assert read_rows.call_args.args[:2] == (0, 7)


def test_only_the_row_groups_that_are_touched_are_read(tmp_path: Path) -> None:
    file = make(tmp_path, "a.parquet", table())
    whole, _ = read(Path(file), SCHEMA)
    data = bytearray(Path(file).read_bytes())
    group = pq.read_metadata(file).row_group(1)
    for place in range(group.num_columns):
        column = group.column(place)
        start = column.dictionary_page_offset or column.data_page_offset
        data[start : start + column.total_compressed_size] = bytes(column.total_compressed_size)
    Path(file).write_bytes(data)
    assert read_slice(file, SCHEMA, 0, 6).equals(whole.head(6))
    assert read_slice(file, SCHEMA, 12, 23).equals(whole.slice(12))
    with pytest.raises(InputError, match="check that the file is whole"):
        read_slice(file, SCHEMA, 6, 12)


def test_a_file_that_was_replaced(tmp_path: Path) -> None:
    file = make(tmp_path, "a.parquet", table())
    assert read_slice(file, SCHEMA, 0, 3)["n"].to_list() == [0, 1, None]
    make(tmp_path, "a.parquet", table(ROWS - 4).slice(1))
    assert FileSlices(file, SCHEMA).rows == ROWS - 5
    assert read_slice(file, SCHEMA, 0, 3)["n"].to_list() == [1, None, 3]


@pytest.mark.parametrize(("start", "stop"), [(-1, 2), (3, 2), (0, ROWS + 1)])
def test_rows_that_are_not_there(tmp_path: Path, start: int, stop: int) -> None:
    file = make(tmp_path, "a.parquet", table())
    with pytest.raises(InputError, match=rf"has {ROWS} rows, and those from {start} to {stop} were asked for"):
        read_slice(file, SCHEMA, start, stop)


def test_no_columns(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="choose a column"):
        read_slice(make(tmp_path, "a.arrow", table()), SCHEMA, 0, 1, [])


def test_few_files_are_kept_open(tmp_path: Path) -> None:
    for number in range(2 * slices._OPEN_FILES):
        read_slice(make(tmp_path, f"{number}.arrow", table()), SCHEMA, 0, 1)
    assert len(slices._KEPT.files) == slices._OPEN_FILES


def test_threads_do_not_share_what_they_have_read(tmp_path: Path) -> None:
    file = make(tmp_path, "a.parquet", table())
    read_slice(file, SCHEMA, 0, 1)
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(len(slices._KEPT.files)))
    thread.start()
    thread.join()
    assert found == [0]


TYPES = [
    ("bool", pa.bool_(), True),
    ("int", pa.int8(), True),
    ("int", pa.uint32(), True),
    ("int", pa.uint64(), False),
    ("int", pa.string(), False),
    ("int", pa.null(), True),
    ("double", pa.float32(), True),
    ("double", pa.uint64(), True),
    ("double", pa.decimal128(10, 2), False),
    ("string", pa.large_string(), True),
    ("string", pa.string_view(), True),
    ("string", pa.dictionary(pa.int32(), pa.string()), True),
    ("timestamp", pa.timestamp("us"), True),
    ("timestamp", pa.timestamp("ns", "UTC"), True),
    ("timestamp", pa.timestamp("ms"), False),
    ("timestamp", pa.timestamp("s"), False),
    ("timestamp", pa.int64(), True),
    ("timestamp", pa.uint64(), False),
    ("timestamp", pa.date32(), False),
    ("duration", pa.duration("ns"), True),
    ("duration", pa.duration("s"), False),
    ("binary", pa.binary(), True),
    ("binary", pa.string(), False),
    ("list<int>", pa.large_list(pa.int32()), True),
    ("list<int>", pa.list_(pa.string()), False),
    ("list<string>", pa.list_(pa.dictionary(pa.int32(), pa.string())), False),
    ("list<list<int>>", pa.list_(pa.list_(pa.int64())), True),
    ("list<list<int>>", pa.list_(pa.int64()), False),
]


@pytest.mark.parametrize(("kind", "dtype", "possible"), TYPES, ids=lambda value: str(value))
def test_which_types_can_be_sliced(tmp_path: Path, kind: str, dtype: pa.DataType, possible: bool) -> None:
    schema = Schema.of(x=kind)
    for name in ("a.parquet", "a.arrow"):
        if name == "a.parquet" and pa.types.is_duration(dtype) and dtype.unit == "s":
            continue  # Parquet has no such type
        values = pa.array([None, None], pa.null()).cast(dtype)
        file = make(tmp_path, name, pa.table({"x": values}))
        assert can_slice(file, schema) == possible
        if possible:
            assert read_slice(file, schema, 0, 2).schema == schema.to_polars()
        else:
            with pytest.raises(InputError, match=r"of which not every value is a .*; read it through a source"):
                FileSlices(file, schema)


def test_what_cannot_be_sliced(tmp_path: Path) -> None:
    schema = Schema.of(n="int")
    (tmp_path / "a.csv").write_text("n\n1\n")
    (tmp_path / "broken.parquet").write_text("nothing")
    numbers = pa.table({"n": [1]})
    with ipc.new_stream(tmp_path / "stream.arrow", numbers.schema) as writer:
        writer.write_table(numbers)
    make(tmp_path, "other.parquet", pa.table({"m": [1]}))
    make(tmp_path, "twice.arrow", pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["n", "n"]))
    for name in ("a.csv", "broken.parquet", "stream.arrow", "other.parquet", "twice.arrow", "missing.parquet"):
        assert not can_slice(str(tmp_path / name), schema), name
        with pytest.raises(InputError, match=name):
            FileSlices(str(tmp_path / name), schema)


def test_an_empty_file(tmp_path: Path) -> None:
    for name in NAMES:
        file = make(tmp_path, name, table().slice(0, 0))
        assert FileSlices(file, SCHEMA).rows == 0
        assert read_slice(file, SCHEMA, 0, 0).schema == SCHEMA.to_polars()


@given(
    groups=st.lists(st.integers(1, 60), min_size=1, max_size=12),
    rows=st.integers(1, 50),
    ends=st.tuples(st.integers(0, 720), st.integers(0, 720)),
)
def test_pieces_follow_one_another_and_none_is_long(groups: list[int], rows: int, ends: tuple[int, int]) -> None:
    starts = [0, *accumulate(groups)]
    start, stop = sorted(min(end, starts[-1]) for end in ends)
    pieces = list(cut_at(starts, start, stop, rows)) if start < stop else []
    assert [row for begin, end in pieces for row in range(begin, end)] == list(range(start, stop))
    assert all(0 < end - begin <= max(1, rows * 3 // 2) for begin, end in pieces)
    for _, end in pieces[:-1]:
        # A cut inside a group is made only where the group is too long.
        group = bisect_right(starts, end) - 1
        assert starts[group] == end or starts[group + 1] - starts[group] > rows * 3 // 2


def test_pieces_of_several_files(tmp_path: Path) -> None:
    """A piece never spans files: it would have to be copied together."""
    files = FileSlices([make(tmp_path, f"{name}.parquet", table()) for name in "ab"], SCHEMA)
    assert list(files.pieces(3, 2 * ROWS, 9)) == [(3, 12), (12, 23), (23, 35), (35, 46)]
