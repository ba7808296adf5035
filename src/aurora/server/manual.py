"""The pages of the manual: inside an installed package, or in the folder where they are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PAGES = ("concepts.md", "tutorial.md", "tutorial-mqtt.md", "how-to", "reference", "glossary.md")
"""What of docs belongs to the manual, in its order; pyproject.toml puts the same into a wheel."""


@dataclass(frozen=True)
class Page:
    """``name`` is the path below the manual's folder, so that links between pages lead where they say."""

    name: str
    title: str
    text: str


@cache
def pages() -> tuple[Page, ...]:
    return tuple(_read(_folder()))


def _folder() -> Path:
    package = Path(__file__).parents[1]
    installed = package / "manual"
    return installed if installed.is_dir() else package.parents[1] / "docs"


def _read(folder: Path) -> Iterator[Page]:
    for part in PAGES:
        root = folder / part
        for path in sorted(root.rglob("*.md")) if root.is_dir() else [root] if root.is_file() else []:
            lines = path.read_text(encoding="utf-8").split("\n")
            # A page that was made says so in a comment above its title.
            start = next((at for at, line in enumerate(lines) if line.startswith("# ")), 0)
            title = lines[start].removeprefix("# ").strip()
            yield Page(path.relative_to(folder).as_posix(), title, "\n".join(lines[start:]))
