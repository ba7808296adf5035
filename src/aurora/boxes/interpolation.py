"""Linear interpolation of data between the tuples on either side of a point."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from aurora.boxes.kernel import Projection, typed
from aurora.boxes.segments import Array
from aurora.errors import ExpressionError, Report
from aurora.expressions import Scalar, Scope, analyse, analyse_aggregates
from aurora.expressions.nodes import Column
from aurora.model.train import Ints
from aurora.model.types import DOUBLE


def _aggregated(text: str, scope: Scope) -> Scalar | None:
    """The argument of the aggregate that the text consists of, which is then what is interpolated; else None."""
    try:
        aggregates = analyse_aggregates({"value": text}, scope)
    except ExpressionError:
        return None
    if len(aggregates.calls) != 1 or not isinstance(aggregates.finals["value"].tree, Column):
        return None
    (call,) = aggregates.calls
    return call.argument if call.where is None else None


class Interpolation:
    """Columns of the data, sampled at every tuple and interpolated at points."""

    def __init__(self, compute: Mapping[str, str], scope: Scope) -> None:
        samples: dict[str, Scalar] = {
            name: _aggregated(text, scope) or analyse(text, scope) for name, text in compute.items()
        }
        self._projection = Projection(samples, keep=())
        self._names = list(compute)
        self.nothing = pl.DataFrame(schema=dict.fromkeys(compute, pl.Float64()))

    @staticmethod
    def check(compute: Mapping[str, str], scope: Scope, report: Report) -> bool:
        """Reports what cannot be interpolated."""
        fine = True
        for name, text in compute.items():
            scalar = _aggregated(text, scope) or typed(text, scope, report.at(name))
            if scalar is None:
                fine = False
            elif not scalar.type.numeric:
                fine = False
                report.at(name).add(
                    "type-mismatch", f"{text} is {scalar.type}; only numbers can be interpolated", "choose a number"
                )
        return fine

    def sample(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
        values, nulled = self._projection(frame)
        return values.cast(DOUBLE.to_polars()), nulled

    def at(self, points: Array, begin: Ints, end: Ints, axis: Array, samples: pl.DataFrame) -> list[pl.Series]:
        """Every column's value at the points. Point i lies among rows ``begin[i]`` to ``end[i]``, sorted by axis."""
        return [self._column(name, points, begin, end, axis, samples.get_column(name)) for name in self._names]

    def _column(self, name: str, points: Array, begin: Ints, end: Ints, axis: Array, values: pl.Series) -> pl.Series:
        rows = np.arange(len(axis))
        valid = values.is_not_null().to_numpy()
        # The nearest row with a value at or before each row, and at or after it.
        before = np.maximum.accumulate(np.where(valid, rows, -1))
        after = np.minimum.accumulate(np.where(valid, rows, len(axis))[::-1])[::-1]
        cut = _first_above(points, begin, end, axis)
        low = np.where(cut > begin, before[np.maximum(cut - 1, 0)], -1)
        low = np.where(low >= begin, low, -1)
        inside = np.minimum(cut, len(axis) - 1)
        high = np.where(cut < end, after[inside], len(axis))
        exact = (low >= 0) & (axis[np.maximum(low, 0)] == points)
        high = np.where(exact, low, high)
        known = (low >= 0) & (high < end)
        low, high = np.where(known, low, 0), np.where(known, high, 0)
        data = values.fill_null(0.0).to_numpy()
        x0, x1 = axis[low].astype(np.float64), axis[high].astype(np.float64)
        y0, y1 = data[low], data[high]
        share = (points.astype(np.float64) - x0) / np.where(x1 == x0, 1.0, x1 - x0)
        with np.errstate(invalid="ignore", over="ignore"):
            result = np.where(exact, y0, y0 + (y1 - y0) * share)
        return pl.Series(name, result).set(pl.Series(~known), None)


def _first_above(points: Array, begin: Ints, end: Ints, axis: Array) -> Ints:
    """The first row of each range whose axis value is above the point, by bisection of all ranges at once."""
    low, high = begin.copy(), end.copy()
    while bool((low < high).any()):
        middle = (low + high) // 2
        above = axis[np.minimum(middle, len(axis) - 1)] > points
        open_ = low < high
        high = np.where(open_ & above, middle, high)
        low = np.where(open_ & ~above, middle + 1, low)
    return low
