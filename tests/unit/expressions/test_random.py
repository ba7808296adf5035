"""Random expressions over extreme values: compiled and run as a column, against the slow evaluator row by row."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.expressions import analyse
from tests.unit.expressions import slow
from tests.unit.expressions.evaluation import SCOPE, frame, run


def same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or a == b
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("kind", [slow.ints, slow.doubles, slow.booleans], ids=["int", "double", "bool"])
@given(data=st.data())
def test_compiled_and_slow_evaluation_agree(kind: Any, data: st.DataObject) -> None:
    tree = data.draw(kind(3))
    rows = data.draw(st.lists(slow.ROWS, min_size=1, max_size=6))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    scalar = analyse(slow.sql(tree), SCOPE)
    values, faults = run(scalar, frame(**columns))
    expected = [slow.evaluate(tree, row) for row in rows]
    assert faults == [count for _, count in expected]
    assert all(same(a, b) for a, (b, _) in zip(values, expected, strict=True)), (values, expected)
    if scalar.compile().faults_show:
        assert all(value is None for value, count in zip(values, faults, strict=True) if count)
