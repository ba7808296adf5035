"""Expressions of aggregates, such as ``max(price) - min(price)``.

The aggregate calls are taken out, each once over all outputs; what remains is a scalar expression per output over
the calls' results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from aurora.errors import ExpressionError, Problem, Report
from aurora.expressions import registry
from aurora.expressions.binding import Binder, show
from aurora.expressions.coercion import coerce
from aurora.expressions.names import AGGREGATES
from aurora.expressions.nodes import Column, Literal, Node
from aurora.expressions.parse import parse
from aurora.expressions.scalar import Scalar, bind_tree
from aurora.expressions.scope import Scope
from aurora.model.types import BOOL, DOUBLE, DURATION, INT, NULL, STRING, TIMESTAMP, Type, list_of

TIMED_OUT = "__timed_out"
WINDOW_START = "__window_start"
WINDOW_END = "__window_end"
SLOT_PREFIX = "__agg"


@dataclass(frozen=True)
class AggregateCall:
    """One aggregate over the tuples of a window. ``slot`` is the column that the finals find its result in."""

    slot: str
    function: str
    argument: Scalar | None
    where: Scalar | None
    parameters: tuple[float, ...]
    type: Type

    def same_as(self, other: AggregateCall) -> bool:
        return _key(self) == _key(other)


def _key(call: AggregateCall) -> object:
    trees = tuple(None if part is None else part.tree for part in (call.argument, call.where))
    return call.function, trees, call.parameters


@dataclass(frozen=True)
class Aggregates:
    calls: tuple[AggregateCall, ...]
    finals: dict[str, Scalar]
    warnings: tuple[Problem, ...] = ()


_SAME = {t: t for t in (BOOL, INT, DOUBLE, STRING, TIMESTAMP, DURATION)}
_MIDDLE = {INT: DOUBLE, DOUBLE: DOUBLE, TIMESTAMP: TIMESTAMP, DURATION: DURATION}
_RESULTS: dict[str, dict[Type, Type] | None] = {
    "count": None,
    "sum": {INT: INT, DOUBLE: DOUBLE, DURATION: DURATION},
    "avg": {INT: DOUBLE, DOUBLE: DOUBLE, DURATION: DURATION},
    "min": _SAME,
    "max": _SAME,
    "first": None,
    "last": None,
    "any_value": None,
    "stddev": {INT: DOUBLE, DOUBLE: DOUBLE},
    "variance": {INT: DOUBLE, DOUBLE: DOUBLE},
    "median": _MIDDLE,
    "quantile": _MIDDLE,
    "delta": {INT: INT, DOUBLE: DOUBLE, TIMESTAMP: DURATION, DURATION: DURATION},
    "bool_and": {BOOL: BOOL},
    "bool_or": {BOOL: BOOL},
    "collect": None,
}
"""The result type for each argument type; None where every argument will do."""


def result_type(function: str, argument: Type) -> Type | None:
    """The type of an aggregate's result, None if it does not take the argument.

    >>> result_type("avg", INT), result_type("delta", TIMESTAMP), result_type("sum", STRING)
    (Type('double'), Type('duration'), None)
    """
    table = _RESULTS[function]
    if table is not None:
        return table.get(argument)
    if function == "count":
        return INT
    return list_of(argument) if function == "collect" else argument


class _InsideAggregate(Binder):
    """Types an aggregate's argument, where no further aggregate may stand."""

    def aggregate(self, tree: exp.Expr, where: exp.Expr | None) -> Node | None:
        way_out = "compute the inner aggregate in a box of its own, and aggregate its output"
        self.report.add("nested-aggregate", f"{show(tree)} stands inside another aggregate", way_out)
        return None

    def window_function(self, name: str, tree: exp.Expr) -> Node | None:
        self.report.add("nested-aggregate", f"{name}() stands inside an aggregate", "use it outside the aggregate")
        return None


class AggregateBinder(Binder):
    """Types an expression of aggregates; collects the calls it finds."""

    def __init__(
        self,
        scope: Scope,
        report: Report,
        grouping: Sequence[str],
        window_type: Type | None,
        calls: list[AggregateCall],
        text: str,
    ) -> None:
        super().__init__(scope, report)
        self.grouping = grouping
        self.window_type = window_type
        self.calls = calls
        self.text = text

    def column(self, name: str, qualifier: str) -> Node | None:
        node = super().column(name, qualifier)
        if isinstance(node, Column) and node.name not in self.grouping:
            way_out = f"aggregate it, as in last({node.name}), or group by it"
            found = f"the column {node.name!r} stands outside an aggregate"
            self.report.add("column-outside-aggregate", found, way_out, choices=self.grouping)
            return None
        return node

    def arrival_time(self) -> Node | None:
        way_out = "aggregate it, as in min(arrival_time())"
        self.report.add("column-outside-aggregate", "arrival_time() stands outside an aggregate", way_out)
        return None

    def window_function(self, name: str, tree: exp.Expr) -> Node | None:
        if not self.right_count(name, tree.expressions, 0, 0):
            return None
        if name == "timed_out":
            return Column(BOOL, TIMED_OUT)
        if self.window_type is None:
            way_out = "use a window over a column's values, such as size: 60s, or min(x) and max(x)"
            self.report.add("no-window-bounds", f"{name}() needs a window with a start and an end", way_out)
            return None
        return Column(self.window_type, WINDOW_START if name == "window_start" else WINDOW_END)

    def aggregate(self, tree: exp.Expr, where: exp.Expr | None) -> Node | None:
        inside = _InsideAggregate(self.scope, self.report)
        condition = None if where is None else inside.boolean(where, "FILTER")
        call = self._call_of(tree, inside)
        if call is None or (where is not None and condition is None):
            return None
        if condition is not None:
            call = replace(call, where=Scalar(self.text, condition))
        known = next((other for other in self.calls if other.same_as(call)), None)
        if known is None:
            known = replace(call, slot=f"{SLOT_PREFIX}{len(self.calls)}")
            self.calls.append(known)
        return Column(known.type, known.slot)

    def _call_of(self, tree: exp.Expr, inside: Binder) -> AggregateCall | None:
        name, arguments = tree.name.lower(), tree.expressions
        if user := registry.AGGREGATES.get(name):
            return self._user_call(user, arguments, inside)
        function = AGGREGATES[name]
        if function == "count" and len(arguments) == 1 and isinstance(arguments[0], exp.Star):
            return AggregateCall("", "count_all", None, None, (), INT)
        if arguments and isinstance(arguments[0], exp.Distinct):
            return self._distinct(tree, function, arguments, inside)
        wanted = 2 if function == "quantile" else 1
        if not self.right_count(name, arguments, wanted, wanted):
            inside.bind_all(arguments)
            return None
        node = inside.bind(arguments[0])
        parameters: tuple[float, ...] | None = ()
        if function == "quantile":
            parameters = self._share(arguments[1], inside)
        if node is None or parameters is None:
            return None
        return self._typed(function, name, node, parameters)

    def _typed(self, function: str, name: str, node: Node, parameters: tuple[float, ...]) -> AggregateCall | None:
        if node.type == NULL:
            node = Literal(BOOL if function in ("bool_and", "bool_or") else INT, None)
        result = result_type(function, node.type)
        if result is None:
            table = _RESULTS[function] or {}
            found = f"{name} does not take {node.type}"
            self.report.add("type-mismatch", found, "aggregate a column of another type", choices=map(str, table))
            return None
        return AggregateCall("", function, Scalar(self.text, node), None, parameters, result)

    def _share(self, tree: exp.Expr, inside: Binder) -> tuple[float, ...] | None:
        node = inside.bind(tree)
        if node is None:
            return None
        value = node.value if isinstance(node, Literal) else None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            found = f"the share {show(tree)} of quantile is not a constant from 0 to 1"
            self.report.add("bad-literal", found, "write it as quantile(x, 0.9)")
            return None
        return (float(value),)

    def _distinct(
        self, tree: exp.Expr, function: str, arguments: Sequence[exp.Expr], inside: Binder
    ) -> AggregateCall | None:
        columns = arguments[0].expressions
        nodes = inside.bind_all(columns)
        if len(columns) != 1 or len(arguments) != 1 or function not in ("count", "min", "max"):
            way_out = "distinct stands in count(distinct x), with one argument"
            self.report.add("unsupported-syntax", f"{show(tree)} is not supported", way_out)
            return None
        if nodes is None:
            return None
        if function != "count":
            return self._typed(function, function, nodes[0], ())
        return AggregateCall("", "count_distinct", Scalar(self.text, nodes[0]), None, (), INT)

    def _user_call(
        self, user: registry.UserAggregate, arguments: Sequence[exp.Expr], inside: Binder
    ) -> AggregateCall | None:
        nodes = inside.bind_all(arguments)
        if not self.right_count(user.name, arguments, 1, 1) or nodes is None:
            return None
        node = nodes[0]
        brought = node if user.argument is None else coerce(node, user.argument)
        if brought is None:
            found = f"{user.name} got {node.type} where it takes {user.argument}"
            self.report.add("type-mismatch", found, f"write cast(... as {user.argument})")
            return None
        return AggregateCall("", user.name, Scalar(self.text, brought), None, (), user.returns)


def analyse_aggregates(
    compute: Mapping[str, str],
    scope: Scope,
    *,
    grouping: Sequence[str] = (),
    window_type: Type | None = None,
) -> Aggregates:
    """Types every expression; raises ExpressionError with the problems of all, each under its output's name.

    >>> from aurora.model.schema import Schema
    >>> scope = Scope.of(Schema.of(price="double"))
    >>> found = analyse_aggregates({"spread": "max(price) - min(price)", "top": "max(price)"}, scope)
    >>> [(call.slot, call.function) for call in found.calls], sorted(found.finals["top"].columns)
    ([('__agg0', 'max'), ('__agg1', 'min')], ['__agg0'])
    """
    report = Report()
    calls: list[AggregateCall] = []
    finals: dict[str, Scalar] = {}
    for name, text in compute.items():
        place = report.at(name)
        tree = parse(text, place)
        if tree is None:
            continue
        node = bind_tree(AggregateBinder(scope, place, grouping, window_type, calls, text), tree)
        if node is not None:
            finals[name] = Scalar(text, node)
    if report.errors:
        raise ExpressionError(report.problems)
    return Aggregates(tuple(calls), finals, tuple(report.problems))
