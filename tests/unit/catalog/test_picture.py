"""Layout and bookmarks."""

from __future__ import annotations

import pytest

from aurora.catalog import Bookmark, Catalog
from aurora.clock import ManualClock
from aurora.errors import InputError


def test_elements_stay_where_they_were_put(catalog: Catalog) -> None:
    catalog.set_layout("alarms", {("boxes", "dear"): (1, 2.5), ("outputs", "alarms"): (3, 4), ("boxes", "x"): (0, 0)})
    catalog.set_layout("alarms", {("boxes", "dear"): (-5, 6), ("boxes", "x"): None})
    assert catalog.layout("alarms") == {("boxes", "dear"): (-5, 6), ("outputs", "alarms"): (3, 4)}
    assert catalog.layout("other") == {}


@pytest.mark.parametrize("position", [(float("nan"), 0), (0, float("inf")), ("left", 0)])
def test_a_place_that_is_none_is_refused_and_nothing_is_moved(catalog: Catalog, position: tuple[float, float]) -> None:
    with pytest.raises(InputError, match="finite"):
        catalog.set_layout("alarms", {("boxes", "dear"): (1, 2), ("boxes", "recent"): position})
    with pytest.raises(InputError, match="sections are"):
        catalog.set_layout("alarms", {("boxes", "dear"): (1, 2), ("box", "dear"): (1, 2)})
    assert catalog.layout("alarms") == {}


def test_bookmarks_are_kept_by_name(catalog: Catalog, clock: ManualClock) -> None:
    catalog.set_bookmark(Bookmark("alarms", "start", 1, 2, 0.5, "look here", "ada"))
    catalog.set_bookmark(Bookmark("alarms", "end", at_us=5))
    catalog.set_bookmark(Bookmark("small", "start"))
    catalog.set_bookmark(Bookmark("alarms", "end", 7, 7, at_us=6))
    assert catalog.bookmarks("alarms") == [
        Bookmark("alarms", "end", 7, 7, at_us=6),
        Bookmark("alarms", "start", 1, 2, 0.5, "look here", "ada", clock.now_us()),
    ]
    assert len(catalog.bookmarks()) == 3
    assert catalog.remove_bookmark("alarms", "end")
    assert not catalog.remove_bookmark("alarms", "end")
    assert [mark.name for mark in catalog.bookmarks("alarms")] == ["start"]
