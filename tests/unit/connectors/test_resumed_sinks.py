"""Sinks that are cut and continued: the file is that of a run which nothing disturbed."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.connectors import bytes_out, columnar_out
from aurora.connectors.files import open_sink
from aurora.connectors.frames import FrameSink
from aurora.connectors.source import Sink
from aurora.errors import InputError, StateError
from aurora.model.schema import Schema
from unit.connectors.reading import read

SCHEMA = Schema.of(n="int", s="string", b="bool", f="double", t="timestamp", l="list<int>")
INDEPENDENT_OF_FRAMES = ["csv", "csv.gz", "jsonl", "jsonl.gz", "parquet", "arrow", "feather"]
STAGED = ["csv.gz", "jsonl.gz", "parquet", "arrow"]
PIECE_ROWS = 4


@pytest.fixture(autouse=True)
def small_pieces() -> Iterator[None]:
    with (
        mock.patch.object(columnar_out, "_ROW_GROUP_ROWS", PIECE_ROWS),
        mock.patch.object(columnar_out, "_BATCH_ROWS", PIECE_ROWS),
    ):
        yield


def tuples(count: int) -> pl.DataFrame:
    rows = [
        (n, None if n % 3 == 1 else f'x"{n}\n,', n % 2 == 0 if n % 5 else None, n / 7, n * 10**15, [n, None][: n % 4])
        for n in range(count)
    ]
    return pl.DataFrame(rows, schema={**SCHEMA.to_polars(), "t": pl.Int64()}, orient="row").cast(
        {"t": SCHEMA["t"].to_polars()}
    )


def write(sink: Sink, frame: pl.DataFrame, sizes: Iterable[int]) -> None:
    """The frame in pieces of these sizes, and the rest in one."""
    done = 0
    for size in sizes:
        sink.write(frame.slice(done, size))
        done += size
    sink.write(frame.slice(done))


def undisturbed(path: Path, frame: pl.DataFrame, *, staging: Path | None = None) -> bytes:
    sink = open_sink(path, SCHEMA, staging=staging)
    sink.write(frame)
    sink.close()
    return path.read_bytes()


SIZES = st.lists(st.integers(0, 6), max_size=5)


@given(
    extension=st.sampled_from(INDEPENDENT_OF_FRAMES),
    count=st.integers(0, 25),
    committed=st.integers(0, 25),
    lost=st.integers(0, 25),
    before=SIZES,
    after=SIZES,
    torn=st.binary(max_size=20),
)
def test_a_sink_that_was_cut_and_continued(
    tmp_path_factory: pytest.TempPathFactory,
    extension: str,
    count: int,
    committed: int,
    lost: int,
    before: list[int],
    after: list[int],
    torn: bytes,
) -> None:
    folder = tmp_path_factory.mktemp("sinks")
    path, staging = folder / f"a.{extension}", folder / "state"
    frame = tuples(count)
    (folder / "other").mkdir()
    wanted = undisturbed(folder / "other" / path.name, frame)
    crashed = open_sink(path, SCHEMA, staging=staging)
    write(crashed, frame.head(committed), before)
    position = crashed.position()
    write(crashed, frame.slice(committed, lost), after)
    crashed.suspend()  # closes the file, so that a part of one more write can be put behind it
    grown = next(staging.iterdir()) if extension in [*STAGED, "feather"] else path
    grown.write_bytes(grown.read_bytes() + torn)

    resumed = open_sink(path, SCHEMA, resume=position, staging=staging)
    assert resumed.position() == position
    write(resumed, frame.slice(committed), after)
    resumed.close()
    assert path.read_bytes() == wanted
    assert not list(folder.glob("*.part"))


def test_a_stream_is_continued_in_place(tmp_path: Path) -> None:
    frame = tuples(10)
    path = tmp_path / "a.arrows"
    schema = columnar_out.arrow_schema(SCHEMA)
    with ipc.new_stream(tmp_path / "arrow.arrows", schema) as writer:
        for part in (frame.head(6), frame.slice(6)):
            writer.write_table(columnar_out.arrow_table(part, schema).combine_chunks())
    sink = open_sink(path, SCHEMA)
    sink.write(frame.head(6))
    position = sink.position()
    sink.write(frame.slice(6))
    sink.close()
    wanted = (tmp_path / "arrow.arrows").read_bytes()
    assert path.read_bytes() == wanted  # what Arrow itself writes
    sink = open_sink(path, SCHEMA, resume=position)
    sink.write(frame.slice(6))
    sink.close()
    assert path.read_bytes() == wanted


def test_several_crashes(tmp_path: Path) -> None:
    frame = tuples(12)
    wanted = undisturbed(tmp_path / "b.parquet", frame)
    position = None
    for start in range(0, 12, 3):
        sink = open_sink(tmp_path / "a.parquet", SCHEMA, resume=position, staging=tmp_path / "state")
        sink.write(frame.slice(start, 3))
        position = sink.position()
        sink.write(frame)
        sink.suspend()
    sink = open_sink(tmp_path / "a.parquet", SCHEMA, resume=position, staging=tmp_path / "state")
    sink.close()
    assert (tmp_path / "a.parquet").read_bytes() == wanted


@pytest.mark.parametrize("extension", INDEPENDENT_OF_FRAMES)
def test_a_crash_after_the_close(tmp_path: Path, extension: str) -> None:
    """Another sink of the run may not have been closed, so the run goes back to its last position."""
    path = tmp_path / f"a.{extension}"
    frame = tuples(9)
    sink = open_sink(path, SCHEMA, staging=tmp_path / "state")
    sink.write(frame.head(5))
    position = sink.position()
    sink.write(frame.slice(5))
    sink.close()
    wanted = path.read_bytes()
    sink = open_sink(path, SCHEMA, resume=position, staging=tmp_path / "state")
    sink.write(frame.slice(5))
    sink.close()
    assert path.read_bytes() == wanted


@pytest.mark.parametrize("extension", STAGED)
def test_a_staged_file_is_there_when_it_is_finished(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"a.{extension}"
    path.write_text("from an earlier run")
    sink = open_sink(path, SCHEMA, staging=tmp_path / "state")
    sink.write(tuples(5))
    sink.suspend()
    sink.close()
    assert not path.exists()
    staged = next((tmp_path / "state").iterdir())
    sink = open_sink(path, SCHEMA, resume=staged.stat().st_size, staging=tmp_path / "state")
    sink.close()
    frame, _ = read(path, SCHEMA)
    assert frame.equals(tuples(5))


@pytest.mark.parametrize("extension", ["csv", "jsonl", "arrows"])
def test_a_suspended_file_is_continued_in_place(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"a.{extension}"
    sink = open_sink(path, SCHEMA, staging=tmp_path / "state")
    sink.write(tuples(5))
    position = sink.position(durable=True)
    sink.suspend()
    sink.close()
    assert path.stat().st_size == position
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("extension", ["parquet", "arrow", "csv.gz"])
def test_without_staging_a_suspended_file_can_be_read(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"a.{extension}"
    sink = open_sink(path, SCHEMA)
    sink.write(tuples(5))
    assert sink.position(durable=True) <= path.stat().st_size
    sink.suspend()
    sink.close()
    frame, _ = read(path, SCHEMA)
    assert frame.equals(tuples(5))
    with pytest.raises(InputError, match=r"ends with a footer; give the staging folder"):
        open_sink(path, SCHEMA, resume=10)


def test_pieces_have_a_fixed_number_of_rows(tmp_path: Path) -> None:
    for name in ("a.parquet", "a.arrow"):
        undisturbed(tmp_path / name, tuples(10), staging=tmp_path / "state")
    metadata = pq.read_metadata(tmp_path / "a.parquet")
    assert [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)] == [4, 4, 2]
    reader = ipc.open_file(tmp_path / "a.arrow")
    assert [reader.get_batch(place).num_rows for place in range(reader.num_record_batches)] == [4, 4, 2]


@pytest.mark.parametrize("staged", [False, True])
def test_what_stands_in_memory_under_a_null_is_not_written(tmp_path: Path, staged: bool) -> None:
    frame = tuples(8)
    kept = pl.Series([True, False, True, False, True, True, True, True])
    whole = frame.select(pl.when(kept).then(pl.col(name)).alias(name) for name in frame.columns)
    plain = pl.DataFrame(whole.rows(), schema=whole.schema, orient="row")
    staging = tmp_path / "state" if staged else None
    wanted = undisturbed(tmp_path / "plain.arrow", plain, staging=staging)
    assert undisturbed(tmp_path / "whole.arrow", whole, staging=staging) == wanted


@pytest.mark.parametrize("extension", ["csv", "jsonl", "arrows", *STAGED])
def test_a_file_that_is_missing_or_too_short(tmp_path: Path, extension: str) -> None:
    path, staging = tmp_path / f"a.{extension}", tmp_path / "state"
    sink = open_sink(path, SCHEMA, staging=staging)
    sink.write(tuples(5))
    position = sink.position()
    sink.suspend()
    grown = next(staging.iterdir()) if extension in STAGED else path
    short = grown.read_bytes()[:-1]
    grown.write_bytes(short)
    found = rf"{position} bytes of it were committed, and now it has only {position - 1}; put the file back"
    with pytest.raises(StateError, match=found):
        open_sink(path, SCHEMA, resume=position, staging=staging)
    assert grown.read_bytes() == short
    grown.unlink()
    with pytest.raises(StateError, match=rf"{position} bytes .* no such file; put the file back .*, or start anew"):
        open_sink(path, SCHEMA, resume=position, staging=staging)


@pytest.mark.parametrize("extension", ["csv", "arrows", "csv.gz", "parquet", "arrow"])
def test_a_file_with_other_columns(tmp_path: Path, extension: str) -> None:
    path, staging = tmp_path / f"a.{extension}", tmp_path / "state"
    sink = open_sink(path, SCHEMA, staging=staging)
    position = sink.position()
    sink.suspend()
    with pytest.raises(StateError, match="does not start as this output does"):
        open_sink(path, Schema.of(m="int"), resume=position, staging=staging)


def test_outputs_of_one_name_in_two_folders(tmp_path: Path) -> None:
    sinks = []
    for place, count in (("one", 3), ("two", 6)):
        (tmp_path / place).mkdir()
        sinks.append(open_sink(tmp_path / place / "a.parquet", SCHEMA, staging=tmp_path / "state"))
        sinks[-1].write(tuples(count))
    for sink in sinks:
        sink.close()
    assert [pq.read_metadata(tmp_path / place / "a.parquet").num_rows for place in ("one", "two")] == [3, 6]


def test_a_folder_that_is_not_there_is_found_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot write .*a\.parquet"):
        open_sink(tmp_path / "no" / "a.parquet", SCHEMA, staging=tmp_path / "state")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot make the folder .*; name another state folder"):
        open_sink(tmp_path / "a.parquet", SCHEMA, staging=tmp_path / "file" / "state")


def test_a_failed_conversion_leaves_nothing_half_done(tmp_path: Path) -> None:
    sink = open_sink(tmp_path / "a.parquet", SCHEMA, staging=tmp_path / "state")
    sink.write(tuples(5))
    with (
        mock.patch.object(columnar_out._FixedRows, "_write_piece", side_effect=OSError("the disk is full")),
        pytest.raises(OSError, match="the disk is full"),
    ):
        sink.close()
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


@pytest.mark.parametrize("options", [{"resume": 0}, {"staging": Path("state")}])
def test_standard_output_cannot_be_continued(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"standard output \(-\).* name a file"):
        open_sink("-", SCHEMA, **options)


def test_positions_are_with_the_operating_system_and_if_asked_on_the_disk(tmp_path: Path) -> None:
    sink = open_sink(tmp_path / "a.csv", SCHEMA)
    with mock.patch.object(bytes_out.os, "fsync") as fsync:
        sink.write(tuples(3))
        assert sink.position() == (tmp_path / "a.csv").stat().st_size
        assert fsync.call_count == 0
        sink.position(durable=True)
        assert fsync.call_count == 2  # the file, and once its folder
        sink.position(durable=True)
        assert fsync.call_count == 3
    sink.close()


def test_gzip_files_hold_their_name_and_no_time(tmp_path: Path) -> None:
    data = undisturbed(tmp_path / "a.csv.gz", tuples(3), staging=tmp_path / "state")
    assert data[4:8] == bytes(4)
    assert data[10:16] == b"a.csv\0"
    assert gzip.decompress(data) == undisturbed(tmp_path / "a.csv", tuples(3))


def test_a_sink_in_memory_is_a_sink() -> None:
    sink: Sink = FrameSink(SCHEMA)
    sink.write(tuples(3))
    assert sink.position(durable=True) == 3
    sink.suspend()
