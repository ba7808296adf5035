"""``aurora find``: elements of the networks in a catalog."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.cells import cell_len

from aurora.catalog import Catalog, Found
from aurora.cli.failure import say


def find(
    catalog: Path,
    text: str,
    *,
    tag: str | None,
    kind: str | None,
    network: str | None,
    column: str | None,
    as_json: bool,
) -> int:
    with Catalog.open(catalog, create=False) as opened:
        found = opened.find(text, tag=tag, kind=kind, network=network, column=column)
    if as_json:
        print(json.dumps([asdict(element) for element in found], indent=2, ensure_ascii=False))
    elif found:
        show(found)
    else:
        say("nothing found")
    return 0


def show(found: list[Found]) -> None:
    rows = [(e.network, e.kind, e.element, ", ".join(e.tags), e.description) for e in found]
    print_table(("network", "kind", "name", "tags", "description"), rows)


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns that line up, with the first line of each text, whole, since programs read it as well.

    Anybody may have written into the catalog, so what would steer the terminal is not printed as it is.
    """
    lines = [titles, *([_harmless(cell) for cell in row] for row in rows)]
    widths = [max(cell_len(line[n]) for line in lines) for n in range(len(titles))]
    for line in lines:
        cells = (cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True))
        print("  ".join(cells).rstrip())


def _harmless(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line)
