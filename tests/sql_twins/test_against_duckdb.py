"""A quick selection of the comparison with DuckDB; ``make oracle`` runs a long one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.sql_twins.campaign import FAMILIES, Finding, compare, drawn, reproduction
from tests.sql_twins.comparison import Told, Twin, difference

CASES = {"expressions": 20, "windows": 20, "joins": 30}


@pytest.mark.parametrize("family", FAMILIES)
def test_aurora_and_duckdb_agree(family: str) -> None:
    twin = Twin()
    for seed in range(CASES[family]):
        finding = compare(family, seed, twin)
        assert finding is None, f"case {seed}: {finding.told}\n{reproduction(finding)}"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_difference_would_show(family: str) -> None:
    """Without this, a comparison that compares nothing would go unnoticed."""
    twin = Twin()
    cases = [drawn(family, seed) for seed in range(6)]
    rows = [case for case in cases if twin.rows(case)]
    assert len(rows) >= 2
    told = [difference(replace(case, sql=f"SELECT * FROM ({case.sql}) OFFSET 1"), twin) for case in rows]
    assert all(each is not None and each.what == "they differ" for each in told)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_case_is_the_same_every_time(family: str) -> None:
    one, other = drawn(family, 7), drawn(family, 7)
    assert (one.document(), one.sql, repr(one.inputs)) == (other.document(), other.sql, repr(other.inputs))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_finding_is_told_as_a_program_that_runs(family: str, capsys: pytest.CaptureFixture[str]) -> None:
    case = next(case for case in (drawn(family, seed) for seed in range(10)) if Twin().rows(case))
    exec(reproduction(Finding(family, 0, case, Told("they differ", "made up"))), {})
    assert "shape:" in capsys.readouterr().out
