"""The pages as a reader sees them: fenced blocks with the names of the files they show, headings and links.

A block shows a file if the paragraph before it ends in the file's name, in code marks, and a colon. A page whose
examples start Spark begins with the comment ``needs: spark``, one that needs a broker with ``needs: mosquitto``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]

_FENCE = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"`(?P<name>[\w./-]+\.\w+)`:\s*\Z")
_LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block. ``file`` is the name of the file that it shows, if it shows one."""

    language: str
    text: str
    line: int
    file: str | None


@dataclass(frozen=True)
class Page:
    path: Path

    def __str__(self) -> str:
        return str(self.path.relative_to(ROOT))

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def needs_spark(self) -> bool:
        return self.text.startswith("<!-- needs: spark -->")

    @property
    def needs_broker(self) -> bool:
        """It is done with real programs by ``tests/server/test_tutorial_mqtt.py``."""
        return self.text.startswith("<!-- needs: mosquitto -->")

    @cached_property
    def blocks(self) -> list[Block]:
        found = []
        for match in _FENCE.finditer(self.text):
            named = _FILE.search(self.text[: match.start()])
            line = self.text.count("\n", 0, match.start()) + 1
            found.append(Block(match["language"], match["text"], line, named and named["name"]))
        return found

    @cached_property
    def prose(self) -> str:
        """The text without its blocks and without code marks, in which nothing is a link."""
        return re.sub(r"`[^`\n]+`", "", _FENCE.sub("", self.text))

    def links(self) -> Iterator[str]:
        return (match["target"] for match in _LINK.finditer(self.prose))

    @cached_property
    def anchors(self) -> set[str]:
        """What a link can point to: the headings, as GitHub writes them in addresses."""
        headings = (match["text"] for match in _HEADING.finditer(_FENCE.sub("", self.text)))
        return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def pages() -> list[Page]:
    paths = [*ROOT.glob("*.md"), *ROOT.glob("case_studies/*/README.md"), *ROOT.glob("docs/**/*.md")]
    return [Page(path) for path in sorted(paths) if "sources" not in path.parts]
