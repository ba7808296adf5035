"""What kernels share: the base class, snapshots, and the evaluation of expressions on trains."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import polars as pl
import pyarrow as pa

from aurora.errors import ExpressionError, Report, StateError, did_you_mean
from aurora.expressions import Aggregates, Compiled, Scalar, Scope, analyse, analyse_aggregates
from aurora.model.schema import Schema
from aurora.model.train import HIDDEN, NOTHING, Emission, Progress, Train
from aurora.model.types import Type

FAULTS = "__faults"


class BaseKernel:
    """A kernel without state that needs no word of progress; the others override what they have."""

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
        if sorted(names) != sorted(expected):
            raise StateError(f"the snapshot holds {sorted(names)}, but this kernel keeps {sorted(expected)}")
        self.load(
            {
                name: pl.read_ipc(io.BytesIO(data.as_py()))
                for name, data in zip(names, state.column("data"), strict=True)
            }
        )


def _to_ipc(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_ipc(buffer)
    return buffer.getvalue()


class Projection:
    """Expressions over a frame, evaluated together, with the count of the values that faults made NULL."""

    def __init__(self, scalars: Mapping[str, Scalar], keep: Sequence[str] = HIDDEN) -> None:
        self._prepare({name: scalar.compile() for name, scalar in scalars.items()}, keep)

    @classmethod
    def of_compiled(cls, compiled: Mapping[str, Compiled], keep: Sequence[str]) -> Projection:
        projection = cls.__new__(cls)
        projection._prepare(compiled, keep)
        return projection

    def _prepare(self, compiled: Mapping[str, Compiled], keep: Sequence[str]) -> None:
        faults = [c.faults for c in compiled.values() if c.faults is not None]
        self._columns = [c.value.alias(name) for name, c in compiled.items()] + [pl.col(name) for name in keep]
        self._can_fail = bool(faults)
        if faults:
            self._columns.append(pl.sum_horizontal(faults).alias(FAULTS))

    def __call__(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
        result = frame.select(self._columns)
        if result.height != frame.height:
            # Constants alone give one row; they hold for every tuple.
            result = frame.select(pl.lit(0).alias(FAULTS + "_rows"), *self._columns).drop(FAULTS + "_rows")
        if not self._can_fail:
            return result, 0
        return result.drop(FAULTS), int(result.get_column(FAULTS).sum())


def typed(text: str, scope: Scope, report: Report, *, expect: Type | None = None) -> Scalar | None:
    """The analysed expression, or None with its problems in the report."""
    try:
        return analyse(text, scope, expect=expect)
    except ExpressionError as error:
        report.take(error.problems)
        return None


def typed_all(texts: Mapping[str, str], scope: Scope, report: Report) -> dict[str, Scalar] | None:
    """All of the expressions analysed, or None when any has a problem."""
    scalars = {name: typed(text, scope, report.at(name)) for name, text in texts.items()}
    if any(scalar is None for scalar in scalars.values()):
        return None
    return {name: scalar for name, scalar in scalars.items() if scalar is not None}


def typed_aggregates(
    compute: Mapping[str, str], scope: Scope, report: Report, *, grouping: Sequence[str], window_type: Type | None
) -> Aggregates | None:
    """The analysed aggregate expressions, or None with their problems in the report."""
    try:
        return analyse_aggregates(compute, scope, grouping=grouping, window_type=window_type)
    except ExpressionError as error:
        report.take(error.problems)
        return None


def check_columns(names: Sequence[str], schema: Schema, report: Report) -> bool:
    """Reports the names that are no columns of the schema."""
    known = True
    for name in names:
        if name not in schema:
            known = False
            way_out = did_you_mean(name, schema) or "name a column of the box's input"
            report.add("unknown-column", f"there is no column {name!r}", way_out, choices=schema)
    return known
