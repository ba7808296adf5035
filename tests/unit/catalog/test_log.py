"""The log: every change by any program, in order, and waiting for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from aurora.catalog import Bookmark, Catalog
from aurora.catalog.history import LONGEST_LOG
from aurora.clock import ManualClock
from tests.unit.catalog.conftest import TEXT

Other = Callable[[str], None]


def told(catalog: Catalog, since: int = 0) -> list[tuple[str, str, str]]:
    return [(change.network, change.what, change.detail) for change in catalog.changes(since)]


def test_own_saves_are_no_edits(catalog: Catalog) -> None:
    catalog.save(TEXT)
    assert told(catalog) == [("alarms", "accepted", "1")]
    assert catalog.candidates() == []


def test_edits_are_logged_with_their_table(catalog: Catalog, other: Other) -> None:
    catalog.save(TEXT)
    start = catalog.last_change
    other("UPDATE boxes SET description = 'x' WHERE name = 'dear'; DELETE FROM tags WHERE tag = 'raw'")
    catalog.review()
    assert told(catalog, start) == [
        ("alarms", "edited", "boxes"),
        ("alarms", "edited", "tags"),
        ("alarms", "accepted", "2"),
    ]


def test_layout_and_bookmarks_are_logged_and_need_no_review(catalog: Catalog, other: Other) -> None:
    catalog.set_layout("alarms", {("boxes", "dear"): (1, 2)})
    catalog.set_bookmark(Bookmark("alarms", "here"))
    other("DELETE FROM bookmarks")
    assert [change.what for change in catalog.changes()] == ["layout", "bookmarks", "bookmarks"]
    assert catalog.candidates() == []


def test_a_watcher_sees_what_others_and_itself_write(catalog: Catalog, other: Other) -> None:
    catalog.save(TEXT)
    stop = threading.Event()
    batches = catalog.watch(stop, every_s=0, since=0)
    assert [change.what for change in next(batches)] == ["accepted"]
    other("UPDATE networks SET description = 'x'")
    assert [change.what for change in next(batches)] == ["edited"]
    catalog.review()
    assert [change.what for change in next(batches)] == ["accepted"]
    stop.set()
    assert list(batches) == []


def test_a_watcher_begins_with_what_comes_from_now_on(catalog: Catalog, path: Path, clock: ManualClock) -> None:
    catalog.save(TEXT)
    stop = threading.Event()
    batches = catalog.watch(stop, every_s=0)
    with Catalog.open(path, clock=clock) as elsewhere:
        elsewhere.remove("alarms")
    assert [change.what for change in next(batches)] == ["removed"]


def test_the_log_does_not_grow_for_ever(catalog: Catalog, other: Other) -> None:
    catalog.save(TEXT)
    other(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10100) "
        "INSERT INTO changes (network, what) SELECT 'alarms', 'layout' FROM n"
    )
    catalog.save(TEXT.replace("price > 5", "price > 7"))
    assert len(catalog.changes()) == LONGEST_LOG
