"""Opening: a new file, a catalog, and what is none."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from unittest import mock

import pytest

from aurora.catalog import Bookmark, Catalog, history
from aurora.catalog.database import APPLICATION_ID, UPGRADES, VERSION
from aurora.clock import ManualClock
from aurora.errors import InputError, StateError
from tests.unit.catalog.conftest import TEXT


def test_the_file_says_what_it_is(catalog: Catalog, path: Path) -> None:
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_where_there_is_none_and_none_may_be_made(path: Path) -> None:
    with pytest.raises(InputError, match="no such catalog"):
        Catalog.open(path, create=False)
    assert not path.exists()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="existing folder"):
        Catalog.open(tmp_path / "no" / "where.db")


def test_the_database_of_another_program_is_left_alone(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE accounts (x)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(InputError, match="of another program"):
        Catalog.open(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"x" * 5000, b"aurora: 1\nnetwork: x\n" * 100])
def test_what_is_no_database_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(InputError, match="no catalog"):
        Catalog.open(path)
    assert path.read_bytes() == content


def test_a_catalog_of_a_newer_version_is_refused_and_left_alone(path: Path) -> None:
    with Catalog.open(path, clock=ManualClock()) as catalog:
        catalog.save(TEXT)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    with pytest.raises(StateError, match=f"version {VERSION + 1}, made by a newer Aurora.*Use the newer Aurora"):
        Catalog.open(path)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT COUNT(*) FROM versions").fetchone() == (1,)
    connection.close()


def test_a_catalog_of_the_first_version_is_upgraded_and_keeps_what_it_has(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(UPGRADES[0])
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 1")
    connection.execute("INSERT INTO bookmarks (network, name, x, at_us) VALUES ('alarms', 'start', 7, 5)")
    connection.commit()
    connection.close()
    with Catalog.open(path, clock=ManualClock()) as catalog:
        catalog.set_bookmark(Bookmark("alarms", "inside", at_us=6, scope="detect"))
        assert catalog.bookmarks() == [
            Bookmark("alarms", "inside", at_us=6, scope="detect"),
            Bookmark("alarms", "start", 7, at_us=5),
        ]


def test_a_harmed_catalog_is_told(path: Path) -> None:
    with Catalog.open(path, clock=ManualClock()) as catalog:
        catalog.save(TEXT)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(StateError, match=r"harmed|cannot be used"), Catalog.open(path) as catalog:
        catalog.versions("alarms")


def test_a_writer_waits_only_so_long(path: Path) -> None:
    with Catalog.open(path, clock=ManualClock(), wait_s=0.01) as catalog:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(StateError, match="another program"):
            catalog.save(TEXT)
        assert catalog.networks() == []
        connection.execute("ROLLBACK")
        connection.close()
        assert catalog.save(TEXT).number == 1


def test_a_closed_catalog_says_so(catalog: Catalog) -> None:
    catalog.close()
    with pytest.raises(StateError, match="closed"):
        catalog.networks()


def test_what_fails_in_the_middle_leaves_nothing(catalog: Catalog) -> None:
    catalog.save(TEXT)
    before = catalog.export_yaml()
    with mock.patch.object(history, "show_parts", side_effect=ZeroDivisionError), pytest.raises(ZeroDivisionError):
        catalog.save(TEXT.replace("price > 5", "price > 7"))
    assert catalog.export_yaml() == before
    assert catalog.candidates() == []
    connection = sqlite3.connect(catalog.path)
    assert connection.execute("SELECT active FROM own_writes").fetchone() == (0,)
    connection.close()
