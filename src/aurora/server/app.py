"""The server as an ASGI application: who asks is let in, the request is read within limits, a handler answers."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from importlib import metadata
from typing import Any

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.routing import Route as HttpRoute
from starlette.websockets import WebSocket

from aurora.clock import Clock, WallClock
from aurora.errors import InputError
from aurora.server import openapi, websocket
from aurora.server.all_routes import LIVE, ROUTES
from aurora.server.auth import Access, Tokens, allows, foreign_page
from aurora.server.counts import Counts
from aurora.server.health import readiness
from aurora.server.host import Host
from aurora.server.http_answers import answered, failed, refusal
from aurora.server.http_body import Refused, read_body
from aurora.server.page_files import PageFiles
from aurora.server.prometheus import CONTENT_TYPE, exposition
from aurora.server.routes import Call, Lane, LiveRoute, Route

_LOG = logging.getLogger("aurora.server")
_THREADS: dict[Lane, int] = {"control": 16, "tuples": 32, "answers": 32, "health": 4}
"""Of tuples and answers, for each network: one that has no room does not hold up the others."""
_TURN_S = 10.0
"""How long a request waits for a thread before it is told to come again."""


class Server:
    """What handlers see of the server beside the host. ``stop`` is called when a client asks for a shutdown."""

    def __init__(
        self,
        host: Host,
        tokens: Tokens,
        *,
        flight_url: str | None = None,
        stop: Callable[[bool], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.host = host
        self.tokens = tokens
        self.flight_url = flight_url
        self.version = version()
        self.clock = clock or WallClock()
        self.counts = Counts()
        self.page = PageFiles()
        self.stopping = False
        self.sockets: set[asyncio.Task[None]] = set()
        self._stop = stop
        self._lanes: dict[tuple[Lane, str], anyio.CapacityLimiter] = {}

    def ask_to_stop(self, *, drain: bool) -> None:
        if self._stop is None:
            raise InputError("this server cannot be stopped by a request; end its process")
        self.stopping = True
        self._stop(drain)

    def end_sockets(self) -> None:
        """Sockets do not end by themselves. Called from outside the event loop."""
        self.stopping = True
        for task in list(self.sockets):
            with contextlib.suppress(RuntimeError):  # the loop may be gone already
                task.get_loop().call_soon_threadsafe(task.cancel)

    async def in_thread(self, lane: Lane, work: Callable[[], Any], network: str = "") -> Any:
        known = network if lane in ("tuples", "answers") and network in self.host.names() else ""
        limiter = self._lanes.get((lane, known))
        if limiter is None:
            limiter = self._lanes[lane, known] = anyio.CapacityLimiter(_THREADS[lane])
        borrower = object()
        try:
            async with asyncio.timeout(_TURN_S):
                await limiter.acquire_on_behalf_of(borrower)
        except TimeoutError:
            busy = f"{_THREADS[lane]} such requests are being answered, and none ended for {_TURN_S:g} s; come again"
            raise Refused(503, busy, {"retry-after": "1"}) from None
        try:
            # The place was taken above; a limiter of its own keeps the thread from waiting for another.
            return await anyio.to_thread.run_sync(work, limiter=anyio.CapacityLimiter(1))
        finally:
            limiter.release_on_behalf_of(borrower)


def make_app(server: Server) -> Starlette:
    routes = _by_path(server)
    routes += [WebSocketRoute(live.path, _live_endpoint(server, live)) for live in LIVE]
    routes += [
        HttpRoute("/health/live", _live),
        HttpRoute("/health/ready", _ready(server)),
        HttpRoute("/metrics", _metrics(server)),
        HttpRoute("/api/v1/openapi.json", _openapi(server)),
        HttpRoute("/api/v1/docs", _docs),
        HttpRoute("/", _page(server)),
        HttpRoute("/assets/{name}", _asset(server)),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _not_found, Exception: _unforeseen})
    app.router.redirect_slashes = False
    return app


def _by_path(server: Server) -> list[BaseRoute]:
    """One route for each path, since Starlette takes the first that fits and then only asks for its methods."""
    by_path: dict[str, dict[str, Route]] = {}
    for route in ROUTES:
        by_path.setdefault(route.path, {})[route.method] = route
    return [HttpRoute(path, _dispatch(server, methods), methods=list(methods)) for path, methods in by_path.items()]


def _dispatch(server: Server, methods: dict[str, Route]) -> Callable[[Request], Awaitable[Response]]:
    endpoints = {method: _endpoint(server, route) for method, route in methods.items()}

    async def endpoint(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        return await endpoints[method](request)

    return endpoint


def _endpoint(server: Server, route: Route) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        response = await _answer(server, route, request)
        server.counts.answers[response.status_code] += 1
        return response

    return endpoint


async def _answer(server: Server, route: Route, request: Request) -> Response:
    try:
        access = let_in(server, request, route.access)
        query = route.read_query(dict(request.query_params))
        body = await read_body(request, server.host.limits)
        if server.stopping and route.lane in ("tuples", "answers"):
            raise Refused(503, "the server is stopping; come again when it has been started anew")
        media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        call = Call(server.host, server, request.path_params, query, body, media, access)
        network = request.path_params.get("network", "")
        return answered(await server.in_thread(route.lane, lambda: route.handler(call), network), route.status)
    except Exception as error:
        return failed(error)


def let_in(server: Server, request: Request | WebSocket, needed: Access) -> Access:
    """What whoever asks may do; Refused if that is not enough."""
    foreign = foreign_page(request.headers.get("origin"), request.headers.get("host"), tokens=server.tokens.required)
    if foreign:
        server.counts.refused += 1
        raise Refused(403, foreign)
    access = server.tokens.access(request.headers.get("authorization"))
    if access is None and isinstance(request, WebSocket):
        access = server.tokens.access_by_protocols(request.scope.get("subprotocols", []))
    if access is None:
        server.counts.refused += 1
        raise Refused(
            401,
            "this server needs a token, and none or a wrong one came; send the header Authorization: Bearer TOKEN",
            {"www-authenticate": "Bearer"},
        )
    if not allows(access, needed):
        server.counts.refused += 1
        raise Refused(403, "the token that came allows looking only; use the full token")
    return access


def _live_endpoint(server: Server, route: LiveRoute) -> Callable[[WebSocket], Awaitable[None]]:
    declared = Route("GET", route.path, "read", route.summary, lambda call: None, route.parameters)

    async def endpoint(socket: WebSocket) -> None:
        try:
            access = let_in(server, socket, "read")
            query = declared.read_query(dict(socket.query_params))
            if query.get("take") and access != "full":
                raise Refused(403, "the token that came allows looking only; use the full token, or leave out take")
            if server.counts.sockets >= server.host.limits.sockets:
                raise Refused(503, f"{server.counts.sockets} WebSockets are open already; close one, or come again")
            # Names are looked up before the handshake, so that a wrong one is a plain 404.
            hosted = server.host.hosted(socket.path_params["network"])
            if route.name == "tap":
                hosted.arc_schema(socket.path_params["arc"], inside=query["inside"])
        except Exception as error:
            await socket.send_denial_response(failed(error))
            return
        offered = socket.scope.get("subprotocols", [])
        await socket.accept(subprotocol=next((name for name in offered if not name.startswith("bearer.")), None))
        await websocket.run(server, socket, route, query, access)

    return endpoint


async def _live(request: Request) -> Response:
    return answered({"live": True}, 200)


def _ready(server: Server) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        ready, said = await server.in_thread("health", lambda: readiness(server.host, stopping=server.stopping))
        if server.tokens.required and server.tokens.access(request.headers.get("authorization")) is None:
            # The names of networks are nobody's business.
            said = {"ready": ready}
        return answered(said, 200 if ready else 503)

    return endpoint


def _metrics(server: Server) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            let_in(server, request, "read")
            text = await server.in_thread("health", lambda: exposition(server.host, server.counts))
        except Exception as error:
            return failed(error)
        return Response(text, media_type=CONTENT_TYPE)

    return endpoint


def _openapi(server: Server) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return answered(openapi.document(server.version), 200)

    return endpoint


async def _docs(request: Request) -> Response:
    return Response(openapi.page(), media_type="text/html")


def _page(server: Server) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        response: Response = await server.in_thread("health", lambda: server.page.index(request.headers))
        return response

    return endpoint


def _asset(server: Server) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        name = request.path_params["name"]
        response: Response | None = await server.in_thread("health", lambda: server.page.asset(name, request.headers))
        if response is None:
            raise HTTPException(404)
        return response

    return endpoint


async def _not_found(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    said = "this path cannot be asked in this way" if status == 405 else "there is nothing at this path"
    headers = error.headers if isinstance(error, HTTPException) else None
    return refusal(status, f"{said}; /api/v1/docs lists what there is", headers=headers)


async def _unforeseen(request: Request, error: Exception) -> Response:
    return failed(error)


def version() -> str:
    try:
        return metadata.version("aurora-streams")
    except metadata.PackageNotFoundError:
        return "0"
