"""A small network, and a server for it on free ports of this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from websockets.sync.client import ClientConnection, connect

from aurora.server.auth import Tokens
from aurora.server.service import Addresses, Service
from aurora.server.settings import EngineSettings, Limits

DOCUMENT = """\
aurora: 1
network: demo
streams:
  ticks: {schema: {ticker: string, price: double}}
boxes:
  high: {kind: filter, in: ticks, where: price > 10}
  double: {kind: map, in: high, compute: {ticker: ticker, price: price * 2}}
outputs:
  dear: {from: double}
"""
FED = f"""{DOCUMENT}sources:
  made_up:
    kind: generator
    into: ticks
    rate: 500
    columns: {{ticker: {{choice: [IBM, MSF]}}, price: {{uniform: [0, 20]}}}}
"""
WINDOWED = """\
aurora: 1
network: counted
streams:
  ticks: {schema: {ticker: string, price: double}}
boxes:
  pairs:
    kind: aggregate
    in: ticks
    window: {size: 2 tuples}
    compute: {total: sum(price)}
outputs:
  totals: {from: pairs}
"""
FULL, READ = "full-token-of-the-tests", "read-token-of-the-tests"
TOKENS = Tokens(FULL, READ)
API = "/api/v1"


@contextmanager
def serving(
    *documents: str,
    tokens: Tokens | None = None,
    limits: Limits | None = None,
    catalog: Path | None = None,
    settings: EngineSettings | None = None,
    flight: bool = False,
) -> Iterator[Service]:
    service = Service(
        documents or (DOCUMENT,),
        settings=settings or EngineSettings(processor="local", memory="64MB"),
        limits=limits,
        tokens=tokens,
        addresses=Addresses(port=0, flight_port=0 if flight else None),
        catalog=catalog,
    )
    with service:
        yield service


def asking(service: Service, token: str | None = None) -> httpx.Client:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    return httpx.Client(base_url=service.url, headers=headers, timeout=30, trust_env=False)


def socket_to(service: Service, path: str, token: str | None = None, **options: Any) -> ClientConnection:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    url = service.url.replace("http", "ws", 1) + path
    return connect(url, additional_headers=headers, proxy=None, **options)


def received(socket: ClientConnection, timeout_s: float = 10) -> Any:
    return json.loads(socket.recv(timeout=timeout_s))


def rows(count: int, price: float = 20.0) -> list[dict[str, Any]]:
    return [{"ticker": f"t{number}", "price": price + number} for number in range(count)]
