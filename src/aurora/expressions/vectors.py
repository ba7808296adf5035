"""Ways to compute on whole columns what Polars has no expression for, or what would make one grow too large."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.expressions.nodes import Build

NumpyFunction = Callable[..., npt.NDArray[Any]]


def align(columns: Sequence[pl.Series]) -> list[pl.Series]:
    """Literals arrive as columns of one row; they are stretched to the length of the others.

    >>> [len(column) for column in align([pl.Series([1, 2, 3]), pl.Series([7])])]
    [3, 3]
    """
    lengths = {len(column) for column in columns}
    if len(lengths) <= 1:
        return list(columns)
    longest = 0 if 0 in lengths else max(lengths)
    return [
        column if len(column) == longest else pl.repeat(column[0], longest, dtype=column.dtype, eager=True)
        for column in columns
    ]


def let(arguments: Sequence[pl.Expr], build: Build, dtype: pl.DataType) -> pl.Expr:
    """``build(*arguments)`` with each argument computed once, however often the formula names it."""
    names = [str(index) for index in range(len(arguments))]
    formula = build(*(pl.col(name) for name in names))

    def run(columns: Sequence[pl.Series]) -> pl.Series:
        frame = pl.DataFrame([column.alias(name) for name, column in zip(names, align(columns), strict=True)])
        return frame.select(formula).to_series()

    return pl.map_batches(list(arguments), run, return_dtype=dtype, is_elementwise=True)


def by_numpy(function: NumpyFunction, dtype: pl.DataType, *arguments: pl.Expr) -> pl.Expr:
    """A NumPy function over columns without NULL in them; NULL in any argument gives NULL."""

    def run(columns: Sequence[pl.Series]) -> pl.Series:
        columns = align(columns)
        filled = [column.fill_null(strategy="zero") if column.null_count() else column for column in columns]
        with np.errstate(all="ignore"):
            result = pl.Series(function(*(column.to_numpy() for column in filled)), dtype=dtype)
        holes = [column for column in columns if column.null_count()]
        if not holes:
            return result
        known = holes[0].is_not_null()
        for column in holes[1:]:
            known &= column.is_not_null()
        return pl.select(pl.when(known).then(result)).to_series()

    return pl.map_batches(list(arguments), run, return_dtype=dtype, is_elementwise=True)
