"""Avro: files of others, messages, harmed blocks, and schemas that are meant to harm."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import fastavro
import polars as pl
import pytest

from aurora.connectors.converters.avro_blocks import number_bytes
from aurora.connectors.converters.registry import converter
from aurora.errors import InputError
from aurora.model.schema import Schema
from unit.connectors.converters.formats import cut, fed

SCHEMA = Schema.of(n="int", s="string", t="timestamp", x="double", l="list<int>")
THEIRS = {
    "type": "record",
    "name": "Tick",
    "namespace": "org.example",
    "fields": [
        {"name": "s", "type": {"type": "enum", "name": "Side", "symbols": ["buy", "sell"]}},
        {"name": "again", "type": "Side"},
        {"name": "t", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "x", "type": ["null", "float"]},
        {"name": "n", "type": "int"},
        {"name": "l", "type": {"type": "array", "items": "long"}},
        {"name": "place", "type": {"type": "record", "name": "Place", "fields": [{"name": "a", "type": "string"}]}},
        {"name": "back", "type": "org.example.Place"},
        {"name": "tags", "type": {"type": "map", "values": "string"}},
    ],
}


def record(number: int) -> dict[str, Any]:
    place = {"a": "here"}
    values = {"s": "sell", "again": "buy", "t": 5, "x": 0.5, "n": number, "l": [number]}
    return {**values, "place": place, "back": place, "tags": {"k": "v"}}


def theirs(count: int, codec: str = "null") -> bytes:
    out = io.BytesIO()
    fastavro.writer(out, THEIRS, [record(n) for n in range(count)], codec=codec, sync_interval=200)
    return out.getvalue()


@pytest.mark.parametrize("codec", ["null", "deflate"])
@pytest.mark.parametrize("size", [1, 100, 10**6])
def test_a_file_of_others(codec: str, size: int) -> None:
    found = fed(converter("avro", SCHEMA), cut(theirs(20, codec), size))
    assert found.frame["n"].to_list() == list(range(20))
    assert found.frame.drop("n").row(0)[:1] == ("sell",)
    assert found.frame["t"].dt.timestamp("us").to_list() == [5_000] * 20
    assert found.frame["l"].to_list()[3] == [3]
    assert (found.rejected, found.broken) == ([], "")


def test_others_read_what_is_written() -> None:
    frame = pl.DataFrame({"n": [1, None], "s": ["a", None]})
    chosen = converter("avro", Schema.of(n="int", s="string"), {"codec": "deflate"})
    rows = list(fastavro.reader(io.BytesIO(chosen.encode(frame).data)))
    assert rows == frame.to_dicts()


@pytest.mark.parametrize("framing", ["message", "registry"])
def test_messages_with_a_schema_of_others(framing: str) -> None:
    head = b"\0\0\0\0\x07" if framing == "registry" else b""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, THEIRS, record(3))
    options = {"framing": framing, "avro_schema": THEIRS}
    chosen = converter("avro", SCHEMA, options)
    messages = [head + out.getvalue(), b"\x01", head + out.getvalue()[:4], head + out.getvalue()]
    found = chosen.decode_each(messages)
    assert found.frame["n"].to_list() == [3, 3]
    assert [one.place for one in found.rejected] == [2, 3]


def test_tuples_that_a_schema_of_others_has_no_place_for() -> None:
    avro = {"type": "record", "name": "r", "fields": [{"name": "n", "type": "long"}]}
    chosen = converter("avro", Schema.of(n="int"), {"framing": "message", "avro_schema": avro})
    encoded = chosen.encode(pl.DataFrame({"n": [1, None, 3]}))
    assert fed(chosen, [encoded.data]).frame["n"].to_list() == [1, 3]
    assert [one.place for one in encoded.rejected] == [2]


@pytest.mark.parametrize("size", [3, 10**6])
def test_a_harmed_block_costs_itself_only(size: int) -> None:
    data = bytearray(theirs(40))
    marker = bytes(data[-16:])
    second = data.index(marker, data.index(marker) + 16)
    data[second + 3] ^= 0xFF  # inside the marker that ends the first block
    found = fed(converter("avro", SCHEMA), cut(bytes(data), size))
    assert 20 < found.frame.height < 40
    assert found.frame["n"].to_list()[-1] == 39
    assert found.faults[0] == (1, "a block does not end with the marker of its file")
    assert found.broken == ""


def a_file(schema: object, blocks: bytes, codec: bytes = b"null") -> bytes:
    entries = {b"avro.schema": json.dumps(schema).encode(), b"avro.codec": codec}
    texts = b"".join(number_bytes(len(text)) + text for entry in entries.items() for text in entry)
    return b"Obj\x01" + number_bytes(2) + texts + b"\0" + b"M" * 16 + blocks


def block(count: int, data: bytes) -> bytes:
    return number_bytes(count) + number_bytes(len(data)) + data + b"M" * 16


def rec(*fields: object) -> dict[str, Any]:
    return {"type": "record", "name": "r", "fields": [{"name": f"f{n}", "type": one} for n, one in enumerate(fields)]}


LIST = {"type": "record", "name": "L", "fields": [{"name": "next", "type": ["null", "L"]}]}


@pytest.mark.parametrize(
    ("avro", "message"),
    [
        (rec("long", {"type": "array", "items": "null"}), "type null outside a union"),
        (rec("long", {"type": "array", "items": {"type": "fixed", "name": "z", "size": 0}}), "of the size 0"),
        (rec("long", {"type": "array", "items": {"type": "record", "name": "e", "fields": []}}), "without fields"),
        (rec("long", LIST), "uses 'L' inside itself"),
        (rec("long", "Nowhere"), "uses 'Nowhere' inside itself, or does not define it"),
        ("long", "is no record"),
        ([], "is no record"),
        (None, "is harmed"),
        (rec("string"), "the Avro field 'f0' is \"string\", which is no"),
        (rec(["long", "string"]), "which is no"),
        (rec({"type": "bytes", "logicalType": "decimal", "precision": 4}), "which is no"),
        ({"type": "record", "name": "r", "fields": [{"name": "g", "type": "long"}]}, "no field 'f0'; it has 'g'"),
        (rec("long", {"type": {"type": {"type": "long"}}}), ""),
    ],
)
def test_schemas_that_are_not_taken(avro: object, message: str) -> None:
    kind = "int" if message != "the Avro field 'f0' is \"string\", which is no" else "list<int>"
    found = fed(converter("avro", Schema.of(f0=kind)), [a_file(avro, b"")])
    assert (message in found.broken) if message else found.broken == ""


def test_a_schema_that_is_nested_without_end() -> None:
    text = '{"type":' * 50_000 + '"long"' + "}" * 50_000
    entries = b"\x16avro.schema" + number_bytes(len(text)) + text.encode()
    found = fed(converter("avro", Schema.of(f0="int")), [b"Obj\x01\x02" + entries + b"\0" + b"M" * 16])
    assert found.broken


@pytest.mark.parametrize(
    ("blocks", "fault"),
    [
        (number_bytes(1) + number_bytes(1 << 60) + b"M" * 16, "declares 1 records and 1152921504606846976 bytes"),
        (block(1 << 60, b"\x02"), "declares 1152921504606846976 records, and has only 1 bytes"),
        (block(2, b"\x80\x01"), "the block has 1 records of 2"),
        (block(1, b"\x02\x02"), "and 1 bytes too many"),
        (block(1, b"\x80"), "the record is harmed"),
    ],
)
def test_blocks_that_cannot_be(blocks: bytes, fault: str) -> None:
    data = a_file(rec("long"), blocks + block(1, b"\x0e"))
    for size in (1, 10**6):
        found = fed(converter("avro", Schema.of(f0="int")), cut(data, size))
        assert len(found.rejected) == 1
        assert fault in found.rejected[0].reason
        assert found.frame["f0"].to_list()[-1] == 7
        assert found.broken == ""


def test_a_block_that_is_huge_once_decompressed() -> None:
    import zlib

    deflater = zlib.compressobj(9, wbits=-15)
    bomb = deflater.compress(bytes(50_000_000)) + deflater.flush()
    chosen = converter("avro", Schema.of(f0="int"), {"max_record_bytes": 100_000})
    data = a_file(rec("long"), block(1, bomb) + block(1, bomb[:100]), b"deflate")
    found = fed(chosen, [data])
    assert [reason for _, reason in found.faults][:1] == ["a block has more than 100000 bytes once decompressed"]


def test_many_blocks_that_together_are_huge_once_decompressed() -> None:
    import zlib

    deflater = zlib.compressobj(9, wbits=-15)
    zeros = deflater.compress(bytes(90_000)) + deflater.flush()
    chosen = converter("avro", Schema.of(f0="int"), {"max_record_bytes": 100_000})
    found = fed(chosen, [a_file(rec("long"), block(90_000, zeros) * 1000, b"deflate")])
    assert found.frame.height < 50_000_000
    assert "far longer once decompressed" in found.broken


def test_a_codec_that_is_not_taken() -> None:
    found = fed(converter("avro", Schema.of(f0="int")), [a_file(rec("long"), b"", b"snappy")])
    assert found.broken == "the codec 'snappy' is not taken; write one of null, deflate"


def test_names_that_avro_does_not_have() -> None:
    with pytest.raises(InputError, match="Avro has no field names such as 'a b'"):
        converter("avro", Schema.of(**{"a b": "int"}))


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastavro", None)
    monkeypatch.delitem(sys.modules, "aurora.connectors.converters.avro", raising=False)
    with pytest.raises(InputError, match=r"needs the package fastavro; install aurora-streams\[avro\]"):
        converter("avro", SCHEMA)
