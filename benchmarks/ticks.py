"""The ticks all box benchmarks run over, and the queries' answers in plain Polars over the whole batch at once.

Ten ticks arrive per millisecond. One in a hundred is late by 1 to 200 ms, so a slack of 200 ms loses none.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
import polars as pl

TICKERS = 500
PER_MS = 10
START = datetime(2026, 1, 5, 14, 30, tzinfo=UTC)
STAMP = pl.Datetime("us", "UTC")


def ticks(count: int, seed: int = 1, first: int = 0) -> pl.DataFrame:
    """``count`` ticks in arrival order, from number ``first`` on."""
    random = np.random.default_rng((seed, first))
    weights = (np.arange(TICKERS) + 100.0) ** -0.7
    names = np.array([f"T{k:03}" for k in range(TICKERS)])
    late_ms = np.where(random.random(count) < 0.01, random.integers(1, 201, count), 0)
    start_us = int(pl.Series([START], dtype=STAMP).to_physical()[0])
    stamps = start_us + 1_000 * (np.arange(first, first + count) // PER_MS - late_ms)
    return pl.DataFrame(
        {
            "ticker": names[random.choice(TICKERS, count, p=weights / weights.sum())],
            "price": random.integers(0, 10_000, count) / 100,
            "volume": random.integers(1, 1_001, count),
            "ts": pl.Series(stamps).cast(STAMP),
        }
    )


def q1(data: pl.DataFrame) -> pl.DataFrame:
    """Filter and map."""
    return data.lazy().filter(pl.col("price") > 50).with_columns(notional=pl.col("price") * pl.col("volume")).collect()


def q2(data: pl.DataFrame) -> pl.DataFrame:
    """Count, average and maximum per ticker over tumbling seconds."""
    return (
        data.lazy()
        .group_by("ticker", pl.col("ts").dt.truncate("1s"))
        .agg(n=pl.len().cast(pl.Int64), mean=pl.col("price").mean(), top=pl.col("price").max())
        .collect()
    )


def q3(data: pl.DataFrame, size_s: int = 60) -> pl.DataFrame:
    """Average per ticker over ``size_s`` advancing 10 s, by panes of 10 s that each belong to several windows."""
    panes = (
        data.lazy()
        .group_by("ticker", pl.col("ts").dt.truncate("10s"))
        .agg(total=pl.col("price").sum(), n=pl.len())
        .collect()
    )
    starts = [panes.with_columns(pl.col("ts") - pl.duration(seconds=back)) for back in range(0, size_s, 10)]
    return (
        pl.concat(starts).lazy().group_by("ticker", "ts").agg(mean=pl.col("total").sum() / pl.col("n").sum()).collect()
    )


def q4(data: pl.DataFrame) -> pl.DataFrame:
    """The time between consecutive ticks of a ticker in arrival order, and whether it is above 100 ms."""
    return (
        data.lazy()
        .select("ticker", gap=pl.col("ts").diff().over("ticker"))
        .filter(pl.col("gap").is_not_null())
        .with_columns(wide=pl.col("gap") > pl.duration(milliseconds=100))
        .collect()
    )


def q5(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """Pairs of the same ticker at most 50 ms apart: an equality join on time buckets, then the exact condition.

    A right tuple stands in every bucket that its 50 ms to either side touch. Wider buckets copy fewer of them
    and compare more pairs; this width measured best.
    """
    width, within = 250_000, 50_000
    us = pl.col("ts").to_physical()
    narrow = right.lazy().select("ticker", right_price="price", right_ts="ts", at=us)
    low, high = (pl.col("at") - within) // width, (pl.col("at") + within) // width
    copies = pl.concat(
        [
            narrow.with_columns(bucket=low),
            narrow.filter(low != high).with_columns(bucket=high),
        ]
    )
    return (
        left.lazy()
        .select("ticker", left_price="price", left_ts="ts", bucket=us // width, left_at=us)
        .join(copies, on=["ticker", "bucket"])
        .filter((pl.col("left_at") - pl.col("at")).abs() <= within)
        .select("ticker", "left_price", "left_ts", "right_price", "right_ts")
        .collect()
    )


Answer = Callable[..., pl.DataFrame]
ANSWERS: dict[str, Answer] = {"Q1": q1, "Q2": q2, "Q3": q3, "Q4": q4, "Q5": q5}
