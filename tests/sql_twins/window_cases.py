"""Random windows: over values with GROUP BY, over tuples with window functions, in order or with slack."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.sql_twins import aggregates
from tests.sql_twins.aggregates import Aggregate
from tests.sql_twins.case import Case, Inputs, Row, Table

NUMBER_OF_ORDER = {"int": 1, "double": 0.5, "timestamp": 1_000_000}
"""How far apart order values lie, by kind: whole seconds for times, halves (exact in binary) for doubles."""
ORDER = "t, n"
"""Tuples of a window stand in the order of the order column; those that tie stand as they came."""


@dataclass(frozen=True)
class Slack:
    """``lateness`` is SQL for whether a tuple of ``s`` comes too late; NULL order values always do."""

    parameter: Mapping[str, Any]
    lateness: str


def draw_rows(chance: random.Random, kind: str, *, disorder: int) -> tuple[Row, ...]:
    """Rows n, t, g and the columns that are aggregated; ``t`` mostly ascends, with ties, from before zero on."""
    unit, at = NUMBER_OF_ORDER[kind], chance.choice((-30, -3, 0, 1_000))
    rows: list[Row] = []
    for n in range(chance.choice((0, 1, 6, 30, 60))):
        at += chance.choice((0, 0, 1, 1, 2, 9))
        t = (at - (chance.randint(0, disorder) if disorder and chance.random() < 0.4 else 0)) * unit
        rows.append(
            (n, None if chance.random() < 0.04 else t, chance.choice(("a", "b", "c", None)), *_aggregated(chance))
        )
    return tuple(rows)


def _aggregated(chance: random.Random) -> Row:
    """Doubles are quarters, so that their sums do not depend on the order; a few are infinite or not numbers."""
    x = (
        chance.choice((float("inf"), float("-inf"), float("nan")))
        if chance.random() < 0.03
        else chance.randint(-40, 40) / 4
    )
    i = chance.choice((2**62, -(2**62), 2**63 - 1)) if chance.random() < 0.05 else chance.randint(-5, 5)
    drawn = (
        i,
        x,
        chance.choice(("a", "b", "", "ñ")),
        chance.random() < 0.5,
        chance.randint(-5, 5) * 10**9,
        chance.randint(-9, 9),
    )
    return tuple(None if chance.random() < 0.15 else value for value in drawn)


def columns(kind: str) -> dict[str, str]:
    """The schema of those rows."""
    return {"n": "int", "t": kind, "g": "string", **aggregates.COLUMNS}


def draw_case(chance: random.Random) -> Case:
    """A case of any of the windows."""
    kind = chance.choice(list(NUMBER_OF_ORDER))
    slack = _slack(chance, kind)
    table = Table(columns(kind), draw_rows(chance, kind, disorder=chance.choice((0, 0, 3, 8))))
    grouped = chance.random() < 0.7
    if chance.random() < 0.5:
        return _value_windows(chance, kind, slack, table, grouped)
    return _tuple_windows(chance, slack, table, grouped)


def _slack(chance: random.Random, kind: str) -> Slack:
    unit = NUMBER_OF_ORDER[kind]
    if chance.random() < 0.7:
        count = chance.choice((0, 0, 1, 3))
        larger = "SELECT count(*) FROM s p WHERE p.n < s.n AND p.t > s.t {same_group}"
        return Slack({} if count == 0 else {"slack": f"{count} tuples"}, f"({larger}) > {count}")
    span = chance.choice((0, 1, 4))
    latest = "SELECT max(p.t) FROM s p WHERE p.n < s.n"
    if kind == "timestamp":
        return Slack({"slack": f"{span}s"}, f"coalesce(s.t < ({latest}) - to_seconds({span}), false)")
    return Slack({"slack": span * unit}, f"coalesce(s.t < ({latest}) - {span * unit}, false)")


def _in_order(slack: Slack, *, grouped: bool) -> str:
    """SQL for the tuples that do not come too late."""
    same = "AND p.g IS NOT DISTINCT FROM s.g" if grouped else ""
    return f"SELECT * FROM s WHERE t IS NOT NULL AND NOT {slack.lateness.format(same_group=same)}"


def _value_windows(chance: random.Random, kind: str, slack: Slack, table: Table, grouped: bool) -> Case:
    size, advance = chance.choice(((5, 5), (10, 5), (7, 3), (3, 7), (1, 1), (12, 4)))
    computed = [aggregates.draw(chance, ORDER) for _ in range(3)]
    unit = NUMBER_OF_ORDER[kind]
    group = "g, " if grouped else ""
    number, start = ("epoch_us(t)", "make_timestamp({})") if kind == "timestamp" else ("t", "{}")
    size_n, advance_n, many = size * unit, advance * unit, -(-size // advance)
    first = f"floor({number} / {advance_n})" + ("" if kind == "double" else "::BIGINT")

    def made(computed: list[Aggregate]) -> Case:
        listed = "".join(f", {each.sql.replace('{over}', '')} AS c{n}" for n, each in enumerate(computed))
        taken = _in_order(slack, grouped=grouped)
        opened = f"SELECT *, ({first} - k) * {advance_n} + 0 AS w FROM ({taken}), range({many}) r(k)"
        held = f"FROM ({opened}) WHERE {number} < w + {size_n} GROUP BY {group}w"
        sql = f"SELECT {group}{start.format('w')} AS t0{listed} {held}"
        window = (
            {"size": f"{size}s", "advance": f"{advance}s"}
            if kind == "timestamp"
            else {"size": size_n, "advance": advance_n}
        )
        boxes = _boxes(table, {"window": window, "order_by": "t", **slack.parameter}, computed, grouped)
        sql = f"SELECT {group}t0 AS t{''.join(f', c{n}' for n in range(len(computed)))} FROM ({sql})"
        kinds = ({"g": "string"} if grouped else {}) | {"t": kind}
        return _case(boxes, table, sql, kinds, computed, made)

    return made(computed)


def _tuple_windows(chance: random.Random, slack: Slack, table: Table, grouped: bool) -> Case:
    size, advance = chance.choice(((1, 1), (3, 1), (3, 3), (5, 2), (2, 3), (4, 4)))
    ordered = chance.random() < 0.6
    computed = [
        Aggregate("last(n)", "max(n) {over}", "int"),
        *(aggregates.draw(chance, ORDER if ordered else "n") for _ in range(3)),
    ]
    if ordered:  # the last tuple by t need not be the last that came
        computed[0] = Aggregate("max(n)", "max(n) {over}", "int")
    partition, order = ("PARTITION BY g " if grouped else ""), (ORDER if ordered else "n")

    def made(computed: list[Aggregate]) -> Case:
        taken = _in_order(slack, grouped=grouped) if ordered else "SELECT * FROM s"
        numbered = f"SELECT *, row_number() OVER ({partition}ORDER BY {order}) AS r FROM ({taken})"
        frame = f"OVER ({partition}ORDER BY r ROWS BETWEEN {size - 1} PRECEDING AND CURRENT ROW)"
        listed = ", ".join(f"{each.sql.replace('{over}', frame)} AS c{n}" for n, each in enumerate(computed))
        full = f"r >= {size} AND (r - {size}) % {advance} = 0"
        sql = f"SELECT {'g, ' if grouped else ''}r, {listed} FROM ({numbered}) QUALIFY {full} ORDER BY r"
        given = {"window": {"size": f"{size} tuples", "advance": f"{advance} tuples"}}
        given |= {"order_by": "t", **slack.parameter} if ordered else {}
        kinds = {"g": "string"} if grouped else {}
        return _case(_boxes(table, given, computed, grouped), table, sql, kinds, computed, made)

    return made(computed)


def _boxes(table: Table, given: Mapping[str, Any], computed: list[Aggregate], grouped: bool) -> Mapping[str, Any]:
    box = {"kind": "aggregate", "in": "s", **({"group_by": ["g"]} if grouped else {}), **given}
    return {"box": {**box, "compute": {f"c{n}": each.aurora for n, each in enumerate(computed)}}}


def _case(
    boxes: Mapping[str, Any], table: Table, sql: str, kinds: dict[str, str], computed: list[Aggregate], made: Any
) -> Case:
    def simpler(inputs: Inputs) -> Iterator[Case]:
        for each in computed:
            if len(computed) > 1:
                yield replace(made([each]), inputs=inputs)

    return Case(
        boxes=boxes,
        output="box",
        inputs={"s": table},
        sql=sql,
        columns=kinds | {f"c{n}": each.kind for n, each in enumerate(computed)},
        key=tuple(kinds),
        rounded=frozenset(f"c{n}" for n, each in enumerate(computed) if each.rounded),
        simpler=simpler,
    )
