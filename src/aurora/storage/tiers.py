"""Where the blocks of a run live: a folder in memory, where the machine has such a thing, and one on disk."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import uuid
from pathlib import Path

from aurora.errors import InputError
from aurora.storage.blocks import BlockStore

IN_MEMORY = Path("/dev/shm")
DEFAULT_BUDGET = 2 * 2**30
_SHARE_OF_FREE = 0.5
_OURS = re.compile(r"aurora-blocks-(\d+)-[0-9a-f]+")
_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}


class Tiers:
    """The two folders of one run, which go when it ends. What runs that were killed left in memory goes too.

    ``disk`` is an address that every worker reaches; None takes a temporary folder. ``shared`` says that workers run on
    other machines, which cannot see this one's memory.
    """

    def __init__(self, disk: str | None, budget: int | None, *, shared: bool = False) -> None:
        name = f"aurora-blocks-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self.memory: Path | None = None
        if not shared and os.access(IN_MEMORY, os.W_OK):
            _sweep(IN_MEMORY)
            self.memory = IN_MEMORY / name
            self.memory.mkdir()
        self._temporary = None if disk is not None else Path(tempfile.mkdtemp(prefix="aurora-"))
        self.disk = disk if disk is not None else str(self._temporary)
        if "://" not in self.disk:
            Path(self.disk).mkdir(parents=True, exist_ok=True)
            _sweep(Path(self.disk))
            self.disk = str(Path(self.disk, name))
            Path(self.disk).mkdir()
        self.budget = _budget(budget, self.memory)
        self.blocks = BlockStore(None if self.memory is None else str(self.memory), self.disk, self.budget)

    @property
    def fastest(self) -> str:
        """Where files go that need not outlive the run."""
        return self.disk if self.memory is None else str(self.memory)

    def close(self) -> None:
        for folder in (self.memory, self._temporary, None if "://" in self.disk else Path(self.disk)):
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)


def _budget(wanted: int | None, memory: Path | None) -> int:
    if memory is None:
        return 0
    return min(wanted or DEFAULT_BUDGET, int(shutil.disk_usage(memory).free * _SHARE_OF_FREE))


def _sweep(folder: Path) -> None:
    """Removes the blocks of processes that are no more."""
    for left in folder.iterdir():
        found = _OURS.fullmatch(left.name)
        if found is not None and not _alive(int(found[1])):
            shutil.rmtree(left, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def parse_bytes(text: str) -> int:
    """A size such as ``500MB`` or ``2GiB``.

    >>> parse_bytes("1.5 GB"), parse_bytes("64KiB")
    (1500000000, 65536)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    if found is None or found[2].lower() not in _UNITS:
        raise InputError(f"{text!r} is no size; write for example 500MB or 2GiB")
    return int(float(found[1]) * _UNITS[found[2].lower()])
