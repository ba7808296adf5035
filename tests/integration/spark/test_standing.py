"""Tasks that stand by: they give way to others, come back after a death, and let in only those who know the token."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

from aurora.errors import AuroraError
from aurora.expressions.registry import register_function, unregister
from aurora.model import loads, typecheck
from aurora.model.train import Progress, Train
from aurora.model.typed import Producer
from aurora.processors.plan import Execution
from aurora.processors.spark.masters import Master
from aurora.processors.spark.place import SparkPlace
from aurora.processors.spark.runner import SparkRunner
from aurora.processors.spark.session import start_session, stop_session
from aurora.processors.steps.processor import StepProcessor
from aurora.storage.tiers import Tiers

pytestmark = [pytest.mark.spark, pytest.mark.timeout(120)]

SLOTS = 2
NETWORK = """
aurora: 1
network: sums
streams: {s: {schema: {key: int, n: int}}}
boxes:
  seen: {kind: map, in: s, compute: {key: key, n: deadly(n)}}
  sums: {kind: aggregate, in: seen, group_by: key, window: {size: 2 tuples}, compute: {total: sum(n)}}
outputs: {out: {from: sums}}
"""

Step = Callable[[int], list[tuple[int, int]]]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    folder: Path = tmp_path_factory.mktemp("standing")
    session = start_session(Master.parse(f"local[{SLOTS}]"), log=folder / "spark.log")
    yield session
    stop_session(session)


@pytest.fixture
def deadly(tmp_path: Path) -> Iterator[Path]:
    """A function that kills a worker that is given 13 if the file says so: once, or always."""
    file = tmp_path / "how"
    file.write_text("never")

    def body(numbers: pl.Series) -> pl.Series:
        if numbers.eq(13).any() and (how := file.read_text()) != "never":
            if how == "once":
                file.write_text("never")
            os.kill(os.getpid(), signal.SIGKILL)
        return numbers

    register_function("deadly", body, ["int"], "int")
    yield file
    unregister("deadly")


@pytest.fixture
def runner(session: SparkSession, tmp_path: Path) -> Iterator[SparkRunner]:
    tiers = Tiers(str(tmp_path / "blocks"), None)
    place = SparkPlace(session, SLOTS)
    yield SparkRunner(place, tiers.fastest)
    place.dismiss()
    tiers.close()


@pytest.fixture
def step(runner: SparkRunner, deadly: Path, tmp_path: Path) -> Iterator[Step]:
    """Gives a tuple to each of four keys. Every other time windows of two close."""
    typed = typecheck(loads(NETWORK))
    tiers = Tiers(str(tmp_path / "trains"), None)
    processor = StepProcessor(typed, runner, tiers.blocks, tiers.fastest)
    first = 0

    def give(n: int) -> list[tuple[int, int]]:
        nonlocal first
        frame = pl.DataFrame({"key": [0, 1, 2, 3], "n": [n] * 4})
        orders = pl.Series(range(2 * first + 1, 2 * first + 9, 2), dtype=pl.Int64).to_numpy()
        clocks = pl.Series([0] * 4, dtype=pl.Int64).to_numpy()
        train = Train.of(frame, orders, clocks, clocks)
        progress = Progress(first + 3, 0, first, clocks)
        first += 4
        (result,) = processor.run([Execution(typed.order, {Producer("s"): train}, progress)])
        made = result.trains.get(typed.outputs["out"])
        return [] if made is None else made.visible.rows()

    yield give
    processor.close()
    tiers.close()


def totals(total: int) -> list[tuple[int, int]]:
    return [(key, total) for key in range(4)]


def test_steps_are_no_jobs(session: SparkSession, step: Step) -> None:
    started = session.sparkContext.parallelize([0], 1)
    before = int(session.sparkContext._jsc.sc().statusTracker().getActiveJobIds().__len__())
    assert before == 1  # the tasks that stand by
    assert [step(n) for n in range(4)] == [[], totals(1), [], totals(5)]
    assert started.count() == 1


def test_others_get_the_slots(session: SparkSession, step: Step) -> None:
    step(1)
    assert session.range(1_000).repartition(4).count() == 1_000
    assert step(2) == totals(3)
    assert step(3) == []
    assert session.range(10).count() == 10
    assert step(4) == totals(7)


def test_a_worker_that_died_is_replaced_and_nothing_is_lost_or_doubled(deadly: Path, step: Step) -> None:
    assert step(1) == []
    deadly.write_text("once")
    assert step(13) == totals(14)
    assert deadly.read_text() == "never"
    assert [step(1), step(1)] == [[], totals(2)]


def test_what_kills_every_worker_is_told(deadly: Path, step: Step) -> None:
    deadly.write_text("always")
    with pytest.raises(AuroraError, match="Spark could not run step 1, level 0: "):
        step(13)


def test_strangers_are_shown_out(runner: SparkRunner, step: Step) -> None:
    step(1)
    assert runner._place.standing is not None
    address = runner._place.standing.address
    assert isinstance(address, str)
    strangers = []
    for said in (b"x" * 36, b"\0" * 100, b"short", b""):
        stranger = socket.socket(socket.AF_UNIX)
        stranger.settimeout(20)
        stranger.connect(address)
        stranger.sendall(said)
        stranger.shutdown(socket.SHUT_WR)
        strangers.append(stranger)
        assert len(step(2)) in (0, 4)
    for _ in range(4):
        step(3)
    for stranger in strangers:
        with stranger:
            assert stranger.recv(1) == b""


def test_where_tasks_do_not_reach_the_driver_steps_are_jobs(
    session: SparkSession, deadly: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    tiers = Tiers(str(tmp_path / "blocks"), None)
    place = SparkPlace(session, SLOTS)
    runner = SparkRunner(place, tiers.fastest, on_lost=told.append)
    assert place.standing is not None
    monkeypatch.setattr(place.standing, "address", str(tmp_path / "nobody listens here"))
    processor = StepProcessor(typecheck(loads(NETWORK)), runner, tiers.blocks, tiers.fastest)
    assert ["every step is a job" in line for line in told] == [True]
    processor.close()
    tiers.close()
