"""Another program edits the tables: what is valid becomes the current version, all else is refused with its reasons."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import pytest

from aurora.catalog import Candidate, Catalog
from aurora.errors import Problem
from aurora.model import loads
from tests.unit.catalog.conftest import TEXT

Other = Callable[[str], None]
Rows = Callable[[str], list[tuple[object, ...]]]

WHERE = "UPDATE box_parameters SET value = '{}' WHERE network = 'alarms' AND box = 'dear' AND name = 'where'"


@pytest.fixture(autouse=True)
def saved(catalog: Catalog) -> None:
    catalog.save(TEXT)


def snapshot(catalog: Catalog, rows: Rows) -> object:
    """What the tables of parts say; positions may be given anew."""
    tables = ("networks", "boxes", "box_parameters", "arcs", "stream_columns", "qos_points", "tags")
    return catalog.current("alarms"), [rows(f"SELECT * FROM {table}") for table in tables]


def test_a_valid_edit_becomes_the_current_version(catalog: Catalog, other: Other, rows: Rows) -> None:
    other(WHERE.format("price > 7"))
    (version,) = catalog.review()
    assert (version.number, version.state, version.why) == (2, "accepted", "edited in box_parameters")
    assert catalog.current("alarms") == version
    assert version.read() == loads(TEXT.replace("price > 5", "price > 7"))
    assert rows("SELECT value FROM box_parameters WHERE name = 'where'") == [('"price > 7"',)]
    assert catalog.review() == []


def test_an_invalid_edit_is_refused_with_all_reasons_and_undone(catalog: Catalog, other: Other, rows: Rows) -> None:
    before = snapshot(catalog, rows)
    other(WHERE.format("pirce > 7") + "; UPDATE outputs SET source = 'gone'")
    (version,) = catalog.review()
    assert version.state == "refused"
    assert "pirce > 7" in version.document
    assert {(p.id, p.element) for p in catalog.problems(version)} >= {
        ("unknown-column", "box dear"),
        ("unknown-arc", "output alarms"),
    }
    assert snapshot(catalog, rows) == before
    assert rows("SELECT id, element FROM problems WHERE severity = 'error' ORDER BY position")
    assert catalog.candidates() == []


def test_of_an_edit_that_is_half_right_nothing_is_applied(catalog: Catalog, other: Other, rows: Rows) -> None:
    before = snapshot(catalog, rows)
    other("UPDATE networks SET description = 'better'; DELETE FROM stream_columns WHERE name = 'price'")
    assert [version.state for version in catalog.review()] == ["refused"]
    assert snapshot(catalog, rows) == before


def test_an_edit_that_is_rolled_back_is_no_edit(catalog: Catalog, path: object) -> None:
    connection = sqlite3.connect(str(path))
    connection.execute(WHERE.format("price > 7"))
    assert catalog.candidates() == []
    connection.rollback()
    connection.close()
    assert catalog.candidates() == []


def test_the_engine_may_refuse_what_is_valid(catalog: Catalog, other: Other, rows: Rows) -> None:
    before = snapshot(catalog, rows)
    other(WHERE.format("price > 7"))
    reason = Problem("no-room", "the queue is full", "wait")
    asked: list[Candidate] = []

    def apply(candidate: Candidate) -> list[Problem]:
        asked.append(candidate)
        return [reason]

    (version,) = catalog.review(apply)
    assert [candidate.name for candidate in asked] == ["alarms"]
    assert version.state == "refused"
    assert catalog.problems(version) == [reason]
    assert snapshot(catalog, rows) == before


def test_the_engine_is_not_asked_about_what_is_wrong(catalog: Catalog, other: Other) -> None:
    other(WHERE.format("pirce > 7"))

    def apply(_candidate: Candidate) -> list[Problem]:
        raise AssertionError

    assert [version.state for version in catalog.review(apply)] == ["refused"]


def test_boxes_can_be_added_by_rows_alone(catalog: Catalog, other: Other) -> None:
    other("""
        INSERT INTO boxes (network, name, kind, description) VALUES ('alarms', 'cheap', 'filter', 'the others');
        INSERT INTO arcs (network, box, source) VALUES ('alarms', 'cheap', 'ticks');
        INSERT INTO box_parameters (network, box, name, value) VALUES ('alarms', 'cheap', 'where', 'price <= 5');
        INSERT INTO outputs (network, name, source) VALUES ('alarms', 'cheap_ones', 'cheap');
        INSERT INTO qos_graphs (network, output, graph) VALUES ('alarms', 'cheap_ones', 'latency');
        INSERT INTO qos_points (network, output, graph, x, utility)
            VALUES ('alarms', 'cheap_ones', 'latency', 0, 1), ('alarms', 'cheap_ones', 'latency', '2s', 0);
        INSERT INTO tags (network, section, element, tag) VALUES ('alarms', 'boxes', 'cheap', 'new')
    """)
    (version,) = catalog.review()
    network = version.read()
    assert list(network.boxes) == ["dear", "recent", "cheap"]
    assert network.boxes["cheap"].inputs == ("ticks",)
    assert network.outputs["cheap_ones"].qos is not None
    assert [found.element for found in catalog.find(tag="new")] == ["cheap"]


def test_a_whole_network_can_be_added_by_rows_alone(catalog: Catalog, other: Other) -> None:
    other("""
        INSERT INTO networks (name) VALUES ('small');
        INSERT INTO streams (network, name) VALUES ('small', 's');
        INSERT INTO stream_columns (network, stream, name, type) VALUES ('small', 's', 'x', 'int');
        INSERT INTO outputs (network, name, source) VALUES ('small', 'o', 's')
    """)
    (version,) = catalog.review()
    assert (version.network, version.number, version.state) == ("small", 1, "accepted")
    assert catalog.networks() == ["alarms", "small"]


def test_a_new_network_that_is_refused_leaves_no_rows(catalog: Catalog, other: Other, rows: Rows) -> None:
    other("INSERT INTO networks (name) VALUES ('small'); INSERT INTO streams (network, name) VALUES ('small', 's')")
    (version,) = catalog.review()
    assert (version.state, next(problem.id for problem in catalog.problems(version))) == ("refused", "empty-schema")
    assert rows("SELECT * FROM streams WHERE network = 'small'") == []
    assert catalog.networks() == ["alarms"]


def test_a_renamed_box_takes_its_own_rows_along(catalog: Catalog, other: Other) -> None:
    other("""
        UPDATE boxes SET name = 'costly' WHERE name = 'dear';
        UPDATE arcs SET source = 'costly' WHERE source = 'dear';
        UPDATE superbox_boxes SET box = 'costly' WHERE box = 'dear'
    """)
    (version,) = catalog.review()
    assert version.state == "accepted"
    assert version.read() == loads(TEXT.replace("dear", "costly"))


def test_a_box_that_others_read_cannot_just_go(catalog: Catalog, other: Other, rows: Rows) -> None:
    before = snapshot(catalog, rows)
    other("DELETE FROM boxes WHERE name = 'dear'")
    assert rows("SELECT * FROM box_parameters WHERE box = 'dear'") == []
    (version,) = catalog.review()
    assert {problem.id for problem in catalog.problems(version)} == {"unknown-arc", "unknown-box"}
    assert snapshot(catalog, rows) == before


def test_rows_that_belong_nowhere_refuse_an_edit(catalog: Catalog, other: Other, rows: Rows) -> None:
    other("""
        INSERT INTO box_parameters (network, box, name, value) VALUES ('alarms', 'deer', 'where', 'price > 7');
        INSERT INTO qos_points (network, output, graph, x, utility) VALUES ('alarms', 'nobody', 'loss', 1, 1);
        INSERT INTO tags (network, section, element, tag) VALUES ('alarms', 'boxes', 'deer', 'x')
    """)
    (version,) = catalog.review()
    assert version.state == "refused"
    assert [problem.id for problem in catalog.problems(version)] == ["stray-row"] * 3
    assert rows("SELECT * FROM box_parameters WHERE box = 'deer'") == []


def test_a_deleted_network_is_removed(catalog: Catalog, other: Other, rows: Rows) -> None:
    other("DELETE FROM networks WHERE name = 'alarms'")
    assert rows("SELECT * FROM boxes") == []
    (candidate,) = catalog.candidates()
    assert candidate.removal
    assert catalog.current("alarms") is not None
    (version,) = catalog.review()
    assert version.state == "removed"
    assert catalog.networks() == []


def test_a_removal_that_the_engine_refuses_is_undone(catalog: Catalog, other: Other, rows: Rows) -> None:
    before = snapshot(catalog, rows)
    other("DELETE FROM networks")
    assert [v.state for v in catalog.review(lambda _: [Problem("in-use", "it runs", "stop it")])] == ["refused"]
    assert snapshot(catalog, rows) == before


def test_a_save_does_not_lose_an_edit_that_nobody_looked_at(catalog: Catalog, other: Other) -> None:
    other(WHERE.format("price > 7"))
    saved = catalog.save(TEXT.replace("price > 5", "price > 9"))
    lost = catalog.version("alarms", 2)
    assert lost is not None
    assert (lost.state, "price > 7" in lost.document) == ("refused", True)
    assert [problem.id for problem in catalog.problems(lost)] == ["overtaken"]
    assert catalog.current("alarms") == saved
    assert catalog.review() == []


def test_a_candidate_that_was_decided_on_elsewhere_is_left_alone(catalog: Catalog, other: Other) -> None:
    other(WHERE.format("price > 7"))
    (mine,) = catalog.candidates()
    (theirs,) = catalog.candidates()
    assert catalog.accept(theirs) is not None
    assert catalog.accept(mine) is None
    assert catalog.refuse(mine) is None
    assert len(catalog.versions("alarms")) == 2


def test_edits_that_come_while_one_is_applied_are_not_lost(catalog: Catalog, other: Other, rows: Rows) -> None:
    other(WHERE.format("price > 7"))
    (first,) = catalog.candidates()
    other("UPDATE networks SET description = 'later'")
    accepted = catalog.accept(first)
    assert accepted is not None
    assert accepted.read().description == "Which feed is late?"
    assert rows("SELECT description FROM networks") == [("later",)]
    (second,) = catalog.review()
    assert second.read().description == "later"
    assert second.read().boxes["dear"].model_dump()["where"] == "price > 7"


def test_a_refused_edit_leaves_a_later_one_in_place(catalog: Catalog, other: Other) -> None:
    other(WHERE.format("pirce > 7"))
    (first,) = catalog.candidates()
    other(WHERE.format("price > 8"))
    assert catalog.refuse(first) is not None
    (second,) = catalog.review()
    assert (second.state, "price > 8" in second.document) == ("accepted", True)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("INSERT INTO boxes (network, name, kind) VALUES ('alarms', x'00', 'filter')", "typeof"),
        ("INSERT INTO box_parameters VALUES ('alarms', 'dear', 1, 'in', 'ticks')", "CHECK"),
        ("UPDATE networks SET name = 'other'", "keeps its name"),
        ("UPDATE versions SET document = ''", "does not change"),
        ("UPDATE versions SET state = 'refused'", "does not change"),
        ("DELETE FROM versions", "the current one"),
        ("INSERT INTO versions (network, document, state) VALUES ('alarms', '', 'accepted')", "state proposed"),
        ("UPDATE current_versions SET version = 7", "insert a row into versions"),
        ("DELETE FROM current_versions", "insert a row into versions"),
        ("INSERT INTO versions (network, at_us) VALUES ('alarms', 'today')", "typeof"),
        ("INSERT INTO versions (network, number) VALUES ('alarms', 0)", "number"),
        ("INSERT INTO layout VALUES ('alarms', 'boxes', 'dear', 'left', 0)", "typeof"),
        ("INSERT INTO layout VALUES ('alarms', 'boxes', 'dear', 9e999, 0)", "typeof"),
    ],
)
def test_what_would_break_the_history_is_refused_at_once(
    catalog: Catalog, other: Other, script: str, message: str
) -> None:
    before = catalog.export_yaml()
    with pytest.raises(sqlite3.IntegrityError, match=message):
        other(script)
    assert catalog.export_yaml() == before
    assert catalog.candidates() == []


def test_text_that_is_no_utf8_is_shown_and_refused_not_raised(catalog: Catalog, other: Other) -> None:
    other("UPDATE box_parameters SET value = CAST(x'ff3e' AS TEXT) WHERE name = 'where'")
    assert [version.state for version in catalog.review()] == ["refused"]


def test_edits_are_noticed_also_if_the_mark_of_own_writes_is_gone(catalog: Catalog, other: Other) -> None:
    other("DELETE FROM own_writes")
    other(WHERE.format("price > 7"))
    assert [version.state for version in catalog.review()] == ["accepted"]
    other("INSERT INTO own_writes VALUES (0), (0)")
    assert catalog.save(TEXT).number == 3
    assert catalog.candidates() == []
