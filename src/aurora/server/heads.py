"""Connections on which nothing moves: they are closed after a while, and when the server ends."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 10.0
"""How long the head of a request may take, from the connection or from its first byte."""
UNREAD_S = 60.0
"""How long an answer may take to be read once it is complete."""


class PatientProtocol(H11Protocol):
    """Uvicorn's protocol with an end to its patience for heads and for answers. Bodies have their own limits."""

    head_s = HEAD_S
    unread_s = UNREAD_S
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        _send_at_once(transport.get_extra_info("socket"))
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.transport.is_closing() or self._answering:
            self._stop_waiting()
        elif self._head_timer is None and self.timeout_keep_alive_task is None:
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._stop_waiting()
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.get_write_buffer_size():
            self.loop.call_later(self.unread_s, self._drop_unread, self.cycle)

    def _drop_unread(self, cycle: object) -> None:
        if self.cycle is cycle and self.transport.get_write_buffer_size():
            self.transport.abort()

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait_for_head(self) -> None:
        self._head_timer = self.loop.call_later(self.head_s, self._give_up)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self._head_timer = None
        if not self._answering and not self.transport.is_closing():
            self.transport.close()


class PatientServer(uvicorn.Server):
    """Uvicorn, which leaves connections open that do not end in time: those who do not read what they asked for."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        while self.server_state.connections:
            await asyncio.sleep(0)


def _send_at_once(connection: Any) -> None:
    """Otherwise the body of an answer waits until the client has confirmed its head, which takes clients 40 ms.

    The event loop does so only for sockets that were made with the protocol's number, and listeners are not.
    """
    if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
