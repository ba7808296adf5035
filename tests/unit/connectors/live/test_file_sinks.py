"""Files out: finished ones are whole, and take turns by size and by age."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from aurora.clock import ManualClock
from aurora.connectors.converters.registry import converter
from aurora.connectors.live.failures import HopelessError
from aurora.connectors.sinks.files import FileSink
from aurora.model.quantities import Duration
from aurora.model.schema import Schema
from aurora.model.sink_kinds import Rotation

SCHEMA = Schema.of(x="int")


def _frame(first: int, count: int = 10) -> pl.DataFrame:
    return pl.DataFrame({"x": range(first, first + count)})


def test_files_take_turns_by_age(tmp_path: Path) -> None:
    clock = ManualClock()
    rotation = Rotation(age=Duration(60_000_000))
    sink = FileSink(tmp_path / "new" / "a.parquet", SCHEMA, None, rotation, clock)
    sink.open()
    assert list((tmp_path / "new").iterdir()) == []
    sink.send(_frame(0))
    assert [path.name for path in (tmp_path / "new").iterdir()] == [".a-000001.parquet"]
    clock.move_s(30)
    sink.idle()
    sink.send(_frame(10))
    clock.move_s(30)
    sink.idle()
    finished = tmp_path / "new" / "a-000001.parquet"
    assert pl.read_parquet(finished)["x"].to_list() == list(range(20))
    clock.move_s(600)
    sink.idle()
    sink.send(_frame(20))
    sink.close()
    assert sorted(path.name for path in finished.parent.iterdir()) == ["a-000001.parquet", "a-000002.parquet"]


def test_files_take_turns_by_size(tmp_path: Path) -> None:
    sink = FileSink(tmp_path / "a.jsonl", SCHEMA, None, Rotation(size=80), ManualClock())
    sink.open()
    for first in range(0, 100, 10):
        assert sink.send(_frame(first)) > 0
    sink.close()
    files = sorted(tmp_path.iterdir())
    assert len(files) == 10
    assert pl.concat(pl.read_ndjson(file) for file in files)["x"].to_list() == list(range(100))


def test_numbers_go_on_behind_those_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "a-000041.parquet").touch()
    (tmp_path / "a-old.parquet").touch()
    sink = FileSink(tmp_path / "a.parquet", SCHEMA, None, Rotation(size=1), ManualClock())
    sink.open()
    sink.send(_frame(0))
    sink.close()
    assert pl.read_parquet(tmp_path / "a-000042.parquet").height == 10


def test_a_plain_file_can_be_followed(tmp_path: Path) -> None:
    sink = FileSink(tmp_path / "a.csv", SCHEMA, None, None, ManualClock())
    sink.open()
    sink.send(_frame(0, 2))
    assert (tmp_path / "a.csv").read_text() == "x\n0\n1\n"
    sink.close()


def test_what_is_there_is_never_overwritten(tmp_path: Path) -> None:
    for turn, name in enumerate(("a.csv", "a.parquet", "a.csv", "a.parquet")):
        sink = FileSink(tmp_path / name, SCHEMA, None, None, ManualClock())
        sink.open()
        sink.send(_frame(turn, 1))
        sink.close()
    assert (tmp_path / "a.csv").read_text() == "x\n0\n2\n"
    assert pl.read_parquet(tmp_path / "a.parquet")["x"].to_list() == [1]
    assert pl.read_parquet(tmp_path / "a-000001.parquet")["x"].to_list() == [3]


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("y,z\n1,2\n")
    with pytest.raises(HopelessError):
        FileSink(tmp_path / "a.csv", SCHEMA, None, None, ManualClock()).open()
    assert (tmp_path / "a.csv").read_text() == "y,z\n1,2\n"


def test_any_converter_can_write_one(tmp_path: Path) -> None:
    options = {"record": "feed/tick"}
    sink = FileSink(tmp_path / "a.xml", SCHEMA, converter("xml", SCHEMA, options), None, ManualClock())
    sink.open()
    sink.send(_frame(0, 2))
    sink.close()
    read = converter("xml", SCHEMA, options).decode((tmp_path / "a.xml").read_bytes())
    assert read.frame["x"].to_list() == [0, 1]


def test_an_extension_that_nobody_knows_cannot_be_helped(tmp_path: Path) -> None:
    with pytest.raises(HopelessError, match=r"\.doc"):
        FileSink(tmp_path / "a.doc", SCHEMA, None, None, ManualClock()).open()
