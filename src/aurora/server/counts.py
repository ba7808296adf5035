"""What a server counts of its own doings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Counts:
    """Changed by the event loop's thread only."""

    answers: Counter[int] = field(default_factory=Counter)
    sockets: int = 0
    refused: int = 0
