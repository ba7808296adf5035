"""The two ends of stream sockets, TCP and Unix alike: where to listen, and where to connect to."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from dataclasses import dataclass
from pathlib import Path

from aurora.model.addresses import HostPort

_CONNECT_S = 10.0
_BACKLOG = 512


@dataclass(frozen=True)
class Endpoint:
    """A host and port, or a path."""

    address: HostPort | Path

    def listener(self) -> socket.socket:
        """A socket that others can connect to. It does not block."""
        if isinstance(self.address, Path):
            listener = _unix_listener(self.address)
        else:
            family = socket.AF_INET6 if ":" in self.address.host else socket.AF_INET
            listener = socket.create_server((self.address.host, self.address.port), family=family, backlog=_BACKLOG)
        listener.setblocking(False)
        return listener

    def connected(self) -> socket.socket:
        if not isinstance(self.address, Path):
            return socket.create_connection((self.address.host, self.address.port), timeout=_CONNECT_S)
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(_CONNECT_S)
        try:
            connection.connect(str(self.address))
        except BaseException:
            connection.close()
            raise
        return connection

    def release(self) -> None:
        """Takes away what a listener leaves behind."""
        if isinstance(self.address, Path):
            with contextlib.suppress(OSError):
                self.address.unlink()

    def __str__(self) -> str:
        return str(self.address)


def _unix_listener(path: Path) -> socket.socket:
    """Only this user may connect. A socket that nobody listens on any more is replaced; nothing else is."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            raise OSError(f"{path} is there and is no socket; name another path")
        probe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with contextlib.closing(probe):
            if probe.connect_ex(str(path)) == 0:
                raise OSError(f"somebody listens on {path} already; name another path")
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        os.chmod(path, 0o600)
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener
