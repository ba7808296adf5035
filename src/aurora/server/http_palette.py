"""Routes for those who draw networks: what can be drawn, and the manual."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from aurora.server import manual as manual_pages
from aurora.server import palette as drawable
from aurora.server.routes import Call, Route


def palette(call: Call) -> Any:
    return drawable.palette()


def manual(call: Call) -> Any:
    return [asdict(page) for page in manual_pages.pages()]


PALETTE = (
    Route(
        "GET",
        "/api/v1/palette",
        "read",
        "What can be drawn: kinds of elements with their parameters and ports, and the functions of expressions",
        palette,
        answer="`{categories, kinds, notes, functions, types, formats, ways}`",
    ),
    Route("GET", "/api/v1/manual", "read", "The manual", manual, answer="a list of `{name, title, text}`, in Markdown"),
)
