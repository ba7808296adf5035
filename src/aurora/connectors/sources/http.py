"""What others push over HTTP. The server has the endpoint; it hands each body to ``receive``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aurora.connectors.converters.base import Converter
from aurora.connectors.live.inlet import Inlet
from aurora.connectors.rejected import Rejection
from aurora.errors import InputError, StateError

_LOOK_S = 1.0


@dataclass(frozen=True)
class Received:
    """What became of a body."""

    tuples: int
    rejected: Sequence[Rejection]


class HttpSource:
    def __init__(self, converter: Converter, max_bytes: int) -> None:
        self._converter = converter
        self._max_bytes = max_bytes
        self._inlet: Inlet | None = None

    def run(self, inlet: Inlet) -> None:
        self._inlet = inlet
        inlet.connected()
        while not inlet.halt.wait(_LOOK_S):
            pass
        self._inlet = None

    def receive(self, body: bytes) -> Received:
        """Takes a body, in the thread of whoever received it; blocks while the engine has no room.

        What the engine refuses with is raised, and the sender should be told.
        """
        inlet = self._inlet
        if inlet is None:
            raise StateError("the source is not running; try again when it is")
        if len(body) > self._max_bytes:
            raise InputError(f"the body has {len(body):,} bytes, and {self._max_bytes:,} are taken; send it in parts")
        try:
            decoded = self._converter.decode(body)
        except BaseException as error:
            inlet.meter.error(error)
            raise
        inlet.meter.add(bytes=len(body))
        inlet.reject(decoded.rejected)
        inlet.offer(decoded.frame)
        return Received(decoded.frame.height, decoded.rejected)
