"""Values of every type that functions are apt to stumble over, and constants that functions take."""

from __future__ import annotations

import math
import random
from functools import cache
from typing import Any

import polars as pl

from aurora.expressions import Scope, analyse
from aurora.expressions.functions import BY_NAME
from aurora.expressions.nodes import Call, Literal, Node, walk
from aurora.model.types import Type

_TIMES = [None, 0, 1_704_067_200_123_456, -86_400_000_001, 951_782_400_000_000]
VALUES: dict[str, list[Any]] = {
    "bool": [None, True, False],
    "int": [None, 0, 1, -1, 2, 3, 7, 65, 2**31, -(2**63), 2**63 - 1],
    "double": [None, 0.0, -0.5, 1.5, 2.0, 1e300, math.inf, -math.inf, math.nan],
    "string": [None, "", "a", "ra", "aurora", "b,a", " a ", "é€", "3", "2024-01-02", "%a_"],
    "timestamp": _TIMES,
    "duration": _TIMES,
    "binary": [None, b"", b"a", b"\xff"],
    "list<int>": [None, [], [1], [3, None, 1], [2, 2]],
    "list<string>": [None, [], ["a"], ["ra", None, "a"], [""]],
}
LITERALS: dict[str, Any] = {
    "bool": True,
    "int": 2,
    "double": 1.5,
    "string": "aurora",
    "timestamp": 1_704_067_200_123_456,
    "duration": 90_000_000,
    "binary": b"ab",
}
CONSTANT_EXPRESSIONS = {
    "bool": "1 < 2",
    "int": "abs(-2)",
    "double": "sqrt(4.0)",
    "string": "lower('Aurora')",
    "timestamp": "to_timestamp(86400)",
    "duration": "interval '1' second * 2",
    "list<string>": "split('a,ra', ',')",
}


@cache
def fixed(name: str, index: int) -> Node | None:
    """A constant that the function takes in this place, from its example."""
    for node in walk(analyse(BY_NAME[name].example, Scope({})).tree):
        if isinstance(node, Call) and node.name == name and index < len(node.arguments):
            found = node.arguments[index]
            return found if isinstance(found, Literal) else None
    return None


def frame_of(columns: dict[str, str], rows: int, seed: int) -> pl.DataFrame:
    lottery = random.Random(seed)
    series = []
    for name, type_ in columns.items():
        drawn = [lottery.choice(VALUES[type_]) for _ in range(rows)]
        series.append(pl.Series(name, drawn, dtype=Type.parse(type_).to_polars()))
    return pl.DataFrame(series)
