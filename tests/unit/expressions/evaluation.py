"""Runs an expression over a small frame, the way a box does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from aurora.errors import ExpressionError
from aurora.expressions import Scalar, Scope, analyse
from aurora.model.types import Type

COLUMNS = {
    "i": "int",
    "j": "int",
    "x": "double",
    "y": "double",
    "s": "string",
    "t": "timestamp",
    "u": "timestamp",
    "d": "duration",
    "p": "bool",
    "q": "bool",
    "b": "binary",
    "l": "list<int>",
}
SCOPE = Scope({name: Type.parse(kind) for name, kind in COLUMNS.items()})


def frame(**columns: Sequence[object]) -> pl.DataFrame:
    """A frame with the given columns and, hidden, arrival times."""
    rows = max((len(values) for values in columns.values()), default=1)
    series = [pl.Series(name, values, dtype=SCOPE[name].to_polars()) for name, values in columns.items()]
    return pl.DataFrame([*series, pl.Series("__arrival", range(rows), dtype=pl.Int64)])


def run(scalar: Scalar, data: pl.DataFrame) -> tuple[list[Any], list[int]]:
    """The values and the fault counts, row by row; checks the types of both."""
    compiled = scalar.compile()
    value = data.select(compiled.value.alias("value")).to_series()
    assert value.dtype == scalar.type.to_polars(), (scalar.text, value.dtype, scalar.type)
    assert len(value) == data.height
    assert compiled.values(data).equals(value, check_dtypes=True, null_equal=True), scalar.text
    if compiled.faults is None:
        return value.to_list(), [0] * data.height
    both = data.select(compiled.value.alias("value"), compiled.faults.alias("faults"))
    assert both.schema["faults"] == pl.UInt32
    assert both["faults"].null_count() == 0
    assert both["value"].equals(value, null_equal=True)
    return value.to_list(), both["faults"].to_list()


def evaluate(text: str, **columns: Sequence[object]) -> tuple[list[Any], list[int]]:
    return run(analyse(text, SCOPE), frame(**columns))


def values(text: str, **columns: Sequence[object]) -> list[Any]:
    return evaluate(text, **columns)[0]


def value(text: str) -> Any:
    return values(text)[0]


def fault(text: str) -> tuple[Any, int]:
    """The value and the fault count of a constant expression."""
    found, faults = evaluate(text)
    return found[0], faults[0]


def problems(text: str, scope: Scope = SCOPE, **options: Any) -> Mapping[str, str]:
    """The problems of an expression: their texts by id."""
    try:
        analyse(text, scope, **options)
    except ExpressionError as error:
        return {problem.id: str(problem) for problem in error.problems}
    return {}
