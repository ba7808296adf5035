"""WebSockets: statistics as they change, and the tuples of an arc as they come out.

A socket that is read too slowly loses the oldest tuples, or is closed, as it chose; its messages say how many were
lost. Nobody else waits for it: what is to be sent waits in the queue of its subscription, which has a limit.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import polars as pl
from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from aurora.connectors.converters.base import Converter
from aurora.errors import AuroraError
from aurora.server.auth import Access
from aurora.server.fanout import Subscription
from aurora.server.http_answers import plain_json
from aurora.server.http_tuples import converter_of
from aurora.server.routes import LiveRoute, Parameter

if TYPE_CHECKING:
    from aurora.server.app import Server

GOING_AWAY, REFUSED, TRY_LATER, FAILED = 1001, 1008, 1013, 1011
_MOST_TUPLES = 5_000
"""In one message."""
_GLANCE_S = 0.2
_LOOK_S = 2.0
"""How often a socket that has nothing to tell looks whether its network is still there."""
_SEND_S = 30.0
"""How long one message may take to be sent; a reader that stands still for so long is let go."""

LIVE = (
    LiveRoute(
        "statistics",
        "/api/v1/networks/{network}/stats/live",
        "Statistics, again and again",
        (Parameter("every_s", float, "How often.", 1.0, least=0.1, most=3600),),
        "what GET stats answers, in each message",
    ),
    LiveRoute(
        "tap",
        "/api/v1/networks/{network}/arcs/{arc}/live",
        "The tuples of an output, or of any arc, as they come out",
        (
            Parameter(
                "when_behind",
                str,
                "If the messages are read too slowly: drop the oldest tuples, or disconnect.",
                "drop",
                ("drop", "disconnect"),
            ),
            Parameter("take", bool, "Take what waits at an output, instead of only looking on; needs the full token."),
            Parameter("inside", bool, "Of the arc, where an output has its name too.", False),
            Parameter(
                "latest",
                int,
                "For people: about five messages a second, each with so many of the latest tuples at most.",
                least=1,
                most=_MOST_TUPLES,
            ),
        ),
        "`{tuples: [...], dropped: n}` in each message; the first is `{columns: {...}}`. With `latest` also `count`, "
        "how many tuples came in all, and `dropped` counts those that were left out",
    ),
    LiveRoute(
        "debug",
        "/api/v1/networks/{network}/debug/live",
        "Break-points, hits and steps, whenever they change",
        (),
        "what GET debug/state answers, in each message",
    ),
)


class ClosedError(Exception):
    """The other side is gone."""


async def send(socket: WebSocket, value: Any) -> None:
    await send_text(socket, plain_json(value))


async def send_text(socket: WebSocket, text: bytes) -> None:
    try:
        async with asyncio.timeout(_SEND_S):
            await socket.send_text(text.decode())
    except TimeoutError:
        raise ClosedError(f"a message could not be sent within {_SEND_S:g} s") from None
    except (WebSocketDisconnect, RuntimeError, OSError) as error:
        raise ClosedError("the connection is closed") from error


async def close(socket: WebSocket, code: int, reason: str) -> None:
    """A reason has room for 123 bytes."""
    if socket.application_state == WebSocketState.CONNECTED:
        short = reason.encode()[:120].decode(errors="ignore")
        try:
            async with asyncio.timeout(2):
                await socket.close(code, short)
        except (TimeoutError, RuntimeError, OSError, WebSocketDisconnect):
            return


async def until_gone(socket: WebSocket) -> None:
    """Comes back when the other side closes; what it sends is not looked at."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


async def statistics(server: Server, socket: WebSocket, path: Mapping[str, str], query: Mapping[str, Any]) -> None:
    """Until the network is gone or the other side is. A slow reader gets fewer messages, always the latest."""
    while True:
        reading = await run_in_threadpool(server.host.get_perf_stats, path["network"])
        await send(socket, {"at_us": server.clock.now_us(), **reading.to_dict()})
        await asyncio.sleep(query["every_s"])


async def tap(
    server: Server, socket: WebSocket, path: Mapping[str, str], query: Mapping[str, Any], access: Access
) -> None:
    consume = bool(query["take"]) and access == "full"
    behind, inside = query["when_behind"], query["inside"]
    opening = _Opening(
        lambda: server.host.subscribe(path["network"], path["arc"], when_behind=behind, consume=consume, inside=inside)
    )
    try:
        subscription = await run_in_threadpool(opening.open)
        await send(socket, {"columns": {name: str(kind) for name, kind in subscription.schema.items()}})
        converter = converter_of("json", subscription.schema)
        if query["latest"] is None:
            await _forward(socket, subscription, converter)
        else:
            await _forward_latest(socket, subscription, converter, query["latest"])
        await close(socket, TRY_LATER if "behind" in subscription.reason else GOING_AWAY, subscription.reason)
    finally:
        opening.close()


class _Opening:
    """A subscription that a thread opens. Whoever wants it may be gone before it is there, and it is closed even so."""

    def __init__(self, subscribe: Callable[[], Subscription]) -> None:
        self._subscribe = subscribe
        self._lock = threading.Lock()
        self._opened: Subscription | None = None
        self._closed = False

    def open(self) -> Subscription:
        subscription = self._subscribe()
        with self._lock:
            self._opened = subscription
            gone = self._closed
        if gone:
            subscription.close()
        return subscription

    def close(self) -> None:
        with self._lock:
            self._closed = True
            subscription = self._opened
        if subscription is not None:
            subscription.close()


async def debug(server: Server, socket: WebSocket, path: Mapping[str, str]) -> None:
    """Until the network is gone or the other side is. What changes while a message is on its way is in the next."""
    loop, news = asyncio.get_running_loop(), asyncio.Event()

    def tell() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(news.set)

    debugging = server.host.hosted(path["network"]).debugging
    leave = debugging.listen(tell)
    try:
        while server.host.hosted(path["network"]).debugging is debugging:
            # First cleared, then looked: what changes in between is told again, and not lost.
            news.clear()
            await send(socket, await run_in_threadpool(debugging.state))
            while not news.is_set() and server.host.hosted(path["network"]).debugging is debugging:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK_S):
                        await news.wait()
        await close(socket, GOING_AWAY, "the network is another one now")
    finally:
        leave()


async def _forward(socket: WebSocket, subscription: Subscription, converter: Converter) -> None:
    news = _news_of(subscription)
    while True:
        news.clear()
        while (frame := subscription.take()) is not None:
            for start in range(0, frame.height, _MOST_TUPLES):
                await send_text(socket, await run_in_threadpool(_message, frame[start:], converter, subscription))
        if subscription.ended:
            return
        await news.wait()


async def _forward_latest(socket: WebSocket, subscription: Subscription, converter: Converter, most: int) -> None:
    """More than people can see nobody need send: of what has come since the last message only the end."""
    news = _news_of(subscription)
    left_out = 0
    while True:
        news.clear()
        frames = []
        while (frame := subscription.take()) is not None:
            frames.append(frame)
        if frames:
            came = await run_in_threadpool(pl.concat, frames)
            left_out += max(0, came.height - most)
            tuples = (await run_in_threadpool(converter.encode, came[-most:])).data.strip()
            lost = subscription.dropped + left_out
            count = subscription.handed + subscription.dropped
            await send_text(socket, b'{"count": %d, "dropped": %d, "tuples": %b}' % (count, lost, tuples))
            await asyncio.sleep(_GLANCE_S)
        elif subscription.ended:
            return
        else:
            await news.wait()


def _news_of(subscription: Subscription) -> asyncio.Event:
    """Set whenever there is something to take."""
    loop, news = asyncio.get_running_loop(), asyncio.Event()

    def tell() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(news.set)

    subscription.on_news(tell)
    return news


def _message(frame: pl.DataFrame, converter: Converter, subscription: Subscription) -> bytes:
    tuples = converter.encode(frame[:_MOST_TUPLES]).data.strip()
    return b'{"dropped": %d, "tuples": %b}' % (subscription.dropped, tuples)


async def run(server: Server, socket: WebSocket, route: LiveRoute, query: dict[str, Any], access: Access) -> None:
    """Serves one socket that was let in, until either side has enough."""
    path = socket.path_params
    work: asyncio.Task[None]
    if route.name == "statistics":
        work = asyncio.create_task(statistics(server, socket, path, query))
    elif route.name == "debug":
        work = asyncio.create_task(debug(server, socket, path))
    else:
        work = asyncio.create_task(tap(server, socket, path, query, access))
    gone = asyncio.create_task(until_gone(socket))
    server.sockets.add(work)
    server.counts.sockets += 1
    try:
        await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            error = None if work.cancelled() else work.exception()
            if work.cancelled():
                await close(socket, GOING_AWAY, "the server is stopping")
            elif isinstance(error, AuroraError):
                await close(socket, REFUSED, str(error))
            elif isinstance(error, ClosedError):
                await close(socket, TRY_LATER, str(error))
            elif error is not None:
                raise error
    finally:
        server.counts.sockets -= 1
        server.sockets.discard(work)
        for task in (work, gone):
            task.cancel()
        await asyncio.gather(work, gone, return_exceptions=True)
