"""Plain comparisons and arithmetic, computed on the columns themselves.

Polars plans every ``select`` anew, which on a small train takes longer than a comparison does. Where a formula is but
an operator that a column has too, it is given columns instead of expressions; the answer is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import and_, or_
from typing import Any

import polars as pl

from aurora.expressions.nodes import Call, Column, Literal, Logic, Node, Widen, constant
from aurora.model.types import BOOL, DOUBLE, DURATION, INT, STRING, TIMESTAMP

Direct = Callable[[pl.DataFrame], pl.Series]

_TYPES = frozenset([BOOL, INT, DOUBLE, STRING, TIMESTAMP, DURATION])
_OPERATORS = frozenset(["=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "not"])
"""What Polars computes on columns by itself. Most other methods of a column plan a ``select`` in their turn."""


def direct(tree: Node) -> Direct | None:
    """The values over a frame with the scope's columns; None if the tree has more in it than plain operators."""
    compute = _of(tree)
    if compute is None or not constant(tree):
        return compute
    single = compute(pl.DataFrame())
    return lambda frame: single.new_from_index(0, frame.height)


def _of(node: Node) -> Direct | None:
    compute = _computing(node) if node.type in _TYPES else None
    if compute is None or not constant(node):
        return compute
    value = compute(pl.DataFrame())
    return lambda _: value


def _computing(node: Node) -> Direct | None:
    match node:
        case Column(_, name):
            return lambda frame: frame.get_column(name)
        case Literal(kind, value):
            single = pl.Series([value], dtype=kind.to_polars())
            return lambda _: single
        case Widen(kind, operand):
            dtype = kind.to_polars()
            return _joined(lambda column: column.cast(dtype), operand)
        case Logic(_, name, operands):
            join = and_ if name == "and" else or_
            return _joined(lambda *columns: reduce(join, columns), *operands)
        case Call(_, name, arguments, way) if name in _OPERATORS and not (way.fallible or way.reuses):
            return _joined(way.build, *arguments)
    return None


def _joined(build: Callable[..., Any], *nodes: Node) -> Direct | None:
    """A formula over the values of nodes. ``build`` gives a column when it is given columns."""
    parts = [part for part in map(_of, nodes) if part is not None]
    if len(parts) < len(nodes):
        return None
    if len(parts) == 2:
        left, right = parts
        return lambda frame: build(left(frame), right(frame))
    return lambda frame: build(*[part(frame) for part in parts])
