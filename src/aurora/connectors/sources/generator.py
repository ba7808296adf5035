"""Tuples that are made up: at given rates, with bursts, and the same ones for the same seed however they are cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.connectors.live.inlet import Inlet
from aurora.errors import ExpressionError, Report
from aurora.expressions import Scalar, Scope, analyse
from aurora.model.generators import GIVEN, Made, read_made
from aurora.model.schema import Schema
from aurora.model.source_kinds import GeneratorSource as Declared
from aurora.model.types import INT, TIMESTAMP, Type

Doubles = npt.NDArray[np.float64]
_TICK_S = 0.02
_MOST = 50_000


@dataclass(frozen=True)
class Pace:
    """How many tuples are due after so many seconds. A burst stands at the end of each period."""

    rate: float
    every_s: float = 0.0
    last_s: float = 0.0
    burst_rate: float = 0.0

    @classmethod
    def of(cls, declared: Declared) -> Pace:
        bursts = declared.bursts
        if bursts is None:
            return cls(declared.rate)
        return cls(declared.rate, bursts.every.seconds, bursts.last.seconds, bursts.rate)

    @property
    def _quiet_s(self) -> float:
        return self.every_s - self.last_s

    @property
    def _in_period(self) -> float:
        return self.rate * self._quiet_s + self.burst_rate * self.last_s

    def due(self, elapsed_s: float) -> int:
        """
        >>> Pace(10, every_s=10, last_s=1, burst_rate=100).due(20)
        380
        """
        if not self.every_s:
            return int(self.rate * elapsed_s)
        periods, within_s = divmod(elapsed_s, self.every_s)
        burst_s = max(0.0, within_s - self._quiet_s)
        quiet_s = within_s - burst_s
        return int(periods * self._in_period + self.rate * quiet_s + self.burst_rate * burst_s)

    def times_s(self, numbers: npt.NDArray[np.int64]) -> Doubles:
        """When each of these tuples, counted from 0, is due."""
        done = numbers.astype(np.float64) + 1.0
        if not self.every_s:
            steady: Doubles = done / self.rate
            return steady
        periods, within = np.divmod(done, self._in_period)
        quiet = self.rate * self._quiet_s
        burst_s = np.maximum(0.0, within - quiet) / self.burst_rate
        times_s: Doubles = periods * self.every_s + np.minimum(within, quiet) / self.rate + burst_s
        return times_s


def typed_columns(columns: Mapping[str, Any], schema: Schema, report: Report) -> dict[str, Made | Scalar]:
    """How each column is made, in the order given; what is wrong with an expression goes to ``report``."""
    scope: dict[str, Type] = dict(zip(GIVEN, (INT, TIMESTAMP), strict=True))
    ways: dict[str, Made | Scalar] = {}
    for name, given in columns.items():
        if name not in schema:
            continue
        # What is wrong with other ways than expressions is found with the declaration.
        made = read_made(given, schema[name].name, Report())
        if made is None:
            continue
        if made.way != "expression":
            ways[name] = made
        else:
            try:
                ways[name] = analyse(made.sql, Scope.of(Schema(scope)), expect=schema[name])
            except ExpressionError as error:
                report.at(name).take(error.problems)
        scope[name] = schema[name]
    return ways


class Maker:
    """Makes tuples one stretch after the other. Each column has chance of its own, so that stretches do not matter."""

    def __init__(self, columns: Mapping[str, Any], schema: Schema, seed: int) -> None:
        report = Report()
        self._ways = typed_columns(columns, schema, report)
        if report.problems:
            raise ExpressionError(report.problems)
        self._compiled = {name: way.compile() for name, way in self._ways.items() if isinstance(way, Scalar)}
        self._dtypes = schema.to_polars()
        chances = np.random.SeedSequence(seed).spawn(len(schema))
        self._chances = {name: np.random.default_rng(chance) for name, chance in zip(schema, chances, strict=True)}
        self._walks = {
            name: way.numbers[0] for name, way in self._ways.items() if isinstance(way, Made) and way.way == "walk"
        }

    def make(self, first: int, times_us: npt.NDArray[np.int64]) -> pl.DataFrame:
        numbers = np.arange(first, first + len(times_us))
        time = pl.Series("time", times_us).cast(pl.Datetime("us", "UTC"))
        working = pl.DataFrame([pl.Series("n", numbers), time])
        for name, way in self._ways.items():
            if isinstance(way, Made):
                column = self._made(name, way, numbers)
            else:
                column = self._compiled[name].values(working)
                if len(column) != len(numbers):  # a constant
                    column = column.new_from_index(0, len(numbers))
            working = working.with_columns(column.alias(name).cast(self._dtypes[name]))
        absent = [pl.lit(None, dtype).alias(name) for name, dtype in self._dtypes.items() if name not in self._ways]
        return working.with_columns(absent).select(list(self._dtypes))

    def _made(self, name: str, way: Made, numbers: npt.NDArray[np.int64]) -> pl.Series:
        chance, (first, second) = self._chances[name], way.numbers
        whole = self._dtypes[name] == pl.Int64
        count = len(numbers)
        if way.way == "choice":
            shares = np.cumsum(way.weights) / np.sum(way.weights)
            chosen = np.minimum(np.searchsorted(shares, chance.random(count), side="right"), len(shares) - 1)
            return pl.Series(way.values, dtype=self._dtypes[name], strict=False).gather(chosen)
        if way.way == "uniform":
            drawn = chance.random(count)
            values = np.floor(first + drawn * (second - first + 1)) if whole else first + drawn * (second - first)
        elif way.way == "normal":
            values = first + second * chance.standard_normal(count)
        elif way.way == "walk":
            # One sum from the last value on, so that rounding does not depend on where it was cut.
            values = np.cumsum(np.append(self._walks[name], second * chance.standard_normal(count)))
            self._walks[name] = float(values[-1])
            values = values[1:]
        else:
            values = first + second * numbers
        return pl.Series(np.rint(values).astype(np.int64) if whole else values)


class GeneratorSource:
    def __init__(self, declared: Declared, schema: Schema) -> None:
        self._pace = Pace.of(declared)
        self._maker = Maker(declared.columns, schema, declared.seed)
        self._count = declared.count
        self._made = 0

    def run(self, inlet: Inlet) -> None:
        start_us = inlet.clock.now_us() - round(self._elapsed_s() * 1e6)
        inlet.connected()
        while not inlet.halt.stopped:
            due = self._pace.due((inlet.clock.now_us() - start_us) / 1e6)
            due = due if self._count is None else min(due, self._count)
            while self._made < due and not inlet.halt.stopped:
                self._put(min(due - self._made, _MOST), start_us, inlet)
            if self._count is not None and self._made >= self._count:
                return
            inlet.halt.wait(_TICK_S)

    def _elapsed_s(self) -> float:
        return float(self._pace.times_s(np.array([self._made - 1]))[0]) if self._made else 0.0

    def _put(self, count: int, start_us: int, inlet: Inlet) -> None:
        numbers = np.arange(self._made, self._made + count)
        times_us = start_us + np.rint(self._pace.times_s(numbers) * 1e6).astype(np.int64)
        inlet.put(self._maker.make(self._made, times_us))
        self._made += count
