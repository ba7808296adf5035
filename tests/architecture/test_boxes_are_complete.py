"""Every kind of box has its file, an example, a reference page and a conformance test; what is missing is listed."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import pytest

import aurora.boxes  # fills KINDS
from aurora.model.box import KINDS, Box
from tests.architecture.source import PACKAGE, ROOT


def _missing(kind: str, declaration: type[Box]) -> list[str]:
    missing = []
    file = PACKAGE / "boxes" / f"{kind}.py"
    if Path(inspect.getsourcefile(declaration) or "") != file:
        missing.append(f"its own file {file.relative_to(ROOT)} (it stands in {declaration.__module__})")
    docs = f"{declaration.__doc__ or ''}\n{sys.modules[declaration.__module__].__doc__ or ''}"
    if ">>>" not in docs and f"kind: {kind}" not in docs:
        missing.append("a docstring with an example (a doctest, or a document snippet with its kind)")
    for path in (f"docs/reference/boxes/{kind}.md", f"tests/conformance/test_{kind}.py"):
        if not (ROOT / path).exists():
            missing.append(path)
    return missing


def test_there_are_kinds() -> None:
    assert aurora.boxes
    assert {"filter", "map", "union", "aggregate", "join"} <= KINDS.keys()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_box_has_all_its_parts(kind: str) -> None:
    missing = _missing(kind, KINDS[kind])
    assert not missing, f"box {kind} lacks " + "; ".join(missing)


def test_reference_pages_are_of_boxes_that_exist() -> None:
    pages = {path.stem for path in (ROOT / "docs" / "reference" / "boxes").glob("*.md")} - {"index", "README"}
    assert pages <= KINDS.keys()
