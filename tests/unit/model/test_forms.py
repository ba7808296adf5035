"""What stands in a parameter: read from its type, or from a mark where the type does not say."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from aurora.model.element import Aggregated, ColumnNames, Declaration, DistanceField, DurationField, Predicate
from aurora.model.forms import form


class Tried(Declaration):
    condition: Predicate | None = None
    computed: Annotated[Aggregated, Field(min_length=1)]
    columns: Annotated[ColumnNames, Field(min_length=1, max_length=2)]
    distance: DistanceField = 0
    wait: DurationField
    share: Annotated[float, Field(ge=0, le=1)] | None = None
    count: int = Field(1, gt=0)
    way: Literal["a", "b"] = "a"
    sure: bool = False
    anything: dict[str, Any] = Field(default_factory=dict)
    start: int | float | str | None = None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("condition", {"form": "expression", "expect": "bool"}),
        (
            "computed",
            {"form": "mapping", "key": "new column", "value": {"form": "expression", "scope": "aggregate"}},
        ),
        ("columns", {"form": "columns", "least": 1, "most": 2}),
        ("distance", {"form": "distance"}),
        ("wait", {"form": "duration"}),
        ("share", {"form": "number", "whole": False, "least": 0, "most": 1}),
        ("count", {"form": "number", "whole": True, "above": 0}),
        ("way", {"form": "choice", "choices": ["a", "b"]}),
        ("sure", {"form": "boolean"}),
        ("anything", {"form": "mapping", "key": "name", "value": {"form": "any"}}),
        ("start", {"form": "scalar"}),
    ],
)
def test_a_field_has_a_form(name: str, expected: dict[str, Any]) -> None:
    field = Tried.model_fields[name]
    assert form(field.annotation, field.metadata) == expected
