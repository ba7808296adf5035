"""Every listed difference is one: DuckDB's own answer is another, and the macro gives Aurora's."""

from __future__ import annotations

import math

import duckdb
import pytest

import aurora as au
from tests.sql_twins.comparison import Twin
from tests.sql_twins.differences import DIFFERENCES, Difference


def _aurora(expression: str) -> object:
    network = au.Network("one")
    network.output("out", network.stream("s", n="int").map("box", compute={"v": expression}))
    return au.run(network, {"s": [{"n": 1}]}).rows("out")[0][0]


def _duckdb(sql: str) -> object:
    try:
        return Twin().query(f"SELECT {sql}")[0][0]
    except duckdb.Error as error:
        return error


def _same(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return type(one) is type(other) and one == other


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda each: each.macro.partition("(")[0])
def test_the_macro_says_what_aurora_means_and_duckdb_alone_does_not(difference: Difference) -> None:
    found = _aurora(difference.example)
    assert _same(found, _duckdb(difference.twin)), f"Aurora {found!r}, the macro {_duckdb(difference.twin)!r}"
    assert not _same(found, _duckdb(difference.plain)), "this is no difference any more: write the plain SQL"
    assert difference.reason
