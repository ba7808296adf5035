"""Why window kernels use NumPy: folding into groups and sorting by two keys, beside Polars, on the same arrays.

Prints microseconds and how many times longer Polars takes. ``make bench-arrays``.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from aurora.boxes.coding import Coder
from aurora.boxes.segments import sorting

GROUPS = 500
ROUNDS = 15


def best_us(work: Callable[[], object]) -> float:
    """The fastest of some rounds; the slower ones say more about the machine."""
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds) * 1e6


def comparisons(rows: int) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    """What is compared at a number of rows: ours, and the way Polars has for it."""
    random = np.random.default_rng(1)
    codes, values = random.integers(0, GROUPS, rows), random.random(rows)
    order, other = random.integers(0, rows, rows), random.integers(0, rows, rows)
    tickers = pl.Series("ticker", np.array([f"T{k:03}" for k in range(GROUPS)])[codes])
    frame = pl.DataFrame({"code": codes, "value": values, "order": order, "other": other})
    coder = Coder()
    coder.codes(tickers)
    return {
        "sum of doubles by group": (
            lambda: np.bincount(codes, values, GROUPS),
            lambda: frame.group_by("code").agg(pl.col("value").sum()),
        ),
        "stable sort by two keys": (
            lambda: sorting(order, other),
            lambda: frame.select(pl.arg_sort_by("order", "other", maintain_order=True)),
        ),
        "strings to codes of groups": (
            lambda: coder.codes(tickers),
            lambda: tickers.cast(pl.Categorical).to_physical(),
        ),
    }


def main() -> None:
    table = Table("step", "rows", "ours µs", "Polars µs", "ratio")
    for rows in (10, 10_000, 100_000):
        for name, (ours, theirs) in comparisons(rows).items():
            ours_us, theirs_us = best_us(ours), best_us(theirs)
            table.add_row(name, f"{rows:,}", f"{ours_us:,.0f}", f"{theirs_us:,.0f}", f"{theirs_us / ours_us:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
