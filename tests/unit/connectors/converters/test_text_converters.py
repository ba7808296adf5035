"""CSV and JSON: what options change, what is rejected, and that neighbours are kept."""

from __future__ import annotations

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora.connectors.converters.json_array import ValueScanner
from aurora.connectors.converters.registry import converter
from aurora.model.schema import Schema
from unit.connectors.converters.formats import cut, fed

TICK = Schema.of(ticker="string", price="double")
TWO = pl.DataFrame({"ticker": ["IBM", None], "price": [1.5, 2.0]})


def test_csv_with_named_columns_and_another_separator() -> None:
    chosen = converter("csv", TICK, {"separator": "|", "columns": "time, price, ticker"})
    found = fed(chosen, [b"9:00|1.5|I,BM\n9:01|2\n9:02||\n"])
    assert found.frame.rows() == [("I,BM", 1.5), (None, None)]
    assert found.faults == [(2, "the line has 2 fields, the schema 3")]
    assert chosen.encode(TWO).data == b"|1.5|IBM\n|2.0|\n"


def test_csv_with_tabs() -> None:
    chosen = converter("csv", TICK, {"separator": "tab"})
    assert fed(chosen, [b'ticker\tprice\n"a\tb"\t1\n']).frame.rows() == [("a\tb", 1.0)]


def test_csv_whose_header_lacks_a_column_is_broken() -> None:
    chosen = converter("csv", TICK)
    found = fed(chosen, [b"ticker,pirce\nIBM,1\n", b"IBM,2\n"])
    assert found.frame.height == 0
    assert "has no column 'price'; it has 'ticker', 'pirce'" in found.broken
    assert "did you mean 'pirce'" in found.broken
    message = chosen.decode(b"IBM,1\n")
    assert [one.reason.partition(";")[0] for one in message.rejected] == ["the header has no column 'ticker'"]
    assert message.broken == ""


def test_csv_that_drips_in() -> None:
    """However slowly a record comes, it is there as soon as it is complete."""
    chosen = converter("csv", TICK, {"header": False})
    decoder = chosen.decoder()
    record = b'"' + b"x\n" * 400 + b'",1\n'
    for code in record[:-1]:
        assert decoder.feed(bytes([code])).frame.height == 0
    rest = [decoder.feed(record[-1:]), decoder.feed(b"y,2\n"), decoder.finish()]
    assert [row for part in rest for row in part.frame.rows()] == [("x\n" * 400, 1.0), ("y", 2.0)]


@settings(max_examples=150)
@given(text=st.text(st.sampled_from('a1,"\n\r'), max_size=80), size=st.integers(1, 30), limit=st.integers(5, 40))
def test_csv_with_short_limits_is_read_the_same_however_it_is_cut(text: str, size: int, limit: int) -> None:
    schema = Schema.of(a="string", b="int")
    chosen = converter("csv", schema, {"header": False, "max_record_bytes": limit})
    whole, pieces = fed(chosen, [text.encode()]), fed(chosen, cut(text.encode(), size))
    assert pieces.frame.rows() == whole.frame.rows()
    assert [one.place for one in pieces.rejected] == [one.place for one in whole.rejected]


def test_json_lines_with_bad_ones_between() -> None:
    lines = [b'{"ticker":"a","price":1}', b"oops", b'{"price":"x"}', b"", b'{"ticker":"b"}', b'{"ticker":"c","pri']
    found = fed(converter("json", TICK), [b"\n".join(lines)])
    assert found.frame.rows() == [("a", 1.0), ("b", None)]
    assert [(place, reason[:28]) for place, reason in found.faults] == [
        (2, "the line is not JSON: Expect"),
        (3, "column 'price': the JSON val"),
        (6, "the line is not JSON: Unterm"),
    ]


@pytest.mark.parametrize(
    ("text", "tickers"),
    [
        ('[{"ticker":"a"},{"ticker":"b"}]', ["a", "b"]),
        ('[\n  {"ticker":\n"a"\n},\n{"ticker": "b"}\n]\n', ["a", "b"]),
        ('{"ticker":"a"}{"ticker":"b"} {"ticker":"c"}', ["a", "b", "c"]),
        ('{"ticker":"a"},\n{"ticker":"b"}', ["a", "b"]),
        ('[{"ticker":"a"}][{"ticker":"b"}]{"ticker":"c"}', ["a", "b", "c"]),
        ('[{"ticker":"],[{\\"\\\\"},{"ticker":"b"}]', ['],[{"\\', "b"]),
        ('[{"ticker":"a","x":[1,{"y":[2,3]}]},{"ticker":"b"}]', ["a", "b"]),
        ("[]", []),
        ("[ ] []", []),
        ("", []),
    ],
)
def test_json_values_over_any_lines(text: str, tickers: list[str]) -> None:
    chosen = converter("json", TICK, {"form": "array"})
    for size in (1, 3, 1000):
        found = fed(chosen, cut(text.encode(), size))
        assert found.frame["ticker"].to_list() == tickers
        assert (found.rejected, found.broken) == ([], "")


def test_json_values_that_are_no_objects() -> None:
    found = fed(converter("json", TICK, {"form": "array"}), [b'[1, {"ticker":"a"}, "x", [{"ticker":"b"}], {"ticker"}]'])
    assert found.frame["ticker"].to_list() == ["a"]
    assert [place for place, _ in found.faults] == [1, 3, 4, 5]
    assert found.faults[0][1] == "the value is not a JSON object; write one object per value"


def test_json_with_a_bracket_too_many_is_broken() -> None:
    decoder = converter("json", TICK, {"form": "array"}).decoder()
    first = decoder.feed(b'[{"ticker":"a"}]]')
    assert first.frame["ticker"].to_list() == ["a"]
    assert "never opened" in first.broken
    assert decoder.feed(b'{"ticker":"b"}').frame.height == 0
    assert "never opened" in decoder.finish().broken


def test_json_that_is_never_closed() -> None:
    found = fed(converter("json", TICK, {"form": "array"}), [b'[{"ticker":"a"},{"ticker":"b"'])
    assert found.frame["ticker"].to_list() == ["a"]
    assert [place for place, _ in found.faults] == [2]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.text(max_size=6)
    | st.sampled_from(['"', "\\", "\n]{,"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150)
@given(values=st.lists(JSON, max_size=5), indent=st.sampled_from([None, 1]), size=st.integers(1, 50))
def test_a_line_for_each_value_of_an_array(values: list[object], indent: int | None, size: int) -> None:
    text = json.dumps(values, indent=indent).encode()
    scanner = ValueScanner()
    lines = b"".join(scanner.rewritten(piece)[0] for piece in cut(text, size))
    assert [json.loads(line) for line in lines.split(b"\n") if line.strip()] == values


def test_messages_are_numbered_as_they_came() -> None:
    chosen = converter("json", TICK)
    messages = [b'{"ticker":"a"}', b"x", b'{"ticker":"b"}\n{"ticker":"c"}\n', b'{"price":"y"}']
    for some in (messages, [m for m in messages if b"\n" not in m]):
        found = chosen.decode_each(some)
        assert found.frame["ticker"].to_list() == (["a", "b", "c"] if some is messages else ["a"])
        assert [one.place for one in found.rejected] == [some.index(b"x") + 1, some.index(b'{"price":"y"}') + 1]


@pytest.mark.parametrize("name", ["csv", "json"])
def test_a_list_that_is_nested_too_deeply(name: str) -> None:
    schema = Schema.of(l="list<int>")
    deep = "[" * 100_000
    data = f'l\n"{deep}"\n"[1]"\n' if name == "csv" else f'{{"l":{deep}}}\n{{"l":[1]}}\n'
    found = fed(converter(name, schema), [data.encode()])
    assert found.frame["l"].to_list() == [[1]]
    assert len(found.rejected) == 1
