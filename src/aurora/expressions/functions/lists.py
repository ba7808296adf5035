"""Functions on lists, which ``collect`` makes."""

from __future__ import annotations

import polars as pl

from aurora.expressions.functions.declaration import Function, signature
from aurora.expressions.functions.text import MAX_MADE
from aurora.expressions.nodes import Literal, Node, Way

GROUP = "lists"


_FAR = 2**31


def _element(values: pl.Expr, position: pl.Expr) -> pl.Expr:
    """Polars counts places in 32 bits, and panics at a place that needs more."""
    near = position.clip(-_FAR, _FAR)
    index = pl.when(near > 0).then(near - 1).when(near < 0).then(near)
    return values.list.get(index, null_on_oob=True)


def _joined(values: pl.Expr, separator: pl.Expr) -> pl.Expr:
    made = values.list.len().cast(pl.Int64) * separator.str.len_chars().cast(pl.Int64)
    return pl.when(made <= MAX_MADE).then(values).list.join(separator)


def _choose_join(nodes: tuple[Node, ...]) -> Way:
    """A constant separator is as long as somebody wrote it, which needs no limit."""
    if isinstance(nodes[1], Literal):
        return Way(lambda values, separator: values.list.join(separator))
    return Way(_joined, fallible=True, reuses=True)


def _contains(values: pl.Expr, value: pl.Expr) -> pl.Expr:
    return pl.when(value.is_not_null()).then(values.list.contains(value))


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
        (signature("(values: list<T>, value: T) -> bool", _contains, reuses=True),),
        GROUP,
        "Whether the value is in the list; NULL if the value is NULL.",
        "array_contains(split('a,b', ','), 'b')",
        True,
        ("list_contains",),
    ),
    Function(
        "array_join",
        (signature("(values: list<string>, separator: string) -> string", choose=_choose_join),),
        GROUP,
        f"The elements as one text, without NULL; with over {MAX_MADE:,} characters of separators NULL and counted.",
        "array_join(split('a,b', ','), '-')",
        "a-b",
        ("array_to_string",),
    ),
)
