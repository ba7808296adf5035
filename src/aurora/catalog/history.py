"""Versions of networks: reading them, adding them, and making one current with all that is derived from it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from aurora.catalog import search
from aurora.catalog.checking import carried_columns
from aurora.catalog.parts import put_together, read_parts, take_apart, write_parts
from aurora.catalog.records import State, Version
from aurora.errors import NetworkError, Place, Problem
from aurora.model.document import loads
from aurora.model.network import Network
from aurora.model.typed import TypedNetwork

_FIELDS = "v.id, v.network, COALESCE(v.number, 0), v.state, v.document, v.author, v.at_us, v.why"
LONGEST_LOG = 10_000


@dataclass(frozen=True)
class Note:
    """Who brings a version, when and why."""

    author: str
    at_us: int
    why: str


def versions(sql: sqlite3.Connection, name: str) -> list[Version]:
    query = f"SELECT {_FIELDS} FROM versions v WHERE v.network = ? ORDER BY v.number, v.id"
    return [Version(*row) for row in sql.execute(query, (name,))]


def version(sql: sqlite3.Connection, name: str, number: int) -> Version | None:
    query = f"SELECT {_FIELDS} FROM versions v WHERE v.network = ? AND v.number = ?"
    row = sql.execute(query, (name, number)).fetchone()
    return None if row is None else Version(*row)


def by_id(sql: sqlite3.Connection, id: int) -> Version:
    return Version(*sql.execute(f"SELECT {_FIELDS} FROM versions v WHERE v.id = ?", (id,)).fetchone())


def current(sql: sqlite3.Connection, name: str) -> Version | None:
    query = f"SELECT {_FIELDS} FROM versions v JOIN current_versions c ON c.version = v.id WHERE c.network = ?"
    row = sql.execute(query, (name,)).fetchone()
    return None if row is None else Version(*row)


def problems(sql: sqlite3.Connection, id: int) -> list[Problem]:
    fields = "id, found, way_out, element, path, line, choices, severity"
    query = f"SELECT {fields} FROM problems WHERE version = ? ORDER BY position"
    return [
        Problem(
            row["id"],
            row["found"],
            row["way_out"],
            row["element"],
            tuple(json.loads(row["path"])),
            Place(None, row["line"]),
            tuple(json.loads(row["choices"])),
            row["severity"],
        )
        for row in sql.execute(query, (id,))
    ]


def log(sql: sqlite3.Connection, name: str, what: str, detail: str, at_us: int) -> None:
    row = (at_us, name, what, detail)
    sql.execute("INSERT INTO changes (at_us, network, what, detail) VALUES (?, ?, ?, ?)", row)
    sql.execute("DELETE FROM changes WHERE id <= (SELECT MAX(id) FROM changes) - ? AND pending = 0", (LONGEST_LOG,))


def add(
    sql: sqlite3.Connection, name: str, state: State, document: str, note: Note, found: Sequence[Problem] = ()
) -> int:
    """The id of a new version, logged. It is not the current one yet."""
    number = sql.execute("SELECT COALESCE(MAX(number), 0) + 1 FROM versions WHERE network = ?", (name,)).fetchone()[0]
    cursor = sql.execute(
        "INSERT INTO versions (network, number, state, document, author, at_us, why) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (name, number, state, document, note.author, note.at_us, note.why),
    )
    id = cursor.lastrowid
    assert id is not None
    write_problems(sql, id, found)
    log(sql, name, state, str(number), note.at_us)
    return id


def decide(sql: sqlite3.Connection, id: int, state: State, found: Sequence[Problem], at_us: int) -> bool:
    """Notes what became of a proposed version; False if that was decided before."""
    cursor = sql.execute("UPDATE versions SET state = ? WHERE id = ? AND state = 'proposed'", (state, id))
    if cursor.rowcount == 0:
        return False
    decided = by_id(sql, id)
    write_problems(sql, id, found)
    log(sql, decided.network, state, str(decided.number), at_us)
    return True


def write_problems(sql: sqlite3.Connection, id: int, found: Sequence[Problem]) -> None:
    sql.execute("DELETE FROM problems WHERE version = ?", (id,))
    sql.executemany(
        "INSERT INTO problems (version, position, id, severity, element, path, line, found, choices, way_out) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                id,
                position,
                problem.id,
                problem.severity,
                problem.element,
                json.dumps(problem.path, ensure_ascii=False),
                problem.place.line,
                problem.found,
                json.dumps(problem.choices, ensure_ascii=False),
                problem.way_out,
            )
            for position, problem in enumerate(found)
        ],
    )


def make_current(sql: sqlite3.Connection, id: int, typed: TypedNetwork) -> None:
    """Points to the version and writes what is derived from its types; ``show_parts`` writes its parts."""
    name = typed.network.name
    sql.execute("INSERT OR REPLACE INTO current_versions (network, version) VALUES (?, ?)", (name, id))
    sql.execute("DELETE FROM carried_columns WHERE network = ?", (name,))
    sql.executemany("INSERT INTO carried_columns VALUES (?, ?, ?, ?, ?, ?, ?)", carried_columns(typed))


def show_parts(sql: sqlite3.Connection, name: str, network: Network | None, *, full_text: bool) -> None:
    """Sets the tables of parts to the network, which is the current version, or empties them if there is none."""
    write_parts(sql, name, None if network is None else take_apart(network))
    search.refresh(sql, name, full_text=full_text)


def end(sql: sqlite3.Connection, name: str, note: Note) -> int:
    """The network has no current version from now on."""
    sql.execute("DELETE FROM current_versions WHERE network = ?", (name,))
    sql.execute("DELETE FROM carried_columns WHERE network = ?", (name,))
    return add(sql, name, "removed", "", note)


# Edits of the tables that nobody has decided on


def pending(sql: sqlite3.Connection, name: str) -> tuple[int, tuple[str, ...]]:
    """The id of the last edit of the network's tables that is not decided on, 0 if none, and the tables."""
    query = "SELECT id, detail FROM changes WHERE network = ? AND pending = 1 ORDER BY id"
    rows = sql.execute(query, (name,)).fetchall()
    return (rows[-1][0] if rows else 0), tuple(dict.fromkeys(row[1] for row in rows))


def settle(sql: sqlite3.Connection, name: str, last: int) -> bool:
    """Notes the edits up to that change as decided on; False if they were already."""
    cursor = sql.execute("UPDATE changes SET pending = 0 WHERE network = ? AND pending = 1 AND id <= ?", (name, last))
    return cursor.rowcount > 0


def overtake(sql: sqlite3.Connection, name: str, at_us: int) -> None:
    """Keeps edits that nobody decided on as a refused version, before something newer is written over them."""
    last, tables = pending(sql, name)
    if not settle(sql, name, last):
        return
    edited = put_together(name, read_parts(sql, name))
    now = current(sql, name)
    if edited.empty or (now is not None and not edited.problems and _same(edited.text, now.document)):
        return
    found = "another version was saved before this edit of the tables was looked at"
    problem = Problem("overtaken", found, "make the edit again, on what the tables say now", "network")
    add(sql, name, "refused", edited.text, Note("", at_us, why_edited(tables)), [*edited.problems, problem])


def why_edited(tables: Sequence[str]) -> str:
    return f"edited in {', '.join(tables)}"


def describes(text: str, network: Network) -> bool:
    """Whether a document describes this network, however it is written."""
    try:
        return loads(text) == network
    except NetworkError:
        return False


def _same(text: str, other: str) -> bool:
    try:
        return describes(text, loads(other))
    except NetworkError:
        return False
