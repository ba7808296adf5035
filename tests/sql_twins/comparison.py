"""Runs a case through Aurora, with several sizes of trains, and through DuckDB, and says where they differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import polars as pl

import aurora as au
from tests.sql_twins.case import IN_MICROSECONDS, Case, Row
from tests.sql_twins.differences import MACROS

TRAINS = (1, 7, 50_000)
NO_REWRITING = "SET disabled_optimizers = 'expression_rewriter'"
"""DuckDB moves constants across comparisons, by which NaN < -y gets another answer than without its optimizer."""

_IN_SQL = {"timestamp": "epoch_us({0})", "list<timestamp>": "list_transform({0}, lambda each: epoch_us(each))"}


class Twin:
    """A DuckDB in memory that knows Aurora's meanings as macros."""

    def __init__(self) -> None:
        self._connection = duckdb.connect(config={"threads": 1})
        self._connection.execute(NO_REWRITING)
        for macro in MACROS:
            self._connection.execute(f"CREATE MACRO {macro}")

    def rows(self, case: Case) -> list[Row]:
        """What the case's SQL gives, times as microseconds."""
        for name, table in case.inputs.items():
            self._connection.register(name, table.frame_for_duckdb().to_arrow())
        wanted = [_IN_SQL.get(kind, "{0}").format(name) for name, kind in case.columns.items()]
        return self.query(f"SELECT {', '.join(wanted)} FROM ({case.sql})")

    def query(self, sql: str) -> list[Row]:
        """What DuckDB says."""
        return self._connection.execute(sql).fetchall()


@dataclass(frozen=True)
class Told:
    """What is different: ``what`` is the sort of finding, which stays the same while a case is made smaller."""

    what: str
    detail: str

    def __str__(self) -> str:
        return f"{self.what}: {self.detail}"


def difference(case: Case, twin: Twin) -> Told | None:
    """Where Aurora and DuckDB differ; None if they agree for every size of trains.

    A failure of either side is a finding like any other: one of them does not know what the case means.
    """
    try:
        expected = _sorted(case, twin.rows(case))
    except duckdb.Error as error:
        return Told(f"DuckDB fails with {type(error).__name__}", str(error))
    for train in TRAINS:
        try:
            found = _sorted(case, aurora_rows(case, train))
        except Exception as error:
            return Told(f"Aurora fails with {type(error).__name__}", f"with trains of {train}: {error}")
        detail = _first_difference(case, found, expected)
        if detail is not None:
            return Told("they differ", f"with trains of {train}: {detail}")
    return None


def aurora_rows(case: Case, train: int) -> list[Row]:
    """What comes out of the network, times and durations as microseconds."""
    inputs = {name: table.frame() for name, table in case.inputs.items()}
    frame = au.run(au.loads(case.document()), inputs, train=train, clock=case.clock).outputs["out"]
    lists = [f"list<{kind}>" for kind in IN_MICROSECONDS]
    counted = {name: pl.Int64() for name, kind in case.columns.items() if kind in IN_MICROSECONDS}
    listed = {name: pl.List(pl.Int64()) for name, kind in case.columns.items() if kind in lists}
    return frame.select(list(case.columns)).cast({**counted, **listed}).rows()


def _sorted(case: Case, rows: list[Row]) -> list[Row]:
    places = [list(case.columns).index(name) for name in case.key]
    return sorted(rows, key=lambda row: [_rank(row[place]) for place in places]) if places else rows


def _rank(value: Any) -> tuple[int, Any]:
    """NULL first; NaN last, as it has no place among numbers."""
    if value is None:
        return 0, 0
    if isinstance(value, float) and math.isnan(value):
        return 2, 0
    return 1, value


def _first_difference(case: Case, found: Sequence[Row], expected: Sequence[Row]) -> str | None:
    for number, (got, wanted) in enumerate(zip(found, expected, strict=False)):
        for name, x, y in zip(case.columns, got, wanted, strict=True):
            if not _equal(x, y, rounded=name in case.rounded):
                return f"row {number}, column {name}: Aurora has {x!r}, DuckDB {y!r}\n  {got}\n  {wanted}"
    if len(found) != len(expected):
        longer, extra = ("Aurora", found) if len(found) > len(expected) else ("DuckDB", expected)
        row = extra[min(len(found), len(expected))]
        return f"Aurora has {len(found)} rows, DuckDB {len(expected)}; only {longer} has {row}"
    return None


def _equal(x: Any, y: Any, *, rounded: bool) -> bool:
    if isinstance(x, list) and isinstance(y, list):
        return len(x) == len(y) and all(_equal(a, b, rounded=rounded) for a, b in zip(x, y, strict=True))
    if type(x) is not type(y):
        return False
    if isinstance(x, float):
        if rounded and math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-9):
            return True
        return (math.isnan(x) and math.isnan(y)) or (x == y and math.copysign(1, x) == math.copysign(1, y))
    return bool(x == y)
