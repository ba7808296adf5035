"""Ports that are free, and stay so until the test uses them.

A port that the system hands out (port 0) and that is let go again may be taken at once: by an outgoing connection of
anybody on this machine, or by another test. So these come from below the range of outgoing connections, and test
processes that run beside each other take them from different stretches of it.
"""

from __future__ import annotations

import os
import socket
from itertools import count
from pathlib import Path

_FIRST = 20_000
_STRETCH = 500
_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_turns = count()


def _end() -> int:
    """Where outgoing connections begin."""
    return int(_RANGE.read_text().split()[0]) if _RANGE.exists() else 32_768


def _stretch() -> range:
    """This process's own ports. The workers of a run have numbers, and runs differ by their processes, in general."""
    stretches = max(1, (_end() - _FIRST) // _STRETCH)
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    parent = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
    first = _FIRST + (parent + int(worker)) % stretches * _STRETCH
    return range(first, first + _STRETCH)


def free_port() -> int:
    """Another one with each call, so that none is used again soon."""
    ports = _stretch()
    for _ in ports:
        port = ports[next(_turns) % len(ports)]
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError(f"no port of {ports} is free")
