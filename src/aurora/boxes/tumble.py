"""tumble: aggregates over windows that follow each other without overlap."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import model_validator

from aurora.boxes.aggregate import Aggregate
from aurora.model.box import box_kind


@box_kind
class Tumble(Aggregate):
    """An aggregate whose window advances by its size, so that every tuple is in exactly one window.

    >>> from aurora.testing import run_rows
    >>> run_rows('''
    ... aurora: 1
    ... network: example
    ... streams: {s: {schema: {x: int}}}
    ... boxes: {pairs: {kind: tumble, in: s, window: {size: 2 tuples}, compute: {total: sum(x)}}}
    ... outputs: {out: {from: pairs}}
    ... ''', {"s": [{"x": 1}, {"x": 2}, {"x": 3}, {"x": 4}, {"x": 5}]}).rows("out")
    [(3,), (7,)]
    """

    kind: ClassVar[str] = "tumble"

    @model_validator(mode="after")
    def _no_other_advance(self) -> Self:
        if self.window.advance is not None and self.window.advance != self.window.size:
            raise ValueError("a tumbling window advances by its size; leave advance out, or use an aggregate box")
        return self
