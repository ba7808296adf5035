"""Random chains of boxes that group: every arc has the same columns, so that any box fits behind any other.

What comes out of windows, sort buffers and joins comes in bursts: many tuples with one number, of many groups. Boxes
that read such arcs show whether ties are settled alike, however the stream is cut into trains and spread over parts.
"""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import Any

from hypothesis import strategies as st

from oracle.strategies import BASE, CLOCK, Example

SCHEMA = {CLOCK: "timestamp", "i": "int", "d": "double", "g": "string", "h": "int", "b": "bool"}
NAMES = ["a", "b", "c", "", "a rather long name", "another long name", None]
ODD = [0.0, -0.0, 1.5, float("nan"), float("inf"), float("-inf"), None]
KEYS = [["g"], ["g"], ["h"], ["h"], ["g", "h"], ["b"], ["d"], []]
ORDERS = (CLOCK, "i", "d")
CALLS = {
    CLOCK: ["max(at)", "first(at)", "last(at)", "min(at)"],
    "i": ["count(*)", "max(i)", "last(i)", "sum(h)", "count(distinct d)"],
    "d": ["last(d)", "sum(d)", "avg(i)", "first(d)", "min(d)", "median(d)", "stddev(d)"],
    "g": ["last(g)", "first(g)", "max(g)"],
    "h": ["max(h)", "first(h)", "last(h)"],
    "b": ["last(b)", "bool_or(b)"],
}
"""For each column aggregates of its type."""


@st.composite
def keyed_chains(draw: st.DrawFn, most: int = 5) -> Example:
    # One source of chance draws much faster than a strategy for each choice.
    chance = draw(st.randoms(use_true_random=True))
    streams = ["s0", "s1"][: chance.choice([1, 1, 2])]
    chain = _Chain(chance, streams)
    for number in range(chance.randint(1, most)):
        chain.add(f"b{number}")
    inputs = {name: _rows(chance, chance.choice([5, 12, 30])) for name in streams}
    return Example(chain.document, inputs, {})


def _rows(chance: Random, length: int) -> list[dict[str, Any]]:
    now, table = 0, []
    rising = chance.random() < 0.7
    for n in range(length):
        now += chance.choice([0, 0, 1, 1, 2, 3, -2])
        near = n // 2 + chance.randint(-3, 3) if rising else chance.randint(-3, 15)
        table.append(
            {
                CLOCK: BASE + timedelta(milliseconds=500 * now),
                "i": chance.choice([near] * 15 + [None]),
                "d": chance.choice([n / 2 + chance.randint(-8, 8) / 4, n / 2, chance.choice(ODD)]),
                "g": chance.choice(NAMES),
                "h": chance.choice([0, 1, 2, 3, None]),
                "b": chance.choice([True, False, None]),
            }
        )
    return table


class _Chain:
    def __init__(self, chance: Random, streams: list[str]) -> None:
        self._chance = chance
        self._arcs = list(streams)
        self.document: dict[str, Any] = {
            "aurora": 1,
            "network": "chain",
            "streams": {name: {"schema": dict(SCHEMA)} for name in streams},
            "boxes": {},
            "outputs": {},
        }

    def add(self, name: str) -> None:
        """A box behind one of the last arcs, mostly."""
        source = self._chance.choice(self._arcs[-3:] if self._chance.random() < 0.7 else self._arcs)
        kinds = [self._windows] * 4 + [self._sorts, self._latches, self._joins, self._joins, self._unions, self._passes]
        self._chance.choice(kinds)(name, source)

    def _put(self, name: str, box: dict[str, Any], *ports: str) -> None:
        self.document["boxes"][name] = box
        for arc in (name, *(f"{name}.{port}" for port in ports)):
            self._arcs.append(arc)
            self.document["outputs"][f"of_{arc.replace('.', '_')}"] = {"from": arc}

    def _toss(self) -> bool:
        return self._chance.random() < 0.5

    def _amount(self, column: str, low: int, high: int) -> Any:
        n = self._chance.randint(low, high)
        return {CLOCK: f"{500 * n}ms", "i": n, "d": n / 4}[column]

    def _slack(self, column: str) -> Any:
        return self._amount(column, 0, 6) if self._toss() else f"{self._chance.randint(0, 3)} tuples"

    def _ordered(self, source: str, *, by_value: bool) -> tuple[dict[str, Any], list[str]]:
        """The parameters that ordered boxes share, and their second port if there is one."""
        column = self._chance.choice(ORDERS)
        box: dict[str, Any] = {"in": source}
        if keys := [key for key in self._chance.choice(KEYS) if key != column]:
            box["group_by"] = keys
        if not by_value and self._toss():
            return box, []
        box |= {"order_by": column, "slack": self._slack(column), "late": self._toss()}
        return box, ["late"] if box["late"] else []

    def _compute(self, have: list[str], *, timeouts: bool = False) -> dict[str, str]:
        calls = {name: self._chance.choice(calls) for name, calls in CALLS.items() if name not in have}
        return calls | ({"b": "timed_out()"} if timeouts and "b" in calls and self._toss() else {})

    def _windows(self, name: str, source: str) -> None:
        by_value = self._toss()
        box, ports = self._ordered(source, by_value=by_value)
        window: dict[str, Any] = {}
        if by_value:
            column = box["order_by"]
            window |= {"size": self._amount(column, 1, 8), "advance": self._amount(column, 2, 8)}
            window |= {"align": self._chance.choice(["origin", "first"]), "emit_empty": self._toss()}
        else:
            window |= {
                "size": f"{self._chance.randint(1, 4)} tuples",
                "advance": f"{self._chance.randint(1, 3)} tuples",
            }
        if self._toss():
            window["timeout"] = f"{500 * self._chance.randint(1, 8)}ms"
        have = [*box.get("group_by", []), *([box["order_by"]] if by_value else [])]
        self._put(
            name, {"kind": "aggregate", **box, "window": window, "compute": self._compute(have, timeouts=True)}, *ports
        )

    def _latches(self, name: str, source: str) -> None:
        box, ports = self._ordered(source, by_value=False)
        box["every"] = f"{self._chance.randint(1, 3)} tuples"
        self._put(name, {"kind": "latch", **box, "compute": self._compute(box.get("group_by", []))}, *ports)

    def _sorts(self, name: str, source: str) -> None:
        box, _ = self._ordered(source, by_value=True)
        del box["late"]
        self._put(name, {"kind": "bsort", **box})

    def _joins(self, name: str, source: str) -> None:
        column, key = self._chance.choice(ORDERS), self._chance.choice(["g", "h", "b"])
        box: dict[str, Any] = {
            "kind": "join",
            "in": [source, self._chance.choice(self._arcs)],
            "on": f"left.{key} = right.{key}" + (" and left.h = right.h" if self._toss() else ""),
            "within": self._amount(column, 0, 2),
            "left_order_by": column,
            "right_order_by": column,
            "slack": self._amount(column, 0, 6),
            "late": self._toss(),
            "compute": {name: f"{self._chance.choice(['left', 'right'])}.{name}" for name in SCHEMA},
        }
        self._put(name, box, *(["late_left", "late_right"] if box["late"] else []))

    def _unions(self, name: str, source: str) -> None:
        same = {"kind": "map", "compute": {column: column for column in SCHEMA}}
        other = self._chance.choice(self._arcs)
        self._put(f"{name}l", {**same, "in": source})
        self._put(f"{name}r", {**same, "in": other})
        self._put(name, {"kind": "union", "in": [f"{name}l", f"{name}r"]})

    def _passes(self, name: str, source: str) -> None:
        boxes: list[tuple[dict[str, Any], list[str]]] = [
            ({"kind": "filter", "routes": {"p": "i > 4"}, "else": "q"}, ["q"]),
            ({"kind": "map", "extend": {"h": "i % 3", "g": "g || 'x'"}}, []),
            ({"kind": "drop", "rate": 0.3, "seed": 1}, []),
            ({"kind": "group_by", "columns": ["g"]}, []),
        ]
        box, ports = self._chance.choice(boxes)
        self._put(name, {**box, "in": source}, *ports)
