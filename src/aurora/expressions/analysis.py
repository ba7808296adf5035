"""What a condition says about its columns, without running it.

The optimizer, the join and the reader of history use it: a condition is cut into conjuncts, a range is read off
for a column, column equalities are taken out of a join condition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from aurora.expressions.nodes import Call, Column, In, Literal, Logic, Node, Widen
from aurora.expressions.scalar import Scalar
from aurora.expressions.scope import LEFT, RIGHT
from aurora.model.types import BOOL

Bound = int | float | str
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


@dataclass(frozen=True)
class Interval:
    """The values a column can have; None is no bound. Timestamps and durations are in microseconds.

    ``empty`` means that no value at all satisfies the condition. NaN is above every number, so it lies in every
    interval of doubles without an upper bound.

    >>> Interval(lo=1).meet(Interval(hi=5, hi_open=True))
    Interval(lo=1, hi=5, lo_open=False, hi_open=True, empty=False)
    """

    lo: Bound | None = None
    hi: Bound | None = None
    lo_open: bool = False
    hi_open: bool = False
    empty: bool = False

    def meet(self, other: Interval) -> Interval:
        """The values in both."""
        if self.empty or other.empty:
            return NONE
        lo, lo_open = _tighter(self.lo, self.lo_open, other.lo, other.lo_open, lower=True)
        hi, hi_open = _tighter(self.hi, self.hi_open, other.hi, other.hi_open, lower=False)
        if lo is None or hi is None:
            return Interval(lo, hi, lo_open, hi_open)
        if _less(hi, lo) or (lo == hi and (lo_open or hi_open)):
            return NONE
        return Interval(lo, hi, lo_open, hi_open)

    def hull(self, other: Interval) -> Interval:
        """The smallest interval with all values of both."""
        if self.empty or other.empty:
            return other if self.empty else self
        lo, lo_open = _looser(self.lo, self.lo_open, other.lo, other.lo_open, lower=True)
        hi, hi_open = _looser(self.hi, self.hi_open, other.hi, other.hi_open, lower=False)
        return Interval(lo, hi, lo_open, hi_open)

    def contains(self, value: Bound) -> bool:
        return not self.meet(Interval(value, value)).empty


WHOLE = Interval()
NONE = Interval(empty=True)


def _less(a: Bound, b: Bound) -> bool:
    return a < b  # type: ignore[operator]


def _tighter(a: Bound | None, a_open: bool, b: Bound | None, b_open: bool, *, lower: bool) -> tuple[Bound | None, bool]:
    if a is None or b is None:
        return (b, b_open) if a is None else (a, a_open)
    if a == b:
        return a, a_open or b_open
    return (a, a_open) if _less(b, a) == lower else (b, b_open)


def _looser(a: Bound | None, a_open: bool, b: Bound | None, b_open: bool, *, lower: bool) -> tuple[Bound | None, bool]:
    if a is None or b is None:
        return None, False
    if a == b:
        return a, a_open and b_open
    return (a, a_open) if _less(a, b) == lower else (b, b_open)


def columns_used(scalar: Scalar) -> frozenset[str]:
    return scalar.columns


def conjuncts(scalar: Scalar) -> tuple[Scalar, ...]:
    """The conditions that must all hold for this one to hold.

    >>> from aurora.expressions.scalar import analyse
    >>> from aurora.expressions.scope import Scope
    >>> from aurora.model.types import INT
    >>> condition = analyse("a > 1 and (b > 2 and a < 9)", Scope({"a": INT, "b": INT}))
    >>> [sorted(part.columns) for part in conjuncts(condition)]
    [['a'], ['b'], ['a']]
    """
    parts: list[Node] = []
    waiting = [scalar.tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Logic) and node.name == "and":
            waiting.extend(reversed(node.operands))
        else:
            parts.append(node)
    return tuple(scalar.of(part) for part in parts)


def interval(scalar: Scalar, column: str) -> Interval:
    """What follows for a column if the condition is true; the whole line if nothing does.

    >>> from aurora.expressions.scalar import analyse
    >>> from aurora.expressions.scope import Scope
    >>> from aurora.model.types import INT
    >>> interval(analyse("x > 2 + 3 and x <= 10 and y = 1", Scope({"x": INT, "y": INT})), "x")
    Interval(lo=5, hi=10, lo_open=True, hi_open=False, empty=False)
    """
    return _interval(scalar.tree, column)


def _interval(node: Node, column: str) -> Interval:
    if isinstance(node, Logic):
        parts = [_interval(operand, column) for operand in node.operands]
        result = parts[0]
        for part in parts[1:]:
            result = result.meet(part) if node.name == "and" else result.hull(part)
        return result
    if isinstance(node, Literal) and node.type == BOOL and node.value is not True:
        return NONE
    if isinstance(node, Column):
        return WHOLE
    if isinstance(node, In) and _is(node.operand, column):
        return _hull_of(node)
    if isinstance(node, Call):
        return _comparison(node, column)
    return WHOLE


def _hull_of(node: In) -> Interval:
    result = NONE
    for option in node.options:
        value = fold(option)
        if isinstance(option, Literal) and option.value is None:
            continue
        if value is None or _rounded(node.operand, value):
            return WHOLE
        result = result.hull(Interval(value, value))
    return result


def _comparison(node: Call, column: str) -> Interval:
    if node.name == "not" and isinstance(node.arguments[0], Call):
        inner = node.arguments[0]
        if inner.name in _NEGATED:
            a, b = inner.arguments
            return _compare(a, _NEGATED[inner.name], b, column)
        return WHOLE
    if node.name == "is true":
        return _interval(node.arguments[0], column)
    if node.name == "between":
        x, low, high = node.arguments
        return _compare(x, ">=", low, column).meet(_compare(x, "<=", high, column))
    if node.name in _FLIPPED:
        a, b = node.arguments
        return _compare(a, node.name, b, column).meet(_compare(b, _FLIPPED[node.name], a, column))
    return WHOLE


def _compare(a: Node, sign: str, b: Node, column: str) -> Interval:
    value = fold(b)
    if not _is(a, column):
        return WHOLE
    if isinstance(b, Literal) and b.value is None:
        return NONE
    if value is None or _rounded(a, value):
        return WHOLE
    if sign == "=":
        return Interval(value, value)
    if sign in ("<", "<="):
        return Interval(hi=value, hi_open=sign == "<")
    return Interval(lo=value, lo_open=sign == ">")


def _rounded(node: Node, value: Bound) -> bool:
    """Whether ints near the value are compared after they were rounded to doubles, so that neighbours look equal."""
    return isinstance(node, Widen) and isinstance(value, int | float) and abs(value) >= 2**53


def _is(node: Node, column: str) -> bool:
    while isinstance(node, Widen):
        node = node.operand
    return isinstance(node, Column) and node.name == column


def fold(node: Node) -> Bound | None:
    """The value of a constant made of literals and + - * and unary minus; None if it is not one, or not certain."""
    if isinstance(node, Literal):
        value = node.value
        if isinstance(value, float) and math.isnan(value):
            return None
        return value if isinstance(value, int | float | str) and not isinstance(value, bool) else None
    if isinstance(node, Widen):
        inner = fold(node.operand)
        return float(inner) if isinstance(inner, int) else None
    if not isinstance(node, Call) or node.name not in ("+", "-", "*", "negate"):
        return None
    values = [fold(argument) for argument in node.arguments]
    numbers = [value for value in values if isinstance(value, int | float)]
    if len(numbers) != len(values):
        return None
    if node.name == "negate":
        result: int | float = -numbers[0]
    elif node.name == "+":
        result = numbers[0] + numbers[1]
    elif node.name == "-":
        result = numbers[0] - numbers[1]
    else:
        result = numbers[0] * numbers[1]
    if isinstance(result, int):
        return result if -(2**63) <= result < 2**63 else None
    return None if math.isnan(result) or node.type.temporal else result


def equalities(scalar: Scalar) -> tuple[tuple[tuple[str, str], ...], Scalar | None]:
    """Splits a join condition into ``left.a = right.b`` column pairs and the rest.

    >>> from aurora.expressions.scalar import analyse
    >>> from aurora.expressions.scope import Scope
    >>> from aurora.model.types import INT
    >>> scope = Scope({"left.a": INT, "right.b": INT, "right.c": INT})
    >>> pairs, rest = equalities(analyse("right.b = left.a and right.c > 3", scope))
    >>> pairs, sorted(rest.columns)
    ((('left.a', 'right.b'),), ['right.c'])
    """
    pairs: list[tuple[str, str]] = []
    rest: list[Node] = []
    for part in conjuncts(scalar):
        pair = _pair(part.tree)
        if pair is None:
            rest.append(part.tree)
        else:
            pairs.append(pair)
    if not rest:
        return tuple(pairs), None
    return tuple(pairs), scalar.of(rest[0] if len(rest) == 1 else Logic(BOOL, "and", tuple(rest)))


def _pair(node: Node) -> tuple[str, str] | None:
    """Both columns must have one type: an int and a double are equal as doubles, which is no equality of columns."""
    if not isinstance(node, Call) or node.name != "=":
        return None
    a, b = node.arguments
    if not isinstance(a, Column) or not isinstance(b, Column):
        return None
    if a.name.startswith(RIGHT + ".") and b.name.startswith(LEFT + "."):
        a, b = b, a
    if a.name.startswith(LEFT + ".") and b.name.startswith(RIGHT + "."):
        return a.name, b.name
    return None
