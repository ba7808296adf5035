"""Where the elements of a network stand in its picture, and its bookmarks: in the catalog, or else in memory."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Protocol

from aurora.catalog import Bookmark
from aurora.catalog.picture import Element, Position


class Picture(Protocol):
    """What of a ``Catalog`` is about pictures."""

    def layout(self, network: str) -> dict[Element, Position]: ...

    def set_layout(self, network: str, positions: Mapping[Element, Position | None]) -> None: ...

    def bookmarks(self, network: str) -> list[Bookmark]: ...

    def set_bookmark(self, bookmark: Bookmark) -> None: ...

    def remove_bookmark(self, network: str, name: str) -> bool: ...


class RememberedPicture:
    """The same for one network of a server without a catalog; it is forgotten with the network."""

    def __init__(self) -> None:
        self._positions: dict[Element, Position] = {}
        self._bookmarks: dict[str, Bookmark] = {}
        self._lock = threading.Lock()

    def layout(self, network: str) -> dict[Element, Position]:
        with self._lock:
            return dict(sorted(self._positions.items()))

    def set_layout(self, network: str, positions: Mapping[Element, Position | None]) -> None:
        with self._lock:
            for element, position in positions.items():
                if position is None:
                    self._positions.pop(element, None)
                else:
                    self._positions[element] = position

    def bookmarks(self, network: str) -> list[Bookmark]:
        with self._lock:
            return [self._bookmarks[name] for name in sorted(self._bookmarks)]

    def set_bookmark(self, bookmark: Bookmark) -> None:
        with self._lock:
            self._bookmarks[bookmark.name] = bookmark

    def remove_bookmark(self, network: str, name: str) -> bool:
        with self._lock:
            return self._bookmarks.pop(name, None) is not None
