"""The layout of computed columns and the count of faults, whichever way the values are computed."""

from __future__ import annotations

import polars as pl
import pytest

from aurora.boxes.kernel import Projection
from aurora.expressions import Scope, analyse
from aurora.model.schema import Schema

FRAME = pl.DataFrame({"x": [1.0, 2.0, None], "i": [4, 0, 2]})
SCOPE = Scope.of(Schema.of(x="double", i="int"))


@pytest.mark.parametrize(
    ("columns", "expected", "faults"),
    [
        ({"x": "x", "i": "i", "n": "x * i"}, {"x": [1.0, 2.0, None], "i": [4, 0, 2], "n": [4.0, 0.0, None]}, 0),
        ({"i": "x", "x": "i"}, {"i": [1.0, 2.0, None], "x": [4, 0, 2]}, 0),
        ({"n": "x > 1", "x": "x"}, {"n": [False, True, None], "x": [1.0, 2.0, None]}, 0),
        ({"x": "x + 1"}, {"x": [2.0, 3.0, None]}, 0),
        ({"n": "x + 1", "q": "x / i"}, {"n": [2.0, 3.0, None], "q": [0.25, None, None]}, 1),
        ({"one": "1", "x": "x"}, {"one": [1, 1, 1], "x": [1.0, 2.0, None]}, 0),
        ({"one": "1", "n": "x + 1"}, {"one": [1, 1, 1], "n": [2.0, 3.0, None]}, 0),
    ],
    ids=["kept", "renamed", "behind", "replaced", "with faults", "constant", "constant and plain"],
)
def test_columns_and_faults(columns: dict[str, str], expected: dict[str, list[object]], faults: int) -> None:
    projection = Projection({name: analyse(text, SCOPE) for name, text in columns.items()}, keep=())
    assert _told(projection(FRAME)) == (list(expected.items()), faults)
    none = [(name, []) for name in expected]
    assert _told(projection(FRAME.clear())) == (none, 0)


def test_what_is_kept_comes_last() -> None:
    projection = Projection({"n": analyse("x * 2", SCOPE)}, keep=("i",))
    assert _told(projection(FRAME)) == ([("n", [2.0, 4.0, None]), ("i", [4, 0, 2])], 0)


def _told(result: tuple[pl.DataFrame, int]) -> tuple[list[tuple[str, list[object]]], int]:
    frame, faults = result
    return list(frame.to_dict(as_series=False).items()), faults
