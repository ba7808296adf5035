"""Whatever text comes in, it stays text: no call makes SQL of it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

import aurora.catalog
from aurora.catalog import Bookmark, Catalog
from aurora.errors import InputError
from tests.unit.catalog.conftest import TEXT

HOSTILE = [
    "'; DROP TABLE versions; --",
    "' OR '1'='1",
    '"; DELETE FROM boxes; --',
    "x'); ATTACH DATABASE '/tmp/owned.db' AS o; --",
    "alarms' UNION SELECT name, sql, 1, 1, 1, 1, 1, 1 FROM sqlite_master --",
    "%",
    "?1",
    ":name",
    "\0",
]

Calls = dict[str, Callable[[Catalog, str], object]]
CALLS: Calls = {
    "save": lambda c, text: c.save(TEXT.replace("the night shift", "them"), text, author=text),
    "current": lambda c, text: c.current(text),
    "versions": lambda c, text: c.versions(text),
    "version": lambda c, text: c.version(text, 1),
    "propose": lambda c, text: (c.propose(text, text, text, author=text), c.review()),
    "find": lambda c, text: (c.find(text), c.find(tag=text, kind=text, network=text, column=text)),
    "statistics": lambda c, text: (
        c.note_statistics(text, {"boxes": {text: {text: 1}}}),
        c.statistics(text, what=text, element=text, metric=text),
    ),
    "layout": lambda c, text: (c.set_layout(text, {("boxes", text): (1, 2)}), c.layout(text)),
    "bookmarks": lambda c, text: (
        c.set_bookmark(Bookmark(text, text, note=text, author=text)),
        c.bookmarks(text),
        c.remove_bookmark(text, text),
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_hostile_text_is_text(catalog: Catalog, rows: Callable[[str], list[tuple[object, ...]]], call: str) -> None:
    first = catalog.save(TEXT)
    schema = rows("SELECT name, sql FROM sqlite_master ORDER BY name")
    for text in HOSTILE:
        CALLS[call](catalog, text)
        assert rows("SELECT name, sql FROM sqlite_master ORDER BY name") == schema
        assert catalog.version("alarms", 1) == first
        assert rows("SELECT COUNT(*) FROM boxes") == [(2,)]


def test_hostile_text_comes_back_as_it_was(catalog: Catalog) -> None:
    catalog.save(TEXT)
    for number, text in enumerate(HOSTILE):
        catalog.set_bookmark(Bookmark(text, text, note=text, at_us=1))
        assert catalog.bookmarks(text) == [Bookmark(text, text, note=text, at_us=1)]
        catalog.set_layout(text, {("boxes", text): (1, 2)})
        assert catalog.layout(text) == {("boxes", text): (1, 2)}
        catalog.note_statistics(text, {"boxes": {text: {text: 1}}})
        assert [(s.element, s.metric) for s in catalog.statistics(text, element=text)] == [(text, text)]
        assert catalog.save(TEXT.replace("> 5", f"> {number + 6}"), text, author=text).why == text
        with pytest.raises(InputError):
            catalog.remove(text)


def test_only_names_that_stand_in_the_code_are_put_into_sql() -> None:
    """Where SQL is put together from pieces, they are constants of the package, never arguments of the public API."""
    public = {"text", "tag", "kind", "column", "why", "author", "document", "element", "metric", "what", "candidate"}
    wrong = []
    for path in Path(aurora.catalog.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if node.func.attr in ("execute", "executemany", "executescript") and isinstance(
                node.args[0], ast.JoinedStr
            ):
                names = {name.id for name in ast.walk(node.args[0]) if isinstance(name, ast.Name)}
                if names & public:
                    wrong.append(f"{path.name}:{node.lineno} puts {names & public} into SQL")
    assert not wrong
