"""Converters by name: Aurora's own, plug-ins, and what is refused."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from aurora.connectors.converters import registry
from aurora.connectors.converters.base import Converter, Decoded, Encoded
from aurora.connectors.converters.registry import GROUP, OWN, converter, converter_names
from aurora.connectors.rejected import Rejection
from aurora.errors import InputError
from aurora.model.schema import Schema

N = Schema.of(n="int")


class Words(Converter):
    """A plug-in: numbers between spaces."""

    def __init__(self, schema: Schema, options: Mapping[str, Any]) -> None:
        super().__init__(schema, options)
        self.options = options

    def decoder(self) -> Words:
        return self

    def encoder(self) -> Words:
        return self

    def feed(self, data: bytes) -> Decoded:
        words = data.split()
        numbers = [int(word) for word in words if word.isdigit()]
        bad = [Rejection(at, "no number", word.decode()) for at, word in enumerate(words, 1) if not word.isdigit()]
        return Decoded(pl.DataFrame({"n": numbers}, schema=self.schema.to_polars()), bad)

    def finish(self) -> Decoded:
        return Decoded(pl.DataFrame(schema=self.schema.to_polars()), broken="it never ends")

    def header(self) -> bytes:
        return b"<"

    def footer(self) -> bytes:
        return b">"

    def encode(self, frame: pl.DataFrame) -> Encoded:
        if frame.height == 1 and frame["n"][0] == 7:
            return Encoded(b"", [Rejection(1, "seven", "7")])
        return Encoded(" ".join(map(str, frame["n"])).encode())


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    points: list[EntryPoint] = []
    monkeypatch.setattr(registry, "entry_points", lambda group: EntryPoints(p for p in points if p.group == group))
    registry._plugins.cache_clear()
    yield points
    registry._plugins.cache_clear()


def test_every_own_converter_is_declared_as_an_entry_point() -> None:
    text = (Path(__file__).parents[4] / "pyproject.toml").read_text()
    assert tomllib.loads(text)["project"]["entry-points"][GROUP] == OWN


def test_a_plug_in_is_found_and_has_messages_for_free(offered: list[EntryPoint]) -> None:
    offered.append(EntryPoint("words", f"{__name__}:Words", GROUP))
    offered.append(EntryPoint("csv", OWN["csv"], GROUP))
    assert "words" in converter_names()
    assert converter_names().count("csv") == 1
    # The module is imported in another way by tests than by its name.
    registry._plugins()["words"] = (_Loaded("words", "x:Words", GROUP),)
    found = converter("words", N, {"a": 1})
    assert found.decode(b"1 x 3").frame["n"].to_list() == [1, 3]
    assert [one.reason for one in found.decode(b"1 x 3").rejected] == ["no number", "it never ends"]
    together = found.decode_each([b"1", b"x", b"2"])
    assert together.frame["n"].to_list() == [1, 2]
    assert [(one.place, one.reason) for one in together.rejected if one.reason == "no number"] == [(2, "no number")]


class _Loaded(EntryPoint):
    def load(self) -> Any:
        return Words


def test_a_name_that_nobody_offers(offered: list[EntryPoint]) -> None:
    with pytest.raises(InputError, match=r"no converter 'jsn'; use one of arrow, .*did you mean 'json'"):
        converter("jsn", N)
    with pytest.raises(InputError, match=r"entry point group aurora\.converters"):
        converter("qqq", N)


def test_a_plug_in_that_takes_the_name_of_another(offered: list[EntryPoint]) -> None:
    offered.append(EntryPoint("csv", "elsewhere:Csv", GROUP))
    with pytest.raises(InputError, match="several converters 'csv': 'elsewhere:Csv' and the built-in one; uninstall"):
        converter("csv", N)


def test_a_plug_in_that_cannot_be_loaded(offered: list[EntryPoint]) -> None:
    offered.append(EntryPoint("bad", "no_such_module:X", GROUP))
    with pytest.raises(InputError, match=r"'bad' \(no_such_module:X\) cannot be loaded: ModuleNotFoundError"):
        converter("bad", N)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("json", {"from": "lines"}, r"'json': there is no option 'from'; the options are max_record_bytes, form"),
        ("json", {"form": "tree"}, "form: Input should be 'lines' or 'array'"),
        ("json", {"max_record_bytes": 0}, "max_record_bytes: .*greater than or equal to 1"),
        ("csv", {"separator": ",,"}, "',,' cannot separate fields; give one character"),
        ("csv", {"header": True, "columns": ["n"]}, "named twice"),
        ("csv", {"columns": ["m"]}, "the option 'columns' has no column 'n'; it has 'm'"),
        ("xml", {}, "the option 'record' is not given; add it"),
    ],
)
def test_options_that_are_wrong(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        converter(name, N, options)
