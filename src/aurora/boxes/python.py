"""python: a box written by the operator. The escape hatch: everything else is better declared."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np
import polars as pl
from pydantic import Field

from aurora.boxes.kernel import BaseKernel
from aurora.boxes.merge import Merge, in_order
from aurora.boxes.segments import sorting, starts_of
from aurora.errors import Report, UserCodeError, did_you_mean
from aurora.model.box import ANYWHERE, TOGETHER, Box, Kernel, Partitioning, Port, box_kind
from aurora.model.forms import Holds
from aurora.model.quantities import Duration
from aurora.model.schema import ArcType, Schema
from aurora.model.train import CLOCK, NOTHING, ORDER, Emission, Ints, Progress, Train, rows_at

SOURCE = "__source"
"""Column that a user's box adds when it does not answer one for one: the row of the train behind each answer."""


@dataclass(frozen=True)
class Registered:
    """A class that the operator offers to networks."""

    name: str
    factory: Callable[..., Any]
    outputs: Mapping[str, Schema]
    partition_by: tuple[str, ...] | None
    tick: Duration | None


REGISTERED: dict[str, Registered] = {}

C = TypeVar("C", bound=type)


def python_box(
    name: str,
    *,
    outputs: Mapping[str, Mapping[str, str]],
    partition_by: Sequence[str] | None = (),
    tick: str | None = None,
) -> Callable[[C], C]:
    """Class decorator that lets networks use a class as a box of kind ``python``.

    The class may have: ``open(schemas, **parameters)``; ``process(port, train)`` with a Polars frame, answering with a
    frame for the first port or a mapping of port to frame; ``on_time(now)`` with the clock as microseconds, called at
    every multiple of ``tick``; ``snapshot()`` giving a frame and ``restore(frame)``. An answer has a row for every row
    of the train, or a column ``__source`` that says which row of the train made each row of the answer come out.

    ``partition_by`` is None if tuples do not meet, the columns that keep together what must meet, or empty for all.
    """

    def register(factory: C) -> C:
        schemas = {port: Schema.of(**columns) for port, columns in outputs.items()}
        columns = None if partition_by is None else tuple(partition_by)
        every = None if tick is None else Duration.parse(tick)
        REGISTERED[name] = Registered(name, factory, schemas, columns, every)
        return factory

    return register


@box_kind
class Python(Box):
    """Runs a class that the operator registered under the name ``class``, with the given ``parameters``.

    >>> import polars as pl
    >>> from aurora.testing import run_rows
    >>> @python_box("running_total", outputs={"out": {"total": "int"}})
    ... class RunningTotal:
    ...     def open(self, schemas, start=0):
    ...         self.total = start
    ...     def process(self, port, train):
    ...         totals = train["x"].cum_sum() + self.total
    ...         self.total = totals[-1]
    ...         return pl.DataFrame({"total": totals})
    >>> run_rows('''
    ... aurora: 1
    ... network: example
    ... streams: {s: {schema: {x: int}}}
    ... boxes: {totals: {kind: python, in: s, class: running_total, parameters: {start: 10}}}
    ... outputs: {out: {from: totals}}
    ... ''', {"s": [{"x": 1}, {"x": 2}]}).rows("out")
    [(11,), (13,)]
    """

    kind: ClassVar[str] = "python"
    tuplewise: ClassVar[bool] = True
    arity: ClassVar[tuple[int, int | None]] = (1, None)

    ports: ClassVar[tuple[Port, ...]] = (Port(of="code"),)

    code: Annotated[str, Holds("code")] = Field(alias="class")
    parameters: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def registered(cls) -> Mapping[str, tuple[str, ...]]:
        return {name: tuple(one.outputs) for name, one in REGISTERED.items()}

    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        if self.code not in REGISTERED:
            way_out = did_you_mean(self.code, REGISTERED)
            way_out = way_out or "register it with python_box, in a module named with --functions"
            report.at("class").add(
                "unknown-class", f"no class {self.code!r} is registered", way_out, choices=REGISTERED
            )
            return {}
        return {port: ArcType(schema) for port, schema in REGISTERED[self.code].outputs.items()}

    def runs_user_code(self) -> bool:
        registered = REGISTERED[self.code]
        return registered.partition_by is None and registered.tick is None

    def keeps_time(self) -> bool:
        return REGISTERED[self.code].tick is not None

    def partitioning(self, inputs: Sequence[ArcType]) -> Partitioning:
        registered = REGISTERED[self.code]
        if registered.tick is not None or len(inputs) > 1:
            # Nobody can say in which order answers to one tick, or to several inputs, of several workers stand.
            return TOGETHER
        columns = registered.partition_by
        return ANYWHERE if columns is None else Partitioning.by(columns)

    def kernel(self, inputs: Sequence[ArcType], statics: Mapping[int, pl.DataFrame]) -> Kernel:
        return PythonKernel(self, REGISTERED[self.code], inputs)


class PythonKernel(BaseKernel):
    """Hands trains to the user's object in arc order, cut where a tick falls due."""

    def __init__(self, box: Python, registered: Registered, inputs: Sequence[ArcType]) -> None:
        self._registered = registered
        self._object: Any = None
        self._object = self._call("__init__")
        self._waiting = [Merge(1, Train.empty(arc.schema)) for arc in inputs]
        self._next_tick: int | None = None
        if hasattr(self._object, "open"):
            self._call("open", [arc.schema for arc in inputs], **box.parameters)

    def _call(self, method: str, *arguments: Any, **parameters: Any) -> Any:
        try:
            called = self._registered.factory if self._object is None else getattr(self._object, method)
            return called(*arguments, **parameters)
        except Exception as error:
            last = _line_of(error)
            raise UserCodeError(
                f"{self._registered.name}.{method} raised {type(error).__name__}: {error} "
                f"(at {last.filename}:{last.lineno}: {last.line})"
            ) from error

    def process(self, port: int, train: Train) -> Emission:
        self._waiting[port].put(0, train)
        return NOTHING

    def advance(self, progress: Progress) -> Emission:
        trains = {port: train for port, waiting in enumerate(self._waiting) if (train := waiting.take()) is not None}
        out: dict[str, list[pl.DataFrame]] = {port: [] for port in self._registered.outputs}
        for due in self._due(progress):
            cuts = {port: int(np.searchsorted(train.hidden(CLOCK), due)) for port, train in trains.items()}
            self._give({port: Train(train.frame[: cuts[port]]) for port, train in trains.items()}, out)
            trains = {port: Train(train.frame[cuts[port] :]) for port, train in trains.items()}
            answer = self._call("on_time", due)
            order = int(progress.orders_of(np.array([due]))[0])
            for name, frame in self._answers(answer).items():
                at = np.full(frame.height, due)
                visible = frame.select(list(self._registered.outputs[name]))
                out[name].append(Train.of(visible, np.full(frame.height, order), at, at).frame)
        self._give(trains, out)
        emitted = {name: [frame for frame in frames if frame.height] for name, frames in out.items()}
        return Emission(
            {
                name: in_order(Train.concat([Train(frame) for frame in frames]))
                for name, frames in emitted.items()
                if frames
            }
        )

    def _due(self, progress: Progress) -> range:
        """The ticks that have fallen due since the last word."""
        tick = self._registered.tick
        if tick is None or not len(progress.clocks):
            return range(0)
        if self._next_tick is None:
            # Where a clock column begins with NULL there is no time yet, and nothing to tick.
            begun = progress.clocks[progress.clocks > np.iinfo(np.int64).min]
            if not len(begun):
                return range(0)
            self._next_tick = (int(begun[0]) // tick.us + 1) * tick.us
        due = range(self._next_tick, progress.clock + 1, tick.us)
        self._next_tick += len(due) * tick.us
        return due

    def _give(self, trains: Mapping[int, Train], out: dict[str, list[pl.DataFrame]]) -> None:
        for port, train in _in_turn(trains):
            for name, answer in self._answers(self._call("process", port, train.visible)).items():
                source = self._source(answer, len(train))
                visible = answer.select(list(self._registered.outputs[name]))
                hidden = rows_at(pl.DataFrame(train.hidden_columns), source)
                # Tuples with one number may be in other trains next time: answers to them stand as they do.
                in_turn = np.argsort(source, kind="stable")
                out[name].append(rows_at(visible.hstack(hidden.get_columns()), in_turn))

    def _source(self, answer: pl.DataFrame, rows: int) -> Ints:
        """The row of the train behind each row of the answer."""
        name = self._registered.name
        if SOURCE not in answer.columns:
            if answer.height == rows:
                return np.arange(rows)
            raise UserCodeError(
                f"{name}.process answered {rows} rows with {answer.height}; "
                f"answer one for one, or add a column {SOURCE} with the row behind each"
            )
        source = answer.get_column(SOURCE)
        if answer.height and not (source.dtype.is_integer() and source.is_between(0, rows - 1).fill_null(False).all()):
            raise UserCodeError(
                f"{name}.process answered with a {SOURCE} that is no row of the train; its rows are 0 to {rows - 1}"
            )
        return source.cast(pl.Int64).to_numpy()

    def _answers(self, answer: Any) -> dict[str, pl.DataFrame]:
        """The answer as frames by port, with exactly the declared columns."""
        if answer is None:
            return {}
        outputs = self._registered.outputs
        by_port = answer if isinstance(answer, Mapping) else {next(iter(outputs)): answer}
        result = {}
        for port, frame in by_port.items():
            if port not in outputs:
                raise UserCodeError(
                    f"{self._registered.name} answered on the port {port!r}; its output ports are {', '.join(outputs)}"
                )
            if not isinstance(frame, pl.DataFrame):
                raise UserCodeError(
                    f"{self._registered.name} answered with {type(frame).__name__}; answer with a Polars frame"
                )
            missing = [name for name in outputs[port] if name not in frame.columns]
            if missing:
                raise UserCodeError(f"{self._registered.name} answered without the declared columns {missing}")
            columns = [pl.col(name).cast(kind.to_polars()) for name, kind in outputs[port].items()]
            extra = [SOURCE] if SOURCE in frame.columns else []
            try:
                result[port] = frame.select(*columns, *extra)
            except pl.exceptions.PolarsError as error:
                raise UserCodeError(
                    f"{self._registered.name} answered with columns that do not fit {outputs[port]}: {error}"
                ) from error
        return result

    def state(self) -> dict[str, pl.DataFrame]:
        parts = {f"waiting{port}": waiting.state()["port0"] for port, waiting in enumerate(self._waiting)}
        parts["tick"] = pl.DataFrame({"next": [self._next_tick]}, schema={"next": pl.Int64()})
        if hasattr(self._object, "snapshot"):
            parts["user"] = pl.DataFrame(self._call("snapshot"))
        return parts

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        for port, waiting in enumerate(self._waiting):
            waiting.load({"port0": state[f"waiting{port}"]})
        self._next_tick = state["tick"].item()
        if hasattr(self._object, "restore"):
            self._call("restore", state["user"])


def _in_turn(trains: Mapping[int, Train]) -> Iterator[tuple[int, Train]]:
    """The ports' tuples in arc order, cut where the port changes; whoever remembers one port sees it at the other."""
    given = {port: train for port, train in trains.items() if len(train)}
    if len(given) < 2:
        yield from given.items()
        return
    order, clock = (np.concatenate([train.hidden(name) for train in given.values()]) for name in (ORDER, CLOCK))
    owners = np.repeat(list(given), [len(train) for train in given.values()])[sorting(order, clock)]
    taken = dict.fromkeys(given, 0)
    for run in np.split(owners, starts_of(owners)[1:]):
        port = int(run[0])
        yield port, Train(given[port].frame.slice(taken[port], len(run)))
        taken[port] += len(run)


def _line_of(error: Exception) -> traceback.FrameSummary:
    """The last line of the user's own file that the error came through, rather than one of a library it calls."""
    ours, *theirs = traceback.extract_tb(error.__traceback__)
    return next((frame for frame in reversed(theirs) if frame.filename == theirs[0].filename), ours)
