"""The order column's values as plain numbers, and back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.boxes.accumulators import is_valid, numbers
from aurora.boxes.segments import Array
from aurora.model.types import DOUBLE, INT, Type


def order_values(frame: pl.DataFrame, column: str) -> tuple[Array, npt.NDArray[np.bool_]]:
    """The numbers behind an order column, and which rows have one. NULL, NaN and infinities are out of every order."""
    series = frame.get_column(column)
    values = numbers(series, 0)
    known = is_valid(series)
    return values, known & np.isfinite(values) if values.dtype == np.float64 else known


def order_series(name: str, values: Array, kind: Type) -> pl.Series:
    """Order values as a column of the order column's type."""
    if kind == DOUBLE:
        return pl.Series(name, values, dtype=pl.Float64)
    whole = pl.Series(name, values, dtype=pl.Int64)
    return whole if kind == INT else whole.cast(kind.to_polars())
