"""Latencies and a check of the answers, from what the feed sent and what a peer was given.

The answers are worked out anew from what was sent. A peer that gives others has no latency worth telling.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

WINDOW_MS, SLACK_MS = 1_000, 200
NOTES = {"delivered_ns": pl.Int64, "key": pl.Int64, "count": pl.Int64, "first": pl.Float64, "second": pl.Float64}


@dataclass(frozen=True)
class Samples:
    """The latencies of all results that were due in the time measured; ``objection`` says what was wrong with them."""

    p50_ms: float
    p99_ms: float
    worst_ms: float
    results: int
    rate_per_s: float
    objection: str


def samples(query: str, log: Path, folder: Path, warm_up_s: float) -> Samples:
    """``log`` is the feed's, and ``folder`` has the peer's notes."""
    with np.load(log) as file:
        sent = pl.DataFrame({name: file[name] for name in file.files})
    notes = [pl.read_csv(path, has_header=False, schema=NOTES) for path in sorted(folder.glob("*.csv"))]
    given = pl.concat(notes) if notes else pl.DataFrame(schema=NOTES)
    if sent.height < 2:
        return Samples(0.0, 0.0, 0.0, 0, 0.0, "it left before the first tuples")
    first_us, last_us = int(sent["birth_us"][0]), int(sent["birth_us"][-1])
    start_us = first_us + round(warm_up_s * 1e6)
    expected = alerts(sent) if query == "q1" else windows(sent)
    expected = expected.filter(pl.col("birth_us") >= start_us)
    births = expected.select("key", "birth_us").unique()
    timed = given.join(births, on="key", how="inner")
    rate = (sent.height - 1) / ((last_us - first_us) / 1e6)
    if timed.is_empty():
        return Samples(0.0, 0.0, 0.0, 0, rate, f"no results came, of {expected.height:,}")
    late_ms = timed["delivered_ns"].to_numpy() / 1e6 - timed["birth_us"].to_numpy() / 1e3
    p50, p99 = (float(value) for value in np.percentile(late_ms, [50, 99]))
    return Samples(p50, p99, float(late_ms.max()), timed.height, rate, difference(expected, timed))


def alerts(sent: pl.DataFrame) -> pl.DataFrame:
    """What Q1 should give. Its key is its birth."""
    dear = sent.filter(pl.col("price") > 50)
    notional = pl.col("price") * pl.col("volume")
    return dear.select("birth_us", key="birth_us", count=pl.lit(1, pl.Int64), first=notional, second="price")


def windows(sent: pl.DataFrame) -> pl.DataFrame:
    """What Q2 should give; a result is born with the tuple that closes its window.

    That is the first one whose event time is past the window's end by the slack. Windows that none closed are left out.
    """
    start = pl.col("ts_ms") // WINDOW_MS * WINDOW_MS
    price = pl.col("price")
    rows = sent.group_by("ticker", key=start).agg(count=pl.len().cast(pl.Int64), first=price.mean(), second=price.max())
    seen = np.maximum.accumulate(sent["ts_ms"].to_numpy())
    closers = np.searchsorted(seen, rows["key"].to_numpy() + WINDOW_MS + SLACK_MS)
    closed = closers < len(seen)
    births = sent["birth_us"].to_numpy()[closers[closed]]
    return rows.filter(pl.Series(closed)).with_columns(birth_us=pl.Series(births, dtype=pl.Int64))


def difference(expected: pl.DataFrame, given: pl.DataFrame) -> str:
    """Empty if the same results came, each once, whatever their order; doubles may differ in their last digits."""
    if expected.height != given.height:
        return f"{given.height:,} results in place of {expected.height:,}"
    order = ["key", "count", "second", "first"]
    ours, theirs = expected.sort(order), given.sort(order)
    for name in order:
        if not np.allclose(ours[name].to_numpy(), theirs[name].to_numpy(), rtol=1e-9, atol=0):
            return f"results differ in {name}"
    return ""
