"""The document of ``aurora demo``: the feed-alarms case study, with what makes it live."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

_INSTALLED = Path(__file__).parent / "feed_alarms"
_SOURCES = Path(__file__).parents[3] / "case_studies" / "feed_alarms"


def demo_document() -> str:
    """The network of the case study with the elements of ``live.yaml`` beside its own."""
    folder = _INSTALLED if _INSTALLED.is_dir() else _SOURCES
    document, added = (_read(folder / name) for name in ("network.yaml", "live.yaml"))
    for section, elements in added.items():
        document.setdefault(section, {}).update(elements)
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True)


def _read(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return read
