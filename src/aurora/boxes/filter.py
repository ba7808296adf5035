"""filter: passes the tuples for which a condition holds, or routes each tuple to the first condition that does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Self

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from aurora.boxes.kernel import BaseKernel, Projection, asks_arrival, typed
from aurora.errors import Report
from aurora.expressions import Compiled, Scope, analyse
from aurora.model.box import OUT, Box, Kernel, Port, box_kind
from aurora.model.element import Predicate
from aurora.model.forms import Holds, KeyedBy
from aurora.model.schema import ArcType
from aurora.model.train import Emission, Train
from aurora.model.types import BOOL


@box_kind
class Filter(Box):
    """Passes matching tuples. NULL counts as false.

    With ``where`` the matching tuples leave on the port ``out``. With ``routes`` a tuple leaves on the port of the
    first route that matches, else on the ``else`` port if there is one.

    >>> from aurora.testing import run_rows
    >>> rows = [{"price": 40.0}, {"price": 60.0}, {"price": None}, {"price": 90.0}]
    >>> run_rows('''
    ... aurora: 1
    ... network: example
    ... streams: {ticks: {schema: {price: double}}}
    ... boxes:
    ...   level: {kind: filter, in: ticks, routes: {high: price > 80, fair: price > 50}, else: rest}
    ... outputs: {high: {from: level.high}, rest: {from: level.rest}}
    ... ''', {"ticks": rows}).rows("rest")
    [(40.0,), (None,)]
    """

    kind: ClassVar[str] = "filter"
    tuplewise: ClassVar[bool] = True
    ports: ClassVar[tuple[Port, ...]] = (Port(OUT, when="where"), Port(each="routes"), Port(named_by="otherwise"))

    where: Predicate | None = None
    routes: Annotated[dict[str, Predicate], KeyedBy("port")] = Field(default_factory=dict)
    otherwise: Annotated[str, Holds("port")] | None = Field(default=None, alias="else")

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.where is None) == (not self.routes):
            raise ValueError("a filter needs either `where` or `routes`, and not both")
        if self.otherwise is not None and (not self.routes or self.otherwise in self.routes):
            raise ValueError("`else` goes with `routes` and names a port that no route has")
        return self

    def _conditions(self) -> dict[str, str]:
        return self.routes if self.where is None else {OUT: self.where}

    def asks_hidden(self) -> bool:
        return asks_arrival(self._conditions().values())

    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        (arc,) = inputs
        scope = Scope.of(arc.schema)
        if self.where is not None:
            typed(self.where, scope, report.at("where"), expect=BOOL)
        for port, condition in self.routes.items():
            typed(condition, scope, report.at("routes", port), expect=BOOL)
        return dict.fromkeys(self.output_ports(), arc)

    def kernel(self, inputs: Sequence[ArcType], statics: Mapping[int, pl.DataFrame]) -> Kernel:
        scope = Scope.of(inputs[0].schema)
        conditions = {port: analyse(text, scope, expect=BOOL) for port, text in self._conditions().items()}
        compiled = {port: scalar.compile() for port, scalar in conditions.items()}
        if self.where is not None and compiled[OUT].faults is None:
            return WhereKernel(compiled[OUT])
        return RoutesKernel(Projection(conditions, keep=()), tuple(conditions), self.otherwise)


class WhereKernel(BaseKernel):
    """One condition that cannot fail: the plain, fast case."""

    def __init__(self, condition: Compiled) -> None:
        self._condition = condition

    def process(self, port: int, train: Train) -> Emission:
        return Emission({OUT: train.where(self._condition.values(train.frame))})


class RoutesKernel(BaseKernel):
    """Conditions tried in order, with faults counted."""

    def __init__(self, conditions: Projection, ports: tuple[str, ...], otherwise: str | None) -> None:
        self._conditions = conditions
        self._ports = ports
        self._otherwise = otherwise

    def process(self, port: int, train: Train) -> Emission:
        matches, nulled = self._conditions(train.frame)
        free = np.ones(len(train), bool)
        trains = {}
        for name in self._ports:
            match = matches.get_column(name).fill_null(False).to_numpy() & free
            free &= ~match
            if match.any():
                trains[name] = train.where(match)
        if self._otherwise is not None and free.any():
            trains[self._otherwise] = train.where(free)
        return Emission(trains, nulled=nulled)
