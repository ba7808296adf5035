"""Tickets: what a Flight reader wants, as JSON, so that any client can write one."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from aurora.errors import InputError, did_you_mean
from aurora.server.fanout import WHEN_BEHIND, WhenBehind

_MOST_BYTES = 4_096


@dataclass(frozen=True)
class Wanted:
    """A live stream of an output or any arc; with ``follow`` false what waits at an output, and then the end.

    ``when_behind`` is what happens to a reader that is too slow: it misses the oldest tuples (``drop``) and is told how
    many, or its stream ends with an error (``disconnect``), or whoever enqueues waits for it (``hold``).
    ``take`` is whether what is read is gone for others, and what waits comes first; otherwise the reader looks on.
    ``limit_bytes`` is how far behind that is; a server has its own limit.

    >>> Wanted.parse(b'{"network": "n", "output": "o"}').when_behind
    'disconnect'
    """

    network: str
    output: str
    follow: bool = True
    take: bool = True
    when_behind: WhenBehind = "disconnect"
    limit_bytes: int | None = None

    @classmethod
    def parse(cls, ticket: bytes) -> Wanted:
        """What a ticket asks for; InputError names everything that is wrong with it."""
        if len(ticket) > _MOST_BYTES:
            raise InputError(f"the ticket has {len(ticket):,} bytes, and {_MOST_BYTES:,} are allowed; {_EXAMPLE}")
        try:
            given = json.loads(ticket)
        except (ValueError, RecursionError) as error:
            raise InputError(f"the ticket is no JSON: {error}; {_EXAMPLE}") from error
        if not isinstance(given, dict):
            raise InputError(f"the ticket is no JSON object; {_EXAMPLE}")
        reasons = list(_reasons(given))
        if reasons:
            raise InputError(f"the ticket cannot be used: {'; '.join(reasons)}; {_EXAMPLE}")
        return cls(**given)

    def to_bytes(self) -> bytes:
        return json.dumps({name: value for name, value in asdict(self).items() if value is not None}).encode()


_NAMES = [field.name for field in fields(Wanted)]
_EXAMPLE = 'give one such as {"network": "NAME", "output": "NAME"}'


def _reasons(given: dict[str, Any]) -> list[str]:
    reasons = [f"{name!r} is unknown; {_hint(name)}" for name in given if name not in _NAMES]
    for name in ("network", "output"):
        if not isinstance(given.get(name), str):
            reasons.append(f"{name!r} is missing" if name not in given else f"{name!r} is no text")
    for name in ("follow", "take"):
        if not isinstance(given.get(name, True), bool):
            reasons.append(f"{name!r} is neither true nor false")
    if given.get("when_behind", "drop") not in WHEN_BEHIND:
        reasons.append(f"'when_behind' is {given['when_behind']!r}; use {', '.join(WHEN_BEHIND)}")
    limit = given.get("limit_bytes")
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        reasons.append(f"'limit_bytes' is {limit!r}; give a number of bytes")
    return reasons


def _hint(name: str) -> str:
    return did_you_mean(name, _NAMES) or f"there are {', '.join(_NAMES)}"
