"""Memory of finished trains is kept for the next ones.

By itself the C library gives large blocks back to the system as soon as they are free, and the system clears every page
when they are asked for again. Trains are large blocks that come and go all the time.
"""

from __future__ import annotations

import ctypes
from functools import cache

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
_LARGEST_POOLED_BYTES = 32 * 2**20
_KEPT_BYTES = 256 * 2**20
_STEP_BYTES = 16 * 2**20


@cache
def keep_freed_memory() -> bool:
    """Tells the C library to hold on to freed blocks, within bounds; False where it cannot be told."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    wanted = {_MMAP_THRESHOLD: _LARGEST_POOLED_BYTES, _TRIM_THRESHOLD: _KEPT_BYTES, _TOP_PAD: _STEP_BYTES}
    taken = [mallopt(name, value) == 1 for name, value in wanted.items()]
    return all(taken)
