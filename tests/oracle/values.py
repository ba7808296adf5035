"""What the oracle computes with: tuples, moments, and the axis on which order values are measured."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

Row = dict[str, Any]
Schema = dict[str, str]
"""Column name to type name, in order."""

INT_MIN = -(2**63)
INT_MAX = 2**63 - 1
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

FOREVER = object()


@dataclass(frozen=True)
class Tuple:
    """A tuple on an arc. ``order`` is 2n + 1 for what tuple number n made, 2n for a timeout just before it."""

    row: Row
    arrival: int
    order: int


@dataclass(frozen=True)
class Moment:
    """When something happens: the order that everything made now gets, and what the clock shows."""

    order: int
    clock: int


def fits(value: int) -> int | None:
    """The value if it is an int of 64 bits, else NULL."""
    return value if INT_MIN <= value <= INT_MAX else None


def to_axis(value: Any) -> Any:
    """An order value as a number: microseconds for times, and the number itself for numbers."""
    if isinstance(value, datetime):
        return (value - EPOCH) // MICROSECOND
    if isinstance(value, timedelta):
        return value // MICROSECOND
    return value


def from_axis(number: Any, kind: str) -> Any:
    """The value of an order column of this type that stands at ``number``."""
    if number is None:
        return None
    if kind == "timestamp":
        return EPOCH + timedelta(microseconds=number)
    if kind == "duration":
        return timedelta(microseconds=number)
    return float(number) if kind == "double" else number


def widen(value: Any, kind: str) -> Any:
    """An int as a double where a double is due; everything else as it is."""
    if kind == "double" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


def common(kinds: list[str]) -> str:
    """The type that holds values of all these types."""
    known = {kind for kind in kinds if kind != "null"}
    if not known:
        return "null"
    if known == {"int", "double"}:
        return "double"
    if len(known) > 1:
        raise TypeError(f"no common type of {sorted(known)}")
    return known.pop()
