"""Comparison, tests for NULL, and patterns.

NaN equals itself and is greater than every other double, in comparisons as in sorting and grouping.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from aurora.expressions.functions.declaration import Function, Signature, signature
from aurora.expressions.nodes import Build, Node, Value, Way, constant
from aurora.model.types import DOUBLE


def like_regex(pattern: str, escape: str = "") -> str:
    """The regular expression of a LIKE pattern.

    >>> like_regex("a%b_c.d")
    '(?s)^a.*b.c\\\\.d$'
    """
    out, index = [], 0
    while index < len(pattern):
        character = pattern[index]
        if escape and character == escape and index + 1 < len(pattern):
            index += 1
            out.append(re.escape(pattern[index]))
        else:
            out.append({"%": ".*", "_": "."}.get(character) or re.escape(character))
        index += 1
    return f"(?s)^{''.join(out)}$"


def _like(text: pl.Expr, pattern: str, escape: str = "") -> pl.Expr:
    """Patterns with % only at the ends need no regular expression."""
    middle = pattern.strip("%")
    if not escape and "%" not in middle and "_" not in middle:
        starts, ends = not pattern.startswith("%"), not pattern.endswith("%")
        if not middle:
            return text == "" if not pattern else text.is_not_null().replace(False, None)
        if starts and ends:
            return text == middle
        if starts:
            return text.str.starts_with(middle)
        if ends:
            return text.str.ends_with(middle)
        return text.str.contains(middle, literal=True)
    return text.str.contains(like_regex(pattern, escape))


def _ilike(text: pl.Expr, pattern: str, escape: str = "") -> pl.Expr:
    return text.str.contains("(?i)" + like_regex(pattern, escape))


def _check_escape(constants: tuple[Value, ...]) -> str | None:
    if len(constants) > 1 and len(str(constants[1])) != 1:
        return f"the escape {constants[1]!r} is not one character"
    return None


def check_regex(constants: tuple[Value, ...]) -> str | None:
    """What is wrong with the regular expression, in one line."""
    try:
        pl.select(pl.lit("").str.contains(str(constants[0])))
    except pl.exceptions.ComputeError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = next((line for line in lines if line.startswith("error:")), lines[0])
        return f"{constants[0]!r} is not a regular expression: {reason.removeprefix('error: ')}"
    return None


_COMPARISONS: dict[str, Build] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "is distinct from": lambda a, b: a.ne_missing(b),
    "is not distinct from": lambda a, b: a.eq_missing(b),
}
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def compare(sign: str, a: pl.Expr, b: pl.Expr, *, flip: bool) -> pl.Expr:
    """``flip`` puts a constant on the right. With one on the left, Polars answers with one row where the other side
    is a column of nothing but NULL that it holds as a scalar."""
    return _COMPARISONS[_FLIPPED.get(sign, sign)](b, a) if flip else _COMPARISONS[sign](a, b)


def _comparing(sign: str) -> Signature:
    def choose(nodes: tuple[Node, ...]) -> Way:
        flip = constant(nodes[0])
        return Way(lambda a, b: compare(sign, a, b, flip=flip), strict="distinct" not in sign)

    return signature("(a: T, b: T) -> bool", choose=choose)


def _choose_between(nodes: tuple[Node, ...]) -> Way:
    flip = constant(nodes[0])

    def build(x: pl.Expr, low: pl.Expr, high: pl.Expr) -> pl.Expr:
        return compare(">=", x, low, flip=flip) & compare("<=", x, high, flip=flip)

    return Way(build, reuses=True)


def _choose_nullif(nodes: tuple[Node, ...]) -> Way:
    flip = constant(nodes[0])

    def build(a: pl.Expr, b: pl.Expr) -> pl.Expr:
        return pl.when(compare("=", a, b, flip=flip).fill_null(False)).then(None).otherwise(a)

    return Way(build, reuses=True)


def _extreme(greatest: bool) -> object:
    def choose(nodes: tuple[Node, ...]) -> Way:
        def build(*arguments: pl.Expr) -> pl.Expr:
            horizontal = pl.max_horizontal(*arguments) if greatest else pl.min_horizontal(*arguments)
            if nodes[0].type != DOUBLE or not greatest:
                return horizontal
            has_nan = pl.any_horizontal(*(argument.is_nan() for argument in arguments))
            return pl.when(has_nan).then(float("nan")).otherwise(horizontal)

        return Way(build, reuses=greatest and nodes[0].type == DOUBLE)

    return choose


def in_list(operand: pl.Expr, options: Sequence[Value], dtype: pl.DataType) -> pl.Expr:
    """``operand in (constants)``; a NULL among them makes what does not match NULL, as three-valued logic asks."""
    known = [option for option in options if option is not None]
    found = operand.is_in(pl.Series(known, dtype=dtype).implode())
    return found if len(known) == len(options) else found.replace(False, None)


GROUP = "comparison"
LOGIC = "logic"

FUNCTIONS = (
    Function("=", (_comparing("="),), GROUP, "Equal.", "1 = 1.0", True, sign="a = b"),
    Function("<>", (_comparing("<>"),), GROUP, "Not equal; also !=.", "'a' <> 'b'", True, sign="a <> b"),
    Function("<", (_comparing("<"),), GROUP, "Less.", "1 < 2", True, sign="a < b"),
    Function("<=", (_comparing("<="),), GROUP, "Less or equal.", "2 <= 2", True, sign="a <= b"),
    Function(">", (_comparing(">"),), GROUP, "Greater.", "1 > 2", False, sign="a > b"),
    Function(">=", (_comparing(">="),), GROUP, "Greater or equal.", "null >= 2", None, sign="a >= b"),
    Function(
        "is distinct from",
        (_comparing("is distinct from"),),
        GROUP,
        "Not equal, where NULL equals NULL; never NULL.",
        "1 is distinct from null",
        True,
        sign="a is distinct from b",
    ),
    Function(
        "is not distinct from",
        (_comparing("is not distinct from"),),
        GROUP,
        "Equal, where NULL equals NULL; never NULL.",
        "null is not distinct from null",
        True,
        sign="a is not distinct from b",
    ),
    Function(
        "between",
        (signature("(x: T, low: T, high: T) -> bool", choose=_choose_between),),
        GROUP,
        "From low to high, both included.",
        "5 between 1 and 5",
        True,
        sign="x between low and high",
    ),
    Function(
        "is null",
        (signature("(x: any) -> bool", lambda x: x.is_null(), strict=False),),
        GROUP,
        "Whether x is NULL.",
        "null is null",
        True,
        sign="x is null",
    ),
    Function(
        "is true",
        (signature("(x: bool) -> bool", lambda x: x.fill_null(False), strict=False),),
        GROUP,
        "True and not NULL; is not true, is false and is not false as expected. Never NULL.",
        "(null = 1) is true",
        False,
        sign="x is true",
    ),
    Function(
        "is false",
        (signature("(x: bool) -> bool", lambda x: (~x).fill_null(False), strict=False),),
        GROUP,
        "False and not NULL. Never NULL.",
        "(1 = 2) is false",
        True,
        sign="x is false",
    ),
    Function(
        "not",
        (signature("(a: bool) -> bool", lambda a: ~a),),
        LOGIC,
        "True of false, false of true, NULL of NULL.",
        "not (1 = 2)",
        True,
        sign="not a",
    ),
    Function(
        "like",
        (
            signature(
                "(text: string, pattern: string!, [escape: string!]) -> bool", _like, check=_check_escape, reuses=True
            ),
        ),
        GROUP,
        "Matches a pattern in which % stands for any text and _ for one character; not like, and escape 'c'.",
        "'Boston' like 'B%n'",
        True,
        sign="text like 'pattern'",
    ),
    Function(
        "ilike",
        (signature("(text: string, pattern: string!, [escape: string!]) -> bool", _ilike, check=_check_escape),),
        GROUP,
        "Like, but upper and lower case are the same.",
        "'Boston' ilike 'b%'",
        True,
        sign="text ilike 'pattern'",
    ),
    Function(
        "rlike",
        (signature("(text: string, pattern: string!) -> bool", lambda t, p: t.str.contains(p), check=check_regex),),
        GROUP,
        "Whether the regular expression matches somewhere in the text; also text ~ 'pattern'.",
        "'feed-17' rlike '^feed-[0-9]+$'",
        True,
        ("regexp_like", "regexp_matches", "regexp"),
        sign="text rlike 'pattern'",
    ),
    Function(
        "nullif",
        (signature("(a: T, b: T) -> T", choose=_choose_nullif),),
        GROUP,
        "NULL if both are equal, else a.",
        "nullif(5, 0)",
        5,
    ),
    Function(
        "greatest",
        (signature("(value...: T) -> T", choose=_extreme(True)),),  # type: ignore[arg-type]
        GROUP,
        "The greatest of the values that are not NULL.",
        "greatest(1, null, 3)",
        3,
    ),
    Function(
        "least",
        (signature("(value...: T) -> T", choose=_extreme(False)),),  # type: ignore[arg-type]
        GROUP,
        "The least of the values that are not NULL.",
        "least(1, null, 3)",
        1,
    ),
)
