"""From the syntax tree to the typed tree. Everything that is wrong is reported; nothing unknown is let through.

A node that cannot be typed is None, and so is everything above it, so that one mistake is reported once and the
rest of the expression is still checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sqlglot import ErrorLevel, exp

from aurora.errors import Report, did_you_mean
from aurora.expressions import hints, literals, registry
from aurora.expressions.casts import cast_way, narrowed, targets
from aurora.expressions.coercion import coerce, common_type
from aurora.expressions.dialect import Aurora
from aurora.expressions.functions import BY_NAME
from aurora.expressions.functions.calendar import FIELDS
from aurora.expressions.names import AGGREGATES, CLOCKS, RESERVED_NAMES, WINDOW_FUNCTIONS
from aurora.expressions.nodes import Call, Case, Coalesce, Column, Hidden, In, Literal, Logic, Node, Way
from aurora.expressions.resolution import resolve
from aurora.expressions.scope import Scope
from aurora.expressions.spans import point_at, span_of
from aurora.expressions.timestamps import timestamp_literal
from aurora.model.train import ARRIVAL
from aurora.model.types import BOOL, DURATION, INT, NULL, STRING, TIMESTAMP, Type

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.IntDiv: "//", exp.Mod: "%",
    exp.BitwiseAnd: "&", exp.BitwiseOr: "|", exp.BitwiseXor: "^", exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>", exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
    exp.NullSafeEQ: "is not distinct from", exp.NullSafeNEQ: "is distinct from", exp.RegexpLike: "rlike",
}  # fmt: skip
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_QUERIES = (exp.Query, exp.Subquery, exp.Exists)

Trees = Sequence["exp.Expr"]


class Binder:
    """Types one expression over a scope. ``AggregateBinder`` adds what stands in aggregate boxes."""

    def __init__(self, scope: Scope, report: Report) -> None:
        self.scope = scope
        self.report = report

    def bind(self, tree: exp.Expr) -> Node | None:
        before = len(self.report.problems)
        node = self._bound(tree)
        if node is None:
            point_at(tree, self.report, before)
        return node

    def _bound(self, tree: exp.Expr) -> Node | None:
        kind = type(tree)
        if kind in _OPERATORS:
            return self._operator(tree)
        handler = _HANDLERS.get(kind)
        if handler is None:
            self.refuse(tree)
            return None
        allowed, method = handler
        if extra := [
            name for name, value in tree.args.items() if name not in allowed and value not in (None, False, [])
        ]:
            self.refuse(tree, f" with {', '.join(extra)}")
            return None
        return method(self, tree)

    def bind_all(self, trees: Iterable[exp.Expr]) -> list[Node] | None:
        """All nodes, or None if one has a problem; every one is looked at."""
        nodes = [self.bind(tree) for tree in trees]
        known = [node for node in nodes if node is not None]
        return known if len(known) == len(nodes) else None

    def boolean(self, tree: exp.Expr, where: str) -> Node | None:
        node = self.bind(tree)
        if node is None:
            return None
        if node.type == NULL:
            return Literal(BOOL, None)
        if node.type != BOOL:
            found = f"{show(tree)} in {where} is {node.type}, not bool"
            way_out = "write a condition, such as x <> 0 or text = 'yes'"
            self.report.add("not-boolean", found, way_out, span=span_of(tree))
            return None
        return node

    # Leaves.

    def _column(self, tree: exp.Expr) -> Node | None:
        if isinstance(tree.this, exp.Star):
            self.refuse(tree)
            return None
        return self.column(tree.this.name, tree.text("table"))

    def column(self, name: str, qualifier: str) -> Node | None:
        found = self.scope.find(name, qualifier)
        if len(found) == 1:
            return Column(self.scope[found[0]], found[0])
        full = f"{qualifier}.{name}" if qualifier else name
        if found:
            way_out = "write " + " or ".join(found)
            self.report.add("ambiguous-column", f"{full!r} is a column of both sides", way_out, choices=found)
            return None
        if name.lower() in CLOCKS:
            self._refuse_clock(name)
            return None
        if self.scope.columns:
            way_out = self.scope.suggestion(full) or "name one of the columns; text stands in single quotes"
        else:
            way_out = "no column may be named here"
        self.report.add("unknown-column", f"there is no column {full!r}", way_out, choices=self.scope)
        return None

    def _refuse_clock(self, name: str) -> None:
        way_out = (
            "arrival_time() is the time at which the tuple came; results must not depend on when they are computed"
        )
        self.report.add("unsupported-syntax", f"{name} reads the clock", way_out)

    def _literal(self, tree: exp.Expr) -> Node | None:
        return Literal(STRING, tree.name) if tree.is_string else literals.number(tree.name, self.report)

    def _boolean_literal(self, tree: exp.Expr) -> Node:
        return Literal(BOOL, bool(tree.this))

    def _null(self, tree: exp.Expr) -> Node:
        return Literal(NULL, None)

    def _interval(self, tree: exp.Expr) -> Node | None:
        return literals.interval(tree, show(tree), self.report)

    # Operators and special forms.

    def _paren(self, tree: exp.Expr) -> Node | None:
        return self.bind(tree.this)

    def _operator(self, tree: exp.Expr) -> Node | None:
        nodes = self.bind_all([tree.this, tree.expression])
        if nodes is None:
            return None
        if isinstance(tree, _COMPARISONS) and isinstance(tree.this, _COMPARISONS):
            self.report.add("unsupported-syntax", f"{show(tree)} compares with a comparison", hints.CHAIN)
            return None
        if isinstance(tree, exp.EQ | exp.NEQ):
            self._warn_of_null(tree)
        return self.resolved(_OPERATORS[type(tree)], nodes)

    def _warn_of_null(self, tree: exp.Expr) -> None:
        """NULL equals nothing, not even NULL; a comparison with it is most likely a question for NULL."""
        operands = [tree.this.unnest(), tree.expression.unnest()]
        others = [operand for operand in operands if not isinstance(operand, exp.Null)]
        if len(others) < len(operands):
            question = "is null" if isinstance(tree, exp.EQ) else "is not null"
            way_out = f"write {show(others[0]) if others else 'x'} {question}"
            self._warn(tree, f"{show(tree)} is NULL for every tuple, and never true", way_out)

    def _warn(self, tree: exp.Expr, found: str, way_out: str) -> None:
        self.report.add("comparison-with-null", found, way_out, severity="warning", span=span_of(tree))

    def _negate(self, tree: exp.Expr) -> Node | None:
        operand = tree.this
        if isinstance(operand, exp.Literal) and not operand.is_string:
            return literals.number("-" + operand.name, self.report)
        node = self.bind(operand)
        if node is None:
            return None
        if isinstance(node, Literal) and node.type == DURATION and isinstance(node.value, int):
            return Literal(DURATION, -node.value)
        return self.resolved("negate", [node])

    def _invert(self, tree: exp.Expr) -> Node | None:
        return self.apply("~", [tree.this])

    def _not(self, tree: exp.Expr) -> Node | None:
        node = self.boolean(tree.this, "NOT")
        return None if node is None else self.resolved("not", [node])

    def _logic(self, tree: exp.Expr) -> Node | None:
        name = "and" if isinstance(tree, exp.And) else "or"
        nodes = [self.boolean(operand, name.upper()) for operand in chain(tree)]
        operands = tuple(node for node in nodes if node is not None)
        return Logic(BOOL, name, operands) if len(operands) == len(nodes) else None

    def _concatenation(self, tree: exp.Expr) -> Node | None:
        nodes = self.bind_all(chain(tree))
        if nodes is None:
            return None
        if not any(node.type in (STRING, NULL) for node in nodes):
            kinds = ", ".join(str(node.type) for node in nodes)
            self.report.add("type-mismatch", f"{show(tree)} joins {kinds}, and no text", hints.OR_OR)
            return None
        return self.resolved("||", nodes)

    def _is(self, tree: exp.Expr) -> Node | None:
        if isinstance(tree.expression, exp.Null):
            return self.apply("is null", [tree.this])
        if isinstance(tree.expression, exp.Boolean):
            return self.apply("is true" if tree.expression.this else "is false", [tree.this])
        self.refuse(tree)
        return None

    def _between(self, tree: exp.Expr) -> Node | None:
        return self.apply("between", [tree.this, tree.args["low"], tree.args["high"]])

    def _like(self, tree: exp.Expr, escape: exp.Expr | None = None) -> Node | None:
        name = "ilike" if isinstance(tree, exp.ILike) else "like"
        operands = [tree.this, tree.expression] + ([escape] if escape is not None else [])
        node = self.apply(name, operands)
        return self.resolved("not", [node]) if node is not None and tree.args.get("negate") else node

    def _escape(self, tree: exp.Expr) -> Node | None:
        if not isinstance(tree.this, exp.Like | exp.ILike):
            self.refuse(tree)
            return None
        return self._like(tree.this, tree.expression)

    def _in(self, tree: exp.Expr) -> Node | None:
        nodes = self.bind_all([tree.this, *tree.expressions])
        if nodes is None:
            return None
        met = self.comparable(self.meet(nodes, "the values of IN"), "the values of IN")
        return None if met is None else In(BOOL, met[0], tuple(met[1:]))

    def meet(self, nodes: Sequence[Node], what: str) -> list[Node] | None:
        """The nodes brought to one type."""
        target = common_type(nodes)
        if target is None:
            kinds = ", ".join(dict.fromkeys(str(node.type) for node in nodes))
            self.report.add("type-mismatch", f"{what} are {kinds}", "give them one type, with cast(x as type)")
            return None
        met = [coerce(node, target) for node in nodes]
        for node, result in zip(nodes, met, strict=True):
            if result is None and isinstance(node, Literal):
                literals.bad_text(node, target, self.report)
        known = [node for node in met if node is not None]
        return known if len(known) == len(met) else None

    def comparable(self, nodes: list[Node] | None, what: str) -> list[Node] | None:
        """The nodes, unless they are lists, which have no equality."""
        if nodes is not None and nodes[0].type.item is not None:
            self.report.add("type-mismatch", f"{what} are lists", "compare elements: array_contains(list, value)")
            return None
        return nodes

    def _case(self, tree: exp.Expr) -> Node | None:
        subject_tree, branches = tree.args.get("this"), tree.args["ifs"]
        default = tree.args.get("default") or exp.Null()
        if subject_tree is None:
            tests = [self.boolean(branch.this, "WHEN") for branch in branches]
        else:
            tested = self.bind_all([subject_tree, *(branch.this for branch in branches)])
            if any(isinstance(branch.this.unnest(), exp.Null) for branch in branches):
                way_out = f"write case when {show(subject_tree)} is null then ... end"
                self._warn(tree, f"WHEN NULL in {show(tree)} never holds", way_out)
            what = "the values of CASE"
            met_tests = self.comparable(self.meet(tested, what), what) if tested else None
            tests = [None] if met_tests is None else list(met_tests)
        results = self.bind_all([*(branch.args["true"] for branch in branches), default])
        met = self.meet(results, "the results of CASE") if results is not None else None
        if met is None or any(test is None for test in tests):
            return None
        known = [test for test in tests if test is not None]
        subject = known.pop(0) if subject_tree is not None else None
        return Case(met[0].type, subject, tuple(zip(known, met[:-1], strict=True)), met[-1])

    def _cast(self, tree: exp.Expr) -> Node | None:
        node = self.bind(tree.this)
        target = literals.cast_target(tree.args["to"], self.report)
        if node is None or target is None:
            return None
        found = self._cast_to(tree, node, target.type)
        if found is None:
            return None
        if target.range is not None:
            return Call(INT, f"cast as {target.name}", (found,), narrowed(target.range), range=target.range)
        return found if target.length is None else self.resolved("left", [found, Literal(INT, target.length)])

    def _cast_to(self, tree: exp.Expr, node: Node, target: Type) -> Node | None:
        if target == TIMESTAMP and isinstance(node, Literal) and isinstance(node.value, str):
            value = timestamp_literal(node.value)
            if value is not None:
                return Literal(TIMESTAMP, value)
            if isinstance(tree, exp.Cast) and not isinstance(tree, exp.TryCast):
                literals.bad_text(node, TIMESTAMP, self.report)
                return None
        if node.type in (target, NULL):
            return coerce(node, target)
        way = cast_way(node.type, target)
        if way is None:
            choices = targets(node.type)
            way_out = "use a function such as epoch(t), to_timestamp(n) or duration_micros(n)"
            found = f"{show(tree.this)} is {node.type}, which does not turn into {target}"
            self.report.add("type-mismatch", found, way_out, choices=choices)
            return None
        return Call(target, "cast", (node,), way)

    def _subscript(self, tree: exp.Expr) -> Node | None:
        """``list[n]``, from 1, as SQL counts. A text has no elements: they could be characters, or bytes."""
        if len(tree.expressions) != 1 or isinstance(tree.expressions[0], exp.Slice):
            self.refuse(tree)
            return None
        nodes = self.bind_all([tree.this, tree.expressions[0]])
        if nodes is not None and nodes[0].type == STRING:
            way_out = "write substring(text, 1, 1) for a character, or split_part(text, ',', 1) for a part"
            self.report.add("type-mismatch", f"{show(tree)} asks for an element of a text", way_out)
            return None
        return None if nodes is None else self.resolved("element_at", nodes)

    # Calls.

    def _call(self, tree: exp.Expr) -> Node | None:
        name = tree.name.lower()
        if is_aggregate(name):
            return self.aggregate(tree, None)
        if name in WINDOW_FUNCTIONS:
            return self.window_function(name, tree)
        if name in CLOCKS:
            self._refuse_clock(f"{name}()")
            return None
        if name == "arrival_time":
            return self._arrival_time(tree)
        if name in ("if", "iif"):
            return self._if(tree)
        if name in ("coalesce", "ifnull", "nvl"):
            return self._coalesce(tree)
        if name in ("date_part", "datepart"):
            return self._field(*tree.expressions) if self.right_count(name, tree.expressions, 2, 2) else None
        return self.apply(name, tree.expressions)

    def aggregate(self, tree: exp.Expr, where: exp.Expr | None) -> Node | None:
        way_out = "aggregate in an aggregate box; for the greater of several columns write greatest(a, b)"
        self.report.add("aggregate-not-allowed", f"{show(tree)} aggregates over many tuples", way_out)
        return None

    def window_function(self, name: str, tree: exp.Expr) -> Node | None:
        way_out = "call it in the compute parameter of an aggregate box"
        self.report.add("aggregate-not-allowed", f"{name}() stands outside a window", way_out)
        return None

    def _filter(self, tree: exp.Expr) -> Node | None:
        name = tree.this.name.lower() if isinstance(tree.this, exp.Anonymous) else ""
        if is_aggregate(name):
            return self.aggregate(tree.this, tree.expression.this)
        if name and name not in RESERVED_NAMES and name not in registry.FUNCTIONS:
            self._unknown_function(name)
        else:
            self.refuse(tree)
        return None

    def _arrival_time(self, tree: exp.Expr) -> Node | None:
        if not self.right_count("arrival_time", tree.expressions, 0, 0):
            return None
        return self.arrival_time()

    def arrival_time(self) -> Node | None:
        return Hidden(TIMESTAMP, ARRIVAL)

    def _if(self, tree: exp.Expr) -> Node | None:
        parts = tree.expressions
        if not self.right_count(tree.name, parts, 2, 3):
            return None
        condition = self.boolean(parts[0], tree.name.upper())
        results = self.bind_all([parts[1], parts[2] if len(parts) == 3 else exp.Null()])
        met = self.meet(results, f"the results of {tree.name.upper()}") if results is not None else None
        if condition is None or met is None:
            return None
        return Case(met[0].type, None, ((condition, met[0]),), met[1])

    def _coalesce(self, tree: exp.Expr) -> Node | None:
        name = tree.name.lower()
        if not self.right_count(name, tree.expressions, 1, None if name == "coalesce" else 2):
            return None
        nodes = self.bind_all(tree.expressions)
        met = self.meet(nodes, f"the arguments of {name}") if nodes is not None else None
        return None if met is None else Coalesce(met[0].type, tuple(met))

    def right_count(self, name: str, arguments: Sequence[object], least: int, most: int | None) -> bool:
        if least <= len(arguments) and (most is None or len(arguments) <= most):
            return True
        span = f"{least}" if most == least else f"{least} to {most}" if most is not None else f"at least {least}"
        self.report.add("wrong-argument-count", f"{name} got {len(arguments)} arguments", f"give it {span}")
        return False

    def _extract(self, tree: exp.Expr) -> Node | None:
        return self._field(tree.this, tree.expression)

    def _field(self, word: exp.Expr, time: exp.Expr) -> Node | None:
        field = word.name.lower()
        name = FIELDS.get(field) or FIELDS.get(field.removesuffix("s"))
        if name is None:
            way_out = did_you_mean(field, FIELDS) or "name a field of a timestamp"
            self.report.add("bad-literal", f"{field!r} is not a field of a timestamp", way_out, choices=FIELDS)
            self.bind(time)
            return None
        return self.apply(name, [time])

    def _substring(self, tree: exp.Expr) -> Node | None:
        return self.apply("substring", [tree.args[n] for n in ("this", "start", "length") if tree.args.get(n)])

    def _string_position(self, tree: exp.Expr) -> Node | None:
        return self.apply("position", [tree.args["substr"], tree.this])

    def _trim(self, tree: exp.Expr) -> Node | None:
        side = str(tree.args.get("position") or "BOTH").upper()
        name = {"BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}[side]
        return self.apply(name, [tree.args[n] for n in ("this", "expression") if tree.args.get(n)])

    def apply(self, name: str, trees: Trees) -> Node | None:
        """A call of a built-in or registered function."""
        user = registry.FUNCTIONS.get(name)
        if user is not None:
            return self._apply_user(user, trees)
        entry = BY_NAME.get(name)
        if entry is None or (entry.sign and name == entry.name and not name.isidentifier() and not trees):
            self._unknown_function(name)
            return None
        signatures = [signature for signature in entry.signatures if signature.accepts(len(trees))]
        words = [
            any(i < len(s.parameters) and s.parameters[i].type == "word" for s in signatures) for i in range(len(trees))
        ]
        nodes = [word(tree) if is_word else self.bind(tree) for tree, is_word in zip(trees, words, strict=True)]
        known = [node for node in nodes if node is not None]
        return self.resolved(name, known) if len(known) == len(nodes) else None

    def resolved(self, name: str, nodes: Sequence[Node]) -> Node | None:
        return resolve(BY_NAME[name], name, nodes, self.report)

    def _unknown_function(self, name: str) -> None:
        """The arguments are not looked at: what they may be depends on the function that is meant."""
        known = [*RESERVED_NAMES, *registry.FUNCTIONS, *registry.AGGREGATES]
        way_out = hints.for_function(name, (n for n in known if n.isidentifier() and n not in CLOCKS))
        self.report.add("unknown-function", f"there is no function {name!r}", way_out)

    def _apply_user(self, user: registry.UserFunction, trees: Trees) -> Node | None:
        count = len(user.arguments)
        nodes = self.bind_all(trees)
        if not self.right_count(user.name, trees, count, count) or nodes is None:
            return None
        arguments = []
        for node, wanted in zip(nodes, user.arguments, strict=True):
            brought = coerce(node, wanted)
            if brought is None:
                found = f"{user.name} got {node.type} where it takes {wanted}"
                self.report.add("type-mismatch", found, f"write cast(... as {wanted})")
                return None
            arguments.append(brought)
        return Call(user.returns, user.name, tuple(arguments), Way(user.build))

    def refuse(self, tree: exp.Expr, detail: str = "") -> None:
        """Whatever the table below does not name is not SQL that an expression may use."""
        if tree.find(*_QUERIES) is not None:
            way_out = "an expression sees one tuple; use a join box, whose one side may be static data"
            self.report.add("subquery-not-allowed", f"{show(tree)} holds a query", way_out)
            return
        way_out = hints.for_syntax(tree)
        self.report.add("unsupported-syntax", f"{show(tree)} ({type(tree).__name__}{detail}) is not supported", way_out)


def is_aggregate(name: str) -> bool:
    return name in AGGREGATES or name in registry.AGGREGATES


def chain(tree: exp.Expr) -> list[exp.Expr]:
    """The operands of ``a and b and c``, however long, without recursion.

    >>> [operand.name for operand in chain(exp.and_("a", "b", "c"))]
    ['a', 'b', 'c']
    """
    operands, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        inner = node
        while isinstance(inner, exp.Paren):
            inner = inner.this
        if type(inner) is type(tree):
            waiting += [inner.expression, inner.this]
        else:
            operands.append(node)
    return operands


def word(tree: exp.Expr) -> Node:
    """A keyword given bare or in quotes, such as the unit of date_trunc."""
    return Literal(STRING, tree.name)


def show(tree: exp.Expr, size: int = 60) -> str:
    """The expression as SQL, cut short."""
    text = tree.sql(Aurora, normalize_functions=False, unsupported_level=ErrorLevel.IGNORE)
    return text if len(text) <= size else text[: size - 3] + "..."


Handler = tuple[frozenset[str], Callable[[Binder, "exp.Expr"], Node | None]]


def _handler(names: str, method: Callable[..., Node | None]) -> Handler:
    return frozenset(names.split()), method


_HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.Column: _handler("this table", Binder._column),
    exp.Literal: _handler("this is_string", Binder._literal),
    exp.Boolean: _handler("this", Binder._boolean_literal),
    exp.Null: _handler("", Binder._null),
    exp.Interval: _handler("this unit", Binder._interval),
    exp.Paren: _handler("this", Binder._paren),
    exp.Neg: _handler("this", Binder._negate),
    exp.BitwiseNot: _handler("this", Binder._invert),
    exp.Not: _handler("this", Binder._not),
    exp.And: _handler("this expression", Binder._logic),
    exp.Or: _handler("this expression", Binder._logic),
    exp.DPipe: _handler("this expression safe", Binder._concatenation),
    exp.Is: _handler("this expression", Binder._is),
    exp.Between: _handler("this low high", Binder._between),
    exp.Like: _handler("this expression negate", Binder._like),
    exp.ILike: _handler("this expression negate", Binder._like),
    exp.Escape: _handler("this expression", Binder._escape),
    exp.In: _handler("this expressions", Binder._in),
    exp.Case: _handler("this ifs default", Binder._case),
    exp.Bracket: _handler("this expressions", Binder._subscript),
    exp.Cast: _handler("this to", Binder._cast),
    exp.TryCast: _handler("this to safe", Binder._cast),
    exp.Anonymous: _handler("this expressions", Binder._call),
    exp.Filter: _handler("this expression", Binder._filter),
    exp.Extract: _handler("this expression", Binder._extract),
    exp.Substring: _handler("this start length", Binder._substring),
    exp.StrPosition: _handler("this substr", Binder._string_position),
    exp.Trim: _handler("this position expression", Binder._trim),
}
"""What may stand in an expression: the node, the parts of it that are understood, and the method that types it."""
