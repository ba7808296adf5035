"""The network document: YAML and JSON texts, and the plain data they hold.

``load`` and ``loads`` read, ``Network.to_yaml`` and ``to_json`` write, and what was written reads back equal. Reading
goes from text to a tree of plain data with the line of every part (``yaml_text``, ``json_text``, ``tree``), and from
the tree to a draft (``reading``): the elements that could be made, and everything that is wrong with the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from aurora.errors import NetworkError
from aurora.model.document.reading import Draft, read_document, read_file, read_text
from aurora.model.network import Network
from aurora.model.places import Places

__all__ = ["from_document", "load", "loads"]


def load(path: str | Path) -> Network:
    """The network in a file; JSON if its name ends in ``.json``, else YAML."""
    return _finished(read_file(path))


def loads(text: str, *, format: Literal["yaml", "json"] = "yaml") -> Network:
    """The network in a text.

    >>> loads("{aurora: 1, network: demo, streams: {ticks: {schema: {price: double}}}}").streams["ticks"].schema
    Schema(price: double)
    """
    return _finished(read_text(text, format=format))


def from_document(document: Mapping[str, Any], places: Places | None = None) -> Network:
    return _finished(read_document(document, places))


def _finished(draft: Draft) -> Network:
    """The draft's network, if everything in the document could be made; else all that is wrong, found in one go."""
    if not draft.complete:
        from aurora.model.check import check_draft

        raise NetworkError([problem for problem in check_draft(draft) if problem.severity == "error"])
    return draft.network
