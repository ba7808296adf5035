"""Consecutive pairs of a ticker (Q4) in Structured Streaming, two ways.

Spark has no count windows, and its stateful operators keep no arrival order within a micro-batch. Its own way for such
queries is state for functions, ``transformWithState``; it needs pandas, and its pairs are those of the order in which
the shuffle delivers. The exact way numbers the rows by file and place. It takes differences with a window function over
each micro-batch and the last tick of each ticker, which it keeps itself, without Spark's state.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, Observation, Window
from pyspark.sql import functions as f
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle, TimerValues

GAP_US = 100_000

_LAST = "ticker string, at bigint, place bigint"
_PAIRS = "ticker string, gap bigint, wide boolean"


def placed(ticks: DataFrame) -> DataFrame:
    """Ticker, time and place in arrival order, out of the names of files and the rows' numbers in them."""
    place = "bigint(substring(_metadata.file_name, 6, 5)) * 4294967296 + _metadata.row_index"
    return ticks.select("ticker", f.unix_micros("ts").alias("at"), f.expr(place).alias("place"))


class Pairs:
    """What is done with each micro-batch; the last tick of each ticker lies in a file per micro-batch, for recovery."""

    def __init__(self, folder: Path, answer: Path | None) -> None:
        folder.mkdir()
        self._folder = folder
        self._answer = answer
        self.rows_out = 0

    def __call__(self, batch: DataFrame, number: int) -> None:
        last: dict[str, int] = json.loads(self._file(number - 1).read_text()) if number else {}
        earlier = batch.sparkSession.createDataFrame([(ticker, at, -1) for ticker, at in last.items()], _LAST)
        before = f.lag("at").over(Window.partitionBy("ticker").orderBy("place"))
        pairs = (
            batch.unionByName(earlier)
            .select("ticker", (f.col("at") - before).alias("gap"))
            .where("gap is not null")
            .withColumn("wide", f.col("gap") > GAP_US)
        )
        count = Observation()
        observed = pairs.observe(count, f.count(f.lit(1)).alias("rows"))
        if self._answer is None:
            observed.write.format("noop").mode("overwrite").save()
        else:
            observed.write.mode("append").parquet(str(self._answer))
        self.rows_out += int(count.get["rows"])
        last |= dict(batch.groupBy("ticker").agg(f.max_by("at", "place")).collect())
        written = self._file(number).with_suffix(".new")
        written.write_text(json.dumps(last))
        written.rename(self._file(number))

    def _file(self, number: int) -> Path:
        return self._folder / f"{number}.json"


def pairs_by_state(ticks: DataFrame) -> DataFrame:
    """By ``transformWithStateInPandas``; the same with rows in place of frames calls Python for every tuple."""
    keyed = ticks.select("ticker", f.unix_micros("ts").alias("at")).groupBy("ticker")
    return keyed.transformWithStateInPandas(_Differences(), _PAIRS, "Append", "None")


class _Differences(StatefulProcessor):
    """Keeps the time of the last tick of a ticker."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._last = handle.getValueState("last", "at bigint")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: TimerValues) -> Iterator[Any]:  # noqa: N802, N803
        pandas = import_module("pandas")  # no dependency of ours
        found = self._last.get()
        last = None if found is None else found[0]
        for frame in rows:
            at = frame["at"].to_numpy()
            gap = np.diff(at) if last is None else np.diff(at, prepend=last)
            last = int(at[-1])
            yield pandas.DataFrame({"ticker": np.full(gap.size, key[0], object), "gap": gap, "wide": gap > GAP_US})
        self._last.update((last,))

    def close(self) -> None:
        """Nothing is open."""
