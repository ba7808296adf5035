"""What other programs bring: candidates are found and checked without a lock, and decided on in one transaction.

Between the two an engine may take its time to apply a candidate, and programs may go on editing. So a decision names
the last change that its candidate includes; what came later stays where it is, for the next candidate.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from aurora.catalog import history
from aurora.catalog.checking import checked
from aurora.catalog.history import Note
from aurora.catalog.parts import Assembled, put_together, read_parts
from aurora.catalog.records import Candidate, Version
from aurora.errors import Place, Problem
from aurora.model.document import loads
from aurora.model.typed import TypedNetwork


class Undecided:
    """What a read of the catalog gave. It is checked after the end of the read, so that no writer waits for that."""

    def __init__(self, sql: sqlite3.Connection) -> None:
        query = "SELECT network FROM changes WHERE pending = 1 GROUP BY network ORDER BY MIN(id)"
        self._edited = [
            (name, *history.pending(sql, name), put_together(name, read_parts(sql, name)), history.current(sql, name))
            for (name,) in sql.execute(query).fetchall()
        ]
        query = "SELECT id FROM versions WHERE state = 'proposed' ORDER BY id"
        self._proposed = [history.by_id(sql, id) for (id,) in sql.execute(query).fetchall()]

    def candidates(self) -> list[Candidate]:
        """Edits of tables first: a proposed document replaces a network as a whole, edits included."""
        edited = [_edited(*edit) for edit in self._edited]
        return edited + [_proposed(version) for version in self._proposed]


def _edited(name: str, last: int, tables: Sequence[str], rows: Assembled, now: Version | None) -> Candidate:
    why = history.why_edited(tables)
    if rows.empty:
        return Candidate(name, "", None, (), None, last, why, removal=True, unchanged=now is None)
    text = rows.text
    result = checked(text)
    # Rows that fit nowhere are left out of the text, so it may be well without them, and still not what was meant.
    found = (*rows.problems, *result.problems)
    typed = None if any(problem.severity == "error" for problem in found) else result.typed
    unchanged = typed is not None and now is not None and history.describes(now.document, typed.network)
    return Candidate(name, text, typed, found, None, last, why, unchanged=unchanged)


def _proposed(version: Version) -> Candidate:
    result = checked(version.document)
    found, typed = result.problems, result.typed
    if typed is not None and typed.network.name != version.network:
        said = f"the document is of network {typed.network.name!r}, but the row is of {version.network!r}"
        place = Place(None, typed.network.places.of(("network",)).line)
        way_out = "give both the same name"
        found, typed = (*found, Problem("other-network", said, way_out, "network", ("network",), place)), None
    return Candidate(version.network, version.document, typed, found, version.id, 0, version.why, version.author)


def accept(sql: sqlite3.Connection, candidate: Candidate, at_us: int, *, full_text: bool) -> Version | None:
    if candidate.errors:
        raise ValueError(f"candidate of {candidate.name!r} has errors; refuse it")
    note = Note(candidate.author, at_us, candidate.why)
    if candidate.version is not None:
        if not history.decide(sql, candidate.version, "accepted", candidate.problems, at_us):
            return None
        history.overtake(sql, candidate.name, at_us)
        id = candidate.version
    else:
        if not history.settle(sql, candidate.name, candidate.change):
            return None
        if candidate.unchanged:
            _show_current(sql, candidate.name, full_text=full_text)
            return history.current(sql, candidate.name)
        if candidate.removal:
            id = history.end(sql, candidate.name, note)
        else:
            id = history.add(sql, candidate.name, "accepted", candidate.document, note, candidate.problems)
    if candidate.typed is not None:
        history.make_current(sql, id, candidate.typed)
    _show_current(sql, candidate.name, full_text=full_text, known=candidate.typed)
    return history.by_id(sql, id)


def refuse(
    sql: sqlite3.Connection, candidate: Candidate, problems: Sequence[Problem], at_us: int, *, full_text: bool
) -> Version | None:
    found = (*candidate.problems, *problems)
    if candidate.version is not None:
        decided = history.decide(sql, candidate.version, "refused", found, at_us)
        return history.by_id(sql, candidate.version) if decided else None
    if not history.settle(sql, candidate.name, candidate.change):
        return None
    note = Note(candidate.author, at_us, candidate.why)
    id = history.add(sql, candidate.name, "refused", candidate.document, note, found)
    _show_current(sql, candidate.name, full_text=full_text)
    return history.by_id(sql, id)


def _show_current(sql: sqlite3.Connection, name: str, *, full_text: bool, known: TypedNetwork | None = None) -> None:
    """Sets the tables to the current version, unless they have been edited again in the meantime."""
    if history.pending(sql, name)[0]:
        return
    now = history.current(sql, name)
    network = None if now is None else loads(now.document) if known is None else known.network
    history.show_parts(sql, name, network, full_text=full_text)
