"""The page of the HTTP interface: every route that is declared, with its parameters and answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aurora.server.all_routes import LIVE, OPEN, ROUTES
from aurora.server.openapi import REFUSALS, refusals_of
from aurora.server.routes import Parameter
from docs.sources.tables import notice, table

HEAD = """\
# HTTP and WebSocket

What [`aurora serve`](../how-to/serve.md) answers. A running server has the same as an OpenAPI document at
`/api/v1/openapi.json`, and as a page at `/api/v1/docs`. Tuples in large numbers go over Arrow Flight instead.

A server with tokens wants the header `Authorization: Bearer TOKEN`. The *read* token is enough where access is read;
for everything else it takes the *full* one. Names in paths are written as in URLs. Bodies are not compressed, and are
no longer than the server was told to take.

Every refusal is JSON of the form `{"error": "...", "problems": [...]}`: what is wrong, and the way out. Each problem of
a network has an `id`, what was `found`, the `way_out`, the `element` and its `path` ([Problems](problems.md)).
"""
SOCKETS = """\
## WebSockets

The read token is enough. A browser, which cannot set headers, offers the protocol `bearer.TOKEN` beside another one.
A socket that is refused gets a plain HTTP answer; one that ends later is closed with a code and a reason: 1001 (the
network or the server was stopped), 1008 (refused), 1013 (read too slowly).
"""


def page() -> str:
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield notice("src/aurora/server/http_control.py, http_tuples.py, websocket.py", "docs/sources/http_page.py")
    yield ""
    yield HEAD
    yield from table(("status", "meaning"), [(str(status), meaning) for status, meaning in REFUSALS.items()])
    yield "\n## Routes\n"
    for route in ROUTES:
        yield f"### {route.method} {route.path}\n"
        yield f"{route.summary}. Access: {route.access}.\n"
        if route.body:
            yield f"Body: {route.body}\n"
        yield from _parameters(route.parameters)
        refused = ", ".join(map(str, refusals_of(route)))
        yield f"Answer {route.status}: {route.answer}. Refusals: {refused}.\n"
    yield SOCKETS
    for live in LIVE:
        yield f"### {live.path}\n"
        yield f"{live.summary}.\n"
        yield from _parameters(live.parameters)
        yield f"Messages: {live.answer}.\n"
    yield "## Others\n"
    yield from table(("path", "what it is"), [(f"`{path}`", said) for path, said in OPEN.items()])


def _parameters(parameters: Sequence[Parameter]) -> Iterator[str]:
    if parameters:
        rows = [
            (f"`{one.name}`", one.meaning, ", ".join(one.choices), "" if one.default is None else _text(one.default))
            for one in parameters
        ]
        yield from table(("parameter", "meaning", "choices", "default"), rows)
        yield ""


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
