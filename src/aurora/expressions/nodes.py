"""The typed tree of an expression. Every node knows its type; coercions are explicit nodes.

The tree is what everything after the analysis works on: the compiler, the analysis of conjuncts and intervals.
Timestamps and durations are held as whole microseconds, the form in which order columns are measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import polars as pl

from aurora.model.types import Type

Value = bool | int | float | str | bytes | None
Build = Callable[..., pl.Expr]


@dataclass(frozen=True)
class Way:
    """How a call is computed.

    ``fallible``: a NULL that comes of arguments which are not NULL is a fault. ``reuses``: the formula names an
    argument more than once, so that nesting it would make the compiled expression grow exponentially. ``strict``:
    the value is NULL exactly where an argument is, which everything fallible is too, but for its faults.
    """

    build: Build
    fallible: bool = False
    reuses: bool = False
    strict: bool = False


@dataclass(frozen=True)
class Node:
    type: Type

    @property
    def children(self) -> tuple[Node, ...]:
        return ()

    @property
    def simple(self) -> bool:
        """Whether naming the node twice costs nothing."""
        return False


@dataclass(frozen=True)
class Literal(Node):
    value: Value

    @property
    def simple(self) -> bool:
        return True


@dataclass(frozen=True)
class Column(Node):
    name: str

    @property
    def simple(self) -> bool:
        return True


@dataclass(frozen=True)
class Hidden(Node):
    """A column of the engine, held as Int64 and shown as ``type``."""

    name: str


@dataclass(frozen=True)
class Widen(Node):
    """An int where a double is wanted."""

    operand: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand,)

    @property
    def simple(self) -> bool:
        return self.operand.simple


@dataclass(frozen=True)
class Call(Node):
    """A function or operator; all arguments are evaluated.

    ``plain`` marks the arguments, constants all, that the formula takes as Python values, not as expressions.
    ``range`` bounds an int result that is not NULL. ``subject`` is the argument that the formula applies the others
    to, counted without the plain ones; None if the formula takes a single value beside a column in any place.
    """

    name: str
    arguments: tuple[Node, ...]
    way: Way = field(compare=False, repr=False)
    plain: tuple[bool, ...] = ()
    range: tuple[int, int] | None = field(default=None, compare=False, repr=False)
    subject: int | None = field(default=None, compare=False, repr=False)

    @property
    def children(self) -> tuple[Node, ...]:
        return self.arguments


@dataclass(frozen=True)
class Logic(Node):
    """``and`` or ``or`` over two or more operands, evaluated left to right until the answer is known."""

    name: str
    operands: tuple[Node, ...]

    @property
    def children(self) -> tuple[Node, ...]:
        return self.operands


@dataclass(frozen=True)
class Case(Node):
    """Branches are (condition, result), or (value, result) where there is a subject to compare with."""

    subject: Node | None
    branches: tuple[tuple[Node, Node], ...]
    otherwise: Node

    @property
    def children(self) -> tuple[Node, ...]:
        subject = () if self.subject is None else (self.subject,)
        return (*subject, *(node for branch in self.branches for node in branch), self.otherwise)


@dataclass(frozen=True)
class Coalesce(Node):
    arguments: tuple[Node, ...]

    @property
    def children(self) -> tuple[Node, ...]:
        return self.arguments


@dataclass(frozen=True)
class In(Node):
    operand: Node
    options: tuple[Node, ...]

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand, *self.options)


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def columns_of(node: Node) -> frozenset[str]:
    return frozenset(found.name for found in walk(node) if isinstance(found, Column))


def constant(node: Node) -> bool:
    """Whether the node has the same value for every tuple."""
    return not any(isinstance(found, Column | Hidden) for found in walk(node))
