"""The benchmarks' queries as one writes them by hand for Structured Streaming.

Their answers are those of ``ticks.py``, except that a window is not seen until the watermark has passed its end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

WATERMARK = "1 second"

BUCKET_US = 250_000
WITHIN_US = 50_000

Streams = Mapping[str, DataFrame]


def q1(streams: Streams) -> DataFrame:
    """Filter and map."""
    return streams["ticks"].where("price > 50").withColumn("notional", f.expr("price * volume"))


def q2(streams: Streams) -> DataFrame:
    """Count, average and maximum per ticker over tumbling seconds."""
    return (
        streams["ticks"]
        .withWatermark("ts", WATERMARK)
        .groupBy("ticker", f.window("ts", "1 second"))
        .agg(f.count("*").alias("n"), f.avg("price").alias("mean"), f.max("price").alias("top"))
        .select("ticker", f.col("window.start").alias("ts"), "n", "mean", "top")
    )


def q3(streams: Streams) -> DataFrame:
    """Average per ticker over 60 s advancing 10 s: panes first, or every tick would be copied into six windows."""
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


def q5(streams: Streams) -> DataFrame:
    """Pairs of the same ticker at most 50 ms apart, as a join of two streams.

    Spark finds partners by equal keys only. So time buckets are part of the key, and a right tuple stands in every
    bucket that its 50 ms to either side touch. The exact condition is also what lets Spark forget old tuples.
    """
    left = _side(streams, "left").withColumn("bucket", _bucket("left_ts", 0))
    low, high = _bucket("right_ts", -WITHIN_US), _bucket("right_ts", WITHIN_US)
    right = _side(streams, "right").withColumn("bucket", f.explode(f.array_distinct(f.array(low, high))))
    within = f.expr(
        f"left_ts >= right_ts - interval {WITHIN_US} microseconds "
        f"and left_ts <= right_ts + interval {WITHIN_US} microseconds"
    )
    same = (left["ticker"] == right["ticker"]) & (left["bucket"] == right["bucket"])
    return left.join(right, same & within).select(left["ticker"], "left_price", "left_ts", "right_price", "right_ts")


def q5_grouped(streams: Streams) -> DataFrame:
    """The same pairs without a join: both sides of a ticker and bucket are collected, and paired when it closes.

    Spark then keeps a row per bucket and not one per tuple, which took about half the processor time. But a pair
    comes out only when the watermark passes its bucket, and not when its second tuple comes.
    """
    nothing = f.expr("cast(null as struct<price: double, ts: timestamp>)")
    tick = f.struct("price", "ts")
    left = streams["left"].select("ticker", _bucket("ts", 0).alias("bucket"), tick.alias("l"), nothing.alias("r"))
    touched = f.array_distinct(f.array(_bucket("ts", -WITHIN_US), _bucket("ts", WITHIN_US)))
    right = streams["right"].select("ticker", f.explode(touched).alias("bucket"), nothing.alias("l"), tick.alias("r"))
    groups = (
        left.unionByName(right)
        .withColumn("slot", f.expr(f"timestamp_micros(bucket * {BUCKET_US})"))
        .withWatermark("slot", WATERMARK)
        .groupBy("ticker", "slot")
        .agg(f.collect_list("l").alias("ls"), f.collect_list("r").alias("rs"))
    )
    near = f.expr(
        f"filter(rs, r -> r.ts >= l.ts - interval {WITHIN_US} microseconds "
        f"and r.ts <= l.ts + interval {WITHIN_US} microseconds)"
    )
    pairs = groups.select("ticker", f.explode("ls").alias("l"), "rs").select("ticker", "l", f.explode(near).alias("r"))
    return pairs.selectExpr(
        "ticker", "l.price as left_price", "l.ts as left_ts", "r.price as right_price", "r.ts as right_ts"
    )


def _side(streams: Streams, name: str) -> DataFrame:
    price, stamp = f.col("price").alias(f"{name}_price"), f.col("ts").alias(f"{name}_ts")
    return streams[name].select("ticker", price, stamp).withWatermark(f"{name}_ts", WATERMARK)


def _bucket(stamp: str, shift_us: int) -> Column:
    return f.expr(f"(unix_micros({stamp}) + {shift_us}) div {BUCKET_US}")


QUERIES: dict[str, Callable[[Streams], DataFrame]] = {
    "Q1": q1,
    "Q2": q2,
    "Q3": q3,
    "Q5": q5,
    "Q5 grouped": q5_grouped,
}
