"""Functions and aggregates that the operator registers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest

from aurora.errors import InputError, UserCodeError
from aurora.expressions import (
    analyse_aggregates,
    function,
    register_aggregate,
    register_function,
    unregister,
)
from aurora.model.types import DOUBLE
from tests.unit.expressions.evaluation import SCOPE, evaluate, problems, values


class Product:
    def init(self) -> float:
        return 1.0

    def incr(self, state: float, *values: Any) -> float:
        return state * float(values[0])

    def final(self, state: float) -> float:
        return state


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    register_function("plus", lambda a, b: a + b, ["double", "double"], "double")
    register_function("short", lambda a: a.head(1), ["int"], "int")
    register_function("broken", lambda a: 1 / 0, ["int"], "int")
    register_function("wrong", lambda a: a.cast(pl.String) + "x", ["int"], "int")
    register_function("scalar", lambda a: 5, ["int"], "int")
    register_aggregate("product", Product, "double", "double")
    yield
    for name in ("plus", "short", "broken", "wrong", "scalar", "product", "half"):
        unregister(name)


def test_functions_are_called_on_whole_columns() -> None:
    assert values("plus(x, 1) * 2", x=[1.0, 2.5, None]) == [4.0, 7.0, None]
    assert values("PLUS(i, j)", i=[1, 2], j=[3, 4]) == [4.0, 6.0]
    assert values("plus(1, 2)", i=[1, 2]) == [3.0, 3.0]
    assert values("plus(x, x)", x=[]) == []
    assert evaluate("plus(i / j, 0)", i=[1], j=[0]) == ([None], [1])


def test_the_decorator_takes_the_functions_name() -> None:
    @function(arguments=["int"], returns="double")
    def half(a: pl.Series) -> pl.Series:
        return a / 2

    assert values("half(i)", i=[3]) == [1.5]


@pytest.mark.parametrize(("name", "text"), [("broken", "ZeroDivisionError"), ("short", "1 values"), ("scalar", "int")])
def test_errors_name_the_function(name: str, text: str) -> None:
    with pytest.raises(UserCodeError, match=rf"(?s){name}.*{text}"):
        values(f"{name}(i)", i=[1, 2])


def test_a_result_of_another_type_is_an_error() -> None:
    with pytest.raises(UserCodeError, match="wrong"):
        values("wrong(i)", i=[1])


def test_problems() -> None:
    assert set(problems("plus(x)")) == {"wrong-argument-count"}
    assert set(problems("plus(x, s)")) == {"type-mismatch"}
    assert "did you mean 'plus'?" in problems("pluss(x, y)")["unknown-function"]
    assert set(problems("product(x)")) == {"aggregate-not-allowed"}


def test_aggregates() -> None:
    found = analyse_aggregates({"p": "product(i) filter (where i > 0) + product(i)"}, SCOPE)
    assert [(call.function, call.type) for call in found.calls] == [("product", DOUBLE), ("product", DOUBLE)]
    assert found.calls[0].argument is not None
    assert found.calls[0].argument.type == DOUBLE


def test_names_that_cannot_be_registered() -> None:
    for name in ("upper", "sum", "coalesce", "arrival_time", "now", "two words", ""):
        with pytest.raises(InputError):
            register_function(name, lambda a: a, ["int"], "int")
    with pytest.raises(InputError):
        register_function("constant", lambda: 1, [], "int")
    with pytest.raises(InputError, match="incr, final"):
        register_aggregate("half_done", type("HalfDone", (), {"init": lambda self: 0}), "int")
    with pytest.raises(ValueError, match="unknown type"):
        register_function("odd", lambda a: a, ["integer"], "int")
