"""What all elements of a network have in common, and the field types their declarations use."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer

from aurora.model.forms import Holds, KeyedBy
from aurora.model.quantities import Duration, Quantity, Tuples, parse_quantity, quantity_to_plain


class Declaration(BaseModel):
    """A frozen record that refuses unknown parameters and can be written back to a document."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", arbitrary_types_allowed=True, populate_by_name=True, validate_default=True
    )


class Element(Declaration):
    """A named thing that people find again by tag and description, with a manual page in Markdown."""

    name: str
    tags: tuple[str, ...] = ()
    description: str = ""
    manual: Annotated[str, Holds("markdown")] = ""


def _names(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _duration(value: Any) -> Any:
    if isinstance(value, Duration):
        return value
    quantity = parse_quantity(value)
    if isinstance(quantity, Duration):
        return quantity
    raise ValueError(f"{value!r} is not a duration; write 200ms, 5s, 30m or 2h")


def _tuples(value: Any) -> Any:
    if isinstance(value, Tuples):
        return value
    quantity = parse_quantity(value)
    if isinstance(quantity, int):
        return Tuples(quantity)
    if isinstance(quantity, Tuples):
        return quantity
    raise ValueError(f"{value!r} is not a number of tuples; write 5 tuples")


def _one_or_many(names: tuple[str, ...]) -> str | list[str]:
    return names[0] if len(names) == 1 else list(names)


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
"""A list of names; one name may stand for a list of one."""

InputNames = Annotated[tuple[str, ...], BeforeValidator(_names), PlainSerializer(_one_or_many)]
"""The streams, boxes or ports that a box reads, in port order."""

QuantityField = Annotated[
    Quantity, BeforeValidator(parse_quantity), PlainSerializer(quantity_to_plain), Holds("quantity")
]
DistanceField = Annotated[QuantityField, Holds("distance")]
DurationField = Annotated[Duration, BeforeValidator(_duration), PlainSerializer(str), Holds("duration")]
TuplesField = Annotated[Tuples, BeforeValidator(_tuples), PlainSerializer(str), Holds("tuples")]

Predicate = Annotated[str, Holds("expression", expect="bool")]
Computed = Annotated[dict[str, Annotated[str, Holds("expression")]], KeyedBy("new column")]
Aggregated = Annotated[dict[str, Annotated[str, Holds("expression", scope="aggregate")]], KeyedBy("new column")]
"""What boxes compute: a column's name, and the expression of a tuple or of a window of tuples."""

ColumnName = Annotated[str, Holds("column")]
ColumnNames = Annotated[Names, Holds("columns")]
