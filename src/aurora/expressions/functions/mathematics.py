"""Mathematical functions. Asked outside its domain, a function is NULL and counted: sqrt(-1), ln(0), asin(2)."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from aurora.expressions.functions.arithmetic import divide_doubles, quotient
from aurora.expressions.functions.declaration import Function, signature
from aurora.expressions.nodes import Build, Value
from aurora.expressions.vectors import by_numpy

GROUP = "mathematics"
_ONE = "(x: double) -> double"


def _entry(name: str, build: Build, meaning: str, example: str, value: object, *aliases: str) -> Function:
    return Function(name, (signature(_ONE, build),), GROUP, meaning, example, value, aliases)


def _partial(name: str, build: Build, meaning: str, example: str, value: object, *aliases: str) -> Function:
    """A function with values outside its domain, which the formula makes NULL."""
    one = signature(_ONE, build, fallible=True, reuses=True)
    return Function(name, (one,), GROUP, meaning, example, value, aliases)


def _rounded(x: pl.Expr, digits: int = 0) -> pl.Expr:
    if digits >= 0:
        return x.round(digits, mode="half_away_from_zero")
    unit = 10.0**-digits
    return quotient(x, pl.lit(unit)).round(0, mode="half_away_from_zero") * unit


def _check_digits(constants: tuple[Value, ...]) -> str | None:
    digits = constants[0] if constants else 0
    if isinstance(digits, int) and not -15 <= digits <= 15:
        return f"{digits} digits are outside -15 to 15"
    return None


def _power(x: pl.Expr, y: pl.Expr) -> pl.Expr:
    power = x.pow(y)
    undefined = (power.is_nan() & x.is_not_nan() & y.is_not_nan()) | ((x == 0) & (y < 0))
    return pl.when(~undefined).then(power)


def _log_of(base: pl.Expr, x: pl.Expr) -> pl.Expr:
    return pl.when((x > 0) & (base > 0) & (base != 1)).then(quotient(x.log(), base.log()))


def _ln(x: pl.Expr) -> pl.Expr:
    return pl.when(x > 0).then(x.log())


FUNCTIONS = (
    Function(
        "ceil",
        (signature("(x: int) -> int", lambda x: x), signature(_ONE, lambda x: x.ceil())),
        GROUP,
        "The least whole number that is not below x.",
        "ceil(1.2)",
        2.0,
        ("ceiling",),
    ),
    Function(
        "floor",
        (signature("(x: int) -> int", lambda x: x), signature(_ONE, lambda x: x.floor())),
        GROUP,
        "The greatest whole number that is not above x.",
        "floor(-1.2)",
        -2.0,
    ),
    Function(
        "trunc",
        (signature("(x: int) -> int", lambda x: x), signature(_ONE, lambda x: x.truncate())),
        GROUP,
        "x without its fraction.",
        "trunc(-1.7)",
        -1.0,
        ("truncate",),
    ),
    Function(
        "round",
        (
            signature("(x: int) -> int", lambda x: x),
            signature("(x: double, [digits: int!]) -> double", _rounded, check=_check_digits),
        ),
        GROUP,
        "x rounded to a number of decimal digits (0); a half goes away from zero.",
        "round(2.345, 1)",
        2.3,
    ),
    Function(
        "sign",
        (signature("(x: int) -> int", lambda x: x.sign(), range=(-1, 1)), signature(_ONE, lambda x: x.sign())),
        GROUP,
        "-1, 0 or 1.",
        "sign(-3)",
        -1,
        ("signum",),
    ),
    _partial(
        "sqrt", lambda x: pl.when(x >= 0).then(x.sqrt()), "Square root; NULL and counted below 0.", "sqrt(9)", 3.0
    ),
    _entry("cbrt", lambda x: x.cbrt(), "Cube root.", "cbrt(27)", 3.0),
    _entry("exp", lambda x: x.exp(), "e to the power of x.", "exp(0)", 1.0),
    _partial("ln", _ln, "Natural logarithm; NULL and counted at and below 0.", "ln(1)", 0.0),
    Function(
        "log",
        (
            signature(_ONE, _ln, fallible=True, reuses=True),
            signature("(base: double, x: double) -> double", _log_of, fallible=True, reuses=True),
        ),
        GROUP,
        "Natural logarithm, or the logarithm to a base; NULL and counted at and below 0.",
        "log(2, 8)",
        3.0,
    ),
    _partial(
        "log10",
        lambda x: pl.when(x > 0).then(by_numpy(np.log10, pl.Float64(), x)),
        "Logarithm to the base 10; NULL and counted at and below 0.",
        "log10(1000)",
        3.0,
    ),
    _partial(
        "log2",
        lambda x: pl.when(x > 0).then(by_numpy(np.log2, pl.Float64(), x)),
        "Logarithm to the base 2; NULL and counted at and below 0.",
        "log2(8)",
        3.0,
    ),
    Function(
        "pow",
        (signature("(x: double, y: double) -> double", _power, fallible=True, reuses=True),),
        GROUP,
        "x to the power of y, always a double; NULL and counted where it is not a real number.",
        "pow(2, 10)",
        1024.0,
        ("power",),
    ),
    _entry("sin", lambda x: x.sin(), "Sine of radians; NaN of an infinity.", "sin(0)", 0.0),
    _entry("cos", lambda x: x.cos(), "Cosine of radians; NaN of an infinity.", "cos(0)", 1.0),
    _entry("tan", lambda x: x.tan(), "Tangent of radians; NaN of an infinity.", "tan(0)", 0.0),
    _partial(
        "cot",
        lambda x: divide_doubles(x.cos(), x.sin()),
        "Cotangent of radians; NULL and counted of 0.",
        "round(cot(pi() / 4), 9)",
        1.0,
    ),
    _partial(
        "asin",
        lambda x: pl.when(x.is_between(-1, 1) | x.is_nan()).then(x.arcsin()),
        "Inverse sine; NULL and counted outside -1 to 1.",
        "asin(0)",
        0.0,
    ),
    _partial(
        "acos",
        lambda x: pl.when(x.is_between(-1, 1) | x.is_nan()).then(x.arccos()),
        "Inverse cosine; NULL and counted outside -1 to 1.",
        "acos(1)",
        0.0,
    ),
    _entry("atan", lambda x: x.arctan(), "Inverse tangent.", "atan(0)", 0.0),
    Function(
        "atan2",
        (signature("(y: double, x: double) -> double", lambda y, x: pl.arctan2(y, x)),),
        GROUP,
        "The angle of the point (x, y) in radians.",
        "atan2(0, 1)",
        0.0,
    ),
    _entry("sinh", lambda x: x.sinh(), "Hyperbolic sine.", "sinh(0)", 0.0),
    _entry("cosh", lambda x: x.cosh(), "Hyperbolic cosine.", "cosh(0)", 1.0),
    _entry("tanh", lambda x: x.tanh(), "Hyperbolic tangent.", "tanh(0)", 0.0),
    _entry("degrees", lambda x: x.degrees(), "Radians as degrees.", "degrees(pi())", 180.0),
    _entry("radians", lambda x: x.radians(), "Degrees as radians.", "radians(0)", 0.0),
    Function("pi", (signature("() -> double", lambda: pl.lit(math.pi)),), GROUP, "3.14159...", "floor(pi())", 3.0),
    Function("e", (signature("() -> double", lambda: pl.lit(math.e)),), GROUP, "2.71828...", "floor(e())", 2.0),
    Function(
        "isnan",
        (signature("(x: double) -> bool", lambda x: x.is_nan()),),
        GROUP,
        "Whether x is not a number; NULL of NULL.",
        "isnan(cast('nan' as double))",
        True,
        ("is_nan",),
    ),
    Function(
        "isinf",
        (signature("(x: double) -> bool", lambda x: x.is_infinite()),),
        GROUP,
        "Whether x is an infinity; NULL of NULL.",
        "isinf(1e308 * 10)",
        True,
        ("is_inf",),
    ),
)
