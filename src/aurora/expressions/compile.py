"""From the typed tree to Polars expressions: one for the value, one for the number of faults of each tuple.

A fault is a division by zero, an overflow or the like that became NULL. It counts only where the tuple's
evaluation really went: not in a branch of CASE that was not taken, not behind an AND that was already false.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from aurora.expressions.functions.comparison import in_list
from aurora.expressions.nodes import Call, Case, Coalesce, Column, Hidden, In, Literal, Logic, Node, Widen, constant
from aurora.expressions.vectors import let
from aurora.model.types import BOOL, NULL

_COUNT = pl.UInt32()


@dataclass(frozen=True)
class Compiled:
    """``value`` over a frame with the scope's columns; ``faults`` per row as UInt32, None if none can happen.

    ``faults_show``: a tuple with a fault has a NULL value. Where the values hold no NULL, the faults need not be
    computed at all.
    """

    value: pl.Expr
    faults: pl.Expr | None = None
    faults_show: bool = True


@dataclass(frozen=True)
class _Part:
    """A compiled node. ``inputs``, where known, says the faults in short: there is one exactly where the value is
    NULL though no input is. It keeps the faults of a long chain such as a + b + c as small as its value."""

    value: pl.Expr
    faults: pl.Expr | None = None
    inputs: tuple[pl.Expr, ...] | None = None
    show: bool = True


def compile_tree(tree: Node) -> Compiled:
    """A constant is stretched to the length of the frame, so that every value has one row per tuple."""
    part = _compile(tree)
    if not constant(tree):
        return Compiled(part.value, part.faults, part.show)
    value = pl.repeat(part.value.first(), pl.len(), dtype=tree.type.to_polars())
    faults = None if part.faults is None else pl.repeat(part.faults.first(), pl.len(), dtype=_COUNT)
    return Compiled(value, faults, part.show)


def literal(node: Literal) -> pl.Expr:
    if node.type == NULL:
        return pl.lit(None)
    return pl.lit(node.value, dtype=node.type.to_polars())


def balanced(parts: Sequence[pl.Expr], join: Callable[[pl.Expr, pl.Expr], pl.Expr]) -> pl.Expr:
    """Joins neighbours pair by pair, so that a thousand operands nest ten deep."""
    row = list(parts)
    while len(row) > 1:
        row = [join(row[i], row[i + 1]) if i + 1 < len(row) else row[i] for i in range(0, len(row), 2)]
    return row[0]


def _all(parts: Sequence[pl.Expr]) -> pl.Expr:
    return balanced(parts, lambda a, b: a & b)


def _any(parts: Sequence[pl.Expr]) -> pl.Expr:
    return balanced(parts, lambda a, b: a | b)


def _total(faults: Sequence[pl.Expr | None]) -> pl.Expr | None:
    known = [fault for fault in faults if fault is not None]
    return balanced(known, lambda a, b: a + b) if known else None


def _compile(node: Node) -> _Part:
    return _COMPILERS[type(node)](node)


def _literal(node: Literal) -> _Part:
    return _Part(literal(node), inputs=() if node.value is not None else None)


def _column(node: Column) -> _Part:
    column = pl.col(node.name)
    return _Part(column, inputs=(column,))


def _hidden(node: Hidden) -> _Part:
    return _Part(pl.col(node.name).cast(node.type.to_polars()))


def _widen(node: Widen) -> _Part:
    operand = _compile(node.operand)
    return replace(operand, value=operand.value.cast(node.type.to_polars()))


def _call(node: Call) -> _Part:
    plain = node.plain or (False,) * len(node.arguments)
    parts = [None if fixed else _compile(argument) for argument, fixed in zip(node.arguments, plain, strict=True)]
    constants = [argument.value if isinstance(argument, Literal) else None for argument in node.arguments]

    def build(*values: pl.Expr) -> pl.Expr:
        remaining = iter(values)
        return node.way.build(*(constants[i] if part is None else next(remaining) for i, part in enumerate(parts)))

    compiled = [part for part in parts if part is not None]
    values = [part.value for part in compiled]
    shared = node.way.reuses and not all(argument.simple for argument in node.arguments)
    value = let(values, build, node.type.to_polars()) if shared else build(*values)
    if not node.way.fallible and not node.way.strict:
        faults = _total([part.faults for part in compiled])
        return _Part(value, faults, show=faults is None)
    return _strict(value, compiled, node.way.fallible)


def _strict(value: pl.Expr, arguments: Sequence[_Part], fallible: bool) -> _Part:
    """A call whose value is NULL if an argument is, or if it fails itself, and never otherwise."""
    faulty = [part for part in arguments if part.faults is not None]
    if len(faulty) > 1 or any(part.inputs is None for part in faulty):
        faults = [part.faults for part in arguments]
        if fallible:
            faults.append(_failed(value, [part.value for part in arguments]))
        return _Part(value, _total(faults), show=all(part.show for part in arguments))
    inputs: list[pl.Expr] = []
    for part in arguments:
        inputs += [part.value] if part.inputs is None else part.inputs
    return _Part(value, _failed(value, inputs) if fallible or faulty else None, tuple(inputs))


def _failed(value: pl.Expr, inputs: Sequence[pl.Expr]) -> pl.Expr:
    return _all([value.is_null(), *(known.is_not_null() for known in inputs)]).cast(_COUNT)


def _logic(node: Logic) -> _Part:
    parts = [_compile(operand) for operand in node.operands]
    values = [part.value for part in parts]
    join, undecided = (_all, _not_false) if node.name == "and" else (_any, _not_true)
    faults = _until_decided(parts, lambda earlier: undecided(join(earlier)))
    return _Part(join(values), faults, show=faults is None)


def _not_false(value: pl.Expr) -> pl.Expr:
    return value.fill_null(True)


def _not_true(value: pl.Expr) -> pl.Expr:
    return ~value.fill_null(False)


def _until_decided(parts: Sequence[_Part], undecided: Callable[[list[pl.Expr]], pl.Expr]) -> pl.Expr | None:
    """The faults of operands that are evaluated left to right until one of them decides.

    ``undecided`` says of some operands' values that none of them did. Only operands with faults nest.
    """
    faults: pl.Expr | None = None
    between: list[pl.Expr] = []
    for part in reversed(parts):
        between.insert(0, part.value)
        if part.faults is None:
            continue
        if faults is None:
            faults = part.faults
        else:
            faults = part.faults + _where(undecided(between), faults)
        between = []
    if faults is not None and between:
        faults = _where(undecided(between), faults)
    return faults


def _where(condition: pl.Expr, faults: pl.Expr) -> pl.Expr:
    return pl.when(condition).then(faults).otherwise(pl.lit(0, dtype=_COUNT))


def _case(node: Case) -> _Part:
    subject = None if node.subject is None else _compile(node.subject)
    tests = [_compile(test) for test, _ in node.branches]
    results = [_compile(result) for _, result in node.branches]
    otherwise = _compile(node.otherwise)
    conditions = [test.value if subject is None else subject.value == test.value for test in tests]
    chosen = pl.when(conditions[0]).then(results[0].value)
    for condition, result in zip(conditions[1:], results[1:], strict=True):
        chosen = chosen.when(condition).then(result.value)  # type: ignore[assignment]
    faults = otherwise.faults
    for index in range(len(results) - 1, -1, -1):
        taken, rest = results[index].faults, faults
        if taken is not None or rest is not None:
            none = pl.lit(0, dtype=_COUNT)
            branch = pl.when(conditions[index]).then(none if taken is None else taken)
            faults = branch.otherwise(none if rest is None else rest)
        faults = _total([tests[index].faults, faults])
    asked = _total([None if subject is None else subject.faults, *(test.faults for test in tests)])
    show = asked is None and all(part.show for part in (*results, otherwise))
    total = _total([None if subject is None else subject.faults, faults])
    return _Part(chosen.otherwise(otherwise.value), total, show=show)


def _coalesce(node: Coalesce) -> _Part:
    parts = [_compile(argument) for argument in node.arguments]
    faults = _until_decided(parts, lambda earlier: _all([value.is_null() for value in earlier]))
    return _Part(pl.coalesce([part.value for part in parts]), faults, show=faults is None)


def _in(node: In) -> _Part:
    operand = _compile(node.operand)
    if all(isinstance(option, Literal) for option in node.options):
        constants = [option.value for option in node.options if isinstance(option, Literal)]
        kind = node.operand.type.to_polars() if node.operand.type != NULL else BOOL.to_polars()
        return _Part(in_list(operand.value, constants, kind), operand.faults, show=operand.show)
    options = [_compile(option) for option in node.options]

    def build(value: pl.Expr, *others: pl.Expr) -> pl.Expr:
        return _any([value == other for other in others])

    values = [operand.value, *(option.value for option in options)]
    value = build(*values) if node.operand.simple else let(values, build, pl.Boolean())
    faults = _total([part.faults for part in (operand, *options)])
    return _Part(value, faults, show=faults is None)


_COMPILERS: dict[type[Node], Callable[..., _Part]] = {
    Literal: _literal,
    Column: _column,
    Hidden: _hidden,
    Widen: _widen,
    Call: _call,
    Logic: _logic,
    Case: _case,
    Coalesce: _coalesce,
    In: _in,
}
