"""Where the parts of a network stand in the document they were read from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from aurora.errors import Place, Problem

Path = tuple[str | int, ...]

ELEMENTS = {
    "streams": "stream",
    "boxes": "box",
    "outputs": "output",
    "superboxes": "superbox",
    "connection_points": "connection point",
    "sources": "source",
    "sinks": "sink",
}
"""The sections of a document, and what an element of each is called."""


@dataclass(frozen=True)
class Places:
    """The line of every path of a document. A network built in Python has none."""

    file: str | None = None
    lines: Mapping[Path, int] = field(default_factory=dict)

    def of(self, path: Path) -> Place:
        """The place of the path, or of the closest part around it that has one.

        >>> Places("a.yaml", {("boxes", "late"): 7}).of(("boxes", "late", "window"))
        Place(file='a.yaml', line=7)
        """
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return Place(self.file, self.lines[path[:end]])
        return Place(self.file)

    def locate(self, problems: Iterable[Problem]) -> list[Problem]:
        """The problems with their places, errors first, then as they stand in the document."""
        placed = [p if p.place != Place() else replace(p, place=self.of(p.path)) for p in problems]
        return sorted(placed, key=lambda p: (p.severity != "error", p.place.line or 0))


def element_at(path: Path) -> str:
    """What the element that holds the path is called in messages.

    >>> element_at(("boxes", "late", "window")), element_at(("tags",))
    ('box late', 'network')
    """
    if len(path) >= 2 and path[0] in ELEMENTS:
        return f"{ELEMENTS[str(path[0])]} {path[1]}"
    return "network"
