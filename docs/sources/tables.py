"""Markdown tables and the values in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent


def notice(*sources: str) -> str:
    return f"<!-- Written by `make docs` from {' and '.join(sources)}; change it there. -->"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table. A bar in a cell is escaped, so that it does not end the cell."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines]


def value_text(value: object) -> str:
    """A value as a reader knows it from SQL.

    >>> value_text(None), value_text(True), value_text([1, None])
    ('NULL', 'true', '[1, NULL]')
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(value_text, value))}]"
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return f"{value.total_seconds():g}s"
    return str(value)


def rows_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    return table(columns, ([value_text(value) for value in row] for row in rows))


def yaml_text(document: Mapping[str, Any]) -> str:
    """A small document as a person would write it: boxes in block form, the rest in one line each."""
    return yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=110, allow_unicode=True).strip()
