"""Structured Streaming, which benchmarks measure Aurora against, answers what Polars answers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from pyspark.sql import SparkSession

from aurora.processors.spark.masters import Master
from aurora.processors.spark.session import start_session, stop_session
from benchmarks import structured_streaming as opponent
from benchmarks.structured_inputs import Inputs
from benchmarks.structured_pandas import FOLDER
from benchmarks.ticks import ANSWERS, ticks

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]

TICKS = 650_000
FILE_ROWS = 130_000
BATCH_ROWS = 260_000
WATERMARK = timedelta(seconds=1)
WITHIN = timedelta(milliseconds=50)
WINDOW = {"Q2": timedelta(seconds=1), "Q3": timedelta(seconds=60)}


@pytest.fixture(scope="module")
def data() -> pl.DataFrame:
    return ticks(TICKS)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory, data: pl.DataFrame) -> Inputs:
    return opponent.write_inputs(tmp_path_factory.mktemp("inputs"), data, FILE_ROWS)


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    log = tmp_path_factory.mktemp("spark") / "spark.log"
    if FOLDER.exists():
        opponent.provide_pandas(print)
    session = start_session(Master.parse("local[2]"), log=log, extra=opponent.JAVA)
    yield session
    stop_session(session)


def answer(spark: SparkSession, name: str, inputs: Inputs, folder: Path) -> pl.DataFrame:
    (folder / "checkpoint").mkdir()
    return opponent.answer(spark, name, inputs, folder / "checkpoint", BATCH_ROWS, folder / "answer")


def assert_same_rows(theirs: pl.DataFrame, expected: pl.DataFrame) -> None:
    theirs = theirs.select(expected.columns).cast(expected.schema)
    assert expected.height > 0
    keys = expected.columns
    assert_frame_equal(theirs.sort(keys), expected.sort(keys), rel_tol=1e-9)


def test_filter_and_map(spark: SparkSession, data: pl.DataFrame, inputs: Inputs, tmp_path: Path) -> None:
    assert_same_rows(answer(spark, "Q1", inputs, tmp_path), ANSWERS["Q1"](data))


@pytest.mark.parametrize("name", ["Q2", "Q3"])
def test_windows_that_the_watermark_has_passed(
    spark: SparkSession, data: pl.DataFrame, inputs: Inputs, tmp_path: Path, name: str
) -> None:
    latest = data.select(pl.col("ts").max()).item()
    closed = ANSWERS[name](data).filter(pl.col("ts") + WINDOW[name] <= latest - WATERMARK)
    assert_same_rows(answer(spark, name, inputs, tmp_path), closed)


def test_pairs_in_arrival_order(spark: SparkSession, data: pl.DataFrame, inputs: Inputs, tmp_path: Path) -> None:
    assert_same_rows(answer(spark, "Q4", inputs, tmp_path), gaps(data))


@pytest.mark.skipif(not FOLDER.exists(), reason="make bench-spark has not fetched pandas yet")
def test_pairs_by_state_are_as_many_and_span_the_same_time(
    spark: SparkSession, data: pl.DataFrame, inputs: Inputs, tmp_path: Path
) -> None:
    """The shuffle keeps no arrival order, so single gaps may differ; their number and most of them may not."""
    theirs = answer(spark, "Q4 state", inputs, tmp_path)
    expected = gaps(data)
    assert theirs.height == expected.height
    per_ticker = pl.len().alias("n")
    assert_same_rows(theirs.group_by("ticker").agg(per_ticker), expected.group_by("ticker").agg(per_ticker))
    same = (
        theirs.group_by("ticker", "gap")
        .agg(n=pl.len())
        .join(expected.group_by("ticker", "gap").agg(m=pl.len()), on=["ticker", "gap"])
    )
    assert same.select(pl.min_horizontal("n", "m").sum()).item() > 0.9 * expected.height


def test_band_join(spark: SparkSession, data: pl.DataFrame, inputs: Inputs, tmp_path: Path) -> None:
    left, right = (pl.read_parquet(folder / "*.parquet") for folder in inputs.streams("Q5").values())
    assert left.height + right.height == data.height * 2 // 5
    assert_same_rows(answer(spark, "Q5", inputs, tmp_path), ANSWERS["Q5"](left, right))


def test_band_join_by_groups_that_the_watermark_has_passed(spark: SparkSession, inputs: Inputs, tmp_path: Path) -> None:
    left, right = (pl.read_parquet(folder / "*.parquet") for folder in inputs.streams("Q5").values())
    latest = pl.concat([left["ts"].dt.truncate("250ms"), (right["ts"] + WITHIN).dt.truncate("250ms")]).max()
    pairs = ANSWERS["Q5"](left, right)
    closed = pairs.filter(pl.col("left_ts").dt.truncate("250ms") <= pl.lit(latest) - WATERMARK)
    assert closed.height > 0.9 * pairs.height
    assert_same_rows(answer(spark, "Q5 grouped", inputs, tmp_path), closed)


def test_a_run_counts_what_it_gives_and_can_be_limited(
    spark: SparkSession, data: pl.DataFrame, inputs: Inputs, tmp_path: Path
) -> None:
    seconds, rows = opponent.run_query(spark, "Q1", inputs, tmp_path, BATCH_ROWS, limit_rows=2 * FILE_ROWS)
    assert seconds > 0
    assert rows == ANSWERS["Q1"](data.head(2 * FILE_ROWS)).height
    _, pairs = opponent.run_query(spark, "Q4", inputs, tmp_path, FILE_ROWS, limit_rows=2 * FILE_ROWS)
    assert pairs == gaps(data.head(2 * FILE_ROWS)).height
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stateful", [False, True])
def test_micro_batches_take_time(spark: SparkSession, stateful: bool) -> None:
    taken = opponent.micro_batch_overhead(spark, stateful, batches=3)
    assert len(taken) == 3
    assert min(taken) > 0


def test_bare_jobs_take_time(spark: SparkSession) -> None:
    taken = opponent.bare_job_overhead(spark, jobs=3)
    assert len(taken) == 3
    assert min(taken) > 0


def gaps(data: pl.DataFrame) -> pl.DataFrame:
    return ANSWERS["Q4"](data).with_columns(pl.col("gap").dt.total_microseconds())
