"""Which types meet, and the nodes that bring a value from one type to another without being asked."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from aurora.expressions.casts import cast_way
from aurora.expressions.nodes import Call, Literal, Node, Value, Widen
from aurora.expressions.timestamps import interval_literal, timestamp_literal
from aurora.model.types import BOOL, DOUBLE, DURATION, INT, NULL, STRING, TIMESTAMP, Type

READABLE = frozenset([BOOL, INT, DOUBLE, TIMESTAMP, DURATION])
"""The types whose values may be written as text literals where they meet others, as in ``n = '5'``."""


def is_text_literal(node: Node) -> bool:
    return isinstance(node, Literal) and node.type == STRING


def cost(node: Node, target: Type) -> int | None:
    """How far the node's type is from the target: 0 for the same, None if it cannot be brought there."""
    if node.type in (target, NULL):
        return 0
    if node.type == INT and target == DOUBLE:
        return 1
    if target.temporal and is_text_literal(node):
        return 2
    return None


def common_type(nodes: Sequence[Node]) -> Type | None:
    """The type in which all nodes meet, None if there is none. Text literals are read as what the others are.

    >>> common_type([Literal(INT, 1), Literal(DOUBLE, 0.5), Literal(NULL, None)])
    Type('double')
    >>> common_type([Literal(INT, 1), Literal(STRING, "2.5")])
    Type('double')
    """
    texts = [str(node.value) for node in nodes if isinstance(node, Literal) and node.type == STRING]
    types = {node.type for node in nodes if not is_text_literal(node)} - {NULL}
    if not types:
        return STRING if texts else NULL
    meeting = DOUBLE if types == {INT, DOUBLE} else types.pop() if len(types) == 1 else None
    if meeting is None or meeting == STRING or not texts:
        return meeting
    if meeting == INT and any(read(text, INT) is None and read(text, DOUBLE) is not None for text in texts):
        return DOUBLE
    return meeting if meeting in READABLE else None


def meeting_cost(node: Node, target: Type) -> int | None:
    """As ``cost``, where values of several types meet, so that text literals are read as what the others are."""
    return 2 if is_text_literal(node) and target in READABLE else cost(node, target)


def read(text: str, target: Type) -> Value:
    """The value that a text literal stands for, None if it stands for none."""
    if target == TIMESTAMP:
        return timestamp_literal(text)
    if target == DURATION:
        amount = interval_literal(text, None)
        return amount if isinstance(amount, int) else None
    way = cast_way(STRING, target)
    assert way is not None
    value: Value = pl.select(way.build(pl.lit(text))).item()
    return value


def coerce(node: Node, target: Type) -> Node | None:
    """The node as the target type; None if a text literal cannot be read as one."""
    if node.type == target:
        return node
    if node.type == NULL:
        return Literal(target, None)
    if target == DOUBLE and node.type == INT:
        if isinstance(node, Literal) and isinstance(node.value, int):
            return Literal(DOUBLE, float(node.value))
        return Widen(DOUBLE, node)
    if isinstance(node, Literal) and isinstance(node.value, str) and target in READABLE:
        value = read(node.value, target)
        return None if value is None else Literal(target, value)
    return None


def as_text(node: Node) -> Node | None:
    """The node as the text that a cast makes of it; None if there is no such cast."""
    if node.type in (STRING, NULL):
        return coerce(node, STRING)
    way = cast_way(node.type, STRING)
    return None if way is None else Call(STRING, "cast", (node,), way)
