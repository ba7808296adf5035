"""Arrow streams: other types, several streams, harmed and hostile messages."""

from __future__ import annotations

import struct

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora.connectors.converters.registry import converter
from aurora.model.schema import Schema
from unit.connectors.converters.formats import cut, fed

SCHEMA = Schema.of(n="int", s="string", l="list<int>")
TABLE = pa.table(
    {
        "l": pa.array([[1], None, [2, 3]], pa.list_(pa.int16())),
        "s": pa.array(["a", "b", "a"]).dictionary_encode(),
        "other": [1.0, 2.0, 3.0],
        "n": pa.array([1, 2, None], pa.int32()),
    }
)
ROWS = [(1, "a", [1]), (2, "b", None), (None, "a", [2, 3])]


def written(table: pa.Table, *, file: bool = False, compression: str | None = None) -> bytes:
    out = pa.BufferOutputStream()
    options = ipc.IpcWriteOptions(compression=compression)
    maker = ipc.new_file if file else ipc.new_stream
    with maker(out, table.schema, options=options) as writer:
        writer.write_table(table)
    data: bytes = out.getvalue().to_pybytes()
    return data


@pytest.mark.parametrize("file", [False, True])
@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("size", [1, 100, 10**6])
def test_columns_are_found_and_converted(file: bool, compression: str | None, size: int) -> None:
    found = fed(converter("arrow", SCHEMA), cut(written(TABLE, file=file, compression=compression), size))
    assert found.frame.rows() == ROWS
    assert (found.rejected, found.broken) == ([], "")


def test_streams_may_follow_one_another() -> None:
    data = written(TABLE) + written(TABLE.select(["n", "s", "l"]).slice(0, 1))
    assert fed(converter("arrow", SCHEMA), cut(data, 64)).frame.rows() == [*ROWS, ROWS[0]]


def test_values_without_a_place_are_rejected_by_row() -> None:
    table = pa.table({"n": pa.array([1, 2**63, 3], pa.uint64())})
    found = fed(converter("arrow", Schema.of(n="int")), [written(table) + written(table)])
    assert found.frame["n"].to_list() == [1, 3, 1, 3]
    assert [one.place for one in found.rejected] == [2, 5]


@pytest.mark.parametrize(("unit", "most"), [("s", 2**63 // 10**6), ("ms", 2**63 // 1000)])
def test_times_that_are_too_far_away(unit: str, most: int) -> None:
    """They must not come back as other times."""
    counts = pa.array([1, most, most + 1, -most, 2**62, None], pa.int64())
    table = pa.table({"t": counts.cast(pa.timestamp(unit)), "d": counts.cast(pa.duration(unit))})
    found = fed(converter("arrow", Schema.of(t="timestamp", d="duration")), [written(table)])
    scale = 10**6 if unit == "s" else 1000
    assert found.frame["t"].dt.timestamp("us").to_list() == [scale, most * scale, -most * scale, None]
    assert found.frame["d"].dt.total_microseconds().to_list() == [scale, most * scale, -most * scale, None]
    assert [one.place for one in found.rejected] == [3, 5]
    assert f"{most + 1}{str(scale)[1:]}' is out of the range of timestamp" in found.rejected[0].reason


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table({"m": [1]}), "the stream has no column 'n'; it has 'm'"),
        (pa.table({"n": [0.5]}), "holds double in the column 'n', which is no int"),
        (pa.table({"n": pa.array([1]).dictionary_encode()}), "which is not taken; write plain values"),
    ],
)
def test_a_schema_that_does_not_fit_breaks_the_stream(table: pa.Table, message: str) -> None:
    found = fed(converter("arrow", Schema.of(n="int")), [written(table)])
    assert found.frame.height == 0
    assert message in found.broken


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"\xff\xff\xff\xff\xff\xff\xff\x7f", "declares a head of 2147483647 bytes"),
        (b"\xff\xff\xff\xff\xff\xff\xff\xff", "declares a head of -1 bytes"),
        (b"GET / HT", "so it is no Arrow stream"),
        (b"\xff\xff\xff\xff\x10\x00\x00\x00" + b"\xff" * 16, "the head of a message is harmed"),
        (b"\xff\xff\xff\xff\x10\x00\x00\x00" + bytes(16), "the head of a message"),
    ],
)
def test_heads_that_cannot_be(head: bytes, message: str) -> None:
    found = fed(converter("arrow", SCHEMA), [head, b"x" * 100])
    assert message in found.broken


def test_a_body_that_is_declared_huge() -> None:
    """Nothing is waited for: the stream is broken as soon as the head is there."""
    data = written(pa.table({"n": pa.array(np.arange(1000))}))
    at = data.index(struct.pack("<q", 8000))
    forged = data[:at] + struct.pack("<q", 1 << 60) + data[at + 8 :]
    found = fed(converter("arrow", Schema.of(n="int")), [forged])
    assert found.frame.height == 0
    assert found.broken


def test_a_batch_that_is_huge_once_decompressed() -> None:
    table = pa.table({"n": pa.array(np.zeros(200_000, np.int64))})
    data = written(table, compression="zstd")
    assert len(data) < 100_000
    small = converter("arrow", Schema.of(n="int"), {"max_record_bytes": 1_000_000})
    assert "bytes once decompressed, and 1000000 are allowed" in fed(small, [data]).broken
    assert fed(converter("arrow", Schema.of(n="int")), [data]).frame.height == 200_000


def test_many_batches_that_together_are_huge_once_decompressed() -> None:
    """Each is within the limit. As they come over time they are all taken, since each is handed on before the next."""
    table = pa.table({"n": pa.array(np.zeros(100_000, np.int64))})
    data = written(table, compression="zstd")
    chosen = converter("arrow", Schema.of(n="int"), {"max_record_bytes": 1_000_000})
    found = fed(chosen, [data * 100])
    assert found.frame.height < 5_000_000
    assert "far longer once decompressed" in found.broken
    assert fed(chosen, [data] * 20).frame.height == 2_000_000


def test_rows_that_take_no_bytes() -> None:
    batch = pa.record_batch([pa.nulls(100_000_000)], names=["n"])
    data = batch.schema.serialize().to_pybytes() + batch.serialize().to_pybytes()
    found = fed(converter("arrow", Schema.of(n="int")), [data])
    assert "declares 100000000 rows, more than its 0 bytes can hold" in found.broken
    assert fed(converter("arrow", Schema.of(n="int")), [written(pa.table({"n": pa.nulls(3)}))]).frame.height == 3


def test_a_harmed_batch_costs_itself_only() -> None:
    """Offsets that lead outside the memory must not be followed."""
    schema = Schema.of(s="string")
    batch = pa.record_batch([pa.array(["abc", "defg"])], names=["s"])
    message = batch.serialize().to_pybytes()
    at = message.index(struct.pack("<iii", 0, 3, 7))
    harmed = message[:at] + struct.pack("<iii", 0, 2**30, 7) + message[at + 12 :]
    head = batch.schema.serialize().to_pybytes()
    found = fed(converter("arrow", schema), cut(head + message + harmed + message, 50))
    assert found.frame["s"].to_list() == ["abc", "defg"] * 2
    assert [(one.place, one.reason[:33]) for one in found.rejected] == [(3, "the batch of 2 rows is harmed: In")]
    assert found.broken == ""


@settings(max_examples=200)
@given(data=st.data())
def test_changed_bytes_never_crash(data: st.DataObject) -> None:
    good = written(TABLE, compression=data.draw(st.sampled_from([None, "zstd"])))
    harmed = bytearray(good)
    for _ in range(data.draw(st.integers(1, 6))):
        harmed[data.draw(st.integers(0, len(good) - 1))] = data.draw(st.integers(0, 255))
    found = fed(converter("arrow", SCHEMA), [bytes(harmed)])
    found.frame.with_columns(pl.col("s").str.len_bytes(), pl.col("l").list.sum())
