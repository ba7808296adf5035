"""Whatever other programs do to the tables, and whenever: the tables show the current version after every review."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from aurora.catalog import Candidate, Catalog
from aurora.catalog.history import describes
from aurora.catalog.parts import put_together, read_parts
from aurora.clock import ManualClock
from aurora.model import loads
from tests.unit.catalog.conftest import TEXT

TABLES = [
    "networks",
    "streams",
    "stream_columns",
    "boxes",
    "arcs",
    "box_parameters",
    "outputs",
    "qos_graphs",
    "qos_points",
    "superbox_boxes",
    "connection_points",
    "connection_point_parameters",
    "tags",
]
TEXTS = [
    "price > 7",
    "pirce > 7",
    "dear",
    "recent",
    "ticks",
    "",
    "{",
    "[ticker]",
    "int",
    "filter",
    "1s",
    "x'); --",
    "é",
]
COLUMNS = [
    "name",
    "source",
    "kind",
    "value",
    "description",
    "type",
    "tag",
    "position",
    "x",
    "element",
    "graph",
    "network",
]
ROW = st.integers(0, 3)
EDITS = st.one_of(
    st.tuples(st.just("update"), st.sampled_from(TABLES), st.sampled_from(COLUMNS), st.sampled_from([*TEXTS, 1]), ROW),
    st.tuples(st.just("delete"), st.sampled_from(TABLES), st.none(), st.none(), ROW),
    st.tuples(st.just("insert"), st.sampled_from(TABLES), st.sampled_from(TEXTS), st.sampled_from(TEXTS), ROW),
    st.tuples(st.just("propose"), st.sampled_from([TEXT, TEXT.replace("> 5", "> 9"), "no"]), st.none(), st.none(), ROW),
)
STEPS = st.one_of(
    st.lists(EDITS, min_size=1, max_size=3),
    st.sampled_from(["review", "look", "accept", "refuse", "save", "remove"]),
)


def edit(connection: sqlite3.Connection, kind: str, table: str, a: object, b: object, row: int) -> None:
    """What the tables refuse at once is no edit."""
    chosen = f"WHERE rowid IN (SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET {row})"
    try:
        if kind == "update":
            connection.execute(f"UPDATE {table} SET {a} = ? {chosen}", (b,))
        elif kind == "delete":
            connection.execute(f"DELETE FROM {table} {chosen}")
        elif kind == "insert":
            width = len(connection.execute(f"SELECT * FROM {table} LIMIT 0").description)
            values = ["alarms", a, b, a, b, a, b][:width]
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * width)})", values)
        else:
            connection.execute("INSERT INTO versions (network, document) VALUES ('alarms', ?)", (table,))
    except (sqlite3.IntegrityError, sqlite3.OperationalError):
        pass


@settings(max_examples=40)
@given(st.lists(STEPS, min_size=1, max_size=8))
def test_the_tables_show_the_current_version_after_every_review(steps: list[object]) -> None:
    with tempfile.TemporaryDirectory() as folder, Catalog.open(Path(folder) / "c.db", clock=ManualClock(1)) as catalog:
        catalog.save(TEXT)
        other = sqlite3.connect(catalog.path)
        seen: list[Candidate] = []
        try:
            for step in steps:
                if isinstance(step, list):
                    for one in step:
                        edit(other, *one)
                    other.commit()
                elif step == "review":
                    catalog.review()
                elif step == "look":
                    seen = catalog.candidates()
                elif step == "save":
                    catalog.save(TEXT.replace("> 5", f"> {len(catalog.versions('alarms'))}"))
                elif step == "remove" and catalog.current("alarms") is not None:
                    catalog.remove("alarms")
                else:
                    for candidate in seen:
                        if step == "refuse" or candidate.errors:
                            catalog.refuse(candidate)
                        else:
                            catalog.accept(candidate)
            catalog.review()
            assert catalog.candidates() == []
            check(catalog, other)
        finally:
            other.close()


def check(catalog: Catalog, other: sqlite3.Connection) -> None:
    other.row_factory = sqlite3.Row
    names = {row[0] for row in other.execute("SELECT network FROM versions UNION SELECT name FROM networks")}
    for name in names:
        rows = put_together(name, read_parts(other, name))
        now = catalog.current(name)
        assert rows.problems == []
        if now is None:
            assert rows.empty
        else:
            assert now.state == "accepted"
            assert describes(now.document, loads(rows.text))
        versions = catalog.versions(name)
        assert [version.number for version in versions] == list(range(1, len(versions) + 1))
        assert all(version.state != "proposed" for version in versions)
        for version in versions:
            errors = [problem for problem in catalog.problems(version) if problem.severity == "error"]
            assert version.state != "accepted" or not errors
