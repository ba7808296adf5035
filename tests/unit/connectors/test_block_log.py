"""A log of blocks: what is in it, who may write to it, and what readers make of harm."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from aurora.connectors.block_log import BlockLog, BlockLogSink
from aurora.errors import InputError, StateError
from aurora.model.schema import Schema

SCHEMA = Schema.of(x="int", name="string", at="timestamp", gap="duration", raw="binary", many="list<int>")


def frame(*xs: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "x": list(xs),
            "name": [f"n{x}" for x in xs],
            "at": pl.Series(xs).cast(pl.Datetime("us", "UTC")),
            "gap": pl.Series(xs).cast(pl.Duration("us")),
            "raw": [b"r"] * len(xs),
            "many": [[x] for x in xs],
        },
        schema=SCHEMA.to_polars(),
    )


def content(address: str) -> list[int]:
    log = BlockLog(address)
    return [x for block in log.blocks() for x in log.read(block.name, 0, block.rows)["x"].to_pylist()]


def test_what_is_written_can_be_read_by_its_numbers(tmp_path: Path) -> None:
    address = str(tmp_path / "log")
    sink = BlockLogSink(address, SCHEMA)
    assert BlockLog(address).length == 0
    sink.write(frame(1, 2, 3))
    sink.write(frame())
    sink.write(frame(4, 5))
    log = BlockLog(address)
    assert log.schema == SCHEMA
    assert [(block.first, block.rows) for block in log.blocks()] == [(0, 3), (3, 2)]
    assert log.length == sink.position(durable=True) == 5
    cut = log.read(log.blocks()[0].name, 1, 3)
    assert cut.schema.types == [kind.to_arrow() for kind in SCHEMA.values()]
    assert pl.DataFrame(cut).equals(frame(2, 3))


def test_a_log_is_continued(tmp_path: Path) -> None:
    address = str(tmp_path)
    for xs in ((1, 2), (3,)):
        sink = BlockLogSink(address, SCHEMA)
        sink.write(frame(*xs))
        sink.close()
    assert content(address) == [1, 2, 3]


@pytest.mark.parametrize("resume", [0, 1, 2, 3, 4])
def test_after_a_resume_nothing_is_written_twice(tmp_path: Path, resume: int) -> None:
    address = str(tmp_path)
    sink = BlockLogSink(address, SCHEMA)
    sink.write(frame(0, 1))
    sink.write(frame(2, 3))
    sink.suspend()
    again = BlockLogSink(address, SCHEMA, resume=resume)
    assert again.position() == resume
    for x in range(resume, 6):
        again.write(frame(x))
        assert again.position() == x + 1
    assert content(address) == [0, 1, 2, 3, 4, 5]


def test_a_log_that_has_become_shorter_is_not_resumed(tmp_path: Path) -> None:
    with pytest.raises(StateError, match=r"has 0 tuples, but 3 had been written.*put it back"):
        BlockLogSink(str(tmp_path), SCHEMA, resume=3)
    BlockLogSink(str(tmp_path), SCHEMA).close()


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    sink = BlockLogSink(str(tmp_path), SCHEMA)
    with pytest.raises(StateError, match="another process appends to the log"):
        BlockLogSink(str(tmp_path), SCHEMA)
    sink.close()
    BlockLogSink(str(tmp_path), SCHEMA).close()


def test_another_schema_is_refused(tmp_path: Path) -> None:
    BlockLogSink(str(tmp_path), SCHEMA).close()
    with pytest.raises(InputError, match=r"is of Schema\(x: int.*but the output is Schema\(x: double\)"):
        BlockLogSink(str(tmp_path), Schema.of(x="double"))


def test_what_is_no_log(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(InputError, match="there is no log at"):
        BlockLog(str(missing))
    assert not missing.exists()
    with pytest.raises(InputError, match="there is no log at"):
        BlockLog(str(tmp_path))
    for text in ("{", "[]", '{"aurora_log": 2}'):
        (tmp_path / "schema.json").write_text(text)
        with pytest.raises(InputError, match=r"schema\.json in"):
            BlockLog(str(tmp_path))


def test_blocks_that_are_not_there_yet_or_twice(tmp_path: Path) -> None:
    sink = BlockLogSink(str(tmp_path), SCHEMA)
    for x in range(3):
        sink.write(frame(x))
    sink.close()
    first, second, third = sorted((tmp_path / "blocks").iterdir())
    hidden = second.rename(tmp_path / "hidden")
    assert BlockLog(str(tmp_path)).length == 1
    hidden.rename(second)
    (tmp_path / "blocks" / ".0123456789abcdef0123456789abcdef.tmp").write_bytes(b"torn")
    assert BlockLog(str(tmp_path)).length == 3
    third.rename(third.with_name(third.name.replace("0002-", "0001-").replace("0000001.", "0000009.")))
    with pytest.raises(StateError, match="overlap"):
        BlockLog(str(tmp_path)).blocks()
    assert first.exists()
