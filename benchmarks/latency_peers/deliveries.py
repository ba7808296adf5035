"""What a peer notes of every result it is given, and how it is stopped. Needs no package, so every peer can use it.

A peer is started with the query's name, the port of the feed, and the folder for its notes. It runs until its standard
input ends; then it writes what it noted and is gone.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

HOST = "127.0.0.1"
SWITCH_S = 0.000_1


class Deliveries:
    """Results as they come in: when, and what of.

    For Q1 the key is the tuple's birth in µs, with 1, notional and price; for Q2 it is the window's start in ms, with
    count, average and maximum. Arrays, not tuples: what is noted here must not make the peer's garbage collector busy.
    """

    def __init__(self) -> None:
        self._whole = array("q")
        self._real = array("d")

    def note(self, key: int, count: int, first: float, second: float, delivered_ns: int = 0) -> None:
        self._whole.extend((delivered_ns or time.time_ns(), key, count))
        self._real.extend((first, second))

    def write(self, folder: Path) -> None:
        """Adds what was noted to this process's file, and forgets it."""
        whole, real = self._whole, self._real
        with (folder / f"{os.getpid()}.csv").open("a", encoding="ascii") as file:
            for row in range(len(whole) // 3):
                delivered, key, count = whole[3 * row : 3 * row + 3]
                file.write(f"{delivered},{key},{count},{real[2 * row]!r},{real[2 * row + 1]!r}\n")
        self._whole, self._real = array("q"), array("d")


def arguments() -> tuple[str, int, Path]:
    """The query, the feed's port and the folder."""
    query, port, folder = sys.argv[1:4]
    return query, int(port), Path(folder)


def settle() -> None:
    """What a Python program does that cares for latency; every peer whose work is done in Python gets it.

    What has been imported is never looked at by the garbage collector again, and threads do not wait for their turn for
    the 5 ms that Python gives each.
    """
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH_S)


def stop_at_end_of_input(write: Callable[[], None]) -> None:
    """When standard input ends, write and leave at once, whatever the peer is in the middle of.

    A peer that is done before keeps its notes until then; one that fails leaves at once.
    """

    def wait() -> None:
        while os.read(sys.stdin.fileno(), 1):
            pass
        write()
        os._exit(0)

    def fail(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.__excepthook__(kind, error, trace)
        os._exit(1)

    sys.excepthook = fail
    threading.Thread(target=wait).start()
