"""The life of one source: run it, and when it fails wait and run it again. Nothing it does stops anybody else."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from aurora.connectors.live.backoff import BackOff
from aurora.connectors.live.failures import HopelessError
from aurora.connectors.live.inlet import Inlet
from aurora.connectors.live.watched import start_watched, tell_failure

_LOG = logging.getLogger("aurora")
_STEADY_US = 10_000_000
"""A connection that held so long was a good one, even if nothing came over it."""


class LiveSource(Protocol):
    def run(self, inlet: Inlet) -> None:
        """Connects, says so, and brings tuples until the inlet's ``halt``, or the end; raises what goes wrong."""


@runtime_checkable
class Keeping(Protocol):
    """A source that keeps something open over failures."""

    def close(self) -> None:
        """Called when it is run no more, and what it brought is safe or lost."""


class Worker:
    """``make`` gives the source anew, so that one which cannot be made is told apart from one that fails."""

    def __init__(self, make: Callable[[], LiveSource], inlet: Inlet, backoff: BackOff) -> None:
        self._make = make
        self._inlet = inlet
        self._backoff = backoff
        self.source: LiveSource | None = None
        self._lock = threading.Lock()
        self._ended = self._released = False

    def start(self) -> threading.Thread | None:
        return start_watched(f"aurora source {self._inlet.meter.status().name}", self.run, self._inlet.meter)

    def run(self) -> None:
        try:
            self._run()
        finally:
            with self._lock:
                self._ended = True
            self._close()

    @property
    def keeps(self) -> bool:
        """Whether its source has something to let go of."""
        return isinstance(self.source, Keeping)

    def release(self) -> None:
        """Lets go of what the source keeps: now, or when its thread ends."""
        with self._lock:
            self._released = True
        self._close()

    def _close(self) -> None:
        with self._lock:
            source = self.source if self._ended and self._released else None
            if source is not None:
                self.source = None
        if isinstance(source, Keeping):
            try:
                source.close()
            except BaseException as error:
                self._inlet.meter.error(error)
                _LOG.exception("%s did not close cleanly", threading.current_thread().name)

    def _run(self) -> None:
        meter, halt = self._inlet.meter, self._inlet.halt
        while not halt.stopped:
            before = meter.count("tuples")
            try:
                if self.source is None:
                    self.source = self._make()
                self.source.run(self._inlet)
            except HopelessError as error:
                tell_failure(threading.current_thread().name, error, meter)
                return
            except BaseException as error:
                # A panic inside Polars is no Exception, and neither is SystemExit, with which a thread ends silently.
                if halt.stopped:
                    break
                if meter.count("tuples") > before or meter.connected_us >= _STEADY_US:
                    self._backoff.reset()
                self._wait_after(error)
            else:
                meter.now("stopped" if halt.stopped else "ended")
                return
        meter.now("stopped")

    def _wait_after(self, error: BaseException) -> None:
        meter = self._inlet.meter
        meter.error(error)
        if meter.state != "retrying":
            _LOG.warning("%s tries again: %s", threading.current_thread().name, meter.status().last_error)
            meter.now("retrying")
        meter.add(retries=1)
        self._inlet.halt.wait(self._backoff.next_s())
