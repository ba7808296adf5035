"""The page of problems: every stable id with its meaning, the way out, and what an example of it is told."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

import aurora.boxes
from aurora.errors import Problem
from aurora.model.check import check
from docs.sources.tables import FOLDER, notice

OPEN = """\
# Problems

What `aurora check` finds, and what `NetworkError` and `ExpressionError` carry. Each problem has an id that does not
change from version to version, so programs and tests may rely on it; the texts may get better. [Check a
network](../how-to/check-a-network.md) shows how to read them.
"""
BASE: dict[str, Any] = {
    "aurora": 1,
    "network": "example",
    "streams": {"ticks": {"schema": {"ticker": "string", "price": "double", "volume": "int", "time": "timestamp"}}},
    "boxes": {"b": {"kind": "filter", "in": "ticks", "where": "price > 5"}},
    "outputs": {"out": {"from": "b"}},
}


def entries() -> dict[str, dict[str, Any]]:
    """What the YAML file says of every id."""
    return {id: entry for _, problems in _headings() for id, entry in problems.items()}


def _headings() -> Iterator[tuple[str, dict[str, dict[str, Any]]]]:
    for part in yaml.safe_load((FOLDER / "problems.yaml").read_text(encoding="utf-8")):
        yield part["heading"], part["problems"]


def example(entry: Mapping[str, Any]) -> str | None:
    """The document that shows the problem; None where no document can."""
    if "python" in entry:
        return None
    if "text" in entry:
        return str(entry["text"])
    sections = {key: value for key, value in entry.items() if key not in ("means", "way_out", *_BOXES)}
    for key, box in _BOXES.items():
        if key in entry:
            sections["boxes"] = {"b": box(entry[key])}
    return yaml.safe_dump({**BASE, **sections}, sort_keys=False)


_BOXES: dict[str, Any] = {
    "box": lambda box: box,
    "expression": lambda text: {"kind": "map", "in": "ticks", "compute": {"x": text}},
    "aggregate": lambda text: {
        "kind": "tumble", "in": "ticks", "group_by": "ticker", "window": {"size": "2 tuples"}, "compute": {"x": text},
    },
}  # fmt: skip


def found(id: str, text: str) -> Problem:
    """The problem of this id that the check finds in a document."""
    assert aurora.boxes, "importing the boxes fills KINDS"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "network.yaml")
        path.write_text(text, encoding="utf-8")
        problems = check(path)
    for problem in problems:
        if problem.id == id:
            return problem
    ids = [problem.id for problem in problems]
    raise SystemExit(f"the example of {id} in docs/sources/problems.yaml has {ids or 'no problem'}")


def page() -> str:
    lines = [notice("src/aurora", "docs/sources/problems.yaml"), "", OPEN]
    for heading, problems in _headings():
        lines += [f"## {heading}", ""]
        for id, entry in problems.items():
            lines += [f"### {id}", "", f"{entry['means']} {entry['way_out']}", ""]
            text = example(entry)
            if text is not None:
                lines += ["```text", *_shown(entry, found(id, text)), "```", ""]
    return "\n".join(lines)


def _shown(entry: Mapping[str, Any], problem: Problem) -> Iterator[str]:
    """The part of the example that matters, and what is said of it. The page leaves out the place and long choices."""
    if "text" in entry:
        yield from str(entry["text"]).strip().splitlines()
    for key, value in entry.items():
        if key in ("expression", "aggregate"):
            yield str(value)
        elif key not in ("means", "way_out", "text"):
            yield yaml.safe_dump({key: value}, sort_keys=False, default_flow_style=True, width=1000).strip()[1:-1]
    yield ""
    yield f"{problem.severity} {problem.id}: {problem.found}"
    if problem.choices and len(problem.choices) <= 8:
        yield f"  choices: {', '.join(problem.choices)}"
    yield f"  way out: {problem.way_out}"
