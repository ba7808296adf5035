"""The five queries of the benchmarks as they are written by hand for Structured Streaming."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

WATERMARK = "1 second"
WIDTH_US = 250_000
WITHIN_US = 50_000
PAIRS = "ticker string, gap bigint, wide boolean"

Streams = Mapping[str, DataFrame]


def q1(streams: Streams) -> DataFrame:
    ticks = streams["ticks"]
    return ticks.where("price > 50").withColumn("notional", f.col("price") * f.col("volume"))


def q2(streams: Streams) -> DataFrame:
    return (
        streams["ticks"]
        .withWatermark("ts", WATERMARK)
        .groupBy("ticker", f.window("ts", "1 second"))
        .agg(f.count("*").alias("n"), f.avg("price").alias("mean"), f.max("price").alias("top"))
        .select("ticker", f.col("window.start").alias("ts"), "n", "mean", "top")
    )


def q3(streams: Streams) -> DataFrame:
    """Panes of 10 s first: otherwise every tick would be copied into the six windows that it belongs to."""
    panes = (
        streams["ticks"]
        .withWatermark("ts", WATERMARK)
        .groupBy("ticker", f.window("ts", "10 seconds").alias("pane"))
        .agg(f.sum("price").alias("total"), f.count("*").alias("n"))
    )
    return (
        panes.groupBy("ticker", f.window(f.window_time("pane"), "60 seconds", "10 seconds"))
        .agg((f.sum("total") / f.sum("n")).alias("mean"))
        .select("ticker", f.col("window.start").alias("ts"), "mean")
    )


def q4(streams: Streams) -> DataFrame:
    keyed = streams["ticks"].select("ticker", f.unix_micros("ts").alias("at")).groupBy("ticker")
    return keyed.applyInPandasWithState(
        _pairs, PAIRS, "at bigint", "append", GroupStateTimeout.NoTimeout
    )


def _pairs(key: Any, frames: Iterator[Any], state: GroupState) -> Iterator[Any]:
    last = state.get[0] if state.exists else None
    for frame in frames:
        at = frame["at"]
        before = at.shift(1)
        if last is not None:
            before.iloc[0] = last
        gap = at - before
        last = int(at.iloc[-1])
        out = frame[["ticker"]].assign(gap=gap, wide=gap > 100_000)
        yield out[gap.notna()]
    state.update((last,))


def q5(streams: Streams) -> DataFrame:
    def side(name: str) -> DataFrame:
        stamp = f"{name}_ts"
        renamed = streams[name].select("ticker", f.col("price").alias(f"{name}_price"), f.col("ts").alias(stamp))
        return renamed.withWatermark(stamp, WATERMARK)

    left = side("left").withColumn("bucket", f.expr(f"unix_micros(left_ts) div {WIDTH_US}"))
    low, high = (f.expr(f"(unix_micros(right_ts) {s} {WITHIN_US}) div {WIDTH_US}") for s in "-+")
    right = side("right").withColumn("bucket", f.explode(f.array_distinct(f.array(low, high))))
    near = f.expr(
        f"left_ts >= right_ts - interval {WITHIN_US} microseconds and left_ts <= right_ts + interval {WITHIN_US} microseconds"
    )
    same = (left["ticker"] == right["ticker"]) & (left["bucket"] == right["bucket"])
    return left.join(right, same & near).select(
        left["ticker"], "left_price", "left_ts", "right_price", "right_ts"
    )


QUERIES: dict[str, Callable[[Streams], DataFrame]] = {"Q1": q1, "Q2": q2, "Q3": q3, "Q4": q4, "Q5": q5}
