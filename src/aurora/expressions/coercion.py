"""Which types meet, and the nodes that bring a value from one type to another without being asked."""

from __future__ import annotations

from collections.abc import Sequence

from aurora.expressions.nodes import Literal, Node, Widen
from aurora.expressions.timestamps import interval_literal, timestamp_literal
from aurora.model.types import DOUBLE, DURATION, INT, NULL, STRING, TIMESTAMP, Type


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
    """The type in which all nodes meet, None if there is none.

    >>> common_type([Literal(INT, 1), Literal(DOUBLE, 0.5), Literal(NULL, None)])
    Type('double')
    """
    types = {node.type for node in nodes} - {NULL}
    if not types:
        return NULL
    if types == {INT, DOUBLE}:
        return DOUBLE
    if len(types) == 1:
        return types.pop()
    temporal = types - {STRING}
    if len(temporal) != 1 or any(node.type == STRING and not is_text_literal(node) for node in nodes):
        return None
    meeting = temporal.pop()
    return meeting if meeting.temporal else None


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
    if isinstance(node, Literal) and isinstance(node.value, str):
        value = timestamp_literal(node.value) if target == TIMESTAMP else None
        if target == DURATION:
            amount = interval_literal(node.value, None)
            value = amount if isinstance(amount, int) else None
        return None if value is None else Literal(target, value)
    return None
