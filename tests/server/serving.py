"""A network of two outputs, a host for it, and a server of HTTP and Flight on free ports of this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from aurora.model.network import Network
from aurora.server.auth import Tokens
from aurora.server.flight import FlightServer
from aurora.server.host import Host
from aurora.server.service import Addresses, Service
from aurora.server.settings import EngineSettings, Limits

FULL, READ = "the-full-token-of-tests", "the-read-token-of-tests"
TOKENS = Tokens(FULL, READ)
LOCAL = EngineSettings(processor="local")


def ticks(name: str = "ticks") -> Network:
    net = Network(name)
    stream = net.stream("ticks", ticker="string", price="double")
    net.output("dear", stream.filter("above", "price > 50"))
    net.output("all", stream.filter("any", "true"))
    return net


@contextmanager
def hosting(*networks: Network, settings: EngineSettings = LOCAL, limits: Limits | None = None) -> Iterator[Host]:
    with Host(settings=settings, limits=limits) as host:
        for network in networks:
            host.add(network)
        yield host


@dataclass(frozen=True)
class Serving:
    url: str
    host: Host
    flight: FlightServer


@contextmanager
def serving(*networks: Network, tokens: Tokens | None = None, limits: Limits | None = None) -> Iterator[Serving]:
    addresses = Addresses(port=0, flight_port=0)
    with Service(networks, settings=LOCAL, limits=limits, tokens=tokens, addresses=addresses) as service:
        assert service.flight is not None
        yield Serving(service.url, service.host, service.flight)


def until(true: Callable[[], bool], timeout_s: float = 20.0) -> None:
    """Waits for something that other threads bring about."""
    end_s = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < end_s, "it did not come about"
        time.sleep(0.01)
