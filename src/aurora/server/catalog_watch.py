"""What others do to the catalog while the server runs: it is checked as any document is, and then applied."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from aurora.catalog import Candidate, Catalog, Change
from aurora.errors import AuroraError, NetworkError, Problem
from aurora.model.document import loads
from aurora.server.host import Host

_LOG = logging.getLogger("aurora.server")
_EVERY_S = 0.25
_NOTE_S = 10.0
"""How often statistics are noted in the catalog."""


class CatalogWatch:
    """Two threads of its own: one applies edits, one notes statistics. Neither stops because something failed."""

    def __init__(self, host: Host, catalog: Catalog, *, every_s: float = _EVERY_S, note_s: float = _NOTE_S) -> None:
        self._host = host
        self._catalog = catalog
        self._every_s = every_s
        self._note_s = note_s
        self._stop = threading.Event()
        self._since = 0
        self._threads = [
            threading.Thread(target=work, name=f"aurora-catalog-{name}", daemon=True)
            for name, work in (("edits", self._watch), ("statistics", self._note))
        ]

    def start(self) -> None:
        self._review()
        self._since = self._catalog.last_change
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._stop.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def _watch(self) -> None:
        while not self._stop.is_set():
            try:
                for changes in self._catalog.watch(self._stop, every_s=self._every_s, since=self._since):
                    self._since = changes[-1].id
                    self._take(changes)
            except BaseException:
                _LOG.exception("edits of the catalog could not be taken; trying again")
                self._stop.wait(1.0)

    def _take(self, changes: Sequence[Change]) -> None:
        if any(change.what in ("edited", "proposed") for change in changes):
            self._review()
        for name in dict.fromkeys(change.network for change in changes if change.what in ("accepted", "removed")):
            self._follow(name)

    def _review(self) -> None:
        for version in self._catalog.review(self._apply):
            _LOG.info("catalog: %s, version %d, was %s", version.network, version.number, version.state)

    def _apply(self, candidate: Candidate) -> Sequence[Problem]:
        """What speaks against a candidate; nothing if it runs now."""
        try:
            self._make_so(candidate.name, candidate.document if not candidate.removal else None)
        except NetworkError as error:
            return error.problems
        except AuroraError as error:
            return [Problem("not-applied", f"the server could not apply it: {error}", "mend that, and edit it again")]
        return ()

    def _follow(self, name: str) -> None:
        """Another program has made a version current; the server runs it too."""
        current = self._catalog.current(name)
        try:
            self._make_so(name, None if current is None else current.document)
        except AuroraError as error:
            _LOG.error("the catalog's current version of %s cannot run here: %s", name, error)

    def _make_so(self, name: str, document: str | None) -> None:
        there = name in self._host.names()
        if document is None:
            if there:
                self._host.drop(name)
            return
        network = loads(document)
        if not there:
            self._host.take_in(network)
        elif self._host.hosted(name).network.to_json() != network.to_json():
            self._host.hosted(name).modify(network, why="an edit of the catalog")

    def _note(self) -> None:
        while not self._stop.wait(self._note_s):
            for hosted in self._host:
                try:
                    if hosted.stage == "running":
                        self._catalog.note_statistics(hosted.name, hosted.stats().to_dict())
                except BaseException:
                    _LOG.exception("statistics of %s could not be noted", hosted.name)
