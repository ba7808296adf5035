"""Versions: the truth of the catalog, and what is current."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aurora.catalog import Catalog
from aurora.clock import ManualClock
from aurora.errors import InputError, NetworkError
from aurora.model import loads
from tests.unit.catalog.conftest import TEXT

OTHER = TEXT.replace("price > 5", "price > 7")


def test_a_document_is_kept_to_the_letter_with_who_when_and_why(catalog: Catalog, clock: ManualClock) -> None:
    version = catalog.save(TEXT, "the first", author="ada")
    assert (version.number, version.state, version.author, version.why) == (1, "accepted", "ada", "the first")
    assert version.at_us == clock.now_us()
    assert version.document == TEXT
    assert catalog.current("alarms") == version
    assert catalog.networks() == ["alarms"]


def test_every_version_stays(catalog: Catalog) -> None:
    catalog.save(TEXT)
    catalog.save(OTHER)
    catalog.save(TEXT)
    assert [version.document for version in catalog.versions("alarms")] == [TEXT, OTHER, TEXT]
    assert [version.number for version in catalog.versions("alarms")] == [1, 2, 3]
    assert catalog.current("alarms") == catalog.version("alarms", 3)


def test_what_is_current_already_makes_no_version(catalog: Catalog) -> None:
    first = catalog.save(TEXT)
    assert catalog.save(TEXT, "again") == first
    assert catalog.save(loads(TEXT), "the same network, written otherwise") == first
    assert len(catalog.versions("alarms")) == 1
    assert catalog.save(TEXT.replace("night shift", "day shift")).number == 2


def test_what_is_wrong_is_refused_with_all_reasons_and_leaves_nothing(catalog: Catalog) -> None:
    catalog.save(TEXT)
    before = catalog.export_yaml()
    wrong = TEXT.replace("price > 5", "pirce > 5").replace("from: recent", "from: nothing")
    with pytest.raises(NetworkError) as caught:
        catalog.save(wrong)
    assert {problem.id for problem in caught.value.problems} == {"unknown-column", "unknown-arc"}
    assert catalog.export_yaml() == before
    assert catalog.last_change == 1


def test_warnings_are_noted(catalog: Catalog) -> None:
    version = catalog.save(TEXT.replace("boxes:\n  dear", "  spare: {schema: {x: int}}\nboxes:\n  dear"))
    (warning,) = catalog.problems(version)
    assert (warning.id, warning.severity, warning.path) == ("unused-stream", "warning", ("streams", "spare"))
    assert warning.place.line == 10


def test_a_removed_network_keeps_its_history(catalog: Catalog) -> None:
    catalog.save(TEXT)
    removed = catalog.remove("alarms", "not needed", author="bob")
    assert (removed.number, removed.state, removed.why) == (2, "removed", "not needed")
    assert catalog.current("alarms") is None
    assert catalog.networks() == []
    assert catalog.find("dear") == []
    assert [version.state for version in catalog.versions("alarms")] == ["accepted", "removed"]
    assert catalog.save(TEXT).number == 3
    with pytest.raises(InputError, match="it has alarms"):
        catalog.remove("alarm")


def test_it_is_there_when_the_file_is_opened_again(catalog: Catalog, path: Path, clock: ManualClock) -> None:
    catalog.save(TEXT)
    with Catalog.open(path, create=False, clock=clock) as again:
        assert again.versions("alarms") == catalog.versions("alarms")
        assert again.find("dear") == catalog.find("dear") != []


def test_a_name_or_note_of_half_characters_does_no_harm(catalog: Catalog) -> None:
    assert catalog.save(TEXT, "\ud800", author="\udfff").why == "?"
    assert [found.kind for found in catalog.find("\ud800")] == ["network"]  # of "Which feed is late?"
    assert catalog.propose("alarms", "\ud800").document == "?"
    with pytest.raises(InputError, match="not be stored"):
        catalog.find(tag="\ud800")
    with pytest.raises(InputError, match="not be stored"):
        catalog.version("alarms", 2**70)


def test_threads_share_a_catalog(catalog: Catalog) -> None:
    def save(n: int) -> int:
        catalog.find("dear")
        return catalog.save(TEXT.replace("price > 5", f"price > {n}")).number

    with ThreadPoolExecutor(4) as pool:
        numbers = list(pool.map(save, range(10, 22)))
    assert sorted(numbers) == list(range(1, 13))
    assert catalog.candidates() == []
