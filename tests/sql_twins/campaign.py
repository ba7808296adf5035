"""Draws cases by number, compares them, and shows what differs in its smallest form."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tests.sql_twins import expression_cases, join_cases, window_cases
from tests.sql_twins.case import Case
from tests.sql_twins.comparison import NO_REWRITING, TRAINS, Told, Twin, difference
from tests.sql_twins.differences import HELPERS, MACROS

FAMILIES: Mapping[str, Callable[[random.Random], Case]] = {
    "expressions": expression_cases.draw_case,
    "windows": window_cases.draw_case,
    "joins": join_cases.draw_case,
}
"""What can be drawn, by name."""


@dataclass(frozen=True)
class Finding:
    """A case on which Aurora and DuckDB differ, made as small as it gets."""

    family: str
    seed: int
    case: Case
    told: Told


def drawn(family: str, seed: int) -> Case:
    """The case with that number; the same every time."""
    return FAMILIES[family](random.Random(f"{family} {seed}"))


def compare(family: str, seed: int, twin: Twin) -> Finding | None:
    """Compares one case; a difference is told of the smallest case that still shows one."""
    case = drawn(family, seed)
    told = difference(case, twin)
    return None if told is None else Finding(family, seed, *_smallest(case, told, twin))


def _smallest(case: Case, told: Told, twin: Twin) -> tuple[Case, str]:
    """Takes the first simpler case that still differs, over and over, until none does."""
    while True:
        for candidate in _candidates(case):
            still = difference(candidate, twin)
            if still is not None and still.what == told.what:
                case, told = candidate, still
                break
        else:
            return case, told


def _candidates(case: Case) -> Iterator[Case]:
    """Halves of the rows first, then simpler boxes, then single rows left out."""
    for least in (2, 1):
        for stream, table in case.inputs.items():
            length = len(table.rows)
            step = max(1, length // 2) if least == 2 else 1
            if length >= least:
                for start in range(0, length, step):
                    yield case.with_rows(stream, table.rows[:start] + table.rows[start + step :])
        if least == 2:
            yield from case.simpler(case.inputs)


def reproduction(finding: Finding) -> str:
    """A program that shows the difference without any of this."""
    case = finding.case
    named = [macro for macro in MACROS if macro in HELPERS or f"{macro.partition('(')[0]}(" in case.sql]
    lines = [
        "import datetime, zoneinfo",
        "from math import inf, nan",
        "import aurora as au, duckdb, polars as pl, polars.selectors as cs",
        "",
        *(f"{name} = {table.frame().to_init_repr()}" for name, table in case.inputs.items()),
        f"net = au.loads(r'''{case.document()}''')",
        f"tables = {{{', '.join(f'{name!r}: {name}' for name in case.inputs)}}}",
        f"for train in {TRAINS}:",
        f"    print(au.run(net, tables, train=train, clock={case.clock!r}).outputs['out'])",
        "db = duckdb.connect()",
        f"db.execute({NO_REWRITING!r})",
        *(f"db.execute({'CREATE MACRO ' + macro!r})" for macro in named),
        "for name, table in tables.items():",
        "    plain = [cs.datetime().dt.replace_time_zone(None), cs.duration().cast(pl.Int64)]",
        "    db.register(name, table.with_columns(plain).to_arrow())",
        f"print(db.execute({case.sql!r}).fetchall())",
    ]
    return "\n".join(lines)
