"""The OpenAPI document and the page that shows it, both made from the declaration of the routes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Any

from aurora.server.all_routes import LIVE, OPEN, ROUTES
from aurora.server.http_tuples import MEDIA
from aurora.server.routes import Route

REFUSALS = {
    400: "something in the request cannot be used",
    401: "no token, or a wrong one",
    403: "the token allows looking only, or a page of another site asks",
    404: "there is nothing of that name",
    408: "the body came too slowly",
    409: "not possible as things stand, such as stopping what is stopped",
    413: "the body is too long",
    415: "a compressed body",
    422: "the network, or a tuple, is not valid; all reasons are in `problems`",
    503: "too many requests at once; come again",
}
"""Every refusal is `{"error": text, "problems": [...]}`."""

_NAMES = re.compile(r"\{(\w+)\}")


def document(version: str) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Aurora", "version": version, "description": "Networks of boxes and arrows over streams."},
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Refusal": _REFUSAL},
        },
    }


_REFUSAL = {
    "type": "object",
    "required": ["error", "problems"],
    "properties": {
        "error": {"type": "string"},
        "problems": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in ("id", "found", "way_out", "element", "severity")},
            },
        },
    },
}


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": route.summary,
        "operationId": operation_id(route),
        "security": [{"token": []}],
        "x-access": route.access,
        "parameters": [
            *(
                {"name": n, "in": "path", "required": True, "schema": {"type": "string"}}
                for n in _NAMES.findall(route.path)
            ),
            *(
                {"name": p.name, "in": "query", "description": p.meaning, "schema": p.schema()}
                for p in route.parameters
            ),
        ],
        "responses": {str(route.status): {"description": route.answer}} | _refused(route),
    }
    if route.body:
        media = MEDIA if route.lane == "tuples" else ("application/json", "application/yaml")
        operation["requestBody"] = {
            "required": True,
            "description": route.body,
            "content": {name: {"schema": {}} for name in media},
        }
    return operation


def operation_id(route: Route) -> str:
    return route.handler.__name__ if route.handler.__name__ != "handler" else route.path.rpartition("/")[2]


def _refused(route: Route) -> dict[str, Any]:
    body = {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}
    return {str(status): {"description": REFUSALS[status], "content": body} for status in refusals_of(route)}


def refusals_of(route: Route) -> list[int]:
    found = {400, 401, 403, *route.refusals}
    if "{" in route.path:
        found.add(404)
    if route.body:
        found |= {408, 413, 415}
    return sorted(found)


def page() -> str:
    """Without scripts and without anything from elsewhere."""
    return "\n".join(_page())


def _page() -> Iterator[str]:
    yield "<!doctype html><html lang=en><meta charset=utf-8><title>Aurora: HTTP</title>"
    yield "<style>body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
    yield "code{background:#f0f0f0;padding:0 .2em}td{padding:.1em 1em .1em 0;vertical-align:top}</style>"
    yield "<h1>Aurora: HTTP</h1><p>The same as an <a href=openapi.json>OpenAPI document</a>.</p>"
    for route in ROUTES:
        yield f"<h2>{escape(route.summary)}</h2><p><code>{route.method} {escape(route.path)}</code>, {route.access}</p>"
        if route.body:
            yield f"<p>Body: {escape(route.body)}</p>"
        yield from _parameters(route.parameters)
        yield f"<p>Answer {route.status}: {escape(route.answer)}</p>"
    yield "<h1>WebSocket</h1>"
    for live in LIVE:
        yield f"<h2>{escape(live.summary)}</h2><p><code>{escape(live.path)}</code></p>"
        yield from _parameters(live.parameters)
        yield f"<p>Messages: {escape(live.answer)}</p>"
    yield "<h1>Others</h1><table>"
    for path, said in OPEN.items():
        yield f"<tr><td><code>{path}</code><td>{escape(said)}"
    yield "</table></html>"


def _parameters(parameters: tuple[Any, ...]) -> Iterator[str]:
    if parameters:
        yield "<table>"
        for one in parameters:
            default = "" if one.default is None else f" ({escape(str(one.default).lower())} if not given)"
            yield f"<tr><td><code>{one.name}</code><td>{escape(one.meaning)}{default}"
        yield "</table>"
