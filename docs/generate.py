"""Writes what comes from the code: the reference pages of boxes, documents and the rest, and pictures of networks.

    python -m docs.generate

The code and the files in docs/sources say what stands on a page; examples are run, and their results written down.
"""

from __future__ import annotations

from pathlib import Path

from aurora.drawing import draw
from aurora.model import load
from docs.sources.box_pages import pages as box_pages
from docs.sources.document_page import page as document_page
from docs.sources.expression_page import page as expression_page
from docs.sources.http_page import page as http_page
from docs.sources.metric_page import page as metric_page
from docs.sources.problem_page import page as problem_page

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
PICTURES = ROOT / "docs" / "pictures"


def pages() -> dict[Path, str]:
    """Every page by its path."""
    return {
        **{REFERENCE / "boxes" / name: text for name, text in box_pages().items()},
        REFERENCE / "document.md": document_page(),
        REFERENCE / "expressions.md": expression_page(),
        REFERENCE / "http.md": http_page(),
        REFERENCE / "metrics.md": metric_page(),
        REFERENCE / "problems.md": problem_page(),
    }


def pictures() -> dict[Path, str]:
    """The drawing of every case study's network, beside the network and for the README."""
    drawn = {path: draw(load(path)) for path in sorted((ROOT / "case_studies").glob("*/network.yaml"))}
    beside = {path.with_name(f"{path.parent.name}.svg"): svg for path, svg in drawn.items()}
    return beside | {PICTURES / path.name: svg for path, svg in beside.items()}


def main() -> None:
    for path, text in (pages() | pictures()).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        changed = not path.exists() or path.read_text(encoding="utf-8") != text
        if changed:
            path.write_text(text, encoding="utf-8")
        print(f"{'wrote' if changed else 'kept '} {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
