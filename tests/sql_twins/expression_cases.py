"""Random expressions in a map, and random conditions in a filter."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from tests.sql_twins.case import Case, Inputs, Table
from tests.sql_twins.expressions import Expression, draw
from tests.sql_twins.rules import KINDS
from tests.sql_twins.values import value

COLUMNS: Mapping[str, str] = {
    "n": "int", "i": "int", "j": "int", "x": "double", "y": "double", "u": "string", "w": "string",
    "p": "bool", "t": "timestamp", "v": "timestamp", "l": "duration",
}  # fmt: skip
"""``n`` numbers the rows; the others are of every kind, two of most so that they can be compared."""


def draw_case(chance: random.Random) -> Case:
    """Five expressions in a map, or one condition in a filter."""
    length = chance.choice((0, 1, 5, 40))
    rows = [(n, *(value(kind, chance) for kind in list(COLUMNS.values())[1:])) for n in range(length)]
    table = Table(COLUMNS, tuple(rows))
    named = {name: kind for name, kind in COLUMNS.items() if name != "n"}
    if chance.random() < 0.2:
        return _filtered(table, draw("bool", named, chance, 3))
    drawn = [draw(chance.choice(KINDS), named, chance, chance.randint(1, 4)) for _ in range(5)]
    return _mapped(table, {f"c{n}": expression for n, expression in enumerate(drawn)})


def _mapped(table: Table, drawn: Mapping[str, Expression]) -> Case:
    computed = ", ".join(f"{expression.sql} AS {name}" for name, expression in drawn.items())

    def simpler(inputs: Inputs) -> Iterator[Case]:
        table = inputs["s"]
        if len(drawn) > 1:
            for name, expression in drawn.items():
                yield _mapped(table, {name: expression})
        else:
            for name, expression in drawn.items():
                for smaller in expression.simpler():
                    yield _mapped(table, {name: smaller})
            for fewer in _without_a_column(table):
                yield _mapped(fewer, drawn)

    return Case(
        boxes={"box": {"kind": "map", "in": "s", "compute": {"n": "n"} | {name: drawn[name].aurora for name in drawn}}},
        output="box",
        inputs={"s": table},
        sql=f"SELECT n, {computed} FROM s ORDER BY n",
        columns={"n": "int"} | {name: expression.rule.kind for name, expression in drawn.items()},
        rounded=frozenset(name for name, expression in drawn.items() if expression.rule.rounded),
        simpler=simpler,
    )


def _filtered(table: Table, condition: Expression) -> Case:
    def simpler(inputs: Inputs) -> Iterator[Case]:
        table = inputs["s"]
        for smaller in condition.simpler():
            if smaller.rule.kind == "bool":
                yield _filtered(table, smaller)
        for fewer in _without_a_column(table):
            yield _filtered(fewer, condition)

    return Case(
        boxes={"box": {"kind": "filter", "in": "s", "where": condition.aurora}},
        output="box",
        inputs={"s": table},
        sql=f"SELECT * FROM s WHERE {condition.sql} ORDER BY n",
        columns=table.columns,
        simpler=simpler,
    )


def _without_a_column(table: Table) -> Iterator[Table]:
    for place, name in enumerate(table.columns):
        if name != "n":
            columns = {other: kind for other, kind in table.columns.items() if other != name}
            yield Table(columns, tuple(row[:place] + row[place + 1 :] for row in table.rows))
