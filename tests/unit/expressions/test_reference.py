"""Every entry of the reference: its example gives its value, and its names lead to it."""

from __future__ import annotations

import statistics
from typing import Any

import polars as pl
import pytest

from aurora.expressions import FunctionEntry, Scope, analyse, analyse_aggregates, reference
from aurora.expressions.aggregates import TIMED_OUT, WINDOW_END, WINDOW_START, AggregateCall
from aurora.expressions.reference import EXAMPLE_VALUES
from aurora.model.types import INT
from tests.unit.expressions.evaluation import run

ENTRIES = reference()
SCALARS = [entry for entry in ENTRIES if entry.group not in ("aggregates", "windows")]
AGGREGATES = [entry for entry in ENTRIES if entry.group in ("aggregates", "windows")]

FUNCTIONS: dict[str, Any] = {
    "count": len,
    "count_distinct": lambda x: len(set(x)),
    "sum": sum,
    "avg": statistics.fmean,
    "min": min,
    "max": max,
    "first": lambda x: x[0],
    "last": lambda x: x[-1],
    "any_value": lambda x: x[0],
    "delta": lambda x: x[-1] - x[0],
    "stddev": statistics.stdev,
    "variance": statistics.variance,
    "median": lambda x: float(statistics.median(x)),
    "bool_and": all,
    "bool_or": any,
    "collect": list,
}


def by_name(entry: FunctionEntry) -> str:
    return entry.name


def aggregated(call: AggregateCall) -> pl.Series:
    data = pl.DataFrame({"x": EXAMPLE_VALUES})
    if call.where is not None:
        data = data.filter(call.where.compile().value)
    assert call.argument is not None
    inputs = [v for v in run(call.argument, data)[0] if v is not None]
    if call.function == "quantile":
        share = call.parameters[0]
        result = pl.Series(inputs).quantile(share, "linear")
    else:
        result = FUNCTIONS[call.function](inputs)
    return pl.Series(call.slot, [result], dtype=call.type.to_polars())


@pytest.mark.parametrize("entry", SCALARS, ids=by_name)
def test_example_of_a_function(entry: FunctionEntry) -> None:
    found, faults = run(analyse(entry.example, Scope({})), pl.DataFrame({"__arrival": [0]}))
    assert found == [entry.value]
    assert type(found[0]) is type(entry.value)
    assert faults == [0]


@pytest.mark.parametrize("entry", AGGREGATES, ids=by_name)
def test_example_of_an_aggregate(entry: FunctionEntry) -> None:
    found = analyse_aggregates({"out": entry.example}, Scope({"x": INT}), window_type=INT)
    bounds = pl.DataFrame({TIMED_OUT: [False], WINDOW_START: [0], WINDOW_END: [10]})
    results = bounds.hstack([aggregated(call) for call in found.calls])
    assert run(found.finals["out"], results)[0] == [entry.value]


def test_names_are_unique() -> None:
    names = [name for entry in ENTRIES for name in (entry.name, *entry.aliases)]
    assert sorted(names) == sorted(set(names))


def test_entries_are_complete() -> None:
    for entry in ENTRIES:
        assert entry.signatures
        assert entry.meaning.endswith(".")
        assert entry.example
