"""Where the elements of a network stand in its picture, and the places in it that people come back to."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping

from aurora.catalog.records import Bookmark
from aurora.errors import InputError
from aurora.model.places import ELEMENTS

Position = tuple[float, float]
Element = tuple[str, str]
"""A section and a name in it: ``("boxes", "late")``."""


def layout(sql: sqlite3.Connection, network: str) -> dict[Element, Position]:
    query = "SELECT section, element, x, y FROM layout WHERE network = ? ORDER BY section, element"
    return {(section, element): (x, y) for section, element, x, y in sql.execute(query, (network,))}


def set_layout(sql: sqlite3.Connection, network: str, positions: Mapping[Element, Position | None]) -> None:
    for (section, element), position in positions.items():
        if section not in ELEMENTS:
            raise InputError(f"there is no section {section!r}; the sections are {', '.join(ELEMENTS)}")
        if position is None:
            where = "WHERE network = ? AND section = ? AND element = ?"
            sql.execute(f"DELETE FROM layout {where}", (network, section, element))
        else:
            _finite(f"the position of {element}", *position)
            row = (network, section, element, *position)
            sql.execute("INSERT OR REPLACE INTO layout (network, section, element, x, y) VALUES (?, ?, ?, ?, ?)", row)


def bookmarks(sql: sqlite3.Connection, network: str | None) -> list[Bookmark]:
    query = "SELECT network, name, x, y, zoom, note, author, at_us, scope FROM bookmarks"
    rows = sql.execute(f"{query} WHERE ?1 IS NULL OR network = ?1 ORDER BY network, name", (network,))
    return [Bookmark(*row) for row in rows]


def set_bookmark(sql: sqlite3.Connection, mark: Bookmark) -> None:
    _finite(f"bookmark {mark.name}", mark.x, mark.y, mark.zoom)
    sql.execute(
        "INSERT OR REPLACE INTO bookmarks (network, name, x, y, zoom, note, author, at_us, scope) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (mark.network, mark.name, mark.x, mark.y, mark.zoom, mark.note, mark.author, mark.at_us, mark.scope),
    )


def remove_bookmark(sql: sqlite3.Connection, network: str, name: str) -> bool:
    return sql.execute("DELETE FROM bookmarks WHERE network = ? AND name = ?", (network, name)).rowcount > 0


def _finite(what: str, *values: float) -> None:
    if not all(isinstance(value, int | float) and math.isfinite(value) for value in values):
        raise InputError(f"{what} is {values}; give finite numbers")
