"""How errors tell that there is nothing of a name."""

from __future__ import annotations

from collections.abc import Sequence

from aurora.errors import did_you_mean


def unknown(what: str, name: str, legal: Sequence[str]) -> str:
    hint = did_you_mean(name, legal)
    return f"the network has no {what} {name!r}; it has {', '.join(legal) or 'none'}" + (f"; {hint}" if hint else "")
