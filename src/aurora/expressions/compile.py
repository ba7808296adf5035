"""From the typed tree to Polars expressions: one for the value, one for the number of faults of each tuple.

A fault is a division by zero, an overflow or the like that became NULL. It counts only where the tuple's
evaluation really went: not in a branch of CASE that was not taken, not behind an AND that was already false.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from aurora.expressions.direct import Direct, direct
from aurora.expressions.functions.comparison import compare, in_list
from aurora.expressions.nodes import (
    Call,
    Case,
    Coalesce,
    Column,
    Hidden,
    In,
    Literal,
    Logic,
    Node,
    Widen,
    constant,
    walk,
)
from aurora.expressions.vectors import let
from aurora.model.types import BOOL, NULL, TIMESTAMP

MAX_INLINE = 6
"""How many calls may fail before the faults are computed node by node. Each one's faults name its value, so that
as one expression they grow with the square of their number, and Polars' planning with more than that."""

_COUNT = pl.UInt32()


@dataclass(frozen=True)
class Compiled:
    """``value`` over a frame with the scope's columns; ``faults`` per row as UInt32, None if none can happen.

    ``faults_show``: a tuple with a fault has a NULL value. Where the values hold no NULL, the faults need not be
    computed at all. ``direct`` gives the same values as ``value``, at less cost; None if there is no such way.
    """

    value: pl.Expr
    faults: pl.Expr | None = None
    faults_show: bool = True
    direct: Direct | None = None

    def values(self, frame: pl.DataFrame) -> pl.Series:
        return frame.select(self.value).to_series() if self.direct is None else self.direct(frame)


@dataclass(frozen=True)
class _Part:
    """A compiled node; ``show`` says whether each of its faults shows as a NULL value, ``single`` whether its value is
    one row for all tuples."""

    value: pl.Expr
    faults: pl.Expr | None = None
    show: bool = True
    single: bool = False


def compile_tree(tree: Node) -> Compiled:
    """A constant is stretched to the length of the frame, so that every value has one row per tuple."""
    part = _compile(tree)
    value, faults = part.value, part.faults
    if part.single:
        value = _stretched(value, tree.type.to_polars())
    if faults is not None and not faults.meta.root_names():
        faults = _stretched(faults, _COUNT)
    elif faults is not None and sum(isinstance(n, Call) and n.way.fallible for n in walk(tree)) > MAX_INLINE:
        faults = faults_step_by_step(tree)
    return Compiled(value, faults, part.show, direct(tree))


def _stretched(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """A single row as a column as long as the frame."""
    return pl.repeat(value.first(), pl.len(), dtype=dtype)


def _compile(node: Node) -> _Part:
    parts = [_compile(child) for child in node.children]
    single = not isinstance(node, Column | Hidden) and all(part.single for part in parts)
    return replace(_COMPILERS[type(node)](node, parts), single=single)


def faults_step_by_step(tree: Node) -> pl.Expr:
    """The faults, with the value of every node computed once and kept."""
    names = sorted({node.name for node in walk(tree) if isinstance(node, Column | Hidden)})

    def run(columns: Sequence[pl.Series]) -> pl.Series:
        frame = pl.DataFrame([column.alias(name) for name, column in zip(names, columns, strict=True)])
        return _evaluate(tree, frame)[1]

    return pl.map_batches([pl.col(name) for name in names], run, return_dtype=_COUNT, is_elementwise=True)


def _evaluate(node: Node, frame: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """The values and the faults of a node."""
    columns: list[pl.Series] = []
    parts: list[_Part] = []
    for index, child in enumerate(node.children):
        if isinstance(child, Literal):
            parts.append(_compile(child))
            continue
        values, faults = _evaluate(child, frame)
        columns += [values.alias(f"{index}"), faults.alias(f"{index} faults")]
        parts.append(_Part(pl.col(f"{index}"), pl.col(f"{index} faults")))
    part = _COMPILERS[type(node)](node, parts)
    data = pl.DataFrame(columns) if columns else frame
    faults_expr = pl.lit(0, dtype=_COUNT) if part.faults is None else part.faults
    result = data.with_columns(part.value.alias("value"), faults_expr.alias("faults"))
    return result["value"], result["faults"]


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


def _literal(node: Literal, _: Sequence[_Part]) -> _Part:
    return _Part(literal(node))


def _column(node: Column, _: Sequence[_Part]) -> _Part:
    return _Part(pl.col(node.name))


def _hidden(node: Hidden, _: Sequence[_Part]) -> _Part:
    """Before a clock column's first value there is no time: the engine's least integer, here NULL."""
    column = pl.col(node.name)
    if node.type != TIMESTAMP:
        return _Part(column.cast(node.type.to_polars()))
    return _Part(pl.when(column > -(2**63)).then(column).cast(node.type.to_polars()))


def _widen(node: Widen, parts: Sequence[_Part]) -> _Part:
    return _Part(parts[0].value.cast(node.type.to_polars()), parts[0].faults, parts[0].show)


def _call(node: Call, parts: Sequence[_Part]) -> _Part:
    plain = node.plain or (False,) * len(node.arguments)

    def build(*values: pl.Expr) -> pl.Expr:
        remaining = iter(values)
        return node.way.build(
            *(
                argument.value if fixed and isinstance(argument, Literal) else next(remaining)
                for argument, fixed in zip(node.arguments, plain, strict=True)
            )
        )

    varying = [index for index, fixed in enumerate(plain) if not fixed]
    values = _arguments(node.subject, [parts[i] for i in varying], [node.arguments[i] for i in varying])
    shared = node.way.reuses and not all(argument.simple for argument in node.arguments)
    value = let(values, build, node.type.to_polars()) if shared else build(*values)
    faults = [part.faults for part in parts]
    if node.way.fallible:
        known = [
            part.value.is_not_null()
            for part, argument in zip(parts, node.arguments, strict=True)
            if not isinstance(argument, Literal) or argument.value is None
        ]
        faults.append(_all([value.is_null(), *known]).cast(_COUNT))
    total = _total(faults)
    strict = node.way.strict or node.way.fallible
    return _Part(value, total, all(part.show for part in parts) if strict else total is None)


def _arguments(subject: int | None, parts: Sequence[_Part], nodes: Sequence[Node]) -> list[pl.Expr]:
    """What a formula is given. A single value as its subject is stretched where another argument is a column:
    Polars' methods on texts and lists answer for a subject of one row with one row, or not at all."""
    values = [part.value for part in parts]
    if subject is not None and parts and parts[subject].single and not all(part.single for part in parts):
        values[subject] = _stretched(values[subject], nodes[subject].type.to_polars())
    return values


def _logic(node: Logic, parts: Sequence[_Part]) -> _Part:
    join, undecided = (_all, _not_false) if node.name == "and" else (_any, _not_true)
    faults = _until_decided(parts, lambda earlier: undecided(join(earlier)))
    return _Part(join([part.value for part in parts]), faults, faults is None)


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
        faults = part.faults if faults is None else part.faults + _where(undecided(between), faults)
        between = []
    if faults is not None and between:
        faults = _where(undecided(between), faults)
    return faults


def _where(condition: pl.Expr, faults: pl.Expr) -> pl.Expr:
    return pl.when(condition).then(faults).otherwise(pl.lit(0, dtype=_COUNT))


def _case(node: Case, parts: Sequence[_Part]) -> _Part:
    subject, parts = (None, parts) if node.subject is None else (parts[0], parts[1:])
    tests, results, otherwise = parts[:-1:2], parts[1:-1:2], parts[-1]
    if subject is None:
        conditions = [test.value for test in tests]
    else:
        flip = node.subject is not None and constant(node.subject)
        conditions = [compare("=", subject.value, test.value, flip=flip) for test in tests]
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
    return _Part(chosen.otherwise(otherwise.value), _total([None if subject is None else subject.faults, faults]), show)


def _coalesce(node: Coalesce, parts: Sequence[_Part]) -> _Part:
    faults = _until_decided(parts, lambda earlier: _all([value.is_null() for value in earlier]))
    return _Part(pl.coalesce([part.value for part in parts]), faults, faults is None)


def _in(node: In, parts: Sequence[_Part]) -> _Part:
    operand = parts[0]
    if all(isinstance(option, Literal) for option in node.options):
        constants = [option.value for option in node.options if isinstance(option, Literal)]
        kind = node.operand.type.to_polars() if node.operand.type != NULL else BOOL.to_polars()
        return _Part(in_list(operand.value, constants, kind), operand.faults, operand.show)

    flip = constant(node.operand)

    def build(value: pl.Expr, *others: pl.Expr) -> pl.Expr:
        return _any([compare("=", value, other, flip=flip) for other in others])

    values = [part.value for part in parts]
    value = build(*values) if node.operand.simple else let(values, build, pl.Boolean())
    faults = _total([part.faults for part in parts])
    return _Part(value, faults, faults is None)


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
"""Each takes a node and its compiled children."""
