"""Finding: by words, tag, kind, network and column, with the full-text index and without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from aurora.catalog import Catalog, search
from aurora.clock import ManualClock
from tests.unit.catalog.conftest import TEXT

SMALL = """\
aurora: 1
network: small
streams:
  beats: {schema: {at: timestamp, price: int}, description: 100% of beats}
outputs:
  all_beats: {from: beats}
"""


@pytest.fixture(params=["index", "like"])
def catalog(request: pytest.FixtureRequest, path: Path, clock: ManualClock) -> Iterator[Catalog]:
    available = mock.patch.object(search, "full_text_available", return_value=request.param == "index")
    with available, Catalog.open(path, clock=clock) as opened:
        opened.save(TEXT)
        opened.save(SMALL)
        yield opened


def names(catalog: Catalog, text: str = "", **given: str) -> set[str]:
    return {found.element for found in catalog.find(text, **given)}


def test_without_conditions_everything_is_found(catalog: Catalog) -> None:
    everything = {"alarms", "ticks", "dear", "recent", "detect", "kept", "small", "beats", "all_beats"}
    assert names(catalog) == everything
    assert len(catalog.find()) == len(everything) + 1  # alarms is a network and its output


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("costs", {"dear"}),
        ("COSTS", {"dear"}),
        ("cost", {"dear"}),
        ("only more", {"dear"}),
        ("only less", set()),
        ("Ask before", {"dear"}),
        ("night", {"alarms"}),
        ("max", {"recent"}),
        ("100%", {"beats"}),
        ("%", {"beats"}),
        ("_", {"all_beats", "recent", "kept"}),
        ("beats", {"beats", "all_beats"}),
    ],
)
def test_words_are_found_wherever_they_stand(catalog: Catalog, text: str, found: set[str]) -> None:
    got = names(catalog, text)
    assert got >= found if text == "_" else got == found


def test_by_tag_kind_network_and_column(catalog: Catalog) -> None:
    assert names(catalog, tag="night") == {"alarms"}
    assert names(catalog, tag="Raw") == {"ticks"}
    assert names(catalog, kind="filter") == {"dear"}
    assert names(catalog, kind="box") == {"dear", "recent"}
    assert names(catalog, kind="stream") == {"ticks", "beats"}
    assert names(catalog, kind="connection_point") == {"kept"}
    assert names(catalog, network="small") == {"small", "beats", "all_beats"}
    assert names(catalog, column="most") == {"recent", "alarms"}
    assert names(catalog, column="price", network="small") == {"beats", "all_beats"}
    assert names(catalog, "cost", kind="filter", column="ticker", network="alarms") == {"dear"}
    assert names(catalog, "cost", kind="tumble") == set()


def test_what_is_found_says_what_it_is(catalog: Catalog) -> None:
    (found,) = catalog.find(tag="finance")
    assert (found.network, found.section, found.element, found.kind) == ("alarms", "network", "alarms", "network")
    assert (found.description, found.tags) == ("Which feed is late?", ("finance", "night"))


def test_what_is_no_longer_there_is_not_found(catalog: Catalog) -> None:
    catalog.save(TEXT.replace("only what costs more", "gone"))
    assert names(catalog, "costs") == set()
    catalog.remove("alarms")
    assert names(catalog, "gone") == set()
    assert names(catalog, column="most") == set()


def test_an_index_that_could_not_be_kept_up_is_made_anew(path: Path, clock: ManualClock) -> None:
    with Catalog.open(path, clock=clock) as catalog:
        catalog.save(TEXT)
    missing = mock.patch.object(search, "full_text_available", return_value=False)
    with missing, Catalog.open(path, clock=clock) as poor:
        poor.save(SMALL)
        assert names(poor, "beats") == {"beats", "all_beats"}
    with Catalog.open(path, clock=clock) as catalog:
        assert names(catalog, "beats") == {"beats", "all_beats"}


@pytest.mark.parametrize(
    "text",
    [
        '"',
        "'",
        "' OR 1=1 --",
        '" OR element : x',
        "NEAR(a b)",
        "a*",
        "{element}: x",
        "AND",
        "x\0y",
        "(",
        "^",
        "-",
        "!",
        "\\",
    ],
)
def test_no_text_is_an_error_or_a_query(catalog: Catalog, text: str) -> None:
    everything = len(catalog.find())
    assert len(catalog.find(text)) < everything
    assert catalog.find(tag=text) == catalog.find(kind=text) == catalog.find(column=text) == []
