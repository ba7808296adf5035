"""Functions on lists, which ``collect`` makes."""

from __future__ import annotations

import polars as pl

from aurora.expressions.functions.declaration import Function, signature

GROUP = "lists"


def _element(values: pl.Expr, position: pl.Expr) -> pl.Expr:
    index = pl.when(position > 0).then(position - 1).when(position < 0).then(position)
    return values.list.get(index, null_on_oob=True)


FUNCTIONS = (
    Function(
        "cardinality",
        (signature("(values: list<T>) -> int", lambda x: x.list.len().cast(pl.Int64), range=(0, 2**32)),),
        GROUP,
        "How many elements the list has.",
        "cardinality(split('a,b', ','))",
        2,
        ("array_length", "array_size"),
    ),
    Function(
        "element_at",
        (signature("(values: list<T>, position: int) -> T", _element, reuses=True, strict=False),),
        GROUP,
        "The element at a position from 1, or from the end if negative; NULL if there is none.",
        "element_at(split('a,b', ','), -1)",
        "b",
    ),
    Function(
        "array_contains",
        (signature("(values: list<T>, value: T) -> bool", lambda x, value: x.list.contains(value), strict=False),),
        GROUP,
        "Whether the value is in the list.",
        "array_contains(split('a,b', ','), 'b')",
        True,
        ("list_contains",),
    ),
    Function(
        "array_join",
        (signature("(values: list<string>, separator: string) -> string", lambda x, s: x.list.join(s)),),
        GROUP,
        "The elements as one text, without NULL.",
        "array_join(split('a,b', ','), '-')",
        "a-b",
        ("array_to_string",),
    ),
)
