"""The page of the network document: what is written by hand, and the parameters of every element as declared."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from aurora.model.connectors import SINKS, SOURCES, Connector, Sink, Source
from aurora.server.palette import code_marks, palette
from docs.sources.forms import type_of
from docs.sources.tables import FOLDER, notice, table

_HEAD = ("parameter", "type", "meaning", "default")


def page() -> str:
    text = Path(FOLDER, "document.md").read_text(encoding="utf-8").strip()
    kinds = palette()["kinds"]
    shared = {"sources": _names(Source), "sinks": _names(Sink)}
    parts = {kind["section"]: _table(kind["parameters"]) for kind in kinds if kind["kind"] is None}
    for section, names in shared.items():
        own = [kind for kind in kinds if kind["section"] == section]
        parts[f"all {section}"] = _table([one for one in own[0]["parameters"] if one["name"] in names])
        parts[section] = "\n\n".join(_kind(kind, names) for kind in own)
    for name, part in parts.items():
        text = text.replace(f"{{{name}}}", part)
    return f"{notice('src/aurora/model', 'docs/sources/document.md')}\n\n{text}\n"


def _names(declaration: type[Connector]) -> set[str]:
    return {field.alias or name for name, field in declaration.model_fields.items()}


def _kind(kind: Mapping[str, Any], shared: set[str]) -> str:
    declared = (SOURCES if kind["section"] == "sources" else SINKS)[kind["kind"]]
    said = code_marks(inspect.getdoc(declared) or "")
    own = [one for one in kind["parameters"] if one["name"] not in shared]
    lines = [f"### {kind['kind']} {kind['section'].removesuffix('s')}", "", said]
    return "\n".join(lines + (["", _table(own)] if own else []))


def _table(parameters: list[Mapping[str, Any]]) -> str:
    return "\n".join(table(_HEAD, _rows(parameters)))


def _rows(parameters: list[Mapping[str, Any]], within: str = "") -> Iterator[tuple[str, str, str, str]]:
    for one in parameters:
        default = "required" if one["required"] else "none" if one["default"] is None else f"`{_text(one['default'])}`"
        yield f"`{within}{one['name']}`", type_of(one["form"]), one["means"], default
        yield from _rows(one["form"].get("fields", []), f"{within}{one['name']}.")


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
