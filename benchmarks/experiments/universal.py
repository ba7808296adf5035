"""The paper's universal box: a stateless box whose cost per tuple and selectivity are set.

It stands for any filter, map or union. It is not put on the list of kinds: only experiments have it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from aurora.boxes.kernel import BaseKernel
from aurora.errors import Report
from aurora.model.box import OUT, Box, Kernel
from aurora.model.schema import ArcType
from aurora.model.train import Emission, Train, rows_at


class Universal(Box):
    """Keeps the processor busy for ``cost_s`` per tuple, and passes ``selectivity`` tuples for each one taken.

    Which ones is decided by counting, so that a run can be repeated. It takes tuples of any input as they come.
    """

    kind: ClassVar[str] = "universal"
    arity: ClassVar[tuple[int, int | None]] = (1, None)
    in_step: ClassVar[bool] = False

    cost_s: Annotated[float, Field(ge=0)] = 0.0
    selectivity: Annotated[float, Field(ge=0)] = 1.0

    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        return {OUT: inputs[0]}

    def kernel(self, inputs: Sequence[ArcType], statics: Mapping[int, pl.DataFrame]) -> Kernel:
        return UniversalKernel(self.cost_s, self.selectivity)


class UniversalKernel(BaseKernel):
    def __init__(self, cost_s: float, selectivity: float) -> None:
        self._cost_s = cost_s
        self._selectivity = selectivity
        self._seen = 0

    def process(self, port: int, train: Train) -> Emission:
        until_s = time.perf_counter() + self._cost_s * len(train)
        passed = train if self._selectivity == 1.0 else self._passed(train)
        while time.perf_counter() < until_s:
            pass
        return Emission({OUT: passed})

    def _passed(self, train: Train) -> Train:
        due = np.floor(np.arange(self._seen, self._seen + len(train) + 1) * self._selectivity + 1e-9)
        self._seen += len(train)
        return train.made(rows_at(train.frame, np.repeat(np.arange(len(train)), np.diff(due).astype(np.int64))))
