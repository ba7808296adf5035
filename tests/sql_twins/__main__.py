"""The long comparison with DuckDB: ``python -m tests.sql_twins [CASES] [--seed N] [--only FAMILY]``.

Draws that many cases of every family, shows its progress, and prints every difference as a small program. Exits with 1
if there is one.
"""

from __future__ import annotations

import argparse
import sys
import time

from rich.progress import track

from tests.sql_twins.campaign import FAMILIES, Finding, compare, reproduction
from tests.sql_twins.comparison import Twin

MOST_SHOWN = 20


def main() -> int:
    """Compares and reports."""
    parser = argparse.ArgumentParser(prog="tests.sql_twins", description="Aurora against DuckDB on random cases.")
    parser.add_argument("cases", nargs="?", type=int, default=500, help="how many of each family (500)")
    parser.add_argument("--seed", type=int, default=1_000_000, help="the number of the first case")
    parser.add_argument("--only", choices=FAMILIES, action="append", help="this family alone")
    given = parser.parse_args()
    twin, began = Twin(), time.monotonic()
    findings: list[Finding] = []
    for family in given.only or FAMILIES:
        for seed in track(range(given.seed, given.seed + given.cases), description=f"{family:12}"):
            finding = compare(family, seed, twin)
            if finding is not None:
                findings.append(finding)
                _show(finding)
            if len(findings) >= MOST_SHOWN:
                print(f"stopped after {MOST_SHOWN} differences")
                return 1
    print(f"{given.cases} cases of each family in {time.monotonic() - began:.0f} s: {len(findings)} differences")
    return 1 if findings else 0


def _show(finding: Finding) -> None:
    print(f"\n--- {finding.family}, case {finding.seed}: {finding.told}\n{reproduction(finding)}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
