"""What the boxes that order their input have in common: their parameters and the checks of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import numpy as np

from aurora.boxes.kernel import check_columns, check_grouping
from aurora.errors import Report
from aurora.model.box import LATE, OUT, Box, Partitioning, Port
from aurora.model.element import ColumnNames, QuantityField
from aurora.model.forms import Holds
from aurora.model.quantities import Quantity, Tuples
from aurora.model.schema import ArcType, Schema
from aurora.model.types import DOUBLE, INT, Type
from aurora.model.window import ARRIVAL_ORDER, check_quantity, on_axis


class OrderedBox(Box):
    """An order-sensitive box over one stream."""

    ports: ClassVar[tuple[Port, ...]] = (Port(OUT), Port(LATE, when="late"))

    group_by: ColumnNames = ()
    order_by: Annotated[str, Holds("column", also=(ARRIVAL_ORDER,))] = ARRIVAL_ORDER
    slack: QuantityField = Tuples(0)
    late: bool = False

    def grouping(self, arc: ArcType) -> tuple[str, ...]:
        """The box's own grouping, else the one that the stream brings along."""
        return self.group_by or arc.grouping

    def partitioning(self, inputs: Sequence[ArcType]) -> Partitioning:
        # With time slack all groups' tuples leave together, so that all must be in one place.
        by_groups = isinstance(self.slack, Tuples) or self.order_by == ARRIVAL_ORDER
        return Partitioning.by(self.grouping(inputs[0]) if by_groups else ())

    def check_order(self, schema: Schema, report: Report) -> Type | None:
        """The type of the order values, or None with the reason in the report."""
        check_grouping(self.group_by, schema, report.at("group_by"))
        if self.order_by == ARRIVAL_ORDER:
            if self.slack != Tuples(0):
                report.at("slack").add(
                    "slack-without-order",
                    f"slack {self.slack} is given, but the order is that of arrival, in which nothing is out of order",
                    "state the column with order_by, or leave slack out",
                    choices=ordered_columns(schema),
                )
            return INT
        kind = check_order_column(self.order_by, schema, report.at("order_by"))
        check_quantity(self.slack, kind, report.at("slack"), positive=False)
        return kind


def ordered_columns(schema: Schema) -> list[str]:
    return [name for name, kind in schema.items() if kind.ordered]


def check_order_column(name: str, schema: Schema, report: Report) -> Type | None:
    """The type of an order column, or None with the reason in the report."""
    if not check_columns([name], schema, report):
        return None
    if not schema[name].ordered:
        report.add(
            "not-ordered",
            f"column {name} is {schema[name]}, which has no distances",
            "order by a number, a timestamp or a duration",
            choices=ordered_columns(schema),
        )
        return None
    return schema[name]


def check_unique(names: Sequence[str], report: Report) -> bool:
    """Reports output columns that have the same name."""
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        report.add(
            "duplicate-column",
            f"the output would have more than one column {', '.join(twice)}",
            "give what is computed another name",
        )
    return not twice


def numpy_type(kind: Type) -> Any:
    return np.float64 if kind == DOUBLE else np.int64


def amount(quantity: Quantity, kind: Type) -> float:
    """A quantity on the order column's axis; the box has been checked, so it fits."""
    value = on_axis(quantity, kind)
    assert value is not None, f"{quantity} on {kind}"
    return value
