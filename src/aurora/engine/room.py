"""How much may wait in an engine, and what happens to tuples that come when that much does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import polars as pl

from aurora.engine.arc_queues import queues_of
from aurora.errors import InputError, did_you_mean
from aurora.model.typed import TypedNetwork
from aurora.storage.manager import StorageManager
from aurora.storage.tiers import parse_bytes

DEFAULT_MEMORY = "1GiB"
DEFAULT_DISK = "8GiB"

WhenFull = Literal["block", "reject", "shed"]
_CHOICES = ("block", "reject", "shed")


class Room:
    """The budget of an engine. ``memory`` and ``disk`` are bytes, as numbers or as text such as ``256MB``."""

    def __init__(
        self,
        memory: str | int,
        disk: str | int,
        when_full: WhenFull | Mapping[str, WhenFull],
        streams: Sequence[str],
        folder: Path | None = None,
    ) -> None:
        self.memory = _bytes("memory", memory)
        self.disk = _bytes("disk", disk)
        self._folder = folder
        self._storage: StorageManager | None = None
        self._held: Callable[[], int] = lambda: 0
        chosen = dict(when_full) if isinstance(when_full, Mapping) else dict.fromkeys(streams, when_full)
        for name, choice in chosen.items():
            if name not in streams:
                raise InputError(f"when_full names the stream {name!r}, which the network does not have")
            if choice not in _CHOICES:
                hint = did_you_mean(str(choice), list(_CHOICES))
                raise InputError(
                    f"when_full is {choice!r} for {name}; use {', '.join(_CHOICES)}; {hint or ''}".rstrip("; ")
                )
        self._pressed: set[str] = set()
        self._usual: WhenFull = "block" if isinstance(when_full, Mapping) else when_full
        self._choices: dict[str, WhenFull] = {name: chosen.get(name, "block") for name in streams}

    def follow(self, streams: Sequence[str]) -> None:
        """From now on these are the streams; for new ones holds what was chosen for all, else they block."""
        self._choices = {name: self._choices.get(name, self._usual) for name in streams}

    def storage(self, typed: TypedNetwork) -> StorageManager:
        """The queues of a network's arcs, within the budget."""
        self._storage = StorageManager(
            queues_of(typed),
            memory=self.memory,
            disk=self.disk,
            folder=self._folder,
            boxes=typed.order,
        )
        return self._storage

    def watch(self, held: Callable[[], int]) -> None:
        """``held`` tells how many bytes wait where no queue of this budget is."""
        self._held = held

    def admit(self, stream: str, frame: pl.DataFrame, used: Callable[[], int], wait: Callable[[], None]) -> bool:
        """Whether a table may come in; False if it is shed. ``wait`` is called while it has to wait.

        ``used`` is what waits outside the queues of arcs. What is larger than the whole budget comes in alone.
        """
        size = int(frame.estimated_size())
        while not self._fits(size, used()):
            self._pressed.add(stream)
            choice = self._choices.get(stream, self._usual)
            if choice == "shed":
                return False
            if choice == "reject":
                raise InputError(
                    f"there is no room for {frame.height} tuples of {stream}: {self.memory:,} bytes of memory and "
                    f"{self.disk:,} of disk are in use; enqueue them later, or give the engine more memory or disk"
                )
            wait()
        return True

    def pressed(self) -> frozenset[str]:
        """The streams that there was no room for since this was last asked."""
        found, self._pressed = self._pressed, set()
        return frozenset(found)

    def _fits(self, size: int, used: int) -> bool:
        held = used + self._held()
        if self._storage is not None:
            held += self._storage.used_memory + self._storage.used_disk
        # On Spark nothing waits on disk, but in front of the boxes.
        limit = self.memory + (self.disk if self._storage is not None else 0)
        return not held or held + size <= limit

    def close(self) -> None:
        self._storage = None
        self._held = lambda: 0


def _bytes(name: str, value: str | int) -> int:
    size = value if isinstance(value, int) else parse_bytes(value)
    if size < 0:
        raise InputError(f"{name} is {size} bytes; give 0 or more")
    return size
