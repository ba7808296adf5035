"""What kernels share: the base class, snapshots, and the evaluation of expressions on trains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import numpy as np
import polars as pl
import pyarrow as pa

from aurora.errors import ExpressionError, Report, StateError, did_you_mean
from aurora.expressions import Aggregates, Compiled, Scalar, Scope, analyse, analyse_aggregates
from aurora.expressions.nodes import Column
from aurora.model.schema import Schema
from aurora.model.train import HIDDEN, NOTHING, Emission, Progress, Train, frame_of
from aurora.model.types import Type


class BaseKernel:
    """A kernel without state that needs no word of progress; the others override what they have."""

    ranked = False
    optional: ClassVar[tuple[str, ...]] = ()
    """How the names of parts begin that a snapshot may have or not."""

    def rank(self) -> None:
        self.ranked = True

    def process(self, port: int, train: Train) -> Emission:
        return NOTHING

    def advance(self, progress: Progress) -> Emission:
        return NOTHING

    def state(self) -> dict[str, pl.DataFrame]:
        """The kernel's state as named frames."""
        return {}

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        """Takes over what ``state`` gave."""

    def snapshot(self) -> pa.Table:
        parts = self.state()
        return pa.table(
            {
                "part": pa.array(list(parts), pa.string()),
                "data": pa.array(map(_to_ipc, parts.values()), pa.large_binary()),
            }
        )

    def restore(self, state: pa.Table) -> None:
        if state.column_names != ["part", "data"]:
            raise StateError(f"not a kernel's snapshot: it has the columns {state.column_names}, not part and data")
        names = state.column("part").to_pylist()
        expected = list(self.state())
        if any(not name.startswith(self.optional) for name in {*names} ^ {*expected}):
            raise StateError(f"the snapshot holds {sorted(names)}, but this kernel keeps {sorted(expected)}")
        try:
            self.load(
                {name: _from_ipc(data.as_buffer()) for name, data in zip(names, state.column("data"), strict=True)}
            )
        except (pl.exceptions.PolarsError, pa.ArrowException, LookupError, OSError) as error:
            raise StateError(f"the snapshot does not fit this kernel: {error}; was the box changed since?") from error


def _to_ipc(frame: pl.DataFrame) -> bytes:
    # Arrow's own reader and writer take a fraction of the time of Polars' on small frames.
    table = frame.to_arrow(compat_level=pl.CompatLevel.newest())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _from_ipc(data: pa.Buffer) -> pl.DataFrame:
    with pa.ipc.open_stream(data) as reader:
        frame = pl.from_arrow(reader.read_all(), rechunk=True)
    assert isinstance(frame, pl.DataFrame)
    return frame


class Projection:
    """Expressions over a frame, evaluated together, with the count of the values that faults made NULL.

    Bare columns are taken as they are. Faults are counted only where a value that can show one is NULL.
    """

    def __init__(self, columns: Mapping[str, Scalar | Compiled], keep: Sequence[str] = HIDDEN) -> None:
        self._plain: dict[str, str] = {}
        self._names = [*columns, *keep]
        computed: dict[str, Compiled] = {}
        for name, column in columns.items():
            if isinstance(column, Scalar) and isinstance(column.tree, Column):
                self._plain[name] = column.tree.name
            else:
                computed[name] = column.compile() if isinstance(column, Scalar) else column
        self._plain.update((name, name) for name in keep)
        # Columns that stay what and where they are, with all that is computed after them: nothing to lay out anew.
        same = list(self._plain) == list(self._plain.values()) == self._names[: len(self._plain)]
        self._kept_as_they_are = list(self._plain) if same else None
        self._computed = computed
        self._expressions = [c.value.alias(name) for name, c in computed.items()]
        self._direct = all(c.direct is not None for c in computed.values())
        self._faults = {name: (c.faults, c.faults_show) for name, c in computed.items() if c.faults is not None}

    def __call__(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
        """The columns, and how many faults there were."""
        computed = self._values(frame)
        nulled = self._count_faults(frame, computed) if self._faults else 0
        if self._kept_as_they_are == frame.columns:
            return frame.hstack(list(computed.values())), nulled
        columns = self._taken(frame) | computed
        return frame_of([columns[name] for name in self._names]), nulled

    def _values(self, frame: pl.DataFrame) -> dict[str, pl.Series]:
        if self._direct:
            return {name: column.values(frame).alias(name) for name, column in self._computed.items()}
        computed = frame.select(self._expressions)
        if computed.height != frame.height:
            # Constants alone give one row; they hold for every tuple.
            computed = computed[np.zeros(frame.height, np.int64)] if frame.height else computed.clear()
        return {column.name: column for column in computed.get_columns()}

    def _count_faults(self, frame: pl.DataFrame, computed: Mapping[str, pl.Series]) -> int:
        suspects = [faults for name, (faults, show) in self._faults.items() if not show or computed[name].null_count()]
        return int(frame.select(pl.sum_horizontal(suspects).sum()).item()) if suspects else 0

    def _taken(self, frame: pl.DataFrame) -> dict[str, pl.Series]:
        return {name: frame.get_column(source).alias(name) for name, source in self._plain.items()}


def asks_arrival(texts: Iterable[str]) -> bool:
    """Whether expressions may ask for the arrival time; a word in a literal counts too, which does no harm."""
    return any("arrival_time" in text.lower() for text in texts)


def typed(text: str, scope: Scope, report: Report, *, expect: Type | None = None) -> Scalar | None:
    """The analysed expression, or None with its problems in the report. Warnings go there in either case."""
    try:
        scalar = analyse(text, scope, expect=expect)
    except ExpressionError as error:
        report.take(error.problems)
        return None
    report.take(scalar.warnings)
    return scalar


def typed_all(texts: Mapping[str, str], scope: Scope, report: Report) -> dict[str, Scalar] | None:
    """All of the expressions analysed, or None when any has a problem."""
    scalars = {name: typed(text, scope, report.at(name)) for name, text in texts.items()}
    if any(scalar is None for scalar in scalars.values()):
        return None
    return {name: scalar for name, scalar in scalars.items() if scalar is not None}


def typed_aggregates(
    compute: Mapping[str, str], scope: Scope, report: Report, *, grouping: Sequence[str], window_type: Type | None
) -> Aggregates | None:
    """The analysed aggregate expressions, or None with their problems in the report; warnings in either case."""
    try:
        aggregates = analyse_aggregates(compute, scope, grouping=grouping, window_type=window_type)
    except ExpressionError as error:
        report.take(error.problems)
        return None
    report.take(aggregates.warnings)
    return aggregates


def check_grouping(names: Sequence[str], schema: Schema, report: Report) -> bool:
    """Reports group columns that do not exist, or whose values cannot be told apart by equality."""
    known = check_columns(names, schema, report)
    for name in names:
        if name in schema and schema[name].item is not None:
            known = False
            report.add("not-groupable", f"column {name} is {schema[name]}", "group by a column that is not a list")
    return known


def check_columns(names: Sequence[str], schema: Schema, report: Report) -> bool:
    """Reports the names that are no columns of the schema."""
    known = True
    for name in names:
        if name not in schema:
            known = False
            way_out = did_you_mean(name, schema) or "name a column of the box's input"
            report.add("unknown-column", f"there is no column {name!r}", way_out, choices=schema)
    return known
