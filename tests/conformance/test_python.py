"""python: a box that the operator wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from aurora import UserCodeError, python_box
from aurora.testing import run_rows
from conformance.cases import Case, at, check_engine, one

S = {"s": {"x": "int"}}


@python_box("conformance_total", outputs={"out": {"total": "int"}})
class Total:
    def open(self, schemas: Any, start: int = 0) -> None:
        self.total = start

    def process(self, port: int, train: pl.DataFrame) -> pl.DataFrame:
        totals = train["x"].cum_sum() + self.total
        self.total = totals[-1]
        return pl.DataFrame({"total": totals})

    def snapshot(self) -> pl.DataFrame:
        return pl.DataFrame({"total": [self.total]})

    def restore(self, state: pl.DataFrame) -> None:
        self.total = state["total"][0]


@python_box("conformance_parity", outputs={"even": {"x": "int"}, "odd": {"x": "int"}}, partition_by=None)
class Parity:
    """Even numbers go out once, odd ones twice on another port."""

    def process(self, port: int, train: pl.DataFrame) -> Mapping[str, pl.DataFrame]:
        rows = [(n, x) for n, x in enumerate(train["x"])]
        even = [(n, x) for n, x in rows if x % 2 == 0]
        odd = [(n, x) for n, x in rows if x % 2 == 1 for _ in range(2)]
        return {
            port: pl.DataFrame(answer, schema={"__source": pl.Int64, "x": pl.Int64}, orient="row")
            for port, answer in (("even", even), ("odd", odd))
        }


@python_box("conformance_sides", outputs={"out": {"side": "string", "x": "int"}})
class Sides:
    def process(self, port: int, train: pl.DataFrame) -> pl.DataFrame:
        return train.select(pl.lit("lr"[port]).alias("side"), "x")


@python_box("conformance_metronome", outputs={"out": {"second": "int", "seen": "int"}}, tick="10s")
class Metronome:
    """Says at every ten seconds how many tuples there have been."""

    def open(self, schemas: Any) -> None:
        self.seen = 0

    def process(self, port: int, train: pl.DataFrame) -> pl.DataFrame:
        self.seen += train.height
        return pl.DataFrame(schema={"__source": pl.Int64, "second": pl.Int64, "seen": pl.Int64})

    def on_time(self, now: int) -> pl.DataFrame:
        return pl.DataFrame({"second": [now // 1_000_000 % 60], "seen": [self.seen]})


@python_box("conformance_broken", outputs={"out": {"x": "int"}})
class Broken:
    def process(self, port: int, train: pl.DataFrame) -> pl.DataFrame:
        raise ValueError("no such thing")


CASES = [
    Case(
        "state goes on from train to train",
        S,
        "b: {kind: python, in: s, class: conformance_total, parameters: {start: 10}}",
        one((0, 1), (1, 2), (2, 3), (3, 4)),
        {"b": [(11,), (13,), (16,), (20,)]},
        columns={"b": ["total"]},
    ),
    Case(
        "several ports and several answers to a tuple",
        S,
        "b: {kind: python, in: s, class: conformance_parity}",
        one((0, 1), (1, 2), (2, 3), (3, 4)),
        {"b.even": [(2,), (4,)], "b.odd": [(1,), (1,), (3,), (3,)]},
    ),
    Case(
        "answers stand where the tuple stands that made them",
        S,
        "{p: {kind: python, in: s, class: conformance_parity}, m: {kind: map, in: s, compute: {x: x * 10}},"
        " b: {kind: union, in: [p.odd, m]}}",
        one((0, 1), (1, 2), (2, 3)),
        {"b": [(1,), (1,), (10,), (20,), (3,), (3,), (30,)]},
    ),
    Case(
        "two inputs come in the order of arrival",
        {"l": {"x": "int"}, "r": {"x": "int"}},
        "b: {kind: python, in: [l, r], class: conformance_sides}",
        {"l": [(0, 1), (3, 4)], "r": [(1, 2), (2, 3)]},
        {"b": [("l", 1), ("r", 2), ("r", 3), ("l", 4)]},
    ),
    Case(
        "time passes before the tuple that moves the clock",
        S,
        "b: {kind: python, in: s, class: conformance_metronome}",
        one((1, 0), (5, 0), (20, 0), (31, 0)),
        {"b": [(10, 2), (20, 2), (30, 3)]},
    ),
]


def test_engine(case: Case, train: int | None) -> None:
    check_engine(case, train)


def test_a_snapshot_carries_the_state_over() -> None:
    case = CASES[0]
    for cut in range(1, 5):
        result = run_rows(case.document(), case.inputs(), clock="at", train=1, at_end="hold", snapshot_at=cut)
        assert result.rows("of_b") == case.expected["b"]


def test_what_the_code_raises_is_named(train: int | None) -> None:
    document = Case("", S, "b: {kind: python, in: s, class: conformance_broken}", {}, {"b": []}).document()
    with pytest.raises(UserCodeError, match="no such thing"):
        run_rows(document, {"s": [{"at": at(0), "x": 1}]}, clock="at", train=train)
