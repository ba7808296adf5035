"""Parquet and Arrow in: conversions that lose nothing, and those that do."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

from aurora.connectors.files import open_source
from aurora.errors import InputError
from aurora.model.schema import Schema
from unit.connectors.reading import read


def test_narrow_types_widen(tmp_path: Path) -> None:
    noon = datetime(2024, 1, 1, 12, tzinfo=UTC)
    table = pa.table(
        {
            "n": pa.array([1, None], pa.int8()),
            "f": pa.array([1, 2], pa.int32()),
            "t": pa.array([noon, None], pa.timestamp("ms", "Europe/Paris")),
            "u": pa.array([noon.replace(tzinfo=None), None], pa.timestamp("s")),
            "s": pa.array(["a", "b"]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    schema = Schema.of(s="string", n="int", f="double", t="timestamp", u="timestamp")
    frame, rejected = read(tmp_path / "a.parquet", schema)
    assert rejected == []
    assert frame.rows() == [("a", 1, 1.0, noon, noon), ("b", None, 2.0, None, None)]


def test_a_value_out_of_range_is_rejected_with_its_row(tmp_path: Path) -> None:
    table = pa.table({"n": pa.array([1, 2**64 - 1, 3], pa.uint64())})
    pq.write_table(table, tmp_path / "a.parquet")
    frame, rejected = read(tmp_path / "a.parquet", Schema.of(n="int"))
    assert frame["n"].to_list() == [1, 3]
    assert [(r.line, r.text) for r in rejected] == [(2, '{"n": 18446744073709551615}')]
    assert "out of the range of int" in rejected[0].reason


def test_text_columns_are_read_as_in_csv(tmp_path: Path) -> None:
    pl.DataFrame({"t": ["2024-01-01T00:00:00Z", "noon"]}).write_parquet(tmp_path / "a.parquet")
    frame, rejected = read(tmp_path / "a.parquet", Schema.of(t="timestamp"))
    assert frame.height == 1
    assert [r.line for r in rejected] == [2]


def test_arrow_file_and_stream(tmp_path: Path) -> None:
    table = pa.table({"n": [1, 2, 3]})
    with ipc.new_stream(tmp_path / "stream.arrow", table.schema) as writer:
        writer.write_table(table)
    with ipc.new_file(tmp_path / "file.feather", table.schema) as writer:
        writer.write_table(table)
    for name in ("stream.arrow", "file.feather"):
        frame, _ = read(tmp_path / name, Schema.of(n="int"), size=2)
        assert frame["n"].to_list() == [1, 2, 3]


def test_a_column_of_another_type(tmp_path: Path) -> None:
    pl.DataFrame({"n": [1.5]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="holds double in the column 'n', which is no int"):
        read(tmp_path / "a.parquet", Schema.of(n="int"))


def test_a_missing_column(tmp_path: Path) -> None:
    pl.DataFrame({"m": [1]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="has no column 'n'; it has 'm'"):
        read(tmp_path / "a.parquet", Schema.of(n="int"))


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_a_file_that_is_something_else(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("not what it says")
    with pytest.raises(InputError, match="cannot be read as its extension says"):
        open_source(tmp_path / name, Schema.of(n="int"), stream="s", on_reject=print)
