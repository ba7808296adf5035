"""An engine with the sources and sinks of a document, as a server has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from aurora.connectors.live.manager import Feeds
from aurora.engine.engine import Engine
from aurora.model.network import Network

COLUMNS = {"ticker": "string", "price": "double", "n": "int"}
FAST = {"first": "50ms", "most": "200ms"}
"""Retries that tests have the patience for."""


def document(
    sources: Mapping[str, Any] | None = None,
    sinks: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Network:
    """All ticks come out of ``all``, the dear ones of ``dear``."""
    streams = {"ticks": {"schema": dict(columns or COLUMNS)}}
    boxes = {} if columns else {"above": {"kind": "filter", "in": "ticks", "where": "price > 50"}}
    outputs = {"all": {"from": "ticks"}} | ({} if columns else {"dear": {"from": "above"}})
    return Network.from_document(
        {
            "aurora": 1,
            "network": "fed",
            "streams": streams,
            "boxes": boxes,
            "outputs": outputs,
            "sources": {name: {"into": "ticks", "retry": FAST, **given} for name, given in (sources or {}).items()},
            "sinks": {name: {"from": "all", "retry": FAST, **given} for name, given in (sinks or {}).items()},
        }
    )


class Fed:
    """``rows`` are what came out of ``all`` so far."""

    def __init__(self, engine: Engine, feeds: Feeds) -> None:
        self.engine = engine
        self.feeds = feeds
        self.rows: list[tuple[Any, ...]] = []
        engine.subscribe("all", lambda frame: self.rows.extend(frame.rows()))

    def state(self, name: str) -> str:
        return self.feeds.status(name).state


@contextmanager
def fed(network: Network, folder: Path | None = None, **environment: str) -> Iterator[Fed]:
    with Engine(network, processor="local") as engine:
        feeds = Feeds(network, engine, environment=environment, folder=folder, random=Random(0))
        running = Fed(engine, feeds)
        with feeds:
            yield running


def ticks(first: int, count: int) -> list[tuple[str, float, int]]:
    return [(f"T{n % 7}", n / 2, n) for n in range(first, first + count)]


def lines(rows: list[tuple[str, float, int]]) -> bytes:
    return b"".join(b'{"ticker": "%s", "price": %r, "n": %d}\n' % (t.encode(), p, n) for t, p, n in rows)
