"""What holds for every converter: round trips, bytes cut anywhere, harmed bytes, bounded memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora.model.schema import Schema
from unit.connectors.converters.formats import FORMATS, Format, cut, fed, tuples

SCHEMA = Schema.of(s="string", n="int", x="double", b="bool", t="timestamp", d="duration", y="binary")
ALIKE = pl.DataFrame(
    {
        "s": ["IBM", 'é "q", <&>\n', None, ""],
        "n": [1, None, -(2**63), 2**63 - 1],
        "x": [0.5, float("nan"), float("-inf"), None],
        "b": [True, None, False, True],
        "t": [0, 1_704_067_200_123_456, None, -1],
        "d": [None, 1_500_000, -1, 0],
        "y": [b"\x00\xff", b"", None, b"hi"],
    },
    schema={**SCHEMA.to_polars(), "t": pl.Int64(), "d": pl.Int64()},
).cast(SCHEMA.to_polars())  # type: ignore[arg-type]

every_format = pytest.mark.parametrize("chosen", FORMATS, ids=str)


@every_format
@settings(max_examples=60)
@given(data=st.data())
def test_what_is_encoded_is_decoded_equal(chosen: Format, data: st.DataObject) -> None:
    schema, frame = data.draw(tuples(chosen))
    converter = chosen.converter(schema)
    encoder = converter.encoder()
    encoded = [encoder.encode(frame.head(2)), encoder.encode(frame.slice(2))]
    assert [one for part in encoded for one in part.rejected] == []
    whole = encoder.header() + b"".join(part.data for part in encoded) + encoder.footer()
    found = fed(converter, [whole])
    assert (found.rejected, found.broken) == ([], "")
    assert found.frame.equals(frame)


@every_format
def test_bytes_may_be_cut_anywhere(chosen: Format) -> None:
    converter = chosen.converter(SCHEMA)
    data = converter.encode(ALIKE).data
    for at in range(len(data) + 1):
        found = fed(converter, [data[:at], data[at:]])
        assert found.frame.equals(ALIKE), at
        assert (found.rejected, found.broken) == ([], ""), at
    assert fed(converter, cut(data, 1)).frame.equals(ALIKE)


@every_format
def test_a_message_for_each_tuple(chosen: Format) -> None:
    converter = chosen.converter(SCHEMA)
    messages, rejected = converter.encode_each(ALIKE)
    assert list(rejected) == []
    assert len(messages) == ALIKE.height
    assert [converter.decode(message).frame.rows() for message in messages[:1]] == [ALIKE[:1].rows()]
    together = converter.decode_each(messages)
    assert together.frame.equals(ALIKE)
    assert list(together.rejected) == []


@every_format
def test_nothing_in_nothing_out(chosen: Format) -> None:
    converter = chosen.converter(SCHEMA)
    empty = converter.encode(ALIKE.clear()).data
    found = fed(converter, [empty, b""])
    assert found.frame.height == 0
    assert (found.rejected, found.broken) == ([], "")


@every_format
@settings(max_examples=80)
@given(noise=st.binary(max_size=200), size=st.integers(1, 60))
def test_no_bytes_make_a_decoder_raise(chosen: Format, noise: bytes, size: int) -> None:
    fed(chosen.converter(SCHEMA), cut(noise, size))
    chosen.converter(SCHEMA).decode(noise)


@every_format
@settings(max_examples=80)
@given(data=st.data(), size=st.integers(1, 60))
def test_harmed_bytes_are_read_the_same_however_they_are_cut(chosen: Format, data: st.DataObject, size: int) -> None:
    converter = chosen.converter(SCHEMA, max_record_bytes=4_000)
    harmed = data.draw(harm(converter.encode(ALIKE).data))
    whole, pieces = fed(converter, [harmed]), fed(converter, cut(harmed, size))
    assert pieces.frame.equals(whole.frame)
    assert pieces.faults == whole.faults
    assert pieces.broken == whole.broken


@st.composite
def harm(draw: st.DrawFn, good: bytes) -> bytes:
    """Some bytes changed, left out, put in or doubled."""
    data = bytearray(good)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        what = draw(st.sampled_from(["change", "insert", "remove", "double", "cut"]))
        some = draw(st.binary(min_size=1, max_size=4) | st.sampled_from([b'"', b"\n", b"<", b"]", b"}", b",", b"\xff"]))
        until = draw(st.integers(at, min(len(data), at + 40)))
        if what == "change":
            data[at : at + len(some)] = some
        elif what == "insert":
            data[at:at] = some
        elif what == "remove":
            del data[at:until]
        elif what == "double":
            data[at:at] = data[at:until]
        else:
            del data[max(at, len(data) // 2) :]
    return bytes(data)


ENDLESS: dict[str, list[tuple[bytes, bytes]]] = {
    "csv": [(b's\n"', b"x"), (b's\n"', b"x\n"), (b"s\n", b"x"), (b"", b"x"), (b's\n"', b'""')],
    "csv without header": [(b'"', b"x"), (b'"', b"x\n"), (b'a"b,"', b"\n"), (b'"', b'""'), (b"", b'"\n')],
    "json lines": [(b'{"s":"', b"x"), (b"", b" "), (b"", b"[")],
    "json array": [(b'[{"s":"', b"x"), (b"[", b" "), (b"", b"["), (b'{"s":"\\', b"\\"), (b"1", b"1")],
    "xml": [
        (b"<tuples><tuple><s>", b"x"),
        (b"<tuples><tuple s='", b"x"),
        (b"<tuples><!--", b"x"),
        (b"<tuples><tuple>", b"<s>"),
        (b"<tuples><tuple>", b"<s>x</s>"),
        (b"", b"<s>"),
        (b"<", b"x"),
        (b"<tuples>&", b"x"),
        (b"<tuples><?", b"x"),
        (b"<tuples><tuple><s><![CDATA[", b"x"),
        (b"", b"x"),
    ],
    "arrow": [(b"\xff\xff\xff\xff\x00\x00\x00\x40", b"x"), (b"ARROW1\0\0", b"\xff"), (b"", b"\xff")],
    "avro": [(b"Obj\x01", b"\x02\x02"), (b"Obj\x01\x02\xfe\xff\xff\x0f", b"x"), (b"Obj\x01", b"\x03\x00\x02a\x00")],
    "avro message": [(b"", b"\xff"), (b"", b"\x02")],
}


@pytest.mark.parametrize(
    ("chosen", "start", "repeated"),
    [(one, *case) for one in FORMATS for case in ENDLESS.get(one.label, ())],
    ids=lambda value: str(value) if isinstance(value, Format) else repr(value)[:30],
)
def test_memory_is_bounded(chosen: Format, start: bytes, repeated: bytes) -> None:
    """A record without end is given up; the decoder does not hold more than a few times the limit."""
    limit = 20_000
    schema = Schema.of(s="string")
    decoder = chosen.converter(schema, max_record_bytes=limit).decoder()
    piece = repeated * (8_000 // len(repeated))
    decoder.feed(start)
    decoder.feed(piece)
    tracemalloc.start()
    try:
        for _ in range(250):
            decoder.feed(piece)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    decoder.finish()
    assert held < 20 * limit
    assert peak < 60 * limit


LONG: dict[str, Any] = {"s": ["ok", "x" * 30_000, "fine"]}


@pytest.mark.parametrize("label", ["csv", "csv without header", "json lines", "json array", "xml"])
@pytest.mark.parametrize("size", [1, 777, 10**6])
def test_a_record_that_is_too_long_is_rejected_alone(label: str, size: int) -> None:
    (chosen,) = (one for one in FORMATS if one.label == label)
    schema = Schema.of(s="string", n="int")
    frame = pl.DataFrame({**LONG, "n": [1, 2, 3]})
    converter = chosen.converter(schema, max_record_bytes=10_000)
    found = fed(converter, cut(converter.encode(frame).data, size))
    assert found.frame["n"].to_list() == [1, 3]
    assert found.broken == ""
    (one,) = found.rejected
    assert "longer than 10000 bytes" in one.reason
    assert len(one.text) <= 1_100
