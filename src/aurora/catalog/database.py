"""The SQLite file: opening and upgrading it, transactions, and errors in our words."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aurora.catalog.search import FINDABLE
from aurora.catalog.tables import BESIDE, DERIVED, HISTORY, PARTS, SCOPES
from aurora.catalog.triggers import triggers
from aurora.errors import InputError, StateError

APPLICATION_ID = 0x41757261
"""Stands in the file's header and says that it is a catalog: "Aura" in ASCII."""

UPGRADES = ("\n".join((HISTORY, PARTS, DERIVED, BESIDE, FINDABLE, triggers())), SCOPES)
"""The n-th script makes a catalog of version n from one of version n - 1; an empty file has version 0."""

VERSION = len(UPGRADES)
_WAL_TRIES = 100


class Database:
    """One connection, used by one thread at a time. ``writes`` counts the transactions that wrote."""

    def __init__(self, path: Path, *, create: bool, wait_s: float) -> None:
        self.path = path
        self.writes = 0
        self._lock = threading.RLock()
        if not create and not path.exists():
            raise InputError(f"{path}: there is no such catalog; give the path of one, or import a network to make it")
        with self._said():
            self._sql = sqlite3.connect(path, timeout=wait_s, isolation_level=None, check_same_thread=False)
        try:
            with self._said():
                self._prepare(wait_s)
        except BaseException:
            self._sql.close()
            raise

    def close(self) -> None:
        with self._lock:
            self._sql.close()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Everything that is read inside comes from one state of the catalog."""
        with self._transaction("BEGIN") as sql:
            yield sql

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; triggers do not take it for the edit of another program."""
        with self._transaction("BEGIN IMMEDIATE") as sql:
            # Put in anew each time: another program may have emptied the table, and triggers depend on it.
            sql.execute("DELETE FROM own_writes")
            sql.execute("INSERT INTO own_writes (active) VALUES (1)")
            yield sql
            sql.execute("UPDATE own_writes SET active = 0")
            self.writes += 1

    @contextmanager
    def write_as_others(self) -> Iterator[sqlite3.Connection]:
        """A transaction such as other programs make: triggers log it."""
        with self._transaction("BEGIN IMMEDIATE") as sql:
            yield sql
            self.writes += 1

    def data_version(self) -> tuple[int, int]:
        """Differs from what it was before if anybody has written."""
        with self._lock, self._said():
            return int(self._sql.execute("PRAGMA data_version").fetchone()[0]), self.writes

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock, self._said():
            self._sql.execute(begin)
            try:
                yield self._sql
                self._sql.execute("COMMIT")
            except BaseException:
                if self._sql.in_transaction:
                    self._sql.execute("ROLLBACK")
                raise

    def _prepare(self, wait_s: float) -> None:
        sql = self._sql
        sql.row_factory = sqlite3.Row
        # Other programs may have written text that is no UTF-8; it should be shown, not end the server.
        sql.text_factory = lambda data: data.decode("utf-8", "replace")
        for pragma in (
            "trusted_schema = OFF",
            "foreign_keys = OFF",
            "cell_size_check = ON",
            "recursive_triggers = OFF",
        ):
            sql.execute(f"PRAGMA {pragma}")
        if self._version() < VERSION:
            self._write_ahead(wait_s)
            with self._transaction("BEGIN IMMEDIATE"):
                for number in range(self._version(), VERSION):
                    for statement in _statements(UPGRADES[number]):
                        sql.execute(statement)
                    sql.execute(f"PRAGMA user_version = {number + 1}")
                sql.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        sql.execute("PRAGMA synchronous = FULL")

    def _version(self) -> int:
        """The version of the tables; refuses files that are something else, or too new."""
        sql = self._sql
        application = sql.execute("PRAGMA application_id").fetchone()[0]
        version = int(sql.execute("PRAGMA user_version").fetchone()[0])
        if application != APPLICATION_ID and (version or sql.execute("SELECT 1 FROM sqlite_master").fetchone()):
            raise InputError(f"{self.path} is a database of another program; give the path of a catalog, or a new file")
        if version > VERSION:
            raise StateError(
                f"{self.path} is a catalog of version {version}, made by a newer Aurora; this one knows versions up to "
                f"{VERSION}. Use the newer Aurora; or export the catalog with it and import that into a new file"
            )
        return version

    def _write_ahead(self, wait_s: float) -> None:
        """Readers do not wait for writers then. Programs that open a new file at once get in each other's way here."""
        pause = threading.Event()
        for left in reversed(range(_WAL_TRIES)):
            try:
                self._sql.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or left == 0:
                    raise
            pause.wait(wait_s / _WAL_TRIES)

    @contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except (UnicodeEncodeError, OverflowError) as error:
            raise InputError(f"the catalog {self.path} is given what could not be stored there: {error}") from error
        except sqlite3.ProgrammingError as error:
            if "closed" not in str(error):
                raise
            raise StateError(f"the catalog {self.path} has been closed; open it again") from error
        except sqlite3.OperationalError as error:
            raise _operational(self.path, error) from error
        except sqlite3.IntegrityError as error:
            raise InputError(f"the catalog {self.path} does not take this: {error}") from error
        except sqlite3.DatabaseError as error:
            text = f"{self.path} is no catalog, or it is harmed: {error}; give the path of a catalog, or restore it"
            raise (InputError if "not a database" in str(error) else StateError)(text) from error


def _operational(path: Path, error: sqlite3.OperationalError) -> InputError | StateError:
    said = str(error)
    if "locked" in said or "busy" in said:
        return StateError(
            f"the catalog {path} is being written by another program ({said}); try again when it has finished"
        )
    if "unable to open" in said:
        return InputError(f"cannot open the catalog {path}; give a file in an existing folder that you may write")
    if "readonly" in said:
        return InputError(f"the catalog {path} is read-only; make the file and its folder writable")
    return StateError(f"the catalog {path} cannot be used: {said}; check the disk, or restore the file from a copy")


def _statements(script: str) -> Iterator[str]:
    """The statements of a script, one by one, since running a script as a whole would end the transaction."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
