"""Columns that nothing asks for are left out of streams, and only those."""

from __future__ import annotations

import pytest

from aurora.expressions.registry import register_function, unregister
from aurora.model import loads, typecheck
from aurora.processors.steps.pruning import pruned

HEAD = """
aurora: 1
network: lean
streams:
  s: {schema: {k: string, at: timestamp, x: int, y: double, z: bool}}
  t: {schema: {k: string, at: timestamp, x: int, y: double, z: bool}}
boxes:
"""

CASES = {
    "a window's columns": (
        "  b: {kind: aggregate, in: s, group_by: k, order_by: at, slack: 1s, window: {size: 1s}, "
        "compute: {m: max(y)}}\noutputs: {o: {from: b}}",
        ["k", "at", "y"],
    ),
    "late tuples are whole": (
        "  b: {kind: aggregate, in: s, group_by: k, order_by: at, slack: 1s, window: {size: 1s}, late: true, "
        "compute: {m: max(y)}}\noutputs: {o: {from: b}, l: {from: b.late}}",
        ["k", "at", "x", "y", "z"],
    ),
    "what a filter passes on": (
        "  b: {kind: filter, in: s, where: z}\noutputs: {o: {from: b}}",
        ["k", "at", "x", "y", "z"],
    ),
    "behind a filter": (
        "  f: {kind: filter, in: s, where: z}\n  b: {kind: map, in: f, compute: {d: x + 1}}\noutputs: {o: {from: b}}",
        # A first column stays, so that rows can be counted.
        ["k", "x", "z"],
    ),
    "a stream that is an output": (
        "  b: {kind: map, in: s, compute: {d: x + 1}}\noutputs: {o: {from: b}, all: {from: s}}",
        ["k", "at", "x", "y", "z"],
    ),
    "a union's inputs must be alike": (
        "  u: {kind: union, in: [s, t]}\n  b: {kind: map, in: u, compute: {d: x + 1}}\noutputs: {o: {from: b}}",
        ["k", "at", "x", "y", "z"],
    ),
    "a join's columns": (
        "  b: {kind: join, in: [s, t], on: left.k = right.k, within: 1s, left_order_by: at, right_order_by: at, "
        "slack: 1s, compute: {k: left.k, y: right.y}}\noutputs: {o: {from: b}}",
        ["k", "at"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_stays_of_a_stream(case: str) -> None:
    boxes, kept = CASES[case]
    typed = typecheck(loads(HEAD + boxes))
    lean = pruned(typed)
    assert list(lean.arcs["s"].schema) == kept
    assert {name: lean.arcs[arc] for name, arc in lean.outputs.items()} == {
        name: typed.arcs[arc] for name, arc in typed.outputs.items()
    }
    assert list(typed.network.streams["s"].schema) == ["k", "at", "x", "y", "z"]


def test_tuples_that_the_operators_code_may_reject_stay_whole() -> None:
    register_function("twofold", lambda values: 2 * values, ["int"], "int")
    try:
        typed = typecheck(loads(HEAD + "  b: {kind: map, in: s, compute: {d: twofold(x)}}\noutputs: {o: {from: b}}"))
        assert pruned(typed) is typed
    finally:
        unregister("twofold")
