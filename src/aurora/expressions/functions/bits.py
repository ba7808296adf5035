"""Bitwise operators on 64-bit ints."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.expressions.functions.declaration import Function, signature
from aurora.expressions.nodes import Literal, Node, Way
from aurora.expressions.vectors import by_numpy


def _left(a: npt.NDArray[Any], places: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.asarray(np.left_shift(a, np.clip(places, 0, 63)))


def _right(a: npt.NDArray[Any], places: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.asarray(np.right_shift(a, np.clip(places, 0, 63)))


def _shift(function: Any) -> Any:
    def choose(nodes: tuple[Node, ...]) -> Way:
        places = nodes[1]
        if isinstance(places, Literal) and isinstance(places.value, int) and 0 <= places.value <= 63:
            return Way(lambda a, b: by_numpy(function, pl.Int64(), a, b))
        return Way(
            lambda a, b: pl.when(b.is_between(0, 63)).then(by_numpy(function, pl.Int64(), a, b)),
            fallible=True,
            reuses=True,
        )

    return choose


GROUP = "bits"
_TWO = "(a: int, b: int) -> int"

FUNCTIONS = (
    Function("&", (signature(_TWO, lambda a, b: a & b),), GROUP, "Bitwise and.", "6 & 3", 2, sign="a & b"),
    Function("|", (signature(_TWO, lambda a, b: a | b),), GROUP, "Bitwise or.", "6 | 3", 7, sign="a | b"),
    Function(
        "^",
        (signature(_TWO, lambda a, b: a ^ b),),
        GROUP,
        "Bitwise exclusive or; pow(a, b) is the power.",
        "6 ^ 3",
        5,
        ("xor",),
        sign="a ^ b",
    ),
    Function("~", (signature("(a: int) -> int", lambda a: ~a),), GROUP, "Every bit inverted.", "~5", -6, sign="~ a"),
    Function(
        "<<",
        (signature("(a: int, places: int) -> int", choose=_shift(_left)),),
        GROUP,
        "Bits moved left; those that leave the 64 are lost. Places outside 0 to 63 are NULL and counted.",
        "1 << 4",
        16,
        ("shiftleft",),
        sign="a << places",
    ),
    Function(
        ">>",
        (signature("(a: int, places: int) -> int", choose=_shift(_right)),),
        GROUP,
        "Bits moved right, keeping the sign. Places outside 0 to 63 are NULL and counted.",
        "-16 >> 2",
        -4,
        ("shiftright",),
        sign="a >> places",
    ),
)
