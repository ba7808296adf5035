"""slide: aggregates over a window that moves on by one tuple, or as given."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import model_validator

from aurora.boxes.aggregate import Aggregate
from aurora.model.box import box_kind
from aurora.model.quantities import Tuples
from aurora.model.window import Window


@box_kind
class Slide(Aggregate):
    """An aggregate whose window moves on by one tuple unless its advance is given.

    >>> from aurora.testing import run_rows
    >>> run_rows('''
    ... aurora: 1
    ... network: example
    ... streams: {s: {schema: {x: double}}}
    ... boxes: {smooth: {kind: slide, in: s, window: {size: 3 tuples}, compute: {mean: avg(x)}}}
    ... outputs: {out: {from: smooth}}
    ... ''', {"s": [{"x": 1.0}, {"x": 2.0}, {"x": 6.0}, {"x": 1.0}]}).rows("out")
    [(3.0,), (3.0,)]
    """

    kind: ClassVar[str] = "slide"

    @model_validator(mode="after")
    def _needs_advance(self) -> Self:
        if self.window.value_based and self.window.advance is None:
            raise ValueError("a window over values does not move by tuples; give its advance")
        return self

    def shape(self) -> Window:
        if self.window.advance is not None:
            return self.window
        return self.window.model_copy(update={"advance": Tuples(1)})
