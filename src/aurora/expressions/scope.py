"""Scopes: the columns that an expression may name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from aurora.errors import did_you_mean
from aurora.model.schema import Schema
from aurora.model.types import Type

LEFT = "left"
RIGHT = "right"


@dataclass(frozen=True)
class Scope:
    """Column types by the name that the evaluated frame will have; a join's columns are ``left.x`` and ``right.x``.

    >>> scope = Scope.joined(Schema.of(id="int", price="double"), Schema.of(id="int", name="string"))
    >>> scope.find("name"), scope.find("price", "left"), scope.find("id")
    (['right.name'], ['left.price'], ['left.id', 'right.id'])
    """

    columns: Mapping[str, Type]

    @classmethod
    def of(cls, schema: Schema) -> Scope:
        return cls(dict(schema))

    @classmethod
    def joined(cls, left: Schema, right: Schema) -> Scope:
        return cls(
            {f"{side}.{name}": t for side, schema in ((LEFT, left), (RIGHT, right)) for name, t in schema.items()}
        )

    def __getitem__(self, name: str) -> Type:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def find(self, name: str, qualifier: str = "") -> list[str]:
        """The columns that a reference can mean: one if it is good, none if unknown, several if ambiguous."""
        full = f"{qualifier}.{name}" if qualifier else name
        if full in self.columns:
            return [full]
        if qualifier:
            return []
        return [f"{side}.{name}" for side in (LEFT, RIGHT) if f"{side}.{name}" in self.columns]

    def suggestion(self, name: str) -> str:
        """A did-you-mean that also sees through a difference in case."""
        for column in self.columns:
            if column.lower() == name.lower():
                return f"did you mean {column!r}?"
        return did_you_mean(name, self.columns)
