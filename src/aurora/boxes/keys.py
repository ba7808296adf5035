"""Join keys: equal values of the two sides get equal codes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from aurora.boxes.coding import Coder
from aurora.boxes.memory import NO_KEY, Memory, Run
from aurora.boxes.order import Rows
from aurora.expressions import Scope
from aurora.model.train import Ints
from aurora.model.types import DOUBLE

_ENOUGH = 10_000


class PairKeys:
    """Codes for the columns that a join condition sets equal."""

    def __init__(self, pairs: Sequence[tuple[str, str]], scope: Scope) -> None:
        self._columns = [[name.split(".", 1)[1] for name in side] for side in zip(*pairs, strict=True)] or [[], []]
        self._mixed = [scope[left] != scope[right] for left, right in pairs]
        self._reset()

    def _reset(self) -> None:
        self._coders = [Coder() for _ in self._mixed]
        self._pairs = [Coder() for _ in self._mixed[1:]]

    def codes(self, port: int, frame: pl.DataFrame, *, learn: bool = True) -> Ints:
        """The code of every row's key; rows with a NULL in their key get the code that matches nothing.

        So do, unless new keys are to be learnt, rows whose key was never seen.
        """
        codes = np.zeros(frame.height, np.int64)
        missing = np.zeros(frame.height, bool)
        for i, name in enumerate(self._columns[port]):
            column = frame.get_column(name)
            if self._mixed[i]:
                column = column.cast(DOUBLE.to_polars())
            if column.null_count():
                missing |= column.is_null().to_numpy()
            own = _coded(self._coders[i], column, learn=learn)
            missing |= own < 0
            codes = own if i == 0 else _coded(self._pairs[i - 1], pl.Series(codes << 32 | own), learn=learn)
            missing |= codes < 0
        codes[missing] = NO_KEY
        return codes

    def compact(self, memories: Sequence[Memory]) -> None:
        """Forgets keys that are in no memory any more, when there are many of them."""
        known = max((len(coder) for coder in [*self._coders, *self._pairs]), default=0)
        if known > _ENOUGH and known > 4 * sum(map(len, memories)):
            self.recode(memories)

    def recode(self, memories: Sequence[Memory]) -> None:
        """Codes the remembered rows afresh."""
        self._reset()
        for port, memory in enumerate(memories):
            memory.runs = [
                Run(Rows(run.rows.frame, self.codes(port, run.rows.frame), run.rows.values)) for run in memory.runs
            ]


def _coded(coder: Coder, column: pl.Series, *, learn: bool) -> Ints:
    return coder.codes(column)[0] if learn else coder.known(column)
