"""Scalar expressions: one value per tuple."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from aurora.errors import ExpressionError, Problem, Report
from aurora.expressions.binding import Binder
from aurora.expressions.coercion import coerce, cost
from aurora.expressions.compile import Compiled, compile_tree
from aurora.expressions.nodes import Hidden, Node, columns_of, walk
from aurora.expressions.parse import parse
from aurora.expressions.scope import Scope
from aurora.model.types import BOOL, Type


@dataclass(frozen=True)
class Scalar:
    """An expression that has been parsed and typed over a scope."""

    text: str
    tree: Node
    warnings: tuple[Problem, ...] = field(default=(), compare=False, repr=False)
    """What is legal in it, but most likely not meant."""

    @property
    def type(self) -> Type:
        return self.tree.type

    @property
    def columns(self) -> frozenset[str]:
        """The columns of the scope that the value depends on."""
        return columns_of(self.tree)

    @property
    def hidden(self) -> frozenset[str]:
        """The engine's own columns that the value depends on, such as ``__arrival`` for ``arrival_time()``."""
        return frozenset(node.name for node in walk(self.tree) if isinstance(node, Hidden))

    def compile(self) -> Compiled:
        return compile_tree(self.tree)

    def of(self, tree: Node) -> Scalar:
        """A part of this expression, as an expression."""
        return replace(self, tree=tree, warnings=())


def analyse(text: str, scope: Scope, *, expect: Type | None = None) -> Scalar:
    """Parses and types ``text``; raises ExpressionError with every problem found.

    >>> from aurora.model.schema import Schema
    >>> scalar = analyse("price * 2 > 100", Scope.of(Schema.of(price="double")), expect=BOOL)
    >>> scalar.type, sorted(scalar.columns)
    (Type('bool'), ['price'])
    """
    report = Report()
    tree = parse(text, report)
    node = bind_tree(Binder(scope, report), tree) if tree is not None else None
    if node is not None and expect is not None:
        node = expected(node, expect, text, report)
    if node is None:
        raise ExpressionError(report.problems)
    return Scalar(text, node, tuple(report.problems))


def bind_tree(binder: Binder, tree: exp.Expr) -> Node | None:
    try:
        return binder.bind(tree)
    except RecursionError:
        binder.report.add("too-deep", "the expression is nested too deeply", "compute the parts in a map box first")
        return None


def expected(node: Node, wanted: Type, text: str, report: Report) -> Node | None:
    """The node as the wanted type, or a problem."""
    if cost(node, wanted) is not None and (brought := coerce(node, wanted)) is not None:
        return brought
    found = f"{text!r} is {node.type}, not {wanted}"
    if wanted == BOOL:
        report.add("not-boolean", found, "write a condition, such as x <> 0 or text = 'yes'")
    else:
        report.add("type-mismatch", found, f"write an expression of type {wanted}, or cast(... as {wanted})")
    return None
