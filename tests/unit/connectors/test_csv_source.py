"""CSV in: columns, NULLs, quotes, bad rows, line numbers."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora.connectors import bytes_in, csv_files
from aurora.connectors.files import open_source
from aurora.errors import InputError
from aurora.model.schema import Schema
from unit.connectors.reading import read_text

TICK = Schema.of(ticker="string", price="double", volume="int")


def test_columns_may_stand_in_any_order_among_others(tmp_path: Path) -> None:
    frame, rejected = read_text(tmp_path, "a.csv", "x,volume,ticker,y,price\n1,10,IBM,2,1.5\n", TICK)
    assert frame.rows() == [("IBM", 1.5, 10)]
    assert rejected == []


def test_empty_is_null_and_quoted_empty_is_an_empty_string(tmp_path: Path) -> None:
    frame, _ = read_text(tmp_path, "a.csv", 'ticker,price,volume\n,,\n"","",""\n', TICK)
    assert frame.rows() == [(None, None, None), ("", None, None)]


def test_mark_and_return_and_missing_last_newline(tmp_path: Path) -> None:
    frame, rejected = read_text(tmp_path, "a.csv", "\ufeffticker,price,volume\r\na,1,2\r\n\r\nb,3,4", TICK)
    assert frame.rows() == [("a", 1.0, 2), ("b", 3.0, 4)]
    assert rejected == []


def test_only_a_header(tmp_path: Path) -> None:
    frame, rejected = read_text(tmp_path, "a.csv", "ticker,price,volume", TICK)
    assert frame.height == 0
    assert rejected == []


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("a,x,1", "column 'price': 'x' is not a double"),
        ("a,1,x", "column 'volume': 'x' is not an int"),
        ("a,1,1.5", "column 'volume': '1.5' is not an int"),
        ("a,1,9223372036854775808", "column 'volume': '9223372036854775808' is out of the range of int"),
        ("a,x,y", "column 'price': 'x' is not a double; column 'volume': 'y' is not an int"),
        ("a,1", "the line has 2 fields, the header 3"),
        ("a,1,2,3", "the line has 4 fields, the header 3"),
        ("lonely", "the line has 1 field, the header 3"),
        ('"a,1,2', "a quoted field is not closed, or text follows its closing quote"),
        ('"a"b,1,2', "a quoted field is not closed, or text follows its closing quote"),
    ],
)
def test_a_bad_row_is_rejected_alone(tmp_path: Path, row: str, reason: str) -> None:
    text = f"ticker,price,volume\ngood,1,1\n{row}\n\nbetter,2,2\n"
    frame, rejected = read_text(tmp_path, "a.csv", text, TICK)
    assert frame["ticker"].to_list() == ["good", "better"]
    assert [(r.stream, r.line, r.reason, r.text) for r in rejected] == [("s", 3, reason, row)]


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    frame, rejected = read_text(tmp_path, "a.csv", b"ticker,price,volume\n\xc3\xa9,1,1\n\xff,2,2\nz,3,3\n", TICK)
    assert frame["ticker"].to_list() == ["é", "z"]
    assert [(r.line, r.reason, r.text) for r in rejected] == [(3, "the line is not valid UTF-8", "\\xff,2,2")]


def test_line_numbers_count_newlines_inside_quotes(tmp_path: Path) -> None:
    text = 'ticker,price,volume\n"a\nb",1,1\nx,bad,1\n"c\n\nd",2,2\ny,2\n'
    frame, rejected = read_text(tmp_path, "a.csv", text, TICK)
    assert frame["ticker"].to_list() == ["a\nb", "c\n\nd"]
    assert [r.line for r in rejected] == [4, 8]


def test_a_quote_inside_a_field_is_text(tmp_path: Path) -> None:
    frame, rejected = read_text(tmp_path, "a.csv", 'ticker,price,volume\n5" disk,1,1\n"q ""x""",2,2\n', TICK)
    assert frame["ticker"].to_list() == ['5" disk', 'q "x"']
    assert rejected == []


def test_spaces_around_numbers(tmp_path: Path) -> None:
    frame, rejected = read_text(tmp_path, "a.csv", "ticker, price ,volume\n a , 1.5,2 \nb,1,\n", TICK)
    assert frame.rows() == [(" a ", 1.5, 2), ("b", 1.0, None)]
    assert rejected == []


def test_a_single_column_keeps_its_nulls(tmp_path: Path) -> None:
    frame, _ = read_text(tmp_path, "a.csv", "x\n1\n\n3\n", Schema.of(x="int"))
    assert frame["x"].to_list() == [1, None, 3]


def test_values_of_every_type(tmp_path: Path) -> None:
    schema = Schema.of(b="bool", t="timestamp", d="duration", y="binary", f="double", l="list<int>")
    text = (
        "b,t,d,y,f,l\n"
        'True,2024-01-31T12:00:00.5Z,200ms,aGk=,NaN,"[1, null]"\n'
        "false,2024-01-31 14:00:00.500000+02:00,200000,,inf,[]\n"
        "1,1706702400500000,-1m0.5s,,-inf,\n"
        "0,2024-01-31,1h,,1e3,\n"
    )
    frame, rejected = read_text(tmp_path, "a.csv", text, schema)
    assert rejected == []
    assert frame["b"].to_list() == [True, False, True, False]
    assert frame["t"].dt.timestamp("us").to_list() == [1706702400500000] * 3 + [1706659200000000]
    assert frame["d"].dt.total_microseconds().to_list() == [200_000, 200_000, -60_500_000, 3_600_000_000]
    assert frame["y"].to_list() == [b"hi", None, None, None]
    assert str(frame["f"].to_list()) == "[nan, inf, -inf, 1000.0]"
    assert frame["l"].to_list() == [[1, None], [], None, None]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("bool", "yes"),
        ("timestamp", "2024-02-30T00:00:00Z"),
        ("timestamp", "2023-02-29"),
        ("timestamp", "2024-01-01T24:00:00"),
        ("timestamp", "99999999999999999999"),
        ("duration", "5 parsecs"),
        ("duration", "300000000y"),
        ("duration", "107000000d"),
        ("binary", "!!"),
        ("list<int>", "[1"),
        ("list<int>", "[1.5]"),
        ("list<timestamp>", '["noon"]'),
    ],
)
def test_bad_values_name_column_and_value(tmp_path: Path, kind: str, value: str) -> None:
    quoted = '"' + value.replace('"', '""') + '"'
    schema = Schema.of(x=kind, n="int")
    frame, rejected = read_text(tmp_path, "a.csv", f"x,n\n,1\n{quoted},2\n,3\n", schema)
    assert frame["n"].to_list() == [1, 3]
    assert [r.line for r in rejected] == [3]
    assert "column 'x'" in rejected[0].reason
    assert value.strip('["]') in rejected[0].reason


def test_a_missing_column_names_file_and_choices(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.csv.*'price'.*'ticker', 'pirce'.*did you mean 'pirce'"):
        read_text(tmp_path, "a.csv", "ticker,pirce\n", Schema.of(ticker="string", price="double"))


def test_a_column_that_is_there_twice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="2 times"):
        read_text(tmp_path, "a.csv", "x,x\n1,2\n", Schema.of(x="int"))


def test_an_empty_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no header"):
        read_text(tmp_path, "a.csv", "", TICK)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "b.csv").touch()
    with pytest.raises(InputError, match=r"cannot read .*a\.csv: No such file.*b\.csv"):
        open_source(tmp_path / "a.csv", TICK, stream="s", on_reject=print)


def test_a_forgotten_quote_costs_its_line_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bytes_in, "BLOCK_BYTES", 64)
    monkeypatch.setattr(csv_files, "MAX_RECORD_BYTES", 200)
    rows = "".join(f"row{n},{n},{n}\n" for n in range(200))
    frame, rejected = read_text(tmp_path, "a.csv", f'ticker,price,volume\n"open,1,1\n{rows}', TICK)
    assert frame["volume"].to_list() == list(range(200))
    assert [r.line for r in rejected] == [2]


FIELDS = st.text(st.sampled_from('ab1,"\n\ré '), max_size=5)


@settings(deadline=None, max_examples=150)
@given(rows=st.lists(st.tuples(FIELDS, FIELDS), max_size=12), block=st.integers(1, 40), ragged=st.booleans())
def test_agrees_with_the_csv_module(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], block: int, ragged: bool
) -> None:
    """Any text in fields, cut into blocks anywhere."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(["a", "b"])
    for row in rows:
        writer.writerow(row)
        if ragged:
            buffer.write("1,2,3\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bytes_in, "BLOCK_BYTES", block)
        schema = Schema.of(a="string", b="string")
        frame, rejected = read_text(tmp_path_factory.mktemp("csv"), "a.csv", buffer.getvalue(), schema)
    assert frame.rows() == rows
    assert len(rejected) == (len(rows) if ragged else 0)


@settings(deadline=None, max_examples=150)
@given(text=st.text(st.sampled_from('a1,"\n\r'), max_size=60), block=st.integers(1, 40))
def test_any_text_is_read_the_same_however_it_is_cut(
    tmp_path_factory: pytest.TempPathFactory, text: str, block: int
) -> None:
    schema = Schema.of(a="string", b="int")
    folder = tmp_path_factory.mktemp("csv")
    whole = read_text(folder, "a.csv", "a,b\n" + text, schema)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bytes_in, "BLOCK_BYTES", block)
        cut = read_text(folder, "a.csv", "a,b\n" + text, schema)
    assert cut[0].rows() == whole[0].rows()
    assert cut[1] == whole[1]
