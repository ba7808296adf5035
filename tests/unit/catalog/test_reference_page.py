"""The page of the catalog names every table and every column, and the numbers in the file's header."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from aurora.catalog import Catalog
from aurora.catalog.database import APPLICATION_ID, VERSION

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "catalog.md").read_text(encoding="utf-8")
NOT_FOR_OTHERS = {"series", "samples", "search_index"}
"""Named on the page, but read through ``statistics`` and ``findable``, whose columns they have."""


def test_it_has_every_table_and_column(catalog: Catalog, rows: Callable[[str], list[tuple[object, ...]]]) -> None:
    tables = rows("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
    names = {str(name) for (name,) in tables if not str(name).startswith(("sqlite_", "search_index_"))}
    assert len(names) > 25
    assert not [name for name in names if f"`{name}`" not in PAGE]
    columns = {
        f"{name}.{column}"
        for name in names - NOT_FOR_OTHERS
        for (column,) in rows(f"SELECT name FROM pragma_table_info('{name}')")
    }
    assert not [column for column in columns if f"`{column.partition('.')[2]}`" not in PAGE]


def test_it_has_the_numbers_of_the_header() -> None:
    assert f"`PRAGMA application_id` is {APPLICATION_ID}," in PAGE
    assert f"`PRAGMA user_version` the version of the schema, which is {VERSION}." in PAGE
