"""Routes for the picture of a network: where its elements stand, and the places in it that people come back to."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

from aurora.catalog import Bookmark
from aurora.catalog.picture import Element, Position
from aurora.errors import InputError
from aurora.model.naming import shown
from aurora.model.places import ELEMENTS
from aurora.server.hosted import unknown
from aurora.server.picture import Picture
from aurora.server.routes import Call, Route

_LONGEST_NAME = 200


def _picture(call: Call) -> Picture:
    hosted = call.host.hosted(call.path["network"])
    return hosted.picture if call.host.catalog is None else call.host.catalog


def _body(call: Call, example: str) -> dict[str, Any]:
    try:
        value = json.loads(call.body)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the body is no JSON: {error}; send an object such as {example}") from error
    if not isinstance(value, dict):
        raise InputError(f"the body is {shown(value)}, not an object; send one such as {example}")
    return value


def _number(what: str, value: Any) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or isinstance(value, str):
        raise InputError(f"{what} is {shown(value)}; give a finite number")
    return number


def _text(what: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"{what} is {shown(value)}; give text")
    return value


def layout(call: Call) -> Any:
    return {
        f"{section}/{name}": {"x": x, "y": y}
        for (section, name), (x, y) in _picture(call).layout(call.path["network"]).items()
    }


def move(call: Call) -> Any:
    picture = _picture(call)
    found = _body(call, '{"boxes/late": {"x": 0, "y": 40}}')
    positions = {_element(key): _position(key, place) for key, place in found.items()}
    picture.set_layout(call.path["network"], positions)
    removed = sum(place is None for place in positions.values())
    return {"moved": len(positions) - removed, "removed": removed}


def _element(key: str) -> Element:
    section, slash, name = key.partition("/")
    if not slash or not name or section not in ELEMENTS:
        raise InputError(
            f"{shown(key)} names no element; write it as boxes/late, with a section of {', '.join(ELEMENTS)}"
        )
    return section, name


def _position(key: str, place: Any) -> Position | None:
    if place is None:
        return None
    if not isinstance(place, dict) or place.keys() != {"x", "y"}:
        raise InputError(f'the position of {key} is {shown(place)}; write it as {{"x": 0, "y": 40}}, or null to forget')
    return _number(f"x of {key}", place["x"]), _number(f"y of {key}", place["y"])


def bookmarks(call: Call) -> Any:
    return [_plain(mark) for mark in _picture(call).bookmarks(call.path["network"])]


def _plain(mark: Bookmark) -> dict[str, Any]:
    return {key: value for key, value in asdict(mark).items() if key != "network"}


def set_bookmark(call: Call) -> Any:
    picture, name = _picture(call), call.path["name"]
    if not name.strip() or len(name) > _LONGEST_NAME:
        raise InputError(f"{shown(name)} cannot be the name of a bookmark; give one of 1 to {_LONGEST_NAME} characters")
    found = _body(call, '{"x": 0, "y": 40, "zoom": 1}')
    unknown_keys = found.keys() - {"x", "y", "zoom", "scope", "note", "author"}
    if unknown_keys:
        raise InputError(f"a bookmark has no {sorted(unknown_keys)[0]!r}; it has x, y, zoom, scope, note, author")
    zoom = _number("zoom", found.get("zoom", 1))
    if zoom <= 0:
        raise InputError(f"zoom is {zoom:g}; give a number above 0")
    mark = Bookmark(
        call.path["network"],
        name,
        _number("x", found.get("x", 0)),
        _number("y", found.get("y", 0)),
        zoom,
        _text("note", found.get("note", "")),
        _text("author", found.get("author", "")),
        call.server.clock.now_us(),
        _text("scope", found.get("scope", "")),
    )
    picture.set_bookmark(mark)
    return _plain(mark)


def remove_bookmark(call: Call) -> Any:
    picture, network, name = _picture(call), call.path["network"], call.path["name"]
    if not picture.remove_bookmark(network, name):
        raise unknown("bookmark", name, [mark.name for mark in picture.bookmarks(network)])
    return {"name": name, "removed": True}


_N = "/api/v1/networks/{network}"
_LAYOUT = '`{"boxes/late": {"x": 0, "y": 40}, ...}`'
_BOOKMARK = "`{name, x, y, zoom, scope, note, author, at_us}`"

PICTURE = (
    Route("GET", f"{_N}/layout", "read", "Where the elements stand in the picture", layout, answer=_LAYOUT),
    Route(
        "PUT",
        f"{_N}/layout",
        "full",
        "Move elements in the picture",
        move,
        body=f"{_LAYOUT}; elements that are not named stay, null forgets where one stood.",
        answer="`{moved, removed}`",
    ),
    Route("GET", f"{_N}/bookmarks", "read", "The bookmarks in the picture", bookmarks, answer=f"a list of {_BOOKMARK}"),
    Route(
        "PUT",
        f"{_N}/bookmarks/{{name}}",
        "full",
        "Add a bookmark, or change the one of that name",
        set_bookmark,
        body="`{x, y, zoom, scope, note, author}`: a place in the picture, how large it is shown, and the superboxes "
        "to go into, as `outer/inner`; each may be left out.",
        answer=_BOOKMARK,
    ),
    Route(
        "DELETE",
        f"{_N}/bookmarks/{{name}}",
        "full",
        "Remove a bookmark",
        remove_bookmark,
        answer="`{name, removed}`",
    ),
)
