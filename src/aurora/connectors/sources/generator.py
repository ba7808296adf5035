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
from aurora.model.generators import GIVEN, MOST_KEYS, Made, read_made
from aurora.model.schema import Schema
from aurora.model.source_kinds import GeneratorSource as Declared
from aurora.model.types import BOOL, DOUBLE, INT, TIMESTAMP, Type

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_TICK_S = 0.05
_MOST = 50_000
_BEHIND_S = 1.0
"""Whoever was held up for longer goes on from now, and does not make up for it."""
_SPREAD, _FIRST = 104_729, 52_651
"""Neighbours among keys have names that do not look alike. The first has no factor in common with the number of names,
so that no two keys have the same."""


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

    def times(self, factor: float) -> Pace:
        """So many times as many tuples; bursts come when they did."""
        return Pace(self.rate * factor, self.every_s, self.last_s, self.burst_rate * factor)

    @property
    def mean_per_s(self) -> float:
        """
        >>> Pace(10, every_s=10, last_s=1, burst_rate=100).mean_per_s
        19.0
        """
        return self._in_period / self.every_s if self.every_s else self.rate

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

    def times_s(self, numbers: Ints) -> Doubles:
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


def _given() -> dict[str, Type]:
    return dict(zip(GIVEN, (INT, TIMESTAMP, DOUBLE), strict=True))


def typed_where(where: str, columns: Mapping[str, Any], schema: Schema) -> Scalar:
    """Which tuples come: a condition over what is given and all columns. ExpressionError if it is none."""
    made = {name: schema[name] for name in columns if name in schema}
    return analyse(where, Scope.of(Schema(_given() | made)), expect=BOOL)


def key_name(number: int) -> str:
    """
    >>> [key_name(number) for number in range(3)]
    ['CZXB', 'IYVC', 'OXTD']
    """
    code, letters = (number * _SPREAD + _FIRST) % MOST_KEYS, ""
    for _ in range(4):
        code, letter = divmod(code, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


def typed_columns(columns: Mapping[str, Any], schema: Schema, report: Report) -> dict[str, Made | Scalar]:
    """How each column is made, in the order given; what is wrong with an expression goes to ``report``."""
    scope = _given()
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

    def __init__(self, columns: Mapping[str, Any], schema: Schema, seed: int, where: str | None = None) -> None:
        report = Report()
        self._ways = typed_columns(columns, schema, report)
        if report.problems:
            raise ExpressionError(report.problems)
        self._compiled = {name: way.compile() for name, way in self._ways.items() if isinstance(way, Scalar)}
        self._where = None if where is None else typed_where(where, columns, schema).compile()
        self._dtypes = schema.to_polars()
        chances = np.random.SeedSequence(seed).spawn(len(schema))
        self._chances = {name: np.random.default_rng(chance) for name, chance in zip(schema, chances, strict=True)}
        self._walks = {
            name: way.numbers[0] for name, way in self._ways.items() if isinstance(way, Made) and way.way == "walk"
        }
        self._keys = {
            name: self._all_keys(name, *way.numbers)
            for name, way in self._ways.items()
            if isinstance(way, Made) and way.way == "keys"
        }

    def _all_keys(self, name: str, first: float, count: float) -> pl.Series:
        numbers = range(int(first), int(first + count))
        named = self._dtypes[name] == pl.String
        return pl.Series([key_name(number) for number in numbers] if named else list(numbers))

    def make(self, first: int, times_us: Ints, start_us: int = 0) -> pl.DataFrame:
        """Tuples from a number on that are due at these times. ``start_us`` is when the first of all was begun."""
        numbers = np.arange(first, first + len(times_us))
        time = pl.Series("time", times_us).cast(pl.Datetime("us", "UTC"))
        elapsed = pl.Series("elapsed", (times_us - start_us) / 1e6)
        working = pl.DataFrame([pl.Series("n", numbers), time, elapsed])
        for name, way in self._ways.items():
            if isinstance(way, Made):
                column = self._made(name, way, numbers)
            else:
                column = self._compiled[name].values(working)
                if len(column) != len(numbers):  # a constant
                    column = column.new_from_index(0, len(numbers))
            working = working.with_columns(column.alias(name).cast(self._dtypes[name]))
        if self._where is not None and working.height:
            heard = self._where.values(working)
            working = working.filter(heard if len(heard) == working.height else heard.new_from_index(0, working.height))
        absent = [pl.lit(None, dtype).alias(name) for name, dtype in self._dtypes.items() if name not in self._ways]
        return working.with_columns(absent).select(list(self._dtypes))

    def _made(self, name: str, way: Made, numbers: Ints) -> pl.Series:
        chance, (first, second) = self._chances[name], way.numbers
        whole = self._dtypes[name] == pl.Int64
        count = len(numbers)
        if way.way == "choice":
            shares = np.cumsum(way.weights) / np.sum(way.weights)
            chosen = np.minimum(np.searchsorted(shares, chance.random(count), side="right"), len(shares) - 1)
            return pl.Series(way.values, dtype=self._dtypes[name], strict=False).gather(chosen)
        if way.way == "keys":
            return self._keys[name].gather(numbers % len(self._keys[name]))
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
    """The rate is that of the declaration times the inlet's factor, which others may change at any time."""

    def __init__(self, declared: Declared, schema: Schema) -> None:
        self._declared = self._pace = Pace.of(declared)
        self._factor = 1.0
        self._maker = Maker(declared.columns, schema, declared.seed, declared.where)
        self._count = declared.count
        self._made = 0
        self._skipped = 0
        """By how much the number of a tuple is less than that which the pace gives it."""

    def run(self, inlet: Inlet) -> None:
        start_us = inlet.clock.now_us() - round(self._elapsed_s() * 1e6)
        inlet.connected()
        while not inlet.halt.stopped:
            elapsed_s = (inlet.clock.now_us() - start_us) / 1e6
            behind = self._pace.due(elapsed_s - _BEHIND_S) - self._skipped > self._made
            if behind or inlet.factor != self._factor:
                self._go_on_from(elapsed_s, inlet.factor)
            due = self._pace.due(elapsed_s) - self._skipped
            due = due if self._count is None else min(due, self._count)
            while self._made < due and not inlet.halt.stopped and inlet.factor == self._factor:
                self._put(min(due - self._made, _MOST), start_us, inlet)
            if self._count is not None and self._made >= self._count:
                return
            inlet.halt.wait(_TICK_S)

    def _go_on_from(self, elapsed_s: float, factor: float) -> None:
        self._factor = factor
        self._pace = self._declared.times(factor)
        self._skipped = self._pace.due(elapsed_s) - self._made

    def _elapsed_s(self) -> float:
        return float(self._times_s(self._made - 1, 1)[0]) if self._made else 0.0

    def _times_s(self, first: int, count: int) -> Doubles:
        return self._pace.times_s(np.arange(first + self._skipped, first + self._skipped + count))

    def _put(self, count: int, start_us: int, inlet: Inlet) -> None:
        times_us = start_us + np.rint(self._times_s(self._made, count) * 1e6).astype(np.int64)
        inlet.put(self._maker.make(self._made, times_us, start_us))
        self._made += count
