"""Random expressions over random rows: what the engine compiles them to, against the oracle's evaluation."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora.expressions import Scope, analyse
from aurora.model.schema import Schema
from oracle.comparison import assert_agrees, assert_same_bytes
from oracle.drawn_expressions import Columns, value
from oracle.expressions import RowView, scalar
from oracle.strategies import AWKWARD, EXTREME, TYPES, optional

SCHEMA = Schema.of(**TYPES)
ROW = st.fixed_dictionaries({name: optional(EXTREME[name]) for name in TYPES})
ANY_ROW = st.fixed_dictionaries({name: optional(AWKWARD[name]) for name in TYPES})
MANY = settings(max_examples=5 * settings().max_examples)


@pytest.mark.parametrize("kind", ["int", "double", "string", "bool"])
@MANY
@given(rows=st.lists(ROW, min_size=1, max_size=12), data=st.data())
def test_expressions(kind: str, rows: list[dict[str, Any]], data: st.DataObject) -> None:
    text = data.draw(value(Columns(dict(TYPES), set()), kind, 3), label="expression")
    typed = scalar(text, TYPES)
    engine = analyse(text, Scope.of(SCHEMA))
    assert str(engine.type) == typed.kind
    frame = pl.DataFrame(rows, schema=SCHEMA.to_polars()).select(engine.compile().value.alias("v"))
    assert_agrees(frame, [{"v": typed.value(RowView(row))} for row in rows], {"v": typed.kind}, ())


@pytest.mark.parametrize("kind", ["int", "double", "string", "bool"])
@MANY
@given(rows=st.lists(ANY_ROW, min_size=2, max_size=12), data=st.data())
def test_a_row_alone_gives_what_it_gives_among_others(
    kind: str, rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    text = data.draw(value(Columns(dict(TYPES), set()), kind, 3), label="expression")
    compiled = analyse(text, Scope.of(SCHEMA)).compile().value.alias("v")
    frame = pl.DataFrame(rows, schema=SCHEMA.to_polars())
    # with_columns: a constant is broadcast to the rows there are, as the engine does
    alone = [frame.slice(n, 1).with_columns(compiled).select("v") for n in range(len(rows))]
    assert_same_bytes(frame.with_columns(compiled).select("v"), pl.concat(alone))


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["3", "7", "0.1", "49.0"]))
def test_division_by_a_constant_is_exact(x: float, divisor: str) -> None:
    """Polars multiplies by the reciprocal when the divisor is a constant and there is more than one row."""
    frame = pl.DataFrame({"d": [x, x]})
    compiled = analyse(f"d / {divisor}", Scope.of(Schema.of(d="double"))).compile().value
    assert frame.select(compiled).to_series().to_list() == [x / float(divisor)] * 2
