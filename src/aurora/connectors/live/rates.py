"""How fast sources that make their tuples up are: a factor on what they declare, which people turn while they run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aurora.errors import InputError
from aurora.model.naming import shown

LEAST, MOST = 0.01, 100_000.0
"""What a factor may be."""
_SHOWN_LEAST = 0.1
_PLENTY_PER_S = 4e6
"""More than one machine is going to take in; a control for the rate need not go further."""


@dataclass(frozen=True)
class Rate:
    """``declared_per_s`` is the mean, where there are bursts."""

    source: str
    stream: str
    declared_per_s: float
    factor: float

    def to_plain(self) -> dict[str, Any]:
        per_s = self.declared_per_s * self.factor
        return {"source": self.source, "stream": self.stream, "factor": self.factor, "tuples_per_s": per_s}


def check_factor(factor: float) -> None:
    """
    >>> check_factor(0)
    Traceback (most recent call last):
    aurora.errors.InputError: the factor is 0; give a number from 0.01 to 100000
    """
    if not LEAST <= factor <= MOST:
        raise InputError(f"the factor is {shown(factor)}; give a number from {LEAST:g} to {MOST:.0f}")


def span(rates: Sequence[Rate]) -> tuple[float, float]:
    """From where to where a control for all of these makes sense: up to a round number of times.

    >>> span([Rate("made_up", "ticks", 6_000, 1.0)])
    (0.1, 500.0)
    """
    declared_per_s = sum(rate.declared_per_s for rate in rates) or 1.0
    most = max(_PLENTY_PER_S / declared_per_s, 10.0)
    power = 10.0 ** math.floor(math.log10(most))
    return _SHOWN_LEAST, min(power * max(step for step in (1, 2, 5) if step * power <= most), MOST)
