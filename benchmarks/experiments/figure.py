"""What every experiment is: the paper's claim, a measurement, and what came of it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Effort:
    """How long to measure. ``scale`` shortens runs, ``repeats`` is how often each is done; say tells of progress."""

    scale: float = 1.0
    repeats: int = 3
    thin: bool = False
    say: Callable[[str], None] = field(default=lambda _: None)

    def seconds(self, full: float) -> float:
        return full * self.scale

    def some(self, values: Iterable[float]) -> list[float]:
        """All points of an axis, or every other one where it has to be quick."""
        found = list(values)
        return [*found[:-1:2], found[-1]] if self.thin else found


@dataclass(frozen=True)
class Finding:
    """One claim in our words with our figures, and whether it holds."""

    text: str
    holds: bool


@dataclass(frozen=True)
class Measured:
    """What an experiment gives: its data, pictures by name, and findings."""

    data: Mapping[str, Any]
    pictures: Mapping[str, str]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Experiment:
    """``claim`` is the paper's, in short; ``setup`` and ``differs`` are for the page.

    One that is measured ``apart`` is only run where it is asked for.
    """

    key: str
    title: str
    claim: str
    setup: str
    differs: str
    measure: Callable[[Effort], Measured]
    apart: bool = False


def median(values: Iterable[float]) -> float:
    return statistics.median(values)
