"""spark: a function from DataFrame to DataFrame, run on every train by the driver. For Spark code that exists already.

Nothing here imports Spark: where a session runs, the Spark processor sets ``RUN``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np
import polars as pl

from aurora.boxes.kernel import BaseKernel
from aurora.boxes.python import SOURCE
from aurora.errors import Report, StateError, UserCodeError, did_you_mean
from aurora.model.box import OUT, TOGETHER, Box, Kernel, Partitioning, box_kind
from aurora.model.forms import Holds
from aurora.model.schema import ArcType, Schema
from aurora.model.train import Emission, Ints, Train, rows_at

Function = Callable[[Any], Any]

RUN: Callable[[Function, pl.DataFrame], pl.DataFrame] | None = None
"""How a function is called with a train; None where there is no Spark session."""


@dataclass(frozen=True)
class Registered:
    """A function that the operator offers to networks. It is None in workers, where such boxes do not run."""

    name: str
    function: Function | None
    output: Schema


REGISTERED: dict[str, Registered] = {}

F = TypeVar("F", bound=Function)


def spark_box(name: str, *, output: Mapping[str, str]) -> Callable[[F], F]:
    """Decorator that lets networks use a function as a box of kind ``spark``.

    The function gets a Spark DataFrame of a train, with a column ``__source`` that numbers its rows, and answers with a
    DataFrame that has the columns of ``output``, and ``__source`` as the number of the row behind each answer.
    """

    def register(function: F) -> F:
        REGISTERED[name] = Registered(name, function, Schema.of(**output))
        return function

    return register


@box_kind
class Spark(Box):
    """Gives the DataFrame that a train is to the function that the operator registered under the name ``function``.

    The DataFrame has the columns of the input, and ``__source``, which numbers the rows. The function answers with a
    DataFrame of the columns that it declared, and of ``__source``: the row behind each answer. A box such as
    ``{kind: spark, in: ticks, function: score}`` needs the Spark processor.
    """

    kind: ClassVar[str] = "spark"
    in_driver: ClassVar[bool] = True

    function: Annotated[str, Holds("code")]

    @classmethod
    def registered(cls) -> Mapping[str, tuple[str, ...]]:
        return dict.fromkeys(REGISTERED, (OUT,))

    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        if self.function not in REGISTERED:
            way_out = did_you_mean(self.function, REGISTERED)
            way_out = way_out or "register it with spark_box, in a module named with --functions"
            found = f"no function {self.function!r} is registered for boxes of kind spark"
            report.at("function").add("unknown-spark-function", found, way_out, choices=REGISTERED)
            return {}
        return {OUT: ArcType(REGISTERED[self.function].output)}

    def asks_hidden(self) -> bool:
        return False

    def partitioning(self, inputs: Sequence[ArcType]) -> Partitioning:
        return TOGETHER

    def kernel(self, inputs: Sequence[ArcType], statics: Mapping[int, pl.DataFrame]) -> Kernel:
        if RUN is None:
            raise StateError(
                f"it runs the Spark function {self.function}, and there is no Spark here; "
                "run the network with --processor spark, or make it a box of kind python"
            )
        return SparkKernel(REGISTERED[self.function])


class SparkKernel(BaseKernel):
    """Has no state: every answer comes of one train, of the tuple that it names."""

    def __init__(self, registered: Registered) -> None:
        self._registered = registered

    def process(self, port: int, train: Train) -> Emission:
        visible = train.visible
        rows = pl.Series(SOURCE, np.arange(len(train)))
        answer = self._answer(visible.hstack([rows]))
        source = self._source(answer, len(train))
        # Spark may give rows in any order; answers to one tuple stay as they came.
        layout = np.argsort(source, kind="stable")
        made = rows_at(answer.drop(SOURCE), layout)
        if train.hidden_columns:
            made = made.hstack(rows_at(pl.DataFrame(train.hidden_columns), source[layout]).get_columns())
        return Emission({OUT: train.made(made)})

    def _answer(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The function's answer, with exactly the declared columns and the rows behind them."""
        name, output = self._registered.name, self._registered.output
        assert RUN is not None
        assert self._registered.function is not None
        try:
            answer = RUN(self._registered.function, frame)
        except UserCodeError as error:
            raise UserCodeError(f"{name}: {error}") from error
        except Exception as error:
            # Spark tells the whole story of a failure; its first line says what it was.
            told = str(error).strip().partition("\n")[0]
            raise UserCodeError(f"{name} raised {type(error).__name__}: {told}") from error
        if SOURCE not in answer.columns:
            raise UserCodeError(
                f"{name} answered without the column {SOURCE}, which says what tuple is behind each row; "
                f"keep it, for example with select('{SOURCE}', ...)"
            )
        missing = [column for column in output if column not in answer.columns]
        if missing:
            raise UserCodeError(
                f"{name} answered without the declared columns {', '.join(missing)}; it has {', '.join(answer.columns)}"
            )
        try:
            columns = [pl.col(column).cast(kind.to_polars()) for column, kind in output.items()]
            return answer.select(*columns, SOURCE)
        except pl.exceptions.PolarsError as error:
            raise UserCodeError(f"{name} answered with columns that do not fit {output}: {error}") from error

    def _source(self, answer: pl.DataFrame, rows: int) -> Ints:
        source = answer.get_column(SOURCE)
        if answer.height and not (source.dtype.is_integer() and source.is_between(0, rows - 1).fill_null(False).all()):
            raise UserCodeError(
                f"{self._registered.name} answered with a {SOURCE} that is no row of the train; "
                f"its rows are 0 to {rows - 1}"
            )
        return source.cast(pl.Int64).to_numpy()
