"""What is known of a source or a sink while it runs. Its thread writes, anybody reads."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import asdict, dataclass
from typing import Any, Literal

from aurora.clock import Clock
from aurora.connectors.rejected import Rejected

State = Literal["starting", "connected", "retrying", "ended", "failed", "stopped"]
"""``failed`` is what trying again cannot help; ``ended`` is a source that has nothing more."""

KEPT_REJECTIONS = 100


@dataclass(frozen=True)
class Status:
    """A reading. ``dropped`` are tuples that a full queue had no room for, ``dead`` those that nobody would take."""

    name: str
    role: Literal["source", "sink"]
    kind: str
    stream: str
    state: State
    since_us: int
    last_error: str
    last_error_us: int | None
    connects: int
    retries: int
    tuples: int
    bytes: int
    rejected: int
    dropped: int
    dead: int
    waiting: int

    def to_plain(self) -> dict[str, Any]:
        return asdict(self)


class Meter:
    def __init__(self, name: str, role: Literal["source", "sink"], kind: str, stream: str, clock: Clock) -> None:
        self._lock = threading.Lock()
        self._clock = clock
        self._name = name
        self._role: Literal["source", "sink"] = role
        self._kind = kind
        self._stream = stream
        self._state: State = "starting"
        self._since_us = clock.now_us()
        self._error = ""
        self._error_us: int | None = None
        self._counts = dict.fromkeys(
            ("connects", "retries", "tuples", "bytes", "rejected", "dropped", "dead", "waiting"), 0
        )
        self.rejections: deque[Rejected] = deque(maxlen=KEPT_REJECTIONS)
        """The latest."""

    def now(self, state: State) -> None:
        with self._lock:
            if state == "connected":
                self._counts["connects"] += 1
            self._since_us = self._clock.now_us()
            self._state = state

    def error(self, error: BaseException | str) -> None:
        """Notes what went wrong, without a word on what happens now."""
        with self._lock:
            self._error = error if isinstance(error, str) else told(error)
            self._error_us = self._clock.now_us()

    def add(self, **counts: int) -> None:
        with self._lock:
            for name, count in counts.items():
                self._counts[name] += count

    @property
    def state(self) -> State:
        return self._state

    @property
    def connected_us(self) -> int:
        """For how long it has been connected; 0 if it is not."""
        with self._lock:
            return self._clock.now_us() - self._since_us if self._state == "connected" else 0

    def count(self, name: str) -> int:
        return self._counts[name]

    def status(self) -> Status:
        with self._lock:
            return Status(
                name=self._name,
                role=self._role,
                kind=self._kind,
                stream=self._stream,
                state=self._state,
                since_us=self._since_us,
                last_error=self._error,
                last_error_us=self._error_us,
                connects=self._counts["connects"],
                retries=self._counts["retries"],
                tuples=self._counts["tuples"],
                bytes=self._counts["bytes"],
                rejected=self._counts["rejected"],
                dropped=self._counts["dropped"],
                dead=self._counts["dead"],
                waiting=self._counts["waiting"],
            )


def told(error: BaseException) -> str:
    """An error in one line, with its type where the text alone says little."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # what tells of failures must not fail
        text = ""
    if isinstance(error, OSError) and error.strerror:
        return text
    name = type(error).__name__
    return text if " " in text else f"{name}: {text}" if text else name
