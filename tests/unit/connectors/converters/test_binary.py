"""Fixed-width records: formats, byte orders, NULLs, what does not fit."""

from __future__ import annotations

import struct
from typing import Any

import polars as pl
import pytest

from aurora.connectors.converters.registry import converter
from aurora.errors import InputError
from aurora.model.schema import Schema
from unit.connectors.converters.formats import cut, fed

TRADE = Schema.of(ticker="string", price="double", volume="int", at="timestamp", up="bool")
FIELDS = {"ticker": "S4", "skip": "V3", "volume": "u2", "price": "f4", "at": ">i4", "flags": "u1", "up": "u1"}


@pytest.mark.parametrize(("order", "sign"), [("little", "<"), ("big", ">")])
def test_a_record_as_struct_writes_it(order: str, sign: str) -> None:
    options = {"fields": FIELDS, "byte_order": order, "time_unit": "s"}
    record = struct.pack(f"{sign}4s3sHf", b"IBM", b"???", 65_535, 0.5) + struct.pack(">iBB", 60, 9, 1)
    chosen = converter("binary", TRADE, options)
    for size in (1, 5, 1000):
        found = fed(chosen, cut(record * 3, size))
        assert found.frame.height == 3
        row = found.frame.row(0)
        assert row[:3] == ("IBM", 0.5, 65_535)
        assert row[3].timestamp() == 60
        assert row[4] is True
    assert chosen.encode(found.frame).data == record.replace(b"???", bytes(3)).replace(b"\x09\x01", b"\x00\x01") * 3


def test_values_that_are_none_are_rejected_alone() -> None:
    schema = Schema.of(b="bool", n="int", s="string", t="timestamp")
    chosen = converter("binary", schema, {"fields": {"b": "u1", "n": "u8", "s": "S3", "t": "i8"}, "time_unit": "ms"})
    good = struct.pack("<BQ3sq", 1, 5, b"ab", 7)
    records = [
        good,
        struct.pack("<BQ3sq", 2, 5, b"ab", 7),
        struct.pack("<BQ3sq", 0, 2**63, b"ab", 7),
        struct.pack("<BQ3sq", 0, 5, b"\xff", 2**62),
        good,
    ]
    found = fed(chosen, [b"".join(records) + good[:4]])
    assert found.frame.height == 2
    assert found.faults == [
        (2, "column 'b': 2 is not a value of bool"),
        (3, "column 'n': 9223372036854775808 is not a value of int"),
        (
            4,
            "column 's': b'\\xff' is not a value of string; "
            "column 't': 4611686018427387904 is not a value of timestamp",
        ),
        (6, "the last record has 4 bytes of 20"),
    ]
    assert found.rejected[0].text.startswith("02 05 00")


def test_what_has_no_room_is_rejected_alone() -> None:
    schema = Schema.of(n="int", s="string", x="double", t="duration", l="list<int>")
    fields = {"n": "i2", "s": "S3", "x": "f4", "t": "i4", "l": "2u1"}
    chosen = converter("binary", schema, {"fields": fields, "time_unit": "ms"})
    good: dict[str, Any] = {"n": 1, "s": "abc", "x": 0.5, "t": 5_000, "l": [1, 2]}
    bad: list[dict[str, Any]] = [
        {"n": 40_000},
        {"s": "abcd"},
        {"s": "é€"},
        {"s": "a\0"},
        {"x": 1e300},
        {"t": 5_001},
        {"t": 5_000_000_000_000},
        {"l": [1]},
        {"l": [1, 256]},
        {"l": [1, None]},
        {"n": None},
        {"l": None},
    ]
    rows = [good, *({**good, **one} for one in bad), good]
    frame = pl.DataFrame(rows, schema={**schema.to_polars(), "t": pl.Int64()}).cast(schema.to_polars())  # type: ignore[arg-type]
    encoded = chosen.encode(frame)
    assert fed(chosen, [encoded.data]).frame.equals(frame[[0, -1]])
    assert [one.place for one in encoded.rejected] == list(range(2, len(bad) + 2))
    assert encoded.rejected[0].reason == "column 'n' holds 40000, which does not fit its format"
    assert encoded.rejected[-1].reason.startswith("column 'l' is NULL, for which there is no room")
    messages, rejected = chosen.encode_each(frame)
    assert (len(messages), len(rejected)) == (2, len(bad))


def test_values_that_stand_for_null() -> None:
    schema = Schema.of(n="int", s="string", x="double", b="bool")
    options = {
        "fields": {"n": "i4", "s": "S4", "x": "f8", "b": "u1"},
        "null_values": {"n": -1, "s": "NA", "x": float("nan"), "b": 255},
        "pad": "space",
    }
    chosen = converter("binary", schema, options)
    frame = pl.DataFrame({"n": [1, None], "s": ["a", None], "x": [0.5, None], "b": [True, None]})
    encoded = chosen.encode(frame)
    assert list(encoded.rejected) == []
    assert b"a   " in encoded.data
    assert b"NA  " in encoded.data
    assert fed(chosen, [encoded.data]).frame.equals(frame)
    clash = chosen.encode(pl.DataFrame({"n": [-1], "s": ["a"], "x": [0.5], "b": [True]}))
    assert [one.reason for one in clash.rejected] == ["column 'n' holds -1, which does not fit its format"]


@pytest.mark.parametrize(("unit", "stored"), [("s", 3), ("ms", 3_000), ("us", 3_000_000), ("ns", 3_000_000_000)])
def test_units_of_time(unit: str, stored: int) -> None:
    chosen = converter("binary", Schema.of(d="duration"), {"time_unit": unit})
    data = struct.pack("<q", stored)
    found = fed(chosen, [data]).frame
    assert found["d"].dt.total_seconds().to_list() == [3]
    assert chosen.encode(found).data == data


@pytest.mark.parametrize(
    ("schema", "options", "message"),
    [
        (Schema.of(s="string"), {}, "'s' is a string, whose width is not known; give 'fields'"),
        (Schema.of(n="int"), {"fields": {"m": "i4"}}, "'fields' has no 'n'"),
        (Schema.of(n="int"), {"fields": {"n": "i3"}}, "the format 'i3' of 'n' is none"),
        (Schema.of(n="int"), {"fields": {"n": "f4"}}, "the format 'f4' of 'n' does not hold a int"),
        (Schema.of(n="int"), {"fields": {"n": "3i4"}}, "does not hold a int"),
        (Schema.of(n="int"), {"fields": {"n": "V4"}}, "does not hold a int"),
        (Schema.of(n="list<int>"), {"fields": {"n": "i4"}}, "write 3i4 or u4"),
        (Schema.of(n="list<list<int>>"), {"fields": {"n": "2i4"}}, "does not hold"),
        (Schema.of(n="int"), {"fields": {"n": "i1"}, "null_values": {"n": 999}}, "999 of 'n' does not fit"),
        (Schema.of(n="int"), {"null_values": {"m": 1}}, "names 'm', which is no column"),
        (Schema.of(s="string"), {"fields": {"s": "S999999999"}}, "999999999 bytes, and 1048576 are allowed"),
        (Schema.of(s="list<string>"), {"fields": {"s": "9999999S999999999"}}, "options of the converter 'binary'"),
    ],
)
def test_layouts_that_are_wrong(schema: Schema, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        converter("binary", schema, options)
