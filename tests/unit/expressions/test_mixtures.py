"""Every function and operator with every mixture of constants and columns, on trains of every size.

What a tuple gets must not depend on the tuples beside it. Polars takes a column of one row for a constant, and a
constant for a column of one row. So each mixture is evaluated row by row and as a whole, and the answers are compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl
import pytest

from aurora.errors import Report
from aurora.expressions import Scope, analyse
from aurora.expressions.compile import faults_step_by_step
from aurora.expressions.functions import ALL
from aurora.expressions.functions.declaration import Function, Parameter, Signature
from aurora.expressions.nodes import Literal, Node, constant
from aurora.expressions.resolution import resolve
from aurora.expressions.scalar import Scalar
from aurora.model.types import Type
from tests.unit.expressions.nasty import CONSTANT_EXPRESSIONS, LITERALS, VALUES, fixed, frame_of

ROWS = 5
TRAINS = (0, 1, 2, 100)
KINDS = ("column", "expression", "literal", "constant", "null")
SHARED = ("int", "string", "double", "timestamp")
"""What the type variable of a signature stands for, one after the other."""


def _type(parameter: Parameter, shared: str) -> str:
    return {"T": shared, "any": shared, "text": shared, "list<T>": f"list<{shared}>"}.get(
        parameter.type, parameter.type
    )


def _argument(kind: str, type_: str, name: str, scope: Scope) -> Node | None:
    if kind == "column":
        return analyse(name, scope).tree
    if kind == "expression":
        return analyse(f"case when p then {name} else {name}_ end", scope).tree
    if kind == "constant":
        text = CONSTANT_EXPRESSIONS.get(type_)
        return None if text is None else analyse(text, scope).tree
    if kind == "null":
        return None if type_.startswith("list") else Literal(Type.parse(type_), None)
    return Literal(Type.parse(type_), LITERALS[type_]) if type_ in LITERALS else None


def _counts(signature: Signature) -> Iterator[int]:
    least = sum(not parameter.optional for parameter in signature.parameters)
    many = bool(signature.parameters) and signature.parameters[-1].many
    yield from range(least, len(signature.parameters) + 1 + (1 if many else 0))


@dataclass(frozen=True)
class Family:
    """All mixtures of one signature over columns of the same types."""

    columns: dict[str, str]
    calls: dict[str, Node]


def _families(function: Function) -> Iterator[Family]:
    for signature in function.signatures:
        generic = any(parameter.type in ("T", "any", "text", "list<T>") for parameter in signature.parameters)
        for count, shared in itertools.product(_counts(signature), SHARED if generic else ("int",)):
            parameters = [signature.parameter(index) for index in range(count)]
            types = [_type(parameter, shared) for parameter in parameters]
            if all(type_ in VALUES or p.constant for type_, p in zip(types, parameters, strict=True)):
                family = _family(function, parameters, types)
                if family.calls:
                    yield family


def _family(function: Function, parameters: list[Parameter], types: list[str]) -> Family:
    varying = [index for index, parameter in enumerate(parameters) if not parameter.constant]
    columns = {f"c{i}{mark}": types[i] for i in varying for mark in ("", "_")} | {"p": "bool"}
    scope = Scope({name: Type.parse(type_) for name, type_ in columns.items()})
    calls: dict[str, Node] = {}
    for mixture in itertools.product(KINDS, repeat=len(varying)):
        kinds = dict(zip(varying, mixture, strict=True))
        nodes = [
            _argument(kinds[i], types[i], f"c{i}", scope) if i in kinds else fixed(function.name, i)
            for i in range(len(parameters))
        ]
        known = [node for node in nodes if node is not None]
        call = resolve(function, function.name, known, Report()) if len(known) == len(nodes) else None
        if call is not None:
            calls[f"{function.name}({', '.join(map(str, zip(types, mixture, strict=False)))})"] = call
    return Family(columns, calls)


class Ways:
    """All ways to compute the calls of a family, compiled once; each evaluation checks that they agree."""

    def __init__(self, calls: dict[str, Node]) -> None:
        self._calls = calls
        self._compiled = {label: Scalar("", call).compile() for label, call in calls.items()}
        self._columns: list[pl.Expr] = []
        for label, compiled in self._compiled.items():
            self._columns.append(compiled.value.alias(label))
            if compiled.faults is not None:
                self._columns.append(compiled.faults.alias(f"{label} faults"))
                if not constant(calls[label]):
                    self._columns.append(faults_step_by_step(calls[label]).alias(f"{label} slowly"))

    def __call__(self, frame: pl.DataFrame) -> dict[str, list[str]]:
        """Values, and faults where there can be any. As texts, so that a NaN equals itself and zeros have signs."""
        found = frame.select(self._columns)
        assert found.height == frame.height
        shown = {name: _shown(found[name]) for name in found.columns}
        for label, compiled in self._compiled.items():
            assert found[label].dtype == self._calls[label].type.to_polars(), label
            if compiled.direct is not None:
                assert _shown(compiled.direct(frame)) == shown[label], label
            slowly = shown.get(f"{label} slowly")
            assert slowly is None or slowly == shown[f"{label} faults"], label
        return shown


def _shown(values: pl.Series) -> list[str]:
    return [repr(value) for value in values.to_physical().to_list()]


FORMS = {
    "case": "case when {p} then {a} else {b} end",
    "case of a subject": "case {a} when {b} then {c} else {a} end",
    "coalesce": "coalesce({a}, {b}, {c})",
    "in": "{a} in ({b}, {c})",
    "not in": "{a} not in ({b}, {c})",
    "and": "{p} and {q} and {a} = {b}",
    "or": "{p} or {q} or {a} = {b}",
}


def _forms(form: str, type_: str) -> Family:
    """The forms of the language that are no functions, in all mixtures of a constant, a column and an expression."""
    columns = {"a0": type_, "b0": type_, "c0": type_, "p0": "bool", "q0": "bool"}
    scope = Scope({name: Type.parse(kind) for name, kind in columns.items()})
    constants = {"int": ("2", "abs(-2)"), "string": ("'a'", "lower('A')")}[type_]
    names = [name for name in "abcpq" if f"{{{name}}}" in FORMS[form]]
    calls: dict[str, Node] = {}
    for choice in itertools.product(range(4), repeat=len(names)):
        texts = {}
        for name, kind in zip(names, choice, strict=True):
            truths = name in "pq"
            once = (("true", "1 < 2") if truths else constants)[kind % 2]
            texts[name] = once if kind < 2 else [f"{name}0", f"nullif({name}0, {once})"][kind - 2]
        text = FORMS[form].format(**texts)
        calls[text] = analyse(text, scope).tree
    return Family(columns, calls)


def _compare(family: Family, seed: int) -> None:
    ways, rows = Ways(family.calls), frame_of(family.columns, ROWS, seed)
    alone = [ways(rows.slice(index, 1)) for index in range(ROWS)]
    for size in TRAINS:
        for label, values in ways(pl.concat([rows] * 20).slice(0, size)).items():
            expected = [row[label][0] for row in alone * 20][:size]
            assert values == expected, (label, size)


@pytest.mark.parametrize("type_", ["int", "string"])
@pytest.mark.parametrize("form", FORMS)
def test_a_forms_value_does_not_depend_on_the_train(form: str, type_: str) -> None:
    _compare(_forms(form, type_), seed=1)


@pytest.mark.parametrize("function", ALL, ids=lambda function: function.name)
def test_a_tuples_value_does_not_depend_on_the_train(function: Function) -> None:
    tried = 0
    for number, family in enumerate(_families(function)):
        _compare(family, seed=number)
        tried += len(family.calls)
    most = max(len(signature.parameters) for signature in function.signatures)
    assert tried >= min(most, 2), "too few mixtures are typed: give the function's types values above"
