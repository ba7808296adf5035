"""Arithmetic. What cannot be represented is NULL and a fault: an overflow, or a division by zero.

Ints are added, subtracted and multiplied in 128 bits and brought back, which turns an overflow into NULL, or
plainly where the ranges of the operands show that nothing can overflow.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import polars as pl

from aurora.expressions.functions.declaration import Choose, Function, signature
from aurora.expressions.functions.ranges import MAX, MIN, Range, clip, difference_of, fits, product_of, range_of, sum_of
from aurora.expressions.nodes import Build, Literal, Node, Way, constant
from aurora.expressions.timestamps import DURATION, FIRST_US, LAST_US, TIMESTAMP, of_microseconds
from aurora.expressions.vectors import by_numpy


def _wide(a: pl.Expr) -> pl.Expr:
    return a.cast(pl.Int128)


def _narrow(a: pl.Expr) -> pl.Expr:
    return a.cast(pl.Int64, strict=False)


def _plain_add(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return a + b


def _plain_subtract(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return a - b


def _plain_multiply(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return a * b


def add_ints(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return _narrow(_wide(a) + _wide(b))


def subtract_ints(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return _narrow(_wide(a) - _wide(b))


def multiply_ints(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return _narrow(_wide(a) * _wide(b))


def _add_simple(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    """Cheaper than 128 bits where naming an operand twice costs nothing: an overflow flips the sign of both."""
    total = a + b
    return pl.when(((a ^ total) & (b ^ total)) >= 0).then(total)


def _subtract_simple(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    difference = a - b
    return pl.when(((a ^ b) & (a ^ difference)) >= 0).then(difference)


def _adding(a: Node, b: Node) -> Build:
    """The cheapest formula that notices an overflow."""
    for node, other in ((a, b), (b, a)):
        if isinstance(node, Literal) and isinstance(node.value, int) and other.simple:
            amount, swapped = node.value, node is a
            return lambda x, y: _shift_by(y if swapped else x, amount)
    return _add_simple if a.simple and b.simple else add_ints


def _subtracting(a: Node, b: Node) -> Build:
    if isinstance(b, Literal) and isinstance(b.value, int) and a.simple and b.value > MIN:
        amount = -b.value
        return lambda x, _: _shift_by(x, amount)
    return _subtract_simple if a.simple and b.simple else subtract_ints


def _shift_by(a: pl.Expr, amount: int) -> pl.Expr:
    fits = a <= MAX - amount if amount >= 0 else a >= MIN - amount
    return pl.when(fits).then(a + pl.lit(amount, pl.Int64))


def _choose_add(nodes: tuple[Node, ...]) -> Way:
    a, b = nodes
    if fits(sum_of(range_of(a), range_of(b))):
        return Way(_plain_add, strict=True)
    return Way(_adding(a, b), fallible=True)


def _choose_subtract(nodes: tuple[Node, ...]) -> Way:
    a, b = nodes
    if fits(difference_of(range_of(a), range_of(b))):
        return Way(_plain_subtract, strict=True)
    return Way(_subtracting(a, b), fallible=True)


def _as_durations(formula: Callable[[Node, Node], Build]) -> Choose:
    """Times and durations are added and subtracted as the microseconds they are made of."""

    def choose(nodes: tuple[Node, ...]) -> Way:
        build = formula(*nodes)
        return Way(lambda a, b: build(a.to_physical(), b.to_physical()).cast(DURATION), fallible=True)

    return choose


def _move(time: pl.Expr, by: pl.Expr) -> pl.Expr:
    return of_microseconds(_add_simple(time.to_physical(), by.to_physical()))


def _move_back(time: pl.Expr, by: pl.Expr) -> pl.Expr:
    return of_microseconds(_subtract_simple(time.to_physical(), by.to_physical()))


def _moving(sign: int) -> Choose:
    """A time moved by a duration; a constant one needs only a look at the time itself."""

    def choose(nodes: tuple[Node, ...]) -> Way:
        by = nodes[1]
        if not isinstance(by, Literal) or not isinstance(by.value, int) or by.value == MIN:
            return Way(_move if sign > 0 else _move_back, fallible=True, reuses=True)
        amount = sign * by.value
        first, last = clip((FIRST_US - amount, LAST_US - amount))

        def build(time: pl.Expr, _: pl.Expr) -> pl.Expr:
            us = time.to_physical()
            return pl.when(us.is_between(first, last)).then(us + pl.lit(amount, pl.Int64)).cast(TIMESTAMP)

        return Way(build, fallible=True, reuses=True)

    return choose


def _choose_multiply(nodes: tuple[Node, ...]) -> Way:
    a, b = nodes
    if fits(product_of(range_of(a), range_of(b))):
        return Way(_plain_multiply, strict=True)
    return Way(multiply_ints, fallible=True)


def _choose_negate(nodes: tuple[Node, ...]) -> Way:
    if range_of(nodes[0])[0] > MIN:
        return Way(lambda a: -a, strict=True)
    return Way(lambda a: subtract_ints(pl.lit(0, pl.Int64), a), fallible=True)


def _zero(node: Node) -> bool | None:
    """Whether a divisor is zero; None if that depends on the tuple."""
    return node.value == 0 if isinstance(node, Literal) and node.value is not None else None


def quotient(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    """Division by what may be a constant. Polars would multiply by its reciprocal, which is not the same, and only
    where there is more than one row."""
    return by_numpy(np.divide, pl.Float64(), a, b)


def divide_doubles(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return pl.when(b != 0).then(quotient(a, b))


def _divide_by_column(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return pl.when(b != 0).then(a / b)


def _choose_divide(nodes: tuple[Node, ...]) -> Way:
    divisor = nodes[1]
    if isinstance(divisor, Literal) and isinstance(divisor.value, float) and divisor.value:
        exact = math.frexp(divisor.value)[0] in (0.5, -0.5)  # the reciprocal of a power of two is exact
        return Way((lambda a, b: a / b) if exact else quotient, strict=True)
    return Way(divide_doubles if constant(divisor) else _divide_by_column, fallible=True, reuses=True)


def divide_ints(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    """Rounds towards zero, as SQL does; Polars rounds down, gives NULL for a zero divisor and wraps at MIN // -1."""
    quotient = a // b
    towards_zero = quotient + ((quotient * b != a) & ((a < 0) != (b < 0))).cast(pl.Int64)
    return pl.when((a != MIN) | (b != -1)).then(towards_zero)


def _divide_by_positive(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return (a + pl.when(a < 0).then(b - 1).otherwise(0)) // b


def _choose_int_divide(nodes: tuple[Node, ...]) -> Way:
    (low, _), (divisor_low, _) = range_of(nodes[0]), range_of(nodes[1])
    if low >= 0 and divisor_low >= 0:
        return Way(lambda a, b: a // b, fallible=divisor_low == 0)
    if divisor_low > 0 and nodes[1].simple:
        return Way(_divide_by_positive, reuses=True)
    return Way(divide_ints, fallible=True, reuses=True)


def _quotient_range(nodes: tuple[Node, ...]) -> Range:
    low, high = range_of(nodes[0])
    if range_of(nodes[1])[0] >= 0:
        return min(low, 0), max(high, 0)
    largest = min(max(abs(low), abs(high)), MAX)
    return max(-largest, MIN), largest


def remainder_ints(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    """Has the sign of the dividend, so that ``a = (a // b) * b + a % b``; Polars gives it the divisor's."""
    rest = a % b
    return pl.when((rest != 0) & ((rest < 0) != (a < 0))).then(rest - b).otherwise(rest)


def _choose_remainder(nodes: tuple[Node, ...]) -> Way:
    may_be_zero = _zero(nodes[1]) is not False
    if range_of(nodes[0])[0] >= 0 and range_of(nodes[1])[0] >= 0:
        return Way(lambda a, b: a % b, fallible=may_be_zero)
    return Way(remainder_ints, fallible=may_be_zero, reuses=True)


def _remainder_range(nodes: tuple[Node, ...]) -> Range:
    (low, high), (divisor_low, divisor_high) = range_of(nodes[0]), range_of(nodes[1])
    largest = max(abs(divisor_low), abs(divisor_high)) - 1
    return max(min(low, 0), -largest), min(max(high, 0), largest)


def remainder_doubles(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return pl.when(b != 0).then(by_numpy(np.fmod, pl.Float64(), a, b))


def _choose_float_remainder(nodes: tuple[Node, ...]) -> Way:
    if _zero(nodes[1]) is False:
        return Way(lambda a, b: by_numpy(np.fmod, pl.Float64(), a, b))
    return Way(remainder_doubles, fallible=True, reuses=True)


def _times(a: pl.Expr, n: pl.Expr) -> pl.Expr:
    return multiply_ints(a.to_physical(), n).cast(DURATION)


def _scaled(a: pl.Expr, x: pl.Expr) -> pl.Expr:
    return whole_microseconds(a.to_physical().cast(pl.Float64) * x)


def whole_microseconds(x: pl.Expr) -> pl.Expr:
    return _narrow(x.round(0, mode="half_away_from_zero")).cast(DURATION)


def _shared(a: pl.Expr, x: pl.Expr) -> pl.Expr:
    return whole_microseconds(divide_doubles(a.to_physical().cast(pl.Float64), x))


def _ratio(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return divide_doubles(a.to_physical().cast(pl.Float64), b.to_physical().cast(pl.Float64))


def _magnitude(a: pl.Expr) -> pl.Expr:
    return pl.when(a != MIN).then(a.abs())


def _choose_magnitude(nodes: tuple[Node, ...]) -> Way:
    if range_of(nodes[0])[0] > MIN:
        return Way(lambda a: a.abs())
    return Way(_magnitude, fallible=True, reuses=True)


def _magnitude_range(nodes: tuple[Node, ...]) -> Range:
    low, high = range_of(nodes[0])
    return 0, min(max(abs(low), abs(high)), MAX)


GROUP = "arithmetic"

FUNCTIONS = (
    Function(
        "+",
        (
            signature(
                "(a: int, b: int) -> int",
                choose=_choose_add,
                range=lambda n: clip(sum_of(range_of(n[0]), range_of(n[1]))),
            ),
            signature("(a: double, b: double) -> double", _plain_add),
            signature("(a: timestamp, b: duration) -> timestamp", choose=_moving(1)),
            signature("(a: duration, b: timestamp) -> timestamp", lambda a, b: _move(b, a), fallible=True, reuses=True),
            signature("(a: duration, b: duration) -> duration", choose=_as_durations(_adding)),
        ),
        GROUP,
        "Sum; a time moved forward by a duration. An overflow is NULL and counted.",
        "40 + 2",
        42,
        sign="a + b",
    ),
    Function(
        "-",
        (
            signature(
                "(a: int, b: int) -> int",
                choose=_choose_subtract,
                range=lambda n: clip(difference_of(range_of(n[0]), range_of(n[1]))),
            ),
            signature("(a: double, b: double) -> double", _plain_subtract),
            signature("(a: timestamp, b: timestamp) -> duration", choose=_as_durations(_subtracting)),
            signature("(a: timestamp, b: duration) -> timestamp", choose=_moving(-1)),
            signature("(a: duration, b: duration) -> duration", choose=_as_durations(_subtracting)),
        ),
        GROUP,
        "Difference; the duration between two times. An overflow is NULL and counted.",
        "timestamp '2024-01-01 12:00' - timestamp '2024-01-01' = interval '12' hour",
        True,
        sign="a - b",
    ),
    Function(
        "*",
        (
            signature(
                "(a: int, b: int) -> int",
                choose=_choose_multiply,
                range=lambda n: clip(product_of(range_of(n[0]), range_of(n[1]))),
            ),
            signature("(a: double, b: double) -> double", _plain_multiply),
            signature("(a: duration, b: int) -> duration", _times, fallible=True),
            signature("(a: int, b: duration) -> duration", lambda a, b: _times(b, a), fallible=True),
            signature("(a: duration, b: double) -> duration", _scaled, fallible=True),
            signature("(a: double, b: duration) -> duration", lambda a, b: _scaled(b, a), fallible=True),
        ),
        GROUP,
        "Product. An overflow is NULL and counted; a duration is rounded to whole microseconds.",
        "6 * 7",
        42,
        sign="a * b",
    ),
    Function(
        "/",
        (
            signature("(a: double, b: double) -> double", choose=_choose_divide),
            signature("(a: duration, b: duration) -> double", _ratio, fallible=True, reuses=True),
            signature("(a: duration, b: double) -> duration", _shared, fallible=True, reuses=True),
        ),
        GROUP,
        "Quotient as a double, also of two ints. Division by zero is NULL and counted.",
        "7 / 2",
        3.5,
        sign="a / b",
    ),
    Function(
        "//",
        (signature("(a: int, b: int) -> int", choose=_choose_int_divide, range=_quotient_range),),
        GROUP,
        "Integer quotient, rounded towards zero; also written a div b. Division by zero is NULL and counted.",
        "-7 // 2",
        -3,
        aliases=("div",),
        sign="a // b",
    ),
    Function(
        "%",
        (
            signature("(a: int, b: int) -> int", choose=_choose_remainder, range=_remainder_range),
            signature("(a: double, b: double) -> double", choose=_choose_float_remainder),
        ),
        GROUP,
        "Remainder of the division rounded towards zero; it has the sign of a. Of zero it is NULL and counted.",
        "-7 % 2",
        -1,
        aliases=("mod",),
        sign="a % b",
    ),
    Function(
        "negate",
        (
            signature(
                "(a: int) -> int",
                choose=_choose_negate,
                range=lambda n: clip(difference_of((0, 0), range_of(n[0]))),
            ),
            signature("(a: double) -> double", lambda a: -a),
            signature(
                "(a: duration) -> duration",
                lambda a: subtract_ints(pl.lit(0, pl.Int64), a.to_physical()).cast(DURATION),
                fallible=True,
            ),
        ),
        GROUP,
        "The opposite number or duration. An overflow is NULL and counted.",
        "-(2 + 3)",
        -5,
        sign="- a",
    ),
    Function(
        "abs",
        (
            signature("(a: int) -> int", choose=_choose_magnitude, range=_magnitude_range),
            signature("(a: double) -> double", lambda a: a.abs()),
            signature(
                "(a: duration) -> duration",
                lambda a: _magnitude(a.to_physical()).cast(DURATION),
                fallible=True,
                reuses=True,
            ),
        ),
        GROUP,
        "The number or duration without its sign. An overflow is NULL and counted.",
        "abs(-5)",
        5,
    ),
)
