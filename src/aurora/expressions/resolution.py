"""Which signature of a function a call means, and the call with its arguments brought to the signature's types."""

from __future__ import annotations

from collections.abc import Sequence

from aurora.errors import Report
from aurora.expressions.coercion import as_text, coerce, common_type, cost, meeting_cost
from aurora.expressions.functions.declaration import Function, Signature
from aurora.expressions.literals import bad_text
from aurora.expressions.nodes import Call, Literal, Node, Value
from aurora.model.types import INT, NULL, STRING, Type, list_of


def resolve(function: Function, name: str, nodes: Sequence[Node], report: Report) -> Node | None:
    """The typed call, or None if ``report`` was given a problem."""
    by_count = [signature for signature in function.signatures if signature.accepts(len(nodes))]
    if not by_count:
        report.add("wrong-argument-count", f"{name} got {len(nodes)} arguments", f"write {_forms(function)}")
        return None
    matches = [(match[0], order, signature, match[1]) for order, signature in enumerate(by_count)
               if (match := _match(signature, nodes)) is not None]  # fmt: skip
    if not matches:
        kinds = ", ".join(str(node.type) for node in nodes)
        report.add("type-mismatch", f"{name} does not take ({kinds})", f"write {_forms(function)}, or cast(x as type)")
        return None
    _, _, signature, targets = min(matches, key=lambda match: match[:2])
    return _call(function, name, signature, nodes, targets, report)


def _forms(function: Function) -> str:
    head = "" if function.sign else function.name
    forms = " or ".join(f"{head}{signature}" for signature in function.signatures)
    return f"{function.sign} with {forms}" if function.sign else forms


def _match(signature: Signature, nodes: Sequence[Node]) -> tuple[int, list[Type]] | None:
    """The cost of the match and the type that every argument is brought to; None if the arguments do not fit."""
    shared = _shared_type(signature, nodes)
    total, targets = 0, []
    for index, node in enumerate(nodes):
        kind = signature.parameter(index).type
        target: Type | None
        if kind == "any":
            target = node.type
        elif kind in ("word", "text"):
            target = STRING
        elif kind == "T":
            target = shared
        elif kind == "list<T>":
            target = None if shared is None else list_of(shared)
        else:
            target = Type.parse(kind)
        distance = None if target is None else _distance(kind, node, target)
        if target is None or distance is None:
            return None
        total += distance
        targets.append(target)
    return total, targets


def _distance(kind: str, node: Node, target: Type) -> int | None:
    if kind == "T":
        return meeting_cost(node, target)
    if kind == "text" and node.type != STRING:
        return None if as_text(node) is None else 1
    return cost(node, target)


def _shared_type(signature: Signature, nodes: Sequence[Node]) -> Type | None:
    """What T stands for in this call: the type that all T arguments meet in, never a list."""
    kinds = [signature.parameter(index).type for index in range(len(nodes))]
    items = [node.type.item for node, kind in zip(nodes, kinds, strict=True) if kind == "list<T>"]
    if items:
        return items[0]
    shared = common_type([node for node, kind in zip(nodes, kinds, strict=True) if kind == "T"])
    if shared == NULL:
        return INT
    return None if shared is None or shared.item is not None else shared


def _call(
    function: Function, name: str, signature: Signature, nodes: Sequence[Node], targets: list[Type], report: Report
) -> Node | None:
    arguments: list[Node] = []
    constants: list[Value] = []
    good = True
    for index, (node, target) in enumerate(zip(nodes, targets, strict=True)):
        parameter = signature.parameter(index)
        brought = as_text(node) if parameter.type == "text" else coerce(node, target)
        if brought is None:
            assert isinstance(node, Literal)
            bad_text(node, target, report)
            good = False
            continue
        if parameter.constant:
            if not isinstance(brought, Literal) or brought.value is None:
                found = f"the {parameter.name} of {name} is not a constant"
                report.add("not-constant", found, f"write the {parameter.name} as a literal {target}")
                good = False
                continue
            constants.append(brought.value)
        arguments.append(brought)
    if not good:
        return None
    if signature.check is not None and (wrong := signature.check(tuple(constants))) is not None:
        report.add("bad-literal", f"{name}: {wrong}", f"write {_forms(function)}")
        return None
    returns = _returns(signature, targets)
    found_range = signature.range(tuple(arguments)) if callable(signature.range) else signature.range
    flags = tuple(signature.parameter(index).constant for index in range(len(nodes)))
    way = signature.choose(tuple(arguments))
    subject = None if function.sign else signature.subject
    return Call(returns, function.name, tuple(arguments), way, flags, found_range, subject)


def _returns(signature: Signature, targets: list[Type]) -> Type:
    if signature.returns != "T":
        return Type.parse(signature.returns)
    for index, target in enumerate(targets):
        kind = signature.parameter(index).type
        if kind == "T":
            return target
        if kind == "list<T>" and target.item is not None:
            return target.item
    raise AssertionError(signature)
