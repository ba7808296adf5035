"""Where elements stand in the picture, and bookmarks in it: with a catalog and without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from aurora.catalog import Catalog
from tests.server.http_serving import API, DOCUMENT, FULL, READ, TOKENS, asking, serving

LAYOUT = f"{API}/networks/demo/layout"
BOOKMARKS = f"{API}/networks/demo/bookmarks"


@pytest.fixture(params=["memory", "catalog"])
def http(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[httpx.Client]:
    catalog = tmp_path / "catalog.db" if request.param == "catalog" else None
    with serving(catalog=catalog) as service, asking(service) as client:
        yield client


def test_elements_stand_where_they_were_put(http: httpx.Client) -> None:
    assert http.get(LAYOUT).json() == {}
    first = {"boxes/high": {"x": 1.5, "y": -2}, "outputs/dear": {"x": 0, "y": 0}, "boxes/double": {"x": 7, "y": 7}}
    assert http.put(LAYOUT, json=first).json() == {"moved": 3, "removed": 0}
    later = {"boxes/high": {"x": 9, "y": 9}, "boxes/double": None, "sinks/never": None}
    assert http.put(LAYOUT, json=later).json() == {"moved": 1, "removed": 2}
    assert http.get(LAYOUT).json() == {"boxes/high": {"x": 9, "y": 9}, "outputs/dear": {"x": 0, "y": 0}}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("[]", "not an object"),
        ("nonsense", "no JSON"),
        ('{"high": {"x": 1, "y": 2}}', "names no element"),
        ('{"box/high": {"x": 1, "y": 2}}', "connection_points"),
        ('{"boxes/": {"x": 1, "y": 2}}', "names no element"),
        ('{"boxes/high": {"x": 1}}', "or null to forget"),
        ('{"boxes/high": {"x": 1, "y": 2, "z": 3}}', "or null to forget"),
        ('{"boxes/high": {"x": NaN, "y": 2}}', "finite number"),
        ('{"boxes/high": {"x": 1e999, "y": 2}}', "finite number"),
        (f'{{"boxes/high": {{"x": 1{"0" * 400}, "y": 2}}}}', "finite number"),
        ('{"boxes/high": {"x": "1", "y": 2}}', "finite number"),
        ('{"boxes/high": {"x": true, "y": 2}}', "finite number"),
    ],
)
def test_what_is_no_layout_is_refused_and_nothing_moves(http: httpx.Client, body: str, said: str) -> None:
    assert http.put(LAYOUT, json={"boxes/double": {"x": 1, "y": 1}}).is_success
    answer = http.put(LAYOUT, content=body.replace("{", '{"boxes/double": {"x": 5, "y": 5}, ', 1))
    assert answer.status_code == 400
    assert said in answer.json()["error"]
    assert http.get(LAYOUT).json() == {"boxes/double": {"x": 1, "y": 1}}


def test_bookmarks_are_added_changed_and_removed(http: httpx.Client) -> None:
    assert http.get(BOOKMARKS).json() == []
    assert http.put(f"{BOOKMARKS}/the%20end", json={"x": 1, "y": 2, "zoom": 0.5, "scope": "detect/late"}).is_success
    assert http.put(f"{BOOKMARKS}/start", json={}).is_success
    assert http.put(f"{BOOKMARKS}/start", json={"x": 3, "note": "here", "author": "ada"}).is_success
    start, end = http.get(BOOKMARKS).json()
    assert (end["name"], end["x"], end["y"], end["zoom"], end["scope"]) == ("the end", 1, 2, 0.5, "detect/late")
    assert (start["name"], start["x"], start["zoom"], start["note"], start["author"]) == ("start", 3, 1, "here", "ada")
    assert start["at_us"] >= end["at_us"] > 0
    assert http.delete(f"{BOOKMARKS}/start").json() == {"name": "start", "removed": True}
    gone = http.delete(f"{BOOKMARKS}/start")
    assert gone.status_code == 404
    assert "the end" in gone.json()["error"]
    assert [mark["name"] for mark in http.get(BOOKMARKS).json()] == ["the end"]


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("%20", "{}", "cannot be the name"),
        ("a" * 201, "{}", "cannot be the name"),
        ("a", '{"x": null}', "x is None"),
        ("a", '{"zoom": 0}', "above 0"),
        ("a", '{"scope": ["detect"]}', "give text"),
        ("a", '{"colour": "red"}', "has no 'colour'"),
        ("a", "7", "not an object"),
    ],
)
def test_what_is_no_bookmark_is_refused(http: httpx.Client, name: str, body: str, said: str) -> None:
    answer = http.put(f"{BOOKMARKS}/{name}", content=body)
    assert answer.status_code == 400
    assert said in answer.json()["error"]
    assert http.get(BOOKMARKS).json() == []


def test_a_network_that_is_not_there_has_no_picture(http: httpx.Client) -> None:
    for path in ("layout", "bookmarks"):
        assert http.get(f"{API}/networks/other/{path}").status_code == 404
    assert http.put(f"{API}/networks/other/layout", json={}).status_code == 404


def test_who_may_only_look_moves_nothing() -> None:
    with serving(tokens=TOKENS) as service, asking(service, READ) as reader, asking(service, FULL) as writer:
        assert writer.put(LAYOUT, json={"boxes/high": {"x": 1, "y": 1}}).is_success
        assert reader.get(LAYOUT).json() == {"boxes/high": {"x": 1, "y": 1}}
        assert reader.put(LAYOUT, json={"boxes/high": None}).status_code == 403
        assert reader.put(f"{BOOKMARKS}/a", json={}).status_code == 403
        assert reader.delete(f"{BOOKMARKS}/a").status_code == 403


def test_a_catalog_keeps_the_picture(tmp_path: Path) -> None:
    file = tmp_path / "catalog.db"
    with serving(catalog=file) as service, asking(service) as http:
        assert http.put(LAYOUT, json={"boxes/high": {"x": 4, "y": 5}}).is_success
        assert http.put(f"{BOOKMARKS}/a", json={"scope": "detect"}).is_success
    with Catalog.open(file) as catalog:
        assert catalog.layout("demo") == {("boxes", "high"): (4, 5)}
        assert [(mark.name, mark.scope) for mark in catalog.bookmarks("demo")] == [("a", "detect")]
    with serving(catalog=file) as service, asking(service) as http:
        assert http.get(LAYOUT).json() == {"boxes/high": {"x": 4, "y": 5}}


def test_networks_have_pictures_of_their_own_which_go_with_them() -> None:
    other = DOCUMENT.replace("network: demo", "network: other")
    with serving(DOCUMENT, other) as service, asking(service) as http:
        assert http.put(LAYOUT, json={"boxes/high": {"x": 4, "y": 5}}).is_success
        assert http.get(f"{API}/networks/other/layout").json() == {}
        assert http.delete(f"{API}/networks/demo").is_success
        assert http.post(f"{API}/networks", json={"document": DOCUMENT}).is_success
        assert http.get(LAYOUT).json() == {}
