"""Random expressions that type, over random rows: each is compiled and evaluated, and nothing foreign may come out.

An expression is a tree of calls from the table of functions. It is drawn from a seed, so that what is found can be
drawn again. It may fail with an error of ours, or have faults that are counted; a panic, an error of Polars or a value
that depends on the train is a finding.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import polars as pl

from aurora.errors import AuroraError, Report
from aurora.expressions import Scope, analyse
from aurora.expressions.functions import ALL
from aurora.expressions.functions.declaration import Parameter, Signature
from aurora.expressions.nodes import Call, Case, Coalesce, Column, In, Literal, Node
from aurora.expressions.resolution import resolve
from aurora.expressions.scalar import Scalar
from aurora.model.types import BOOL, Type, list_of
from tests.unit.expressions.nasty import CONSTANT_EXPRESSIONS, LITERALS, VALUES, fixed, frame_of

COLUMNS = {f"{mark}{number}": kind for number, kind in enumerate(VALUES) for mark in "ab"}
_SCOPE = Scope({name: Type.parse(kind) for name, kind in COLUMNS.items()})
_DEPTH = 3
_ROWS = 7


@dataclass(frozen=True)
class Finding:
    """What went wrong with the expression of a seed."""

    seed: int
    expression: str
    failure: str

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.failure}\n    {self.expression}"


def _makers() -> dict[str, list[tuple[str, Signature]]]:
    """By the type that they make: the functions and their signatures; T is looked up for every type."""
    made: dict[str, list[tuple[str, Signature]]] = {kind: [] for kind in VALUES}
    for function in ALL:
        for signature in function.signatures:
            for kind in VALUES if signature.returns == "T" else [signature.returns]:
                made[kind].append((function.name, signature))
    return made


_MAKERS = _makers()
_FUNCTIONS = {function.name: function for function in ALL}


class _Drawn:
    """A random tree. What does not resolve is replaced by a leaf."""

    def __init__(self, lottery: random.Random) -> None:
        self._lottery = lottery

    def of(self, kind: str, depth: int) -> Node:
        draw = self._lottery
        if depth == 0 or draw.random() < 0.15:
            return self._leaf(kind)
        if draw.random() < 0.15:
            return self._form(kind, depth - 1)
        makers = _MAKERS[kind]
        found = self._call(*draw.choice(makers), kind, depth - 1) if makers else None
        return self._leaf(kind) if found is None else found

    def _leaf(self, kind: str) -> Node:
        draw = self._lottery
        type_ = Type.parse(kind)
        choice = draw.random()
        if choice < 0.5 or kind.startswith("list"):
            return Column(type_, draw.choice([name for name, other in COLUMNS.items() if other == kind]))
        if choice < 0.6 and kind in CONSTANT_EXPRESSIONS:
            return analyse(CONSTANT_EXPRESSIONS[kind], _SCOPE).tree
        return Literal(type_, draw.choice([LITERALS[kind], *VALUES[kind]]))

    def _form(self, kind: str, depth: int) -> Node:
        draw = self._lottery
        if kind == "bool" and draw.random() < 0.5:
            other = draw.choice(["int", "string", "double", "timestamp"])
            return In(BOOL, self.of(other, depth), tuple(self.of(other, depth) for _ in range(2)))
        if draw.random() < 0.5:
            return Coalesce(Type.parse(kind), tuple(self.of(kind, depth) for _ in range(2)))
        branch = (self.of("bool", depth), self.of(kind, depth))
        return Case(Type.parse(kind), None, (branch,), self.of(kind, depth))

    def _call(self, name: str, signature: Signature, kind: str, depth: int) -> Node | None:
        draw = self._lottery
        shared = kind if signature.returns == "T" else draw.choice(list(LITERALS))
        least = sum(not parameter.optional for parameter in signature.parameters)
        count = draw.randint(least, max(least, len(signature.parameters)))
        nodes = [self._argument(name, index, signature.parameter(index), shared, depth) for index in range(count)]
        known = [node for node in nodes if node is not None]
        call = resolve(_FUNCTIONS[name], name, known, Report()) if len(known) == count else None
        return call if isinstance(call, Call) and call.type == Type.parse(kind) else None

    def _argument(self, name: str, index: int, parameter: Parameter, shared: str, depth: int) -> Node | None:
        if parameter.constant:
            return fixed(name, index)
        kind = {"T": shared, "any": shared, "text": shared}.get(parameter.type, parameter.type)
        if kind == "list<T>":
            kind = str(list_of(Type.parse(shared)))
        return self.of(kind, depth) if kind in VALUES else None


def drawn(seed: int) -> Node:
    """The expression of a seed."""
    lottery = random.Random(seed)
    return _Drawn(lottery).of(lottery.choice(list(VALUES)), _DEPTH)


def tried(seed: int) -> Finding | None:
    """Evaluates the expression of a seed over random rows, as a whole and row by row."""
    tree = drawn(seed)
    try:
        _evaluate(tree, frame_of(COLUMNS, _ROWS, seed))
    except AuroraError:
        return None
    except (Exception, pl.exceptions.PanicException) as error:
        return Finding(seed, str(tree), f"{type(error).__name__}: {str(error).partition(chr(10))[0]}")
    return None


def _evaluate(tree: Node, rows: pl.DataFrame) -> None:
    compiled = Scalar("", tree).compile()
    wanted = [compiled.value.alias("value")]
    if compiled.faults is not None:
        wanted.append(compiled.faults.alias("faults"))
    whole = rows.select(wanted)
    assert whole.height == rows.height, f"{rows.height} tuples gave {whole.height} values"
    assert whole["value"].dtype == tree.type.to_polars(), f"{whole['value'].dtype} for {tree.type}"
    alone = pl.concat([rows.slice(index, 1).select(wanted) for index in range(rows.height)])
    assert whole.equals(alone, null_equal=True), "the train decides"
