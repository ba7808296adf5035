"""How much bytes may take once they are decompressed, so that few of them cannot take all the memory there is."""

from __future__ import annotations

_TIMES = 64
"""What people send is decompressed to ten times its length, or to a hundred where values repeat; bombs to thousands."""


class Room:
    """Every piece that is fed has room for a message of the greatest length, or for many times its own if that is more.

    >>> room = Room(1000)
    >>> room.begin(fed_bytes=10)
    >>> room.take(600), room.take(600)
    (True, False)
    """

    def __init__(self, message_bytes: int) -> None:
        self._message_bytes = message_bytes
        self._left = message_bytes

    def begin(self, fed_bytes: int) -> None:
        self._left = max(self._message_bytes, _TIMES * fed_bytes)

    def take(self, n_bytes: int) -> bool:
        """Whether there is room for so many more."""
        self._left -= n_bytes
        return self._left >= 0
