"""Quantities as people write them: durations (``200ms``), tuple counts (``5 tuples``), plain numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass

_UNITS_US = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(us|ms|s|m|h|d)")
_TUPLES = re.compile(r"(-?\d+)\s*tuples?")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")

LARGEST = 2**63 - 1
"""The largest amount of anything: tuples, microseconds, or a plain number."""


@dataclass(frozen=True)
class Tuples:
    """A number of tuples."""

    n: int

    def __str__(self) -> str:
        return f"{self.n} tuple" if self.n == 1 else f"{self.n} tuples"


@dataclass(frozen=True)
class Duration:
    """A length of time in microseconds.

    >>> Duration.parse("1.5s"), str(Duration(90_000_000))
    (Duration(us=1500000), '90s')
    """

    us: int

    @classmethod
    def parse(cls, text: str) -> Duration:
        """``200ms``, ``5s``, ``1m30s``; raises ValueError otherwise."""
        text = text.strip()
        sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text)
        pieces = _DURATION.findall(rest)
        if not pieces or _DURATION.sub("", rest).strip():
            raise ValueError(f"{text!r} is not a duration; write 200ms, 5s, 30m or 2h")
        try:
            amount = sum(round(float(number) * _UNITS_US[unit]) for number, unit in pieces)
        except OverflowError:
            amount = LARGEST + 1
        if amount > LARGEST:
            raise ValueError(f"{text[:40]!r} is too long; the longest duration is {cls(LARGEST)}")
        return cls(sign * amount)

    @property
    def seconds(self) -> float:
        return self.us / 1e6

    def __str__(self) -> str:
        for unit in ("h", "m", "s", "ms"):
            if self.us and self.us % _UNITS_US[unit] == 0:
                return f"{self.us // _UNITS_US[unit]}{unit}"
        return f"{self.us}us" if self.us else "0s"


Number = int | float
Quantity = Tuples | Duration | Number
"""What a window's size, its advance or a slack may be."""


def parse_quantity(value: object) -> Quantity:
    """Reads ``"5 tuples"``, ``"60s"``, ``60``, ``0.5`` or ``"60"``; raises ValueError otherwise.

    >>> parse_quantity("5 tuples"), parse_quantity("200ms"), parse_quantity(3)
    (Tuples(n=5), Duration(us=200000), 3)
    """
    if isinstance(value, bool) or value is None:
        raise ValueError(f"{value!r} is not a quantity")
    if isinstance(value, int | float):
        return _within_limits(value)
    if isinstance(value, Tuples | Duration):
        return value
    text = str(value).strip()
    if match := _TUPLES.fullmatch(text):
        return Tuples(int(_within_limits(int(match[1]))))
    if _NUMBER.fullmatch(text):
        return _within_limits(float(text) if set(text) & set(".eE") else int(text))
    try:
        return Duration.parse(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a quantity; write 5 tuples, 200ms, 60s or a plain number") from None


def _within_limits(number: Number) -> Number:
    if not -LARGEST <= number <= LARGEST:
        raise ValueError(f"the number is too large; the largest is {LARGEST}")
    return number


def quantity_to_plain(value: Quantity) -> str | Number:
    """The form in which a document writes the quantity; ``parse_quantity`` reads it back."""
    return value if isinstance(value, int | float) else str(value)
