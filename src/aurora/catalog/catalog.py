"""The catalog: networks with all their versions, and what is noted about them, in one SQLite file.

Other programs may read and write the file at any time. The documents of versions are the truth; the tables of parts
show the current version of every network taken apart, and whoever changes them makes a candidate for a new version.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from aurora.catalog import exchange, history, picture, review, search, statistics
from aurora.catalog.checking import checked
from aurora.catalog.database import Database
from aurora.catalog.history import Note
from aurora.catalog.picture import Element, Position
from aurora.catalog.records import Bookmark, Candidate, Change, Found, Sample, Version
from aurora.clock import Clock, WallClock
from aurora.errors import InputError, NetworkError, Problem
from aurora.model.network import Network

_FORGET_EVERY_US = 60_000_000


class Catalog:
    """May be used from several threads; several processes may have the same file open."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock
        self._forgot_us: int | None = None
        with self._db.read() as sql:
            self._full_text = search.full_text_available(sql)
            missing = self._full_text and search.index_state(sql) != "fresh"
        if missing:
            with self._db.write() as sql:
                search.rebuild(sql)

    @classmethod
    def open(
        cls, path: str | Path, *, create: bool = True, clock: Clock | None = None, wait_s: float = 30.0
    ) -> Catalog:
        """The catalog in the file; an empty one is made if there is none, unless ``create`` is False.

        ``wait_s`` is how long a write waits for those of other programs. Raises InputError for what is no catalog,
        StateError for one that a newer Aurora made, or that is harmed.
        """
        database = Database(Path(path), create=create, wait_s=wait_s)
        try:
            return cls(database, clock or WallClock())
        except BaseException:
            database.close()
            raise

    @property
    def path(self) -> Path:
        return self._db.path

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Catalog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Networks and versions

    def save(self, network: Network | str, why: str = "", *, author: str = "") -> Version:
        """Makes a network, or a document's text, the current version; one that is current already stays so.

        Raises NetworkError with all reasons if it is not valid; the catalog is then as it was.
        """
        result = checked(network if isinstance(network, str) else network.to_yaml())
        if result.typed is None:
            raise NetworkError(result.errors)
        made = result.typed.network
        with self._db.write() as sql:
            now = history.current(sql, made.name)
            if now is not None and (
                now.document == result.text or (isinstance(network, Network) and history.describes(now.document, made))
            ):
                return now
            at_us = self._clock.now_us()
            history.overtake(sql, made.name, at_us)
            note = Note(_storable(author), at_us, _storable(why))
            id = history.add(sql, made.name, "accepted", result.text, note, result.problems)
            history.make_current(sql, id, result.typed)
            history.show_parts(sql, made.name, made, full_text=self._full_text)
            return history.by_id(sql, id)

    def remove(self, name: str, why: str = "", *, author: str = "") -> Version:
        """The network has no current version any more; its history stays."""
        with self._db.write() as sql:
            if history.current(sql, name) is None:
                raise InputError(f"the catalog {self.path} has no network {name!r}; it has {', '.join(_names(sql))}")
            at_us = self._clock.now_us()
            history.overtake(sql, name, at_us)
            id = history.end(sql, name, Note(_storable(author), at_us, _storable(why)))
            history.show_parts(sql, name, None, full_text=self._full_text)
            return history.by_id(sql, id)

    def networks(self) -> list[str]:
        """The names of networks that have a current version, sorted."""
        with self._db.read() as sql:
            return _names(sql)

    def current(self, name: str) -> Version | None:
        with self._db.read() as sql:
            return history.current(sql, name)

    def versions(self, name: str) -> list[Version]:
        """Every version, refused ones too, the oldest first."""
        with self._db.read() as sql:
            return history.versions(sql, name)

    def version(self, name: str, number: int) -> Version | None:
        with self._db.read() as sql:
            return history.version(sql, name, number)

    def problems(self, version: Version) -> list[Problem]:
        """Why a version was refused; or the warnings for an accepted one."""
        with self._db.read() as sql:
            return history.problems(sql, version.id)

    # What other programs bring

    def propose(self, name: str, document: str, why: str = "", *, author: str = "") -> Version:
        """Puts a document in without checking it, as another program would; ``candidates`` has it then."""
        with self._db.write_as_others() as sql:
            row = (name, _storable(document), _storable(author), self._clock.now_us(), _storable(why))
            query = "INSERT INTO versions (network, document, author, at_us, why) VALUES (?, ?, ?, ?, ?)"
            return history.by_id(sql, sql.execute(query, row).lastrowid or 0)

    def candidates(self) -> list[Candidate]:
        """What other programs brought and nobody has decided on, each checked as any document is."""
        with self._db.read() as sql:
            undecided = review.Undecided(sql)
        return undecided.candidates()

    def accept(self, candidate: Candidate) -> Version | None:
        """Makes it the current version.

        None if it was overtaken: decided on already, or something newer was saved. An engine that has applied it should
        then apply what is current.
        """
        with self._db.write() as sql:
            return review.accept(sql, candidate, self._clock.now_us(), full_text=self._full_text)

    def refuse(self, candidate: Candidate, problems: Sequence[Problem] = ()) -> Version | None:
        """Notes it as refused with its own and these problems, and sets the tables back to the current version."""
        with self._db.write() as sql:
            return review.refuse(sql, candidate, problems, self._clock.now_us(), full_text=self._full_text)

    def review(self, apply: Callable[[Candidate], Sequence[Problem]] | None = None) -> list[Version]:
        """Decides on all candidates, and gives the versions that they became.

        ``apply`` is called with each that has no errors and changes something; if it gives problems, they refuse it.
        """
        decided = []
        for candidate in self.candidates():
            reasons = () if apply is None or candidate.errors or candidate.unchanged else apply(candidate)
            wrong = candidate.errors or reasons
            version = self.refuse(candidate, reasons) if wrong else self.accept(candidate)
            if version is not None and not candidate.unchanged:
                decided.append(version)
        return decided

    # The log

    @property
    def last_change(self) -> int:
        with self._db.read() as sql:
            return int(sql.execute("SELECT COALESCE(MAX(id), 0) FROM changes").fetchone()[0])

    def changes(self, since: int = 0) -> list[Change]:
        """The log after the change of that id, the oldest first; it goes back 10,000 changes."""
        with self._db.read() as sql:
            query = "SELECT id, at_us, network, what, detail FROM changes WHERE id > ? ORDER BY id"
            return [Change(*row) for row in sql.execute(query, (since,))]

    def watch(
        self, stop: threading.Event, *, every_s: float = 0.25, since: int | None = None
    ) -> Iterator[list[Change]]:
        """Waits for changes by any program, and yields those that came together; ends when ``stop`` is set.

        Without ``since`` it begins with what comes from now on.
        """
        return self._watch(stop, every_s, self.last_change if since is None else since)

    def _watch(self, stop: threading.Event, every_s: float, last: int) -> Iterator[list[Change]]:
        seen: tuple[int, int] | None = None
        while not stop.is_set():
            version = self._db.data_version()
            if version != seen:
                seen = version
                batch = self.changes(last)
                if batch:
                    last = batch[-1].id
                    yield batch
            stop.wait(every_s)

    # Finding

    def find(
        self,
        text: str = "",
        *,
        tag: str | None = None,
        kind: str | None = None,
        network: str | None = None,
        column: str | None = None,
    ) -> list[Found]:
        """Elements of current versions that have all words of the text and all else that is given, the best first."""
        with self._db.read() as sql:
            return search.find(sql, text, tag=tag, kind=kind, network=network, column=column, full_text=self._full_text)

    # Statistics

    def note_statistics(self, network: str, readings: Mapping[str, Any], at_us: int | None = None) -> int:
        """Keeps the numbers of what ``Statistics.to_dict()`` says, and tells how many there were."""
        now_us = self._clock.now_us()
        with self._db.write() as sql:
            count = statistics.note(sql, network, readings, now_us if at_us is None else at_us)
            if self._forgot_us is None or now_us - self._forgot_us >= _FORGET_EVERY_US:
                self._forgot_us = now_us
                statistics.forget_old(sql, now_us)
        return count

    def statistics(
        self,
        network: str,
        *,
        what: str | None = None,
        element: str | None = None,
        metric: str | None = None,
        since_us: int = 0,
        until_us: int | None = None,
    ) -> list[Sample]:
        with self._db.read() as sql:
            return statistics.samples(sql, network, what, element, metric, since_us, until_us)

    def keep_statistics(self, seconds: float) -> None:
        """How long samples are kept; a week, if nobody says otherwise."""
        if not seconds > 0:
            raise InputError(f"statistics cannot be kept for {seconds} s; give a length of time above 0")
        with self._db.write() as sql:
            statistics.keep(sql, seconds)
            self._forgot_us = None

    # The picture

    def layout(self, network: str) -> dict[Element, Position]:
        """Where elements stand, by section and name: ``layout("x")["boxes", "late"]``."""
        with self._db.read() as sql:
            return picture.layout(sql, network)

    def set_layout(self, network: str, positions: Mapping[Element, Position | None]) -> None:
        """Moves these elements; None forgets where one stood."""
        with self._db.write() as sql:
            picture.set_layout(sql, network, positions)

    def bookmarks(self, network: str | None = None) -> list[Bookmark]:
        with self._db.read() as sql:
            return picture.bookmarks(sql, network)

    def set_bookmark(self, bookmark: Bookmark) -> None:
        """Adds it, or puts it in place of the one of that name. Without a time it gets the present one."""
        with self._db.write() as sql:
            picture.set_bookmark(sql, replace(bookmark, at_us=bookmark.at_us or self._clock.now_us()))

    def remove_bookmark(self, network: str, name: str) -> bool:
        with self._db.write() as sql:
            return picture.remove_bookmark(sql, network, name)

    # Exchange

    def export_yaml(self) -> str:
        """Everything but statistics and the log, as one text that ``import_yaml`` reads."""
        with self._db.read() as sql:
            return exchange.export_yaml(sql)

    def import_yaml(self, text: str) -> list[str]:
        """Adds what a text of ``export_yaml`` holds, all or nothing; gives the names of the networks."""
        read = exchange.read_yaml(text)
        with self._db.write() as sql:
            return exchange.import_yaml(sql, read, full_text=self._full_text)


def _names(sql: Any) -> list[str]:
    return [row[0] for row in sql.execute("SELECT network FROM current_versions ORDER BY network")]


def _storable(text: str) -> str:
    """Halves of surrogate pairs, which command lines may hold, cannot be stored."""
    return text.encode("utf-8", "replace").decode()
