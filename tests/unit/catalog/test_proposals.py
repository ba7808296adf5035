"""Another program inserts a version: it is checked like any document, and accepted or refused."""

from __future__ import annotations

from collections.abc import Callable

from aurora.catalog import Catalog
from tests.unit.catalog.conftest import TEXT

Other = Callable[[str], None]
BETTER = TEXT.replace("price > 5", "price > 7")


def insert(network: str, document: str) -> str:
    quoted = document.replace("'", "''")
    return f"INSERT INTO versions (network, document, author, why) VALUES ('{network}', '{quoted}', 'eve', 'test')"


def test_a_valid_document_becomes_the_current_version(catalog: Catalog, other: Other) -> None:
    catalog.save(TEXT)
    other(insert("alarms", BETTER))
    assert [version.state for version in catalog.versions("alarms")] == ["accepted", "proposed"]
    assert catalog.changes()[-1].what == "proposed"
    (version,) = catalog.review()
    assert (version.number, version.state, version.author, version.why) == (2, "accepted", "eve", "test")
    assert version.document == BETTER
    assert catalog.current("alarms") == version
    assert catalog.find("7", kind="filter") != []


def test_an_invalid_document_is_refused_with_all_reasons(catalog: Catalog, other: Other) -> None:
    first = catalog.save(TEXT)
    other(insert("alarms", TEXT.replace("price > 5", "pirce > 5").replace("from: recent", "from: gone")))
    (version,) = catalog.review()
    assert {(p.id, p.place.line) for p in catalog.problems(version) if p.severity == "error"} == {
        ("unknown-column", 14),
        ("unknown-arc", 27),
    }
    assert version.state == "refused"
    assert catalog.current("alarms") == first


def test_what_is_no_document_is_refused(catalog: Catalog, other: Other) -> None:
    for text in ("", "\t{", "- a", "aurora: 2", "x" * 5_000_000):
        other(insert("alarms", text))
    versions = catalog.review()
    assert [version.state for version in versions] == ["refused"] * 5
    assert all(catalog.problems(version) for version in versions)
    assert catalog.networks() == []


def test_the_document_of_another_network_is_refused(catalog: Catalog, other: Other) -> None:
    other(insert("alarm", TEXT))
    (version,) = catalog.review()
    assert [(p.id, p.place.line) for p in catalog.problems(version)] == [("other-network", 3)]
    assert catalog.networks() == []


def test_several_are_decided_on_in_their_order(catalog: Catalog, other: Other) -> None:
    other(insert("alarms", TEXT) + ";" + insert("alarms", "no") + ";" + insert("alarms", BETTER))
    assert [version.state for version in catalog.review()] == ["accepted", "refused", "accepted"]
    now = catalog.current("alarms")
    assert now is not None
    assert (now.number, now.document) == (3, BETTER)


def test_edits_of_the_tables_come_before_a_document_that_replaces_them(catalog: Catalog, other: Other) -> None:
    catalog.save(TEXT)
    other(insert("alarms", BETTER) + "; UPDATE networks SET description = 'edited'")
    edited, proposed = catalog.review()
    assert (edited.read().description, edited.state) == ("edited", "accepted")
    assert proposed.document == BETTER
    assert catalog.current("alarms") == proposed


def test_going_back_is_inserting_an_old_document_again(catalog: Catalog, other: Other) -> None:
    catalog.save(TEXT)
    catalog.save(BETTER)
    other(
        "INSERT INTO versions (network, document, why) SELECT network, document, 'back' FROM versions WHERE number = 1"
    )
    (version,) = catalog.review()
    assert (version.number, version.document) == (3, TEXT)


def test_the_public_way_is_the_same(catalog: Catalog) -> None:
    proposed = catalog.propose("alarms", TEXT, "please", author="eve")
    assert (proposed.number, proposed.state) == (1, "proposed")
    assert catalog.current("alarms") is None
    assert [version.id for version in catalog.review()] == [proposed.id]


def test_a_proposal_is_decided_on_once(catalog: Catalog) -> None:
    catalog.propose("alarms", TEXT)
    (mine,), (theirs,) = catalog.candidates(), catalog.candidates()
    assert catalog.refuse(theirs) is not None
    assert catalog.accept(mine) is None
    assert catalog.current("alarms") is None


def test_an_edit_that_comes_while_a_document_is_applied_is_kept_as_refused(catalog: Catalog, other: Other) -> None:
    catalog.save(TEXT)
    catalog.propose("alarms", BETTER)
    (candidate,) = catalog.candidates()
    other("UPDATE networks SET description = 'meanwhile'")
    accepted = catalog.accept(candidate)
    assert accepted is not None
    assert catalog.current("alarms") == accepted
    overtaken = catalog.versions("alarms")[-1]
    assert (overtaken.state, overtaken.read().description) == ("refused", "meanwhile")
    assert catalog.review() == []
