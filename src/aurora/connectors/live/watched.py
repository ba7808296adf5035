"""Threads of sources and sinks whose end is always told: what no other code has caught is caught here."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from aurora.connectors.live.state import Meter

_LOG = logging.getLogger("aurora")
_OVER = ("ended", "failed", "stopped")


def start_watched(name: str, run: Callable[[], None], meter: Meter) -> threading.Thread | None:
    """Runs it in a thread. However that ends, the status says so; None if the machine has no thread left."""
    thread = threading.Thread(target=lambda: run_watched(run, meter), name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        tell_failure(name, error, meter)
        return None
    return thread


def run_watched(run: Callable[[], None], meter: Meter) -> None:
    name = threading.current_thread().name
    try:
        run()
    except BaseException as error:
        tell_failure(name, error, meter)
    else:
        if meter.state not in _OVER:
            tell_failure(name, RuntimeError("its thread came to an end without a reason"), meter)


def tell_failure(name: str, error: BaseException, meter: Meter) -> None:
    meter.error(error)
    meter.now("failed")
    _LOG.error("%s has failed: %s", name, meter.status().last_error)
