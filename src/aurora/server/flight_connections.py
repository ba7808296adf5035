"""Sees to the sockets of a Flight server, where the library falls short.

Two servers may listen on one port without noticing, and each would get some of the calls. The library's own shutdown
waits for every open call, and a put ends only when its client says so: a client that has nothing to say would keep the
server for ever. So what is still open after a while is cut at the socket.
"""

from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

from aurora.errors import InputError

_AGAIN_S = 0.5


def check_free(address: str, port: int) -> None:
    """InputError if somebody listens there already."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        socket.create_server((address, port), family=family).close()
    except OSError as error:
        raise InputError(
            f"cannot listen on {address}:{port} for Flight: {error.strerror or error}; choose another port"
        ) from error


def shut_down(server: Any, grace_s: float) -> None:
    """Waits so long for open calls, then cuts their connections until the server has ended."""
    port = server.port
    ended = threading.Thread(target=server.shutdown, name="aurora-flight-shutdown", daemon=True)
    ended.start()
    ended.join(grace_s)
    while ended.is_alive():
        for connection in _connections(port):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        ended.join(_AGAIN_S)


def _connections(port: int) -> Iterator[socket.socket]:
    """The connections that this process has accepted on a port, each as a duplicate that is closed after use."""
    for name in os.listdir("/dev/fd"):
        with suppress(OSError):
            if not stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                continue
            with closing(socket.socket(fileno=os.dup(int(name)))) as connection:
                internet = connection.family in (socket.AF_INET, socket.AF_INET6)
                connection.getpeername()
                if internet and connection.getsockname()[1] == port:
                    yield connection
