"""Looks at every network about once a second, and notes what is kept of it: samples, and what happened by itself."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from aurora.clock import Clock, WallClock
from aurora.errors import AuroraError
from aurora.server.events import Noticing
from aurora.server.host import Host
from aurora.server.hosted import Hosted

_LOG = logging.getLogger("aurora.server")
_SECOND_US = 1_000_000


class HistoryKeeper:
    """Two threads of its own: one takes samples, in the middle of every second; the other looks for events. Sources
    and sinks that are being stopped may keep the second waiting, but never the first."""

    def __init__(self, host: Host, clock: Clock | None = None) -> None:
        self._host = host
        self._clock = clock or WallClock()
        self._stop = threading.Event()
        self._noticing: dict[int, tuple[Noticing, str]] = {}
        self._threads = [
            threading.Thread(target=self._every_second, args=(work,), name=f"aurora-history-{name}", daemon=True)
            for name, work in (("samples", self.sample), ("events", self.notice))
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._stop.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def _every_second(self, work: Callable[[Hosted], None]) -> None:
        while not self._stop.wait(((_SECOND_US * 3 // 2 - self._clock.now_us()) % _SECOND_US or _SECOND_US) / 1e6):
            for hosted in self._host:
                try:
                    work(hosted)
                except AuroraError:
                    continue  # it was stopped meanwhile
                except BaseException:
                    _LOG.exception("what %s does could not be noted", hosted.name)

    def sample(self, hosted: Hosted) -> None:
        if hosted.stage in ("running", "paused") and self._clock.now_us() // _SECOND_US % hosted.history.step_s == 0:
            hosted.history.note(hosted.engine.sample())

    def notice(self, hosted: Hosted) -> None:
        noticing, before = self._noticing.get(id(hosted), (Noticing(hosted.events), "stopped"))
        now = hosted.stage
        self._noticing = {id(one): self._noticing[id(one)] for one in self._host if id(one) in self._noticing}
        self._noticing[id(hosted)] = (noticing, now)
        noticing.stage(before, now, hosted.why)
        noticing.connectors(hosted.statuses())
        now_us = self._clock.now_us()
        noticing.drops(hosted.engine.drops() if now in ("running", "paused") else (), now_us)
        latest = hosted.history.latest
        if latest is not None:
            noticing.turned_away(latest.shed.get("no room", 0), now_us)
            noticing.rejected(latest.rejected)
