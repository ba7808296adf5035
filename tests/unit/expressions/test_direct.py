"""What is computed on the columns themselves is, bit for bit, what Polars computes from the expression."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.expressions import analyse
from tests.unit.expressions.evaluation import SCOPE

PLAIN = [
    *(
        f"{a} {sign} {b}"
        for sign in ("=", "<>", "<", "<=", ">", ">=")
        for a, b in [("x", "y"), ("x", "50"), ("0.0", "x")]
    ),
    *(f"{a} {sign} {b}" for sign in ("+", "-", "*") for a, b in [("x", "y"), ("x", "i"), ("i", "2.5"), ("-0.0", "x")]),
    "i < j",
    "i = 3",
    "i >= x",
    "s = 'b'",
    "'b' < s",
    "t < u",
    "t >= timestamp '2024-01-01'",
    "d > interval '1' second",
    "p = q",
    "p < true",
    "x > cast(null as double)",
    "not p",
    "p and q",
    "p or q",
    "p and x > 1 and i < 3",
    "not (p or x > 1) or y <> x",
    "p and true",
    "false or p",
    "(x + y) * (x - 2) > y * 3",
    "1 < 2",
    "'a text that is longer than twelve bytes'",
    "-0.0",
    "1.5 * 2",
    "timestamp '2024-01-01'",
    "cast(null as double)",
]
NOT_PLAIN = {
    "may overflow": "i + j",
    "may divide by zero": "x / y",
    "a function": "upper(s) = 'A'",
    "bytes": "b = b",
    "a test for NULL": "x is null",
    "moved time": "t + d > u",
    "the arrival time": "arrival_time() > t",
    "a case in it": "case when p then x end > 1",
}

_TIMES = st.sampled_from([None, 0, 1_704_067_200_000_000, -1, 2**50])
_VALUES: dict[str, st.SearchStrategy[object]] = {
    "i": st.sampled_from([None, 0, 1, 3, -7, 2**53 + 1, 2**63 - 1, -(2**63)]),
    "x": st.sampled_from([None, 0.0, -0.0, 1.5, 50.0, math.nan, -math.nan, math.inf, -math.inf, 5e-324, 1.7e308]),
    "s": st.sampled_from([None, "", "a", "b", "a text that is longer than twelve bytes"]),
    "t": _TIMES,
    "d": _TIMES,
    "p": st.sampled_from([None, True, False]),
}
_VALUES |= {"j": _VALUES["i"], "y": _VALUES["x"], "u": _VALUES["t"], "q": _VALUES["p"]}


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    """No row, one or several; in one chunk or two; some column all NULL."""
    rows = draw(st.integers(0, 6))
    cut = draw(st.integers(0, rows))
    unknown = draw(st.sampled_from(["", *_VALUES]))
    columns = {
        name: [None] * rows if name == unknown else draw(st.lists(values, min_size=rows, max_size=rows))
        for name, values in _VALUES.items()
    }
    frame = pl.DataFrame({n: pl.Series(v, dtype=SCOPE[n].to_polars()) for n, v in columns.items()})
    return pl.concat([frame.slice(0, cut), frame.slice(cut)], rechunk=draw(st.booleans()))


def bits(column: pl.Series) -> tuple[pl.DataType, list[bool], list[object]]:
    """All that a column holds. Zeros have signs; a NaN is like any other."""
    plain = column.to_physical().rechunk()
    values: list[object] = plain.to_list()
    if plain.dtype == pl.Float64:
        filled = plain.fill_null(0.0).fill_nan(math.nan)
        values = filled.to_numpy().view(np.int64).tolist()
    return column.dtype, column.is_null().to_list(), values


@pytest.mark.parametrize("text", PLAIN)
@given(frame=frames())
def test_columns_and_expressions_agree(text: str, frame: pl.DataFrame) -> None:
    compiled = analyse(text, SCOPE).compile()
    assert compiled.direct is not None
    assert compiled.faults is None
    assert bits(compiled.direct(frame)) == bits(frame.select(compiled.value).to_series())


@pytest.mark.parametrize("text", NOT_PLAIN.values(), ids=NOT_PLAIN)
def test_everything_else_is_left_to_polars(text: str) -> None:
    assert analyse(text, SCOPE).compile().direct is None
