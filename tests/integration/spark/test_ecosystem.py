"""Spark around the engine: DataFrames feed inputs, outputs are read as streams, Spark code is a box. One session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody calls it)

import aurora.processors.spark.session as sessions
from aurora import Engine, InputError, Network, UserCodeError, spark_box
from aurora.boxes import spark
from aurora.connectors.block_log import BlockLog, BlockLogSink
from aurora.connectors.spark_source import register
from aurora.engine.run import Run
from aurora.model.schema import Schema
from aurora.processors.spark.masters import Master
from tests.integration.pages import ROOT, Page
from tests.integration.test_documentation import check_examples

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]

TICKS = Schema.of(ticker="string", price="double", time="timestamp")
START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    log = tmp_path_factory.mktemp("spark") / "spark.log"
    started = sessions.start_session(Master.parse("local[2]"), log=log)
    register(started)
    yield started
    sessions.stop_session(started)


@pytest.fixture(autouse=True)
def shared(session: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines use the one session, and leave it running."""
    monkeypatch.setattr(sessions, "start_session", lambda *_, **__: session)
    monkeypatch.setattr(sessions, "stop_session", lambda _: None)


def network() -> Network:
    net = Network("ecosystem")
    ticks = net.stream("ticks", schema=TICKS)
    net.output("dear", ticks.filter("above", "price > 10"))
    net.output("counts", ticks.latch("counts", group_by="ticker", n="count(*)", last="last(price)"))
    return net


def engine(net: Network | None = None, **options: Any) -> Engine:
    return Engine(net or network(), master="local[2]", clock="time", **options)


def rows(start: int, stop: int) -> list[dict[str, Any]]:
    made = ((n, START + timedelta(seconds=n)) for n in range(start, stop))
    return [{"ticker": "AB"[n % 2], "price": float(n), "time": time} for n, time in made]


def put_file(folder: Path, start: int, stop: int) -> None:
    folder.mkdir(exist_ok=True)
    lines = [{**row, "time": row["time"].isoformat()} for row in rows(start, stop)]
    (folder / f"{start:06d}.json").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def files(session: SparkSession, folder: Path) -> DataFrame:
    source = session.readStream.schema("ticker string, price double, time timestamp").option("maxFilesPerTrigger", 1)
    return source.json(str(folder))


def prices(running: Engine, output: str = "dear") -> list[float]:
    return [price for train in running.dequeue(output) for price in train["price"].to_list()]


# An input that a DataFrame feeds


def test_files_feed_an_input_batch_by_batch(session: SparkSession, tmp_path: Path) -> None:
    put_file(tmp_path / "in", 0, 20)
    put_file(tmp_path / "in", 20, 30)
    with engine() as running:
        assert running.session is session
        feed = running.feed("ticks", files(session, tmp_path / "in"))
        assert feed.process_available() == 30
        assert prices(running) == [float(n) for n in range(11, 30)]
        assert feed.process_available() == 0
        put_file(tmp_path / "in", 30, 31)
        running.enqueue("ticks", rows(100, 101))
        assert feed.process_available() == 1
        running.enqueue("ticks", rows(101, 102))
        assert prices(running) == [100.0, 30.0, 101.0]
        counted = [row for train in running.dequeue("counts") for row in train.rows()]
        assert counted[-4:] == [("B", 15, 29.0), ("A", 16, 100.0), ("A", 17, 30.0), ("B", 16, 101.0)]
        blocks = running._workplace.blocks
        assert (blocks.in_memory, blocks.on_disk) == (0, 0)
        feed.stop()
        with pytest.raises(InputError, match="has been stopped"):
            feed.process_available()


def test_a_rate_source_loses_and_repeats_nothing(session: SparkSession) -> None:
    """Two partitions, types that widen, a local time; and the query is started anew for every look."""
    rate = session.readStream.format("rate").options(rowsPerSecond=200, numPartitions=2).load()
    frame = rate.select(
        F.lit("R").alias("ticker"),
        (F.col("value") + 100).cast("int").alias("price"),
        F.col("timestamp").cast("timestamp_ntz").alias("time"),
    )
    with engine() as running:
        feed = running.feed("ticks", frame)
        taken = 0
        while taken < 300:
            taken += feed.process_available()
        found = prices(running)
    assert sorted(found) == [100.0 + n for n in range(taken)]


def forget_last_commit(checkpoint: Path) -> None:
    """As if Spark had died after a batch, before it noted that the batch was done."""
    commits = checkpoint / "commits"
    last = max((path for path in commits.iterdir() if path.name.isdigit()), key=lambda path: int(path.name))
    last.unlink()
    (commits / f".{last.name}.crc").unlink(missing_ok=True)


def test_a_batch_that_spark_repeats_is_not_taken_twice(session: SparkSession, tmp_path: Path) -> None:
    put_file(tmp_path / "in", 0, 20)
    with engine() as running:
        feed = running.feed("ticks", files(session, tmp_path / "in"), checkpoint=str(tmp_path / "checkpoint"))
        assert feed.process_available() == 20
        forget_last_commit(tmp_path / "checkpoint")
        put_file(tmp_path / "in", 20, 30)
        assert feed.process_available() == 10
        assert prices(running) == [float(n) for n in range(11, 30)]


def test_an_engine_with_state_goes_on_where_it_stopped(session: SparkSession, tmp_path: Path) -> None:
    """Once Spark does not know of a batch that the engine has, once the engine not of one that Spark has begun."""
    state, log = str(tmp_path / "state"), str(tmp_path / "log")
    put_file(tmp_path / "in", 0, 20)
    with engine(state=state) as running:
        running.publish("counts", log)
        assert running.feed("ticks", files(session, tmp_path / "in")).process_available() == 20
    forget_last_commit(tmp_path / "state" / "feeds" / "ticks")
    put_file(tmp_path / "in", 20, 30)

    def dies(*_: object) -> None:
        raise RuntimeError("killed")

    running = engine(state=state)
    running.start()
    running.publish("counts", log)
    feed = running.feed("ticks", files(session, tmp_path / "in"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "commit", dies)
        with pytest.raises(RuntimeError, match="killed"):
            feed.process_available()
        # It has failed, so nothing is committed.
        running.shutdown()
    with engine(state=state) as last:
        last.publish("counts", log)
        assert last.feed("ticks", files(session, tmp_path / "in")).process_available() == 10
        assert last.stats().inputs["ticks"].tuples == 30
    table = session.read.format("aurora").load(log).toArrow()
    assert table["last"].to_pylist() == [float(n) for n in range(30)]
    assert table["n"].to_pylist()[-2:] == [15, 15]


def test_a_query_with_another_checkpoint_is_another_query(session: SparkSession, tmp_path: Path) -> None:
    """Its batches are numbered from 0 again; they are not those that were taken."""
    put_file(tmp_path / "in", 0, 20)
    for number in range(2):
        with engine(state=str(tmp_path / "state")) as running:
            feed = running.feed("ticks", files(session, tmp_path / "in"), checkpoint=str(tmp_path / f"{number}"))
            assert feed.process_available() == 20
            assert running.stats().inputs["ticks"].tuples == 20 * (number + 1)


def test_what_does_not_fit_is_told(session: SparkSession, tmp_path: Path) -> None:
    rate = session.readStream.format("rate").load()
    with engine() as running:
        with pytest.raises(InputError, match=r"it has no column ticker \(string\).*it has struct<timestamp"):
            running.feed("ticks", rate)
        wrong = rate.select(F.lit(1).alias("ticker"), F.lit("x").alias("price"), F.col("timestamp").alias("time"))
        with pytest.raises(InputError, match=r'column price is string, not double: cast it .*\.cast\("double"\)'):
            running.feed("ticks", wrong)
        with pytest.raises(InputError, match=r"is not a stream.*enqueue\(\"ticks\", frame\.toArrow\(\)\)"):
            running.feed("ticks", session.range(3))
        put_file(tmp_path / "in", 0, 1)
        bad = files(session, tmp_path / "in").withColumn("price", F.raise_error(F.lit("bad row")).cast("double"))
        feed = running.feed("ticks", bad)
        with pytest.raises(Exception, match="bad row"):
            feed.process_available()
        with pytest.raises(InputError, match="is fed already"):
            running.feed("ticks", files(session, tmp_path / "in"))


# An output that Spark reads

WIDE = Schema.of(
    n="int", x="double", name="string", yes="bool", at="timestamp", gap="duration", raw="binary", many="list<string>"
)


def wide(start: int, stop: int) -> pl.DataFrame:
    n = pl.Series("n", range(start, stop), pl.Int64)
    columns = [
        n,
        (n / 2).alias("x"),
        n.cast(pl.String).alias("name"),
        (n % 2 == 0).alias("yes"),
        n.cast(pl.Datetime("us", "UTC")).alias("at"),
        n.cast(pl.Duration("us")).alias("gap"),
        n.cast(pl.String).cast(pl.Binary).alias("raw"),
        pl.Series("many", [[str(value), None] for value in n], pl.List(pl.String)),
    ]
    return pl.DataFrame([pl.Series(c.name, [None, *c.to_list()[1:]], c.dtype) if start == 0 else c for c in columns])


def seen(folder: Path) -> list[int | None]:
    frames = [pl.read_parquet(path, columns=["n"]) for path in folder.glob("*.parquet")]
    values: list[int | None] = pl.concat(frames)["n"].to_list() if frames else []
    return sorted(values, key=lambda value: -1 if value is None else value)


def test_every_type_comes_over(session: SparkSession, tmp_path: Path) -> None:
    sink = BlockLogSink(str(tmp_path), WIDE)
    assert session.read.format("aurora").load(str(tmp_path)).count() == 0
    sink.write(wide(0, 3))
    sink.write(wide(3, 5))
    sink.close()
    table = pl.DataFrame(session.read.format("aurora").load(str(tmp_path)).toArrow())
    found = table.select(pl.col(name).cast(kind) for name, kind in WIDE.to_polars().items()).sort("n")
    assert found.equals(pl.concat([wide(0, 3), wide(3, 5)]))


def test_a_query_that_is_stopped_and_started_reads_on_exactly(session: SparkSession, tmp_path: Path) -> None:
    log, out = str(tmp_path / "log"), tmp_path / "out"
    sink = BlockLogSink(log, WIDE)
    sink.write(wide(0, 10))

    def query(**trigger: Any) -> Any:
        read = session.readStream.format("aurora").option("maxTuplesPerTrigger", 4).load(log)
        writer = read.select("n", "name").writeStream.format("parquet")
        return writer.option("checkpointLocation", str(tmp_path / "seen")).trigger(**trigger).start(str(out))

    first = query(availableNow=True)
    first.awaitTermination()
    assert seen(out) == [None, *range(1, 10)]
    assert [p["sources"][0]["endOffset"]["tuples"] for p in recent(first)][-3:] == [4, 8, 10]
    sink.write(wide(10, 13))
    second = query(processingTime="50 milliseconds")
    try:
        second.processAllAvailable()
        assert seen(out) == [None, *range(1, 13)]
        sink.write(wide(13, 20))
        second.processAllAvailable()
    finally:
        second.stop()
    sink.write(wide(20, 21))
    sink.close()
    forget_last_commit(tmp_path / "seen")
    query(availableNow=True).awaitTermination()
    assert seen(out) == [None, *range(1, 21)]


def recent(query: Any) -> list[dict[str, Any]]:
    told = [json.loads(progress.json) for progress in query.recentProgress]
    return [progress for progress in told if progress["numInputRows"]]


def test_through_the_engine_and_back(session: SparkSession, tmp_path: Path) -> None:
    """What one engine publishes feeds another: Spark's sources and ours meet."""
    log = str(tmp_path / "log")
    with engine() as upstream:
        upstream.publish("dear", log)
        upstream.enqueue("ticks", rows(0, 30))
    with engine() as downstream:
        feed = downstream.feed("ticks", session.readStream.format("aurora").load(log))
        assert feed.process_available() == 19
        assert prices(downstream) == [float(n) for n in range(11, 30)]


def test_logs_that_cannot_be_read(session: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="there is no log at"):
        session.read.format("aurora").load(str(tmp_path / "none"))
    with pytest.raises(Exception, match="needs the address of a log"):
        session.read.format("aurora").load()
    BlockLogSink(str(tmp_path), WIDE).close()
    with pytest.raises(Exception, match="maxTuplesPerTrigger is 'few'"):
        session.readStream.format("aurora").option("maxTuplesPerTrigger", "few").load(str(tmp_path))


# A box of Spark code


def test_spark_code_is_a_box(session: SparkSession) -> None:
    from pyspark.ml.feature import Bucketizer

    model = Bucketizer(splits=[0.0, 10.0, 20.0, 1e9], inputCol="price", outputCol="bucket")

    @spark_box("ecosystem_bucket", output={"ticker": "string", "bucket": "int", "time": "timestamp"})
    def bucket(frame: DataFrame) -> DataFrame:
        # Sorted as no train is, over several partitions.
        return model.transform(frame).repartition(3).orderBy(F.desc("price"))

    net = Network("box")
    ticks = net.stream("ticks", schema=TICKS)
    buckets = ticks.filter("some", "price >= 5").spark("buckets", "ecosystem_bucket")
    net.output("buckets", buckets)
    net.output("counts", buckets.latch("counts", group_by="bucket", n="count(*)"))
    with engine(net, train=10) as running:
        running.enqueue("ticks", rows(0, 25))
        found = [row for train in running.dequeue("buckets") for row in train.rows()]
        assert found == [("AB"[n % 2], n // 10, START + timedelta(seconds=n)) for n in range(5, 25)]
        counts = [row for train in running.dequeue("counts") for row in train.rows()]
        assert counts == [(bucket, n) for bucket, most in enumerate([5, 10, 5]) for n in range(1, most + 1)]
        assert running.stats().boxes["buckets"].tuples_in == 20
    assert spark.RUN is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda frame: frame.select("ticker"), "in box b: ecosystem_wrong answered without the column __source"),
        (lambda frame: frame.collect(), "in box b: ecosystem_wrong: it answered with list; answer with a DataFrame"),
        (lambda frame: frame.select("nothing"), r"in box b: ecosystem_wrong raised AnalysisException: .*nothing"),
        (
            lambda frame: frame.selectExpr("__source", "raise_error('no ' || ticker) as ticker"),
            "in box b: ecosystem_wrong raised .*no A",
        ),
    ],
)
def test_spark_code_that_is_wrong(wrong: Any, message: str) -> None:
    spark_box("ecosystem_wrong", output={"ticker": "string"})(wrong)
    net = Network("wrong")
    net.output("o", net.stream("ticks", schema=TICKS).spark("b", "ecosystem_wrong"))
    with engine(net) as running:
        running.enqueue("ticks", rows(0, 2))
        with pytest.raises(UserCodeError, match=message):
            running.step()


def test_the_examples_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    check_examples(Page(ROOT / "docs" / "how-to" / "spark.md"))
    (log,) = tmp_path.glob("*/dear")
    assert BlockLog(str(log)).length == 2
