"""Windows and slack: which tuples belong together, and how much disorder is forgiven."""

from __future__ import annotations

from typing import Literal

from aurora.errors import Report
from aurora.model.element import Declaration, DurationField, QuantityField
from aurora.model.quantities import Duration, Number, Quantity, Tuples
from aurora.model.types import INT, Type

ARRIVAL_ORDER = "arrival"
"""The value of ``order_by`` that means the order in which tuples came."""


class Window(Declaration):
    """A window of some tuples, or of a range of the order column's values.

    >>> Window(size="60s", advance="10s").value_based
    True
    """

    size: QuantityField
    advance: QuantityField | None = None
    timeout: DurationField | None = None
    align: Literal["origin", "first"] = "origin"
    emit_empty: bool = False

    @property
    def value_based(self) -> bool:
        return not isinstance(self.size, Tuples)

    @property
    def step(self) -> Quantity:
        """The advance; windows follow each other without overlap or gap unless one is given."""
        return self.size if self.advance is None else self.advance


def tuples(size: int, *, advance: int | None = None, timeout: str | None = None) -> Window:
    """A window of ``size`` tuples.

    >>> tuples(2, advance=1, timeout="5s").size
    Tuples(n=2)
    """
    return Window(
        size=Tuples(size),
        advance=None if advance is None else Tuples(advance),
        timeout=timeout,
    )


def span(
    size: str | Number,
    *,
    advance: str | Number | None = None,
    timeout: str | None = None,
    align: Literal["origin", "first"] = "origin",
    emit_empty: bool = False,
) -> Window:
    """A window over a range of values: ``span("60s", advance="10s")``, or plain numbers for a numeric column."""
    return Window(
        size=size,
        advance=advance,
        timeout=timeout,
        align=align,
        emit_empty=emit_empty,
    )


def on_axis(quantity: Quantity, order: Type) -> Number | None:
    """The quantity measured on an order column of this type, or None where the two do not fit.

    >>> from aurora.model.types import INT, TIMESTAMP
    >>> on_axis(Duration(5), TIMESTAMP), on_axis(5, INT), on_axis(5, TIMESTAMP)
    (5, 5, None)
    """
    if order.temporal:
        return quantity.us if isinstance(quantity, Duration) else None
    if isinstance(quantity, Tuples | Duration):
        return None
    if order == INT:
        return int(quantity) if float(quantity).is_integer() else None
    return quantity


def check_quantity(quantity: Quantity, order: Type | None, report: Report, *, positive: bool) -> None:
    """Reports a size, advance, slack or distance that does not fit the order column, or is too small."""
    amount = quantity.n if isinstance(quantity, Tuples) else quantity.us if isinstance(quantity, Duration) else quantity
    if positive and amount <= 0:
        report.add("not-positive", f"{quantity} is not greater than 0", "give a value greater than 0")
    elif amount < 0:
        report.add("negative", f"{quantity} is negative", "give 0 or more")
    if isinstance(quantity, Tuples) or order is None:
        return
    if on_axis(quantity, order) is None:
        form = "a duration such as 5s" if order.temporal else "a whole number" if order == INT else "a plain number"
        report.add("wrong-unit", f"{quantity} does not measure an order column of type {order}", f"write {form}")
