"""What a box does, in one line, from the parameters its author gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aurora.model.box import Box

_NOTES = {"name", "tags", "description", "manual", "in", "inputs", "kind"}

IN_PORTS = {"join": ("left", "right"), "resample": ("pace", "data"), "wait_for": ("tuples", "enablers")}
"""The names of input ports, for boxes whose inputs play different parts."""

FAMILIES = {
    "filter": "filter",
    "drop": "filter",
    "map": "map",
    "union": "union",
    "bsort": "order",
    "aggregate": "window",
    "tumble": "window",
    "slide": "window",
    "latch": "window",
    "group_by": "window",
    "resample": "window",
    "join": "join",
    "wait_for": "join",
    "read": "table",
    "update": "table",
    "python": "python",
    "spark": "python",
}
"""Kinds that are drawn alike. A kind that is not listed is drawn as ``other``."""


def summarise(box: Box) -> str:
    """The parameter that says most: a predicate, the computed columns, a window."""
    given = box.model_dump(by_alias=True, exclude_defaults=True)
    parts: list[str] = []
    if text := given.get("where") or given.get("on"):
        parts.append(str(text))
    if routes := given.get("routes"):
        parts.append(", ".join(f"{port}: {text}" for port, text in routes.items()))
    if window := given.get("window"):
        parts.append(_window(window))
    if "every" in given:
        parts.append(f"every {given['every']}")
    if "within" in given:
        parts.append(f"within {given['within']}")
    if "rate" in given:
        parts.append(f"rate {given['rate']:g}")
    if named := given.get("class") or given.get("function"):
        parts.append(str(named))
    if columns := given.get("columns"):
        parts.append(f"by {_names(columns)}")
    if computed := {**given.get("compute", {}), **given.get("extend", {})}:
        parts.append(", ".join(f"{name} = {text}" for name, text in computed.items()))
    if renamed := given.get("rename"):
        parts.append(", ".join(f"{old} → {new}" for old, new in renamed.items()))
    if dropped := given.get("drop"):
        parts.append(f"without {_names(dropped)}")
    if grouping := given.get("group_by"):
        parts.append(f"by {_names(grouping)}")
    if order := given.get("order_by"):
        parts.append(f"order {_names(order)}")
    if "slack" in given:
        parts.append(f"slack {given['slack']}")
    if not parts:
        parts = [f"{key} {value}" for key, value in given.items() if key not in _NOTES]
    return " · ".join(parts)


def _names(value: str | Sequence[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value)


def _window(window: Mapping[str, Any]) -> str:
    text = str(window["size"])
    if window.get("advance") is not None:
        text += f" / {window['advance']}"
    return text + (f", timeout {window['timeout']}" if window.get("timeout") is not None else "")
