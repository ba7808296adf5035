"""The page of expressions: every function, operator and aggregate with an example and its value."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aurora.expressions import FunctionEntry, reference
from aurora.expressions.reference import EXAMPLE_VALUES
from docs.sources.tables import FOLDER, notice, table, value_text

GROUPS = {
    "logic": "Logic",
    "comparison": "Comparison",
    "conditional": "Conditions",
    "arithmetic": "Arithmetic",
    "bits": "Bits",
    "mathematics": "Mathematics",
    "text": "Text",
    "time": "Time",
    "lists": "Lists",
    "conversion": "Conversion",
    "aggregates": "Aggregates",
    "windows": "Windows",
}
BEFORE = {
    "aggregates": "In boxes that aggregate. NULL is skipped; an aggregate of nothing is NULL, and a count is 0. Each "
    "may have a condition of its own: `sum(x) filter (where y > 0)`. Calls may be combined: `max(x) - min(x)`. The "
    f"examples are over the values {value_text(list(EXAMPLE_VALUES))} of x.",
    "windows": "In boxes with a window, beside aggregates. The examples are of a window from 0 to 10 that did not time "
    "out.",
}


def page() -> str:
    entries = reference()
    unknown = {entry.group for entry in entries} - GROUPS.keys()
    if unknown:
        raise SystemExit(f"docs/sources/expression_page.py has no heading for {sorted(unknown)}")
    lines = [notice("src/aurora/expressions", "docs/sources/expressions.md"), ""]
    lines += [Path(FOLDER, "expressions.md").read_text(encoding="utf-8").strip(), ""]
    for group, heading in GROUPS.items():
        lines += [f"## {heading}", ""]
        lines += [BEFORE[group], ""] if group in BEFORE else []
        lines += [*_table([entry for entry in entries if entry.group == group]), ""]
    return "\n".join(lines)


def _table(entries: Sequence[FunctionEntry]) -> list[str]:
    return table(("name", "how it is called", "meaning", "example", "gives"), map(_row, entries))


def _row(entry: FunctionEntry) -> tuple[str, str, str, str, str]:
    names = ", ".join(f"`{name}`" for name in (entry.name, *entry.aliases))
    calls = "<br>".join(f"`{signature}`" for signature in entry.signatures)
    return names, calls, entry.meaning, f"`{entry.example}`", f"`{value_text(entry.value)}`"
