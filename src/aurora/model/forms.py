"""What stands in a parameter, for those who draw a form for it or describe it: the type alone does not say.

A text may be an expression, a column or an address. A declaration says which with a mark in the annotation,
``where: Annotated[str, Holds("expression", expect="bool")]``. What needs no mark (numbers, choices, true or false,
groups of parameters) is read from the type. ``form`` gives both as plain data.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

Scope = Literal["tuple", "aggregate", "joined", "generator"]
"""What an expression sees: a tuple, a window of tuples, a tuple of each side, or the number and time of one to make."""


@dataclass(frozen=True)
class Holds:
    """A mark in an annotation.

    ``expect`` is the type that an expression must have, ``scope`` what it sees. ``input`` is the number of the input
    whose columns are meant, None for all of them. ``also`` are words that may stand in place of a column.
    """

    form: str
    expect: str | None = None
    scope: Scope | None = None
    input: int | None = None
    also: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        said = {"expect": self.expect, "scope": self.scope, "input": self.input, "also": list(self.also) or None}
        return {"form": self.form} | {name: value for name, value in said.items() if value is not None}


@dataclass(frozen=True)
class KeyedBy:
    """A mark on a mapping: what its keys are, such as new columns, ports, or columns that are there."""

    what: Literal["new column", "column", "port", "name"]


def form(annotation: Any, metadata: tuple[Any, ...] | list[Any] = ()) -> dict[str, Any]:
    """The form of a parameter's field, as plain data.

    >>> form(Annotated[str, Holds("expression", expect="bool")] | None)
    {'form': 'expression', 'expect': 'bool'}
    >>> form(Literal["windows", "tuples"])
    {'form': 'choice', 'choices': ['windows', 'tuples']}
    """
    marks = _flat(metadata)
    # The outermost mark says most.
    for mark in reversed(marks):
        if isinstance(mark, Holds):
            return mark.plain() | _limits(marks)
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *more = get_args(annotation)
        return form(inner, [*more, *marks])
    if origin in (Union, UnionType):
        return _one_of([part for part in get_args(annotation) if part is not NoneType], marks)
    if origin is Literal:
        return {"form": "choice", "choices": list(get_args(annotation))}
    if origin is dict:
        keys = [mark.what for mark in marks if isinstance(mark, KeyedBy)]
        return {"form": "mapping", "key": keys[0] if keys else "name", "value": form(get_args(annotation)[1])}
    if origin in (tuple, list):
        return {"form": "texts"} | _limits(marks)
    if annotation is bool:
        return {"form": "boolean"}
    if annotation in (int, float):
        return {"form": "number", "whole": annotation is int} | _limits(marks)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {"form": "group", "of": annotation}
    return {"form": "text" if annotation is str else "any"}


def _one_of(parts: list[Any], marks: list[Any]) -> dict[str, Any]:
    if len(parts) == 1:
        return form(parts[0], marks)
    return {"form": "scalar"}


def _flat(metadata: tuple[Any, ...] | list[Any]) -> list[Any]:
    """Pydantic keeps what ``Field(ge=1)`` says inside the field where it stands in a union."""
    return [mark for given in metadata for mark in (given.metadata if isinstance(given, FieldInfo) else [given])]


_LIMITS = {"ge": "least", "gt": "above", "le": "most", "min_length": "least", "max_length": "most"}
"""Limits of numbers and of the length of lists: pydantic's names for them, and ours."""


def _limits(marks: list[Any]) -> dict[str, Any]:
    return {ours: getattr(mark, theirs) for mark in marks for theirs, ours in _LIMITS.items() if hasattr(mark, theirs)}
