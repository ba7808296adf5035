"""The sources and sinks that a hosted network declares: who may declare which, and what they feed.

What the operator named on the command line may read any file that the server can, and knows the environment. Documents
that came from clients, or from the catalog, keep to one folder, and to variables that are meant for them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from aurora.connectors.live.manager import Feeds
from aurora.errors import NetworkError, Problem
from aurora.model.connectors import Connector
from aurora.model.network import Network

if TYPE_CHECKING:
    from aurora.server.hosted import Hosted

SECTIONS = ("sources", "sinks")
_ON_FILES = ("file", "replay", "unix")


class FeedTarget:
    """What sources feed and sinks listen to: a hosted network, with all that holds for others who do so."""

    def __init__(self, hosted: Hosted) -> None:
        self._hosted = hosted
        self._engine = hosted.engine

    def enqueue(self, stream: str, table: pl.DataFrame) -> None:
        self._hosted.enqueue(stream, table)

    def enqueued(self, stream: str) -> int:
        return self._engine.enqueued(stream)

    def kept(self, stream: str) -> int:
        return self._engine.kept(stream)

    def subscribe(self, output: str, callback: Callable[[pl.DataFrame], None]) -> None:
        self._hosted.attach(output, callback)

    def unsubscribe(self, output: str, callback: Callable[[pl.DataFrame], None]) -> None:
        self._hosted.detach(output, callback)

    def drain(self) -> None:
        self._hosted.engine.drain()

    def commit(self) -> None:
        self._hosted.engine.commit()


def make_feeds(hosted: Hosted, *, own: bool, files: Path | None) -> Feeds:
    target = FeedTarget(hosted)
    if own:
        return Feeds(hosted.network, target)
    return Feeds(hosted.network, target, folder=files or Path(), confined=True)


def check_feeds(network: Network, *, own: bool, files: Path | None) -> None:
    """Refuses sources and sinks that a document which is not the operator's may not have."""
    if own or files is not None:
        return
    _refuse(
        [
            _problem(section, name, "works on files, and this server has no folder for those of clients", _FILES_WAY)
            for section, name, declared in _declared(network)
            if declared.kind in _ON_FILES
        ]
    )


def check_changed(before: Network, after: Network, *, own: bool) -> None:
    """What the operator declared reaches further than what clients may; so clients leave it as it is, or remove it."""
    if not own:
        return
    known = {(section, name): declared for section, name, declared in _declared(before)}
    _refuse(
        [
            _problem(section, name, "is not as the operator declared it", _OWN_WAY)
            for section, name, declared in _declared(after)
            if known.get((section, name)) != declared
        ]
    )


_FILES_WAY = "use another kind, or have the server started with --files DIR"
_OWN_WAY = "change sources and sinks in the document that the server is started with, or in a network of your own"


def _declared(network: Network) -> list[tuple[str, str, Connector]]:
    return [
        *(("sources", name, source) for name, source in network.sources.items()),
        *(("sinks", name, sink) for name, sink in network.sinks.items()),
    ]


def _problem(section: str, name: str, found: str, way_out: str) -> Problem:
    one = section.removesuffix("s")
    return Problem("not-allowed-here", f"the {one} {name!r} {found}", way_out, f"{one} {name}", (section, name))


def _refuse(problems: list[Problem]) -> None:
    if problems:
        raise NetworkError(problems)
