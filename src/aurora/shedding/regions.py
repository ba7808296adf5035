"""Sets of numbers, exact to the last one, and what they come from under a monotone function.

An interval that is carried upstream by arithmetic on its bounds is off by a rounding here and there, and would then
drop tuples that should stay. Doubles are as countable as ints: each has a place in their order. So bounds are found by
bisection over all numbers of the type, with the very operation that the box does.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from aurora.expressions import Interval
from aurora.model.types import INT, Type

MOST_INT = 2**63 - 1
LEAST_INT = -(2**63)
_INFINITY = "cast('Infinity' as double)"

Number = int | float


@dataclass(frozen=True)
class Region:
    """Closed ranges that rise and do not touch each other. ``nan`` says whether NaN, which is above all, is in it too.

    >>> Region.of([Interval(lo=1.5, hi=4, hi_open=True)], INT)
    Region(ranges=((2, 3),), nan=False)
    """

    ranges: tuple[tuple[Number, Number], ...] = ()
    nan: bool = False

    @classmethod
    def of(cls, intervals: Iterable[Interval], kind: Type) -> Region:
        """The numbers of an int or double column that lie in one of the intervals."""
        ranges: list[tuple[Number, Number]] = []
        nan = False
        for interval in intervals:
            lo, hi = interval.lo, interval.hi
            if interval.empty or isinstance(lo, str) or isinstance(hi, str):
                continue
            nan |= kind != INT and hi is None
            bounds = _ints(interval, lo, hi) if kind == INT else _doubles(interval, lo, hi)
            if bounds is not None:
                ranges.append(bounds)
        return cls(_joined(ranges), nan)

    @property
    def empty(self) -> bool:
        return not self.ranges and not self.nan

    def meet(self, other: Region) -> Region:
        ranges = [
            (max(lo, other_lo), min(hi, other_hi))
            for lo, hi in self.ranges
            for other_lo, other_hi in other.ranges
            if max(lo, other_lo) <= min(hi, other_hi)
        ]
        return Region(_joined(ranges), self.nan and other.nan)

    def before(self, function: Callable[[Number], Number], kind: Type, *, rising: bool) -> Region:
        """The numbers of the type that a monotone function takes into this region. NaN stays NaN."""
        found = [_before(function, lo, hi, kind, rising=rising) for lo, hi in self.ranges]
        return Region(_joined(bounds for bounds in found if bounds is not None), self.nan and kind != INT)

    def condition(self, column: str) -> str:
        """The region as SQL over a column.

        >>> Region(((2, 3), (7, MOST_INT))).condition("n")
        '"n" >= 2 and "n" <= 3 or "n" >= 7'
        """
        name = '"' + column.replace('"', '""') + '"'
        parts = []
        nan = self.nan
        for lo, hi in self.ranges:
            tests = [] if lo in (LEAST_INT, -math.inf) else [f"{name} >= {_text(lo)}"]
            if hi == math.inf and nan:
                nan = False
            elif hi != MOST_INT or isinstance(hi, float):
                tests.append(f"{name} <= {_text(hi)}")
            parts.append(" and ".join(tests) or f"{name} is not null")
        if nan:
            parts.append(f"{name} > {_INFINITY}")
        return " or ".join(parts) or "false"


def _before(
    function: Callable[[Number], Number], lo: Number, hi: Number, kind: Type, *, rising: bool
) -> tuple[Number, Number] | None:
    if rising:
        least, beyond = _first(lambda x: function(x) >= lo, kind), _first(lambda x: function(x) > hi, kind)
    else:
        least, beyond = _first(lambda x: function(x) <= hi, kind), _first(lambda x: function(x) < lo, kind)
    return (_number(least, kind), _number(beyond - 1, kind)) if least < beyond else None


def _text(number: Number) -> str:
    if isinstance(number, float) and math.isinf(number):
        return _INFINITY if number > 0 else f"-{_INFINITY}"
    return repr(number)


def _ints(interval: Interval, lo: Number | None, hi: Number | None) -> tuple[Number, Number] | None:
    if lo == math.inf or hi == -math.inf:
        return None
    least, most = LEAST_INT, MOST_INT
    if lo is not None and lo != -math.inf:
        least = max(least, math.floor(lo) + 1 if interval.lo_open else math.ceil(lo))
    if hi is not None and hi != math.inf:
        most = min(most, math.ceil(hi) - 1 if interval.hi_open else math.floor(hi))
    return (least, most) if least <= most else None


def _doubles(interval: Interval, lo: Number | None, hi: Number | None) -> tuple[Number, Number] | None:
    """Bounds that are ints are close enough to zero to be doubles: value graphs have no others."""
    least = -math.inf if lo is None else float(lo)
    most = math.inf if hi is None else float(hi)
    if (interval.lo_open and least == math.inf) or (interval.hi_open and most == -math.inf):
        return None
    if interval.lo_open and lo is not None:
        least = math.nextafter(least, math.inf)
    if interval.hi_open and hi is not None:
        most = math.nextafter(most, -math.inf)
    return (least, most) if least <= most else None


def _joined(ranges: Iterable[tuple[Number, Number]]) -> tuple[tuple[Number, Number], ...]:
    found: list[tuple[Number, Number]] = []
    for lo, hi in sorted(ranges):
        if found and lo <= _after(found[-1][1]):
            found[-1] = (found[-1][0], max(hi, found[-1][1]))
        else:
            found.append((lo, hi))
    return tuple(found)


def _after(number: Number) -> Number:
    return number + 1 if isinstance(number, int) else math.nextafter(number, math.inf)


def _place(x: float) -> int:
    """The place of a double among all doubles; both zeros have the place 0."""
    bits: int = struct.unpack("<q", struct.pack("<d", x))[0]
    return bits if bits >= 0 else LEAST_INT - bits


def _number(place: int, kind: Type) -> Number:
    if kind == INT:
        return place
    bits = place if place >= 0 else LEAST_INT - place
    number: float = struct.unpack("<d", struct.pack("<q", bits))[0]
    return number


def _first(holds: Callable[[Number], bool], kind: Type) -> int:
    """The place of the first number from which on something holds; one behind the last if it never does."""
    least, most = (LEAST_INT, MOST_INT) if kind == INT else (_place(-math.inf), _place(math.inf))
    most += 1
    while least < most:
        middle = (least + most) // 2
        if holds(_number(middle, kind)):
            most = middle
        else:
            least = middle + 1
    return least
