"""When an output of the engine counts as equal to another one, or to the oracle's."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

from aurora.model.types import Type


def assert_same_bytes(one: pl.DataFrame, other: pl.DataFrame) -> None:
    """Equal to the last bit; NaN equals NaN, and zero does not equal minus zero."""
    assert one.schema == other.schema
    assert _bits(one).rows() == _bits(other).rows()


def _bits(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(
        pl.col(pl.Float64).map_elements(float.hex, return_dtype=pl.String),
        pl.col(pl.List(pl.Float64)).list.eval(pl.element().map_elements(float.hex, return_dtype=pl.String)),
    )


def assert_agrees(
    frame: pl.DataFrame, rows: list[dict[str, Any]], schema: Mapping[str, str], fuzzy: Collection[str]
) -> None:
    """The engine's frame holds the oracle's rows; columns named ``fuzzy`` may differ by rounding."""
    assert frame.schema == {name: Type.parse(kind).to_polars() for name, kind in schema.items()}
    found, expected = frame.rows(), [tuple(row[name] for name in schema) for row in rows]
    for number, (got, wanted) in enumerate(zip(found, expected, strict=False)):
        for name, x, y in zip(schema, got, wanted, strict=True):
            equal = _close(x, y) if name in fuzzy else _equal(x, y)
            assert equal, f"row {number}, column {name}: the engine has {x!r}, the oracle {y!r}"
    assert len(found) == len(expected), f"the engine has {found}, the oracle {expected}"


def _equal(x: Any, y: Any) -> bool:
    if isinstance(x, list) and isinstance(y, list):
        return len(x) == len(y) and all(_equal(a, b) for a, b in zip(x, y, strict=True))
    if isinstance(x, float) and isinstance(y, float) and math.isnan(x):
        return math.isnan(y)
    return type(x) is type(y) and bool(x == y)


def _close(x: Any, y: Any) -> bool:
    if isinstance(x, float) and isinstance(y, float) and math.isfinite(x) and math.isfinite(y):
        return math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-9)
    return _equal(x, y)
