"""Export and import as YAML: the same catalog again, to the letter."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora.catalog import Bookmark, Catalog
from aurora.clock import ManualClock
from aurora.errors import InputError, NetworkError
from aurora.model import Network
from oracle.strategies import Example, examples
from tests.unit.catalog.conftest import TEXT

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def full(catalog: Catalog) -> None:
    catalog.save(TEXT, "first: # x\n", author="123")
    catalog.propose("alarms", "no document")
    catalog.review()
    catalog.save(TEXT.replace("price > 5", "price > 7"))
    catalog.propose("alarms", TEXT, "undecided")
    catalog.save("{aurora: 1, network: gone, streams: {s: {schema: {x: int}}}, outputs: {o: {from: s}}}")
    catalog.remove("gone")
    catalog.set_layout("alarms", {("boxes", "dear"): (1, 0.1), ("outputs", "alarms"): (-3, 4)})
    catalog.set_bookmark(Bookmark("alarms", "null", 1, 2, 0.5, "on\n", "ada", scope="detect/inner"))


def test_the_same_text_comes_out_again(catalog: Catalog, tmp_path: Path, clock: ManualClock) -> None:
    full(catalog)
    text = catalog.export_yaml()
    with Catalog.open(tmp_path / "copy.db", clock=clock) as copy:
        assert copy.import_yaml(text) == ["alarms", "gone"]
        assert copy.export_yaml() == text
        assert copy.networks() == catalog.networks() == ["alarms"]
        for mine, theirs in zip(catalog.versions("alarms"), copy.versions("alarms"), strict=True):
            assert (mine.document, mine.state, mine.why) == (theirs.document, theirs.state, theirs.why)
            assert catalog.problems(mine) == copy.problems(theirs)
        assert copy.layout("alarms") == catalog.layout("alarms")
        assert copy.bookmarks() == catalog.bookmarks()
        assert copy.find("dear") == catalog.find("dear")
        assert [candidate.why for candidate in copy.candidates()] == ["undecided"]


@settings(max_examples=10)
@given(examples(most=3), ANY_TEXT, ANY_TEXT, st.floats(-1e9, 1e9))
def test_random_networks_and_texts_round_trip(example: Example, why: str, author: str, x: float) -> None:
    net = Network.from_document(example.document | {"description": why, "manual": author, "tags": [why, author]})
    clock = ManualClock(7)
    with (
        tempfile.TemporaryDirectory() as folder,
        Catalog.open(Path(folder) / "a.db", clock=clock) as one,
        Catalog.open(Path(folder) / "b.db", clock=clock) as two,
    ):
        one.save(net, why, author=author)
        one.set_bookmark(Bookmark(net.name, why, x=x, note=author))
        two.import_yaml(one.export_yaml())
        assert two.export_yaml() == one.export_yaml()
        now = two.current(net.name)
        assert now is not None
        assert (now.read(), now.why, now.author) == (net, why, author)
        assert two.bookmarks() == one.bookmarks()


def test_an_empty_catalog_round_trips(catalog: Catalog) -> None:
    assert catalog.import_yaml(catalog.export_yaml()) == []


def test_what_is_there_already_is_not_mixed_with_what_comes(catalog: Catalog) -> None:
    full(catalog)
    text = catalog.export_yaml()
    with pytest.raises(InputError, match="has alarms, gone already"):
        catalog.import_yaml(text)
    assert catalog.export_yaml() == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file"),
        ("{a: [}", "line 1"),
        ("aurora: 1\nnetwork: x\n", "aurora_catalog"),
        ("aurora_catalog: 2", "form 2"),
        ("aurora_catalog: 1\nnetworks: {a: {}, a: {}}", "written on line"),
        ("aurora_catalog: 1\nnetworks: {a: {surprise: 1}}", "networks.a.surprise"),
        ("aurora_catalog: 1\nnetworks: {a: {versions: [{number: 0, state: accepted, at_us: 1}]}}", "number"),
        ("aurora_catalog: 1\nnetworks: {a: {current: 1, versions: []}}", "cannot be current"),
        (
            "aurora_catalog: 1\nnetworks: {a: {current: 1, versions: [{number: 1, state: refused, at_us: 1}]}}",
            "accepted",
        ),
        ("aurora_catalog: 1\nnetworks: {a: {layout: {nowhere: {b: [1, 2]}}}}", "nowhere"),
        ("aurora_catalog: 1\nnetworks: {a: {layout: {boxes: {b: [1, x]}}}}", "layout"),
    ],
)
def test_what_export_did_not_write_is_refused(catalog: Catalog, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        catalog.import_yaml(text)
    assert catalog.export_yaml() == "aurora_catalog: 1\nnetworks: {}\n"


def test_a_current_version_is_checked(catalog: Catalog) -> None:
    full(catalog)
    text = catalog.export_yaml().replace("alarms:\n", "alarm:\n", 1)
    with Catalog.open(catalog.path.with_name("new.db"), clock=ManualClock()) as new:
        with pytest.raises(InputError, match="its current document is of 'alarms'"):
            new.import_yaml(text)
        with pytest.raises(NetworkError):
            new.import_yaml(catalog.export_yaml().replace("price > 7", "pirce > 7"))
        assert new.networks() == []
        assert new.versions("alarms") == []
