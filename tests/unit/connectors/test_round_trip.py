"""What a sink writes, the source reads back equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora.connectors.files import open_sink
from aurora.model.schema import Schema
from aurora.model.types import Type
from unit.connectors.reading import read

INTS = st.integers(-(2**63), 2**63 - 1)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "int": INTS,
    "double": st.floats(),
    "string": st.text(st.characters(exclude_categories=["Cs"])) | st.text(st.sampled_from('",\n\r\\{}[]\ufeff é')),
    "timestamp": INTS | st.integers(-(10**15), 10**16),
    "duration": INTS | st.integers(-(10**7), 10**7),
    "binary": st.binary(),
}
EXTENSIONS = ["csv", "csv.gz", "jsonl", "parquet", "arrow", "arrows"]


def column(kind: Type, values: list[Any]) -> pl.Series:
    """Times are drawn as microseconds, since Python's own times do not reach as far."""
    item = kind.item or kind
    base = pl.Int64() if item.temporal else item.to_polars()
    return pl.Series(values, dtype=pl.List(base) if kind.item else base).cast(kind.to_polars())


@st.composite
def frames(draw: st.DrawFn) -> tuple[Schema, pl.DataFrame]:
    kinds = draw(st.lists(st.sampled_from([*VALUES, *(f"list<{name}>" for name in VALUES)]), min_size=1, max_size=4))
    names = draw(st.lists(st.sampled_from(["a", "b c", 'q"', "ü", "n,m"]), min_size=4, max_size=4, unique=True))
    height = draw(st.integers(0, 5))
    schema = Schema({name: Type.parse(kind) for name, kind in zip(names, kinds, strict=False)})
    columns = []
    for name, kind in schema.items():
        item = VALUES[(kind.item or kind).name]
        values = st.lists(st.none() | item, max_size=3) if kind.item else item
        drawn = draw(st.lists(st.none() | values, min_size=height, max_size=height))
        columns.append(column(kind, drawn).alias(name))
    return schema, pl.DataFrame(columns)


@settings(deadline=None, max_examples=120)
@given(drawn=frames(), extension=st.sampled_from(EXTENSIONS))
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, drawn: tuple[Schema, pl.DataFrame], extension: str
) -> None:
    schema, frame = drawn
    path = tmp_path_factory.mktemp("files") / f"a.{extension}"
    sink = open_sink(path, schema)
    sink.write(frame.head(2))
    sink.write(frame.slice(2))
    sink.close()
    back, rejected = read(path, schema)
    assert rejected == []
    assert back.equals(frame)


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_a_sink_that_got_no_tuple(tmp_path: Path, extension: str) -> None:
    schema = Schema.of(a="int", b="list<timestamp>")
    open_sink(tmp_path / f"a.{extension}", schema).close()
    frame, rejected = read(tmp_path / f"a.{extension}", schema)
    assert frame.height == 0
    assert rejected == []


def test_the_text_of_csv(tmp_path: Path) -> None:
    schema = Schema.of(t="timestamp", d="duration", f="double", b="bool", s="string", l="list<double>")
    columns: dict[str, list[Any]] = {
        "t": [0, 1_704_067_200_123_456, None],
        "d": [1_500_000, -1, None],
        "f": [0.1, float("nan"), 1e300],
        "b": [True, False, None],
        "s": ["", 'x "y"', None],
        "l": [[1.5, None, float("inf")], [], None],
    }
    frame = pl.DataFrame([column(schema[name], values).alias(name) for name, values in columns.items()])
    sink = open_sink(tmp_path / "a.csv", schema)
    sink.write(frame)
    assert (tmp_path / "a.csv").read_text().splitlines() == [  # before the close: people may follow the file
        "t,d,f,b,s,l",
        '1970-01-01T00:00:00.000000Z,1.5s,0.1,true,"","[1.5,null,""inf""]"',
        '2024-01-01T00:00:00.123456Z,-0.000001s,NaN,false,"x ""y""",[]',
        ",,1e+300,,,",
    ]
    sink.close()
