"""A slow evaluator of expression trees, one row at a time, and the strategies that draw such trees.

A tree is (operator, operand, ...); a leaf is a column's name or a literal. ``Outcome`` is the value and the number
of faults on the way to it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

MAX = 2**63 - 1
MIN = -(2**63)
EDGES = [MIN, MIN + 1, -(2**32), -3, -1, 0, 1, 2, 7, 2**31, 2**62, MAX - 1, MAX]
INTS = st.one_of(st.sampled_from(EDGES), st.integers(MIN, MAX))
DOUBLES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.5, 3.0, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan]), st.floats()
)
ROWS = st.fixed_dictionaries(
    {
        "i": st.none() | INTS,
        "j": st.none() | INTS,
        "x": st.none() | DOUBLES,
        "y": st.none() | DOUBLES,
        "p": st.none() | st.booleans(),
        "q": st.none() | st.booleans(),
    }
)

Tree = Any
Outcome = tuple[Any, int]
Row = Mapping[str, Any]


def sql(tree: Tree) -> str:
    if not isinstance(tree, tuple):
        return "null" if tree is None else f"({tree})" if isinstance(tree, int | float) else str(tree)
    name, *operands = tree
    parts = [sql(operand) for operand in operands]
    if name == "case":
        return f"(case when {parts[0]} then {parts[1]} else {parts[2]} end)"
    if name in ("coalesce", "greatest", "least", "abs", "nullif"):
        return f"{name}({', '.join(parts)})"
    if name == "in":
        return f"({parts[0]} in ({', '.join(parts[1:])}))"
    if name == "between":
        return f"({parts[0]} between {parts[1]} and {parts[2]})"
    if name in ("is null", "is true", "is not false"):
        return f"({parts[0]} {name})"
    if len(parts) == 1:
        return f"({name} {parts[0]})"
    return "(" + f" {name} ".join(parts) + ")"


def evaluate(tree: Tree, row: Row) -> Outcome:
    if not isinstance(tree, tuple):
        return (row[tree] if isinstance(tree, str) else tree), 0
    name, *operands = tree
    if name in ("and", "or"):
        return _logic(name == "or", operands, row)
    if name == "case":
        condition, faults = evaluate(operands[0], row)
        value, more = evaluate(operands[1] if condition is True else operands[2], row)
        return value, faults + more
    if name == "coalesce":
        faults = 0
        for operand in operands:
            value, more = evaluate(operand, row)
            faults += more
            if value is not None:
                return value, faults
        return None, faults
    outcomes = [evaluate(operand, row) for operand in operands]
    values, faults = [value for value, _ in outcomes], sum(count for _, count in outcomes)
    value, failed = _apply(name, values)
    return value, faults + failed


def _logic(decider: bool, operands: list[Tree], row: Row) -> Outcome:
    result: bool | None = not decider
    faults = 0
    for operand in operands:
        value, more = evaluate(operand, row)
        faults += more
        if value is decider:
            return decider, faults
        if value is None:
            result = None
    return result, faults


def _apply(name: str, values: list[Any]) -> Outcome:
    if name == "is null":
        return values[0] is None, 0
    if name == "is true":
        return values[0] is True, 0
    if name == "is not false":
        return values[0] is not False, 0
    if name == "is distinct from":
        return not _same(*values), 0
    if name in ("greatest", "least"):
        known = [value for value in values if value is not None]
        return (max if name == "greatest" else min)(known, key=_rank, default=None), 0
    if name == "nullif":
        return None if None not in values and _same(*values) else values[0], 0
    if name == "between":
        return _logic(False, [_compare(">=", values[0], values[1]), _compare("<=", values[0], values[2])], {})[0], 0
    if name == "in":
        return _logic(True, [_compare("=", values[0], value) for value in values[1:]], {})[0], 0
    if any(value is None for value in values):
        return None, 0
    if name == "not":
        return not values[0], 0
    if name in _COMPARISONS:
        return _compare(name, *values), 0
    result = _ARITHMETIC[name, len(values)](*values)
    if isinstance(result, int) and not MIN <= result <= MAX:
        result = None
    return result, int(result is None)


def _rank(value: Any) -> tuple[bool, Any]:
    """NaN is greater than every number and equal to itself."""
    return (True, 0) if isinstance(value, float) and math.isnan(value) else (False, value)


def _same(a: Any, b: Any) -> bool:
    return (a is None and b is None) if a is None or b is None else _rank(a) == _rank(b)


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def _compare(name: str, a: Any, b: Any) -> bool | None:
    return None if a is None or b is None else _COMPARISONS[name](_rank(_meet(a, b)), _rank(_meet(b, a)))


def _meet(a: Any, b: Any) -> Any:
    return float(a) if isinstance(b, float) and isinstance(a, int) else a


def _divide(a: float, b: float) -> float | None:
    a, b = float(a), float(b)
    return None if b == 0 else a / b


def _int_divide(a: int, b: int) -> int | None:
    return None if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _remainder(a: Any, b: Any) -> Any:
    if b == 0:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) % abs(b) * (-1 if a < 0 else 1)
    return math.nan if math.isinf(a) else math.fmod(a, b)


_ARITHMETIC: dict[tuple[str, int], Callable[..., Any]] = {
    ("+", 2): lambda a, b: a + b,
    ("-", 2): lambda a, b: a - b,
    ("*", 2): lambda a, b: a * b,
    ("/", 2): _divide,
    ("//", 2): _int_divide,
    ("%", 2): _remainder,
    ("-", 1): lambda a: -a,
    ("abs", 1): abs,
}


@functools.cache
def ints(depth: int) -> st.SearchStrategy[Tree]:
    leaf = st.one_of(st.sampled_from(["i", "j"]), st.sampled_from(EDGES))
    if depth == 0:
        return leaf
    inner = ints(depth - 1)
    return st.one_of(
        leaf,
        st.tuples(st.sampled_from(["+", "-", "*", "//", "%"]), inner, inner),
        st.tuples(st.sampled_from(["-", "abs"]), inner),
        st.tuples(st.sampled_from(["coalesce", "greatest", "least", "nullif"]), inner, inner),
        st.tuples(st.just("case"), booleans(depth - 1), inner, inner),
    )


@functools.cache
def doubles(depth: int) -> st.SearchStrategy[Tree]:
    leaf = st.one_of(st.sampled_from(["x", "y"]), st.sampled_from([0.0, 1.0, -1.5, 3.0, 1e308]))
    if depth == 0:
        return leaf
    inner = doubles(depth - 1)
    return st.one_of(
        leaf,
        st.tuples(st.sampled_from(["+", "-", "*", "/", "%"]), inner, inner),
        st.tuples(st.just("/"), ints(depth - 1), ints(depth - 1)),
        st.tuples(st.sampled_from(["-", "abs"]), inner),
        st.tuples(st.sampled_from(["coalesce", "greatest", "least", "nullif"]), inner, inner),
        st.tuples(st.just("case"), booleans(depth - 1), inner, inner),
    )


@functools.cache
def booleans(depth: int) -> st.SearchStrategy[Tree]:
    leaf = st.sampled_from(["p", "q"])
    if depth == 0:
        return leaf
    inner = booleans(depth - 1)
    signs = st.sampled_from([*_COMPARISONS, "is distinct from"])
    branches: list[st.SearchStrategy[Tree]] = [
        leaf,
        st.tuples(st.sampled_from(["and", "or"]), inner, inner),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner, inner),
        st.tuples(st.sampled_from(["not", "is null", "is true", "is not false"]), inner),
        st.tuples(signs, doubles(depth - 1), ints(depth - 1)),
    ]
    for numbers in (ints(depth - 1), doubles(depth - 1)):
        branches += [
            st.tuples(signs, numbers, numbers),
            st.tuples(st.sampled_from(["between", "in"]), numbers, numbers, numbers),
        ]
    return st.one_of(branches)
