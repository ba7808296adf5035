"""The command ``aurora``. It stands outside the package, because it sets what Arrow reads once, when it is loaded.

Arrow Flight unpacks a compressed batch before a server can look at it, and a few kilobytes may unpack to more than the
machine has. So where networks are served, Arrow gets a share of the memory and no more: a batch that does not fit is
refused, instead of the server being killed. AURORA_ARROW_MEMORY says how much, as a number of bytes; 0 is no limit.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

LIMIT = "AURORA_ARROW_MEMORY"
_SHARE = 0.5
_SETTINGS = ("ARROW_DEFAULT_MEMORY_POOL", "MIMALLOC_RESERVE_OS_MEMORY", "MIMALLOC_DISALLOW_OS_ALLOC")
_CONTAINER = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def main() -> None:
    if sys.argv[1:2] == ["serve"]:
        bound_arrow()
    from aurora.cli import main as command

    command()


def bound_arrow() -> None:
    """Must come before anything imports Arrow; leaves alone what the operator has set."""
    limit_bytes = _limit_bytes()
    if not limit_bytes or "pyarrow" in sys.modules or any(name in os.environ for name in _SETTINGS):
        return
    os.environ |= dict(zip(_SETTINGS, ("mimalloc", f"{limit_bytes >> 10}KiB", "1"), strict=True))
    import pyarrow as pa

    works = True
    try:
        pa.allocate_buffer(1 << 20)
    except MemoryError:
        works = False
    # What is started from here is not to be bound as well.
    for name in _SETTINGS:
        del os.environ[name]
    if not works:
        # The memory cannot be set aside here. Arrow has noted its settings for good, so it is begun anew without.
        os.environ[LIMIT] = "0"
        os.execv(sys.executable, sys.orig_argv)


def _limit_bytes() -> int:
    said = os.environ.get(LIMIT, "")
    if said:
        if not said.isdecimal():
            sys.exit(f"{LIMIT} is {said!r}; give a number of bytes, or 0 for no limit")
        return int(said)
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in _CONTAINER:
        if file.exists() and (text := file.read_text().strip()).isdecimal():
            sizes.append(int(text))
    return int(_SHARE * min(sizes))


if __name__ == "__main__":
    main()
