"""spark: a function over DataFrames. Spark itself is played by Polars here, which calls the function with a frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from aurora import NetworkError, StateError, UserCodeError, spark_box
from aurora.boxes import spark
from aurora.model.box import KINDS, TOGETHER
from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.model.schema import ArcType, Schema
from aurora.scheduler.segments import segments
from aurora.testing import run_rows
from conformance.cases import Case, check_engine, check_restored, one

S = {"s": {"x": "int"}}


def played(function: Callable[[pl.DataFrame], pl.DataFrame], frame: pl.DataFrame) -> pl.DataFrame:
    return function(frame)


@pytest.fixture(autouse=True)
def playing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark, "RUN", played)


@spark_box("conformance_double", output={"x": "int", "half": "double"})
def double(frame: pl.DataFrame) -> pl.DataFrame:
    """Its columns come in another order and another type than declared, and there is one more."""
    return frame.select("__source", half=pl.col("x") / 2, x=pl.col("x").cast(pl.Int32) * 2, more=pl.lit("?"))


@spark_box("conformance_scattered", output={"x": "int"})
def scattered(frame: pl.DataFrame) -> pl.DataFrame:
    """Nothing for odd numbers and two rows for even ones, in an order that no tuple had."""
    even = frame.filter(pl.col("x") % 2 == 0).select("__source", "x")
    return pl.concat([even.reverse(), even.with_columns(pl.col("x") + 100)])


CASES = [
    Case(
        "the declared columns in the declared types",
        S,
        "b: {kind: spark, in: s, function: conformance_double}",
        one((0, 1), (1, 2), (2, None)),
        {"b": [(2, 0.5), (4, 1.0), (None, None)]},
        columns={"b": ["x", "half"]},
    ),
    Case(
        "answers stand in the order of the tuples behind them",
        S,
        "b: {kind: spark, in: s, function: conformance_scattered}",
        one((0, 2), (1, 3), (2, 6), (3, 4)),
        {"b": [(2,), (102,), (6,), (106,), (4,), (104,)]},
    ),
    Case(
        "answers carry the number of the tuple behind them",
        S,
        "{p: {kind: spark, in: s, function: conformance_scattered}, m: {kind: map, in: s, compute: {x: x * 10}},"
        " b: {kind: union, in: [p, m]}}",
        one((0, 1), (1, 2), (2, 4)),
        {"b": [(10,), (2,), (102,), (20,), (4,), (104,), (40,)]},
    ),
    Case(
        "between boxes that are spread",
        {"s": {"g": "string", "x": "int"}},
        "{a: {kind: latch, in: s, group_by: g, compute: {x: sum(x)}},"
        " p: {kind: spark, in: a, function: conformance_scattered},"
        " f: {kind: filter, in: p, where: x < 100}, b: {kind: latch, in: f, compute: {n: count(*)}}}",
        one((0, "a", 2), (1, "b", 1), (2, "a", 2), (3, "b", 3)),
        {"p": [(2,), (102,), (4,), (104,), (4,), (104,)], "b": [(1,), (2,), (3,)]},
    ),
]


def test_engine(case: Case, train: int | None) -> None:
    check_engine(case, train)


def test_restored(case: Case) -> None:
    check_restored(case, 1)


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_spread(case: Case, parts: int) -> None:
    check_engine(case, 2, parts=parts)


def network(function: str = "conformance_double") -> dict[str, Any]:
    return {
        "aurora": 1,
        "network": "n",
        "streams": {"s": {"schema": {"x": "int"}}},
        "boxes": {
            "before": {"kind": "filter", "in": "s", "where": "x > 0"},
            "b": {"kind": "spark", "in": "before", "function": function},
            "after": {"kind": "filter", "in": "b", "where": "x > 0"},
        },
        "outputs": {"o": {"from": "after"}},
    }


@pytest.mark.parametrize("parts", [1, 2])
def test_only_the_box_itself_runs_in_the_driver(parts: int) -> None:
    cut = segments(typecheck(Network.from_document(network())), parts)
    assert [segment.boxes for segment in cut if segment.in_driver] == [("b",)]
    levels = {box: segment.level for segment in cut for box in segment.boxes}
    assert levels["before"] < levels["b"] < levels["after"]


def test_it_is_not_split() -> None:
    box = KINDS["spark"].model_validate({"name": "b", "in": "s", "function": "conformance_double"})
    assert box.partitioning([ArcType(Schema.of(x="int"))]) == TOGETHER


def test_without_spark_the_run_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark, "RUN", None)
    with pytest.raises(StateError, match=r"in box b: it runs the Spark function conformance_double.*--processor spark"):
        run_rows(network(), {"s": []})


def test_a_name_that_nobody_registered() -> None:
    with pytest.raises(NetworkError, match=r"(?s)unknown-spark-function.*did you mean 'conformance_double'"):
        run_rows(network("conformance_dobule"), {"s": []})


BAD: dict[str, tuple[Callable[[pl.DataFrame], Any], str]] = {
    "no source": (lambda frame: frame.select("x"), r"without the column __source.*keep it"),
    "no column": (lambda frame: frame.select("__source"), r"without the declared columns x; it has __source"),
    "another type": (
        lambda frame: frame.select("__source", x=pl.lit("one")),
        r"columns that do not fit Schema\(x: int\)",
    ),
    "a row that is not there": (
        lambda frame: frame.select(pl.col("__source") + 9, "x"),
        r"a __source that is no row of the train; its rows are 0 to 1",
    ),
    "a source of text": (lambda frame: frame.select(pl.col("__source").cast(pl.String), "x"), r"no row of the train"),
    "an error": (lambda frame: frame.select("nothing"), r"raised ColumnNotFoundError"),
}


@pytest.mark.parametrize("what", BAD)
def test_wrong_answers_name_the_box_and_the_function(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, message = BAD[what]
    monkeypatch.setitem(spark.REGISTERED, "bad", spark.Registered("bad", function, Schema.of(x="int")))
    with pytest.raises(UserCodeError, match=rf"in box b: bad .*{message}"):
        run_rows(network("bad"), {"s": [{"x": 1}, {"x": 2}]})
