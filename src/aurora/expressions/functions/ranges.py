"""Ranges of int expressions: what shows, before anything runs, that an operation cannot overflow."""

from __future__ import annotations

from aurora.expressions.nodes import Call, Case, Coalesce, Literal, Node

MIN = -(2**63)
MAX = 2**63 - 1
Range = tuple[int, int]
WHOLE: Range = (MIN, MAX)


def range_of(node: Node) -> Range:
    """Bounds of an int node's values, as far as its form shows them."""
    if isinstance(node, Literal) and isinstance(node.value, int):
        return int(node.value), int(node.value)
    if isinstance(node, Call) and node.range is not None:
        return node.range
    if isinstance(node, Case):
        return _span([range_of(result) for _, result in node.branches] + [range_of(node.otherwise)])
    if isinstance(node, Coalesce):
        return _span([range_of(argument) for argument in node.arguments])
    if isinstance(node, Literal):
        return 0, 0
    return WHOLE


def _span(ranges: list[Range]) -> Range:
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def fits(bounds: Range) -> bool:
    return bounds[0] >= MIN and bounds[1] <= MAX


def clip(bounds: Range) -> Range:
    return max(bounds[0], MIN), min(bounds[1], MAX)


def sum_of(a: Range, b: Range) -> Range:
    return a[0] + b[0], a[1] + b[1]


def difference_of(a: Range, b: Range) -> Range:
    return a[0] - b[1], a[1] - b[0]


def product_of(a: Range, b: Range) -> Range:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)
