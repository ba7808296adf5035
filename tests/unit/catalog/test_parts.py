"""Networks taken apart into tables: nothing is lost, whatever the network is."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from aurora.catalog import Catalog
from aurora.catalog.database import Database
from aurora.catalog.parts import put_together, read_parts, take_apart, write_parts
from aurora.clock import ManualClock
from aurora.model import Network, loads
from oracle.strategies import Example, examples
from tests.unit.catalog.conftest import TEXT

Rows = Callable[[str], list[tuple[object, ...]]]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    return Database(tmp_path_factory.mktemp("parts") / "catalog.db", create=True, wait_s=1)


@settings(max_examples=15)
@given(example=examples())
def test_an_edit_that_changes_nothing_makes_no_version(example: Example) -> None:
    """The whole way of random networks with every kind of box: in, apart, edited, together, checked."""
    net = Network.from_document(example.document)
    with tempfile.TemporaryDirectory() as folder, Catalog.open(Path(folder) / "c.db", clock=ManualClock()) as catalog:
        saved = catalog.save(net)
        assert saved.read() == net
        connection = sqlite3.connect(catalog.path)
        connection.execute("UPDATE box_parameters SET value = value")
        connection.execute("UPDATE streams SET position = position * 2")
        connection.commit()
        connection.close()
        (candidate,) = catalog.candidates()
        assert candidate.unchanged
        assert catalog.review() == []
        assert catalog.current("random") == saved
        assert catalog.candidates() == []


def test_the_tables_show_the_current_version(catalog: Catalog, rows: Rows) -> None:
    catalog.save(TEXT)
    assert rows("SELECT name, description FROM networks") == [("alarms", "Which feed is late?")]
    assert rows("SELECT name, type FROM stream_columns ORDER BY position")[2:] == [
        ("price", "double"),
        ("time", "timestamp"),
    ]
    assert rows("SELECT name, kind FROM boxes ORDER BY position") == [("dear", "filter"), ("recent", "tumble")]
    assert rows("SELECT box, source FROM arcs ORDER BY box") == [("dear", "ticks"), ("recent", "dear")]
    assert rows("SELECT name, source FROM outputs") == [("alarms", "recent")]
    assert rows("SELECT x, utility FROM qos_points WHERE graph = 'latency' ORDER BY position") == [
        (0.0, 1.0),
        (1.5, 1.0),
        (5.0, 0.0),
    ]
    assert rows("SELECT graph, on_column FROM qos_graphs ORDER BY graph") == [
        ("latency", None),
        ("loss", None),
        ("value", "most"),
    ]
    assert rows("SELECT box FROM superbox_boxes ORDER BY position") == [("dear",), ("recent",)]
    assert rows("SELECT source FROM connection_points") == [("ticks",)]
    assert rows("SELECT section, element, tag FROM tags ORDER BY rowid") == [
        ("network", "alarms", "finance"),
        ("network", "alarms", "night"),
        ("streams", "ticks", "raw"),
    ]
    ((window,),) = rows("SELECT value FROM box_parameters WHERE name = 'window'")
    assert json.loads(str(window)) == {"size": "2 tuples"}
    assert rows("SELECT manual FROM boxes WHERE name = 'dear'") == [("# Dear\nAsk before you change the limit.\n",)]
    catalog.save(TEXT.replace("price > 5", "price > 7"))
    assert rows("SELECT value FROM box_parameters WHERE name = 'where'") == [('"price > 7"',)]


def test_the_types_of_all_arcs_are_there(catalog: Catalog, rows: Rows) -> None:
    catalog.save(TEXT)
    found = rows("SELECT section, element, port, type FROM carried_columns WHERE name = 'most' ORDER BY section")
    assert found == [("boxes", "recent", "out", "double"), ("outputs", "alarms", "in", "double")]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("price > 7", "price > 7"),
        ('"price > 7"', "price > 7"),
        ("5", 5),
        (5, 5),
        (0.5, 0.5),
        ('"5"', "5"),
        ("[a, b]", ["a", "b"]),
        ('["a", "\\ud83d\\ude00"]', ["a", "😀"]),
        ("{size: 2 tuples}", {"size": "2 tuples"}),
        ("", None),
        (None, None),
        ("on", "on"),
    ],
)
def test_a_value_is_read_as_json_or_as_a_document_has_it(database: Database, written: Any, read: Any) -> None:
    assert _assembled(database, written)[0] == read


@pytest.mark.parametrize(
    "written", ["{a", "'x' = y", "{a: 1, a: 2}", b"price", "[" * 10_000, "&a [*a]", "!!python/x y"]
)
def test_a_value_that_cannot_be_read_is_a_problem_of_its_box(database: Database, written: Any) -> None:
    _, problems = _assembled(database, written)
    (problem,) = problems
    assert problem.id in ("malformed-document", "duplicate-name")
    assert (problem.element, problem.path[:3]) == ("box dear", ("boxes", "dear", "where"))


def _assembled(database: Database, written: Any) -> tuple[Any, list[Any]]:
    with database.write() as sql:
        write_parts(sql, "alarms", take_apart(loads(TEXT)))
        sql.execute("UPDATE box_parameters SET value = ? WHERE name = 'where'", (written,))
        assembled = put_together("alarms", read_parts(sql, "alarms"))
    return assembled.document["boxes"]["dear"]["where"], assembled.problems
