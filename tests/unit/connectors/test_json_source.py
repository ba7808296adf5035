"""JSON lines in: types, missing keys, bad lines."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.connectors import bytes_in
from aurora.connectors.json_objects import _may_be_others
from aurora.errors import InputError
from aurora.model.schema import Schema
from unit.connectors.reading import read_text

SCHEMA = Schema.of(s="string", n="int", f="double", b="bool", t="timestamp", d="duration", y="binary", l="list<string>")
ROW = '{"s":"x","n":1,"f":2,"b":true,"t":"2024-01-01T00:00:00Z","d":"1.5s","y":"aGk=","l":["p",null]}'


def test_values_of_every_type(tmp_path: Path) -> None:
    frame, rejected = read_text(tmp_path, "a.jsonl", ROW + "\n{}\n\n" + ROW.replace("2,", '"NaN",'), SCHEMA)
    assert rejected == []
    first, second, third = frame.rows()
    assert first[:4] == ("x", 1, 2.0, True)
    assert first[6:] == (b"hi", ["p", None])
    assert second == (None,) * 8
    assert third[2] != third[2]


def test_integers_are_microseconds(tmp_path: Path) -> None:
    schema = Schema.of(t="timestamp", d="duration")
    frame, _ = read_text(tmp_path, "a.ndjson", '{"t":5,"d":-7}\n', schema)
    assert frame["t"].dt.timestamp("us").item() == 5
    assert frame["d"].dt.total_microseconds().item() == -7


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"n":1.5}', "column 'n': the JSON value 1.5 is not an int"),
        ('{"n":"1"}', "column 'n': the JSON value \"1\" is not an int"),
        ('{"n":true}', "column 'n': the JSON value true is not an int"),
        ('{"n":9223372036854775808}', "column 'n': 9223372036854775808 is out of the range of int"),
        ('{"f":"1"}', "column 'f': the JSON value \"1\" is not a double"),
        ('{"s":1}', "column 's': the JSON value 1 is not a string"),
        ('{"b":"true"}', "column 'b': the JSON value \"true\" is not a bool"),
        ('{"t":"noon"}', "column 't': 'noon' is not a timestamp; write 2024-01-31T12:00:00.000000Z"),
        ('{"t":1.5}', "column 't'"),
        ('{"y":"!"}', "column 'y': '!' is not a binary; write base64 text"),
        ('{"l":[1]}', "column 'l': the JSON value 1 is not a string"),
        ('{"n":', "the line is not JSON: Expecting value at character 6"),
        ("[1]", "the line is not a JSON object; write one object per line"),
        ("null", "the line is not a JSON object; write one object per line"),
        ('{"n":1} {"n":2}', "the line is not JSON: Extra data at character 9"),
    ],
)
def test_a_bad_line_is_rejected_alone(tmp_path: Path, line: str, reason: str) -> None:
    columns = {name: str(kind) for name, kind in SCHEMA.items() if name in line or name == "n"}
    frame, rejected = read_text(tmp_path, "a.jsonl", f'{{"n":1}}\n\n{line}\n{{"n":3}}\n', Schema.of(**columns))
    assert frame["n"].to_list() == [1, 3]
    assert [(r.line, r.text) for r in rejected] == [(3, line)]
    assert rejected[0].reason.startswith(reason)


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    _, rejected = read_text(tmp_path, "a.jsonl", b'{"s":"\xff"}\n', Schema.of(s="string"))
    assert rejected[0].reason == "the line is not valid UTF-8"


def test_bad_lines_among_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bytes_in, "BLOCK_BYTES", 20_000)
    lines = [f'{{"n":{n}}}' if n % 700 else "oops" for n in range(5000)]
    frame, rejected = read_text(tmp_path, "a.jsonl", "\n".join(lines), Schema.of(n="int"))
    assert frame["n"].to_list() == [n for n in range(5000) if n % 700]
    assert [r.line for r in rejected] == [n + 1 for n in range(0, 5000, 700)]


def test_a_misspelt_key_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'pirce'"):
        read_text(tmp_path, "a.jsonl", '{"pirce":1}\n', Schema.of(price="double"))


def test_a_key_that_is_there_twice_has_its_first_value(tmp_path: Path) -> None:
    """Whether its line is parsed together with others or, because of a bad neighbour, alone."""
    for neighbour in ('{"n":3}', "oops"):
        frame, _ = read_text(tmp_path, "a.jsonl", f'{{"n":1,"n":2}}\n{neighbour}\n', Schema.of(n="int"))
        assert frame["n"][0] == 1


@pytest.mark.parametrize("value", ["5", "-1.5e3", "true", "false", "[]", '["x"]', "{}", '{"a": 1}'])
@pytest.mark.parametrize("kind", ["string", "binary"])
def test_what_is_no_text_is_found_among_texts_that_look_like_it(tmp_path: Path, value: str, kind: str) -> None:
    column, texts = Schema.of(s=kind), ["true", "1234", "null", "abcd"]
    lines = [f'{{"s": "{text}"}}' for text in texts]
    assert read_text(tmp_path, "good.jsonl", "\n".join([*lines, ""]), column)[0].height == 4
    lines.insert(2, f'{{"s": {value}}}')
    frame, rejected = read_text(tmp_path, "bad.jsonl", "\n".join([*lines, ""]), column)
    assert frame.height == 4
    assert [row.line for row in rejected] == [3]


@given(st.lists(st.none() | st.text("truefals019-[{ abcdefgh", max_size=14), max_size=20), st.integers(0, 3))
def test_texts_that_look_like_something_else_are_noticed(texts: list[str | None], skipped: int) -> None:
    """By the first bytes of all of them at once; short texts and long ones are kept differently."""
    like = any(re.match(r"[-0-9\[{]|(true|false)$", text) for text in texts[skipped:] if text is not None)
    assert _may_be_others(pl.Series(texts, dtype=pl.String)[skipped:]) == like
