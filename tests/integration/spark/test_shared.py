"""Several networks of one process on Spark: one session, steps in turn; each has its own answers and its own end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from aurora import Engine, InputError, Network
from aurora.boxes import spark
from aurora.processors.spark import tasks
from aurora.processors.spark.session import session_alive
from aurora.server.host import Host
from aurora.server.settings import EngineSettings

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]

MASTER = "local[2]"
COUNT = 30
"""Tables that each engine is given."""


def sums(name: str, size: int = 3, *, more: bool = False) -> Network:
    net = Network(name)
    ticks = net.stream("ticks", key="int", n="int")
    window = {"size": f"{size} tuples"}
    net.output("out", ticks.aggregate("sums", group_by="key", window=window, compute={"total": "sum(n)"}))
    if more:
        net.output("doubled", ticks.map("twice", compute={"n": "2 * n"}))
    return net


def doubled(name: str) -> Network:
    net = Network(name)
    ticks = net.stream("ticks", key="int", n="int")
    net.output("out", ticks.filter("odd", "n % 2 = 1").map("twice", compute={"key": "key", "n": "2 * n"}))
    return net


def table(number: int) -> pl.DataFrame:
    return pl.DataFrame({"key": [0, 1, 2, 3] * 5, "n": range(20 * number, 20 * number + 20)})


def rows(engine: Engine) -> list[tuple[Any, ...]]:
    return [row for frame in engine.dequeue("out") for row in frame.rows()]


def alone(net: Network, tables: Iterable[int]) -> list[tuple[Any, ...]]:
    """What the network answers by itself, without Spark."""
    with Engine(net, processor="local") as engine:
        for number in tables:
            engine.enqueue("ticks", table(number))
        return rows(engine)


@pytest.fixture(scope="module")
def first() -> Iterator[Engine]:
    """It holds the session; others come and go."""
    with Engine(doubled("first"), master=MASTER) as engine:
        yield engine
    assert spark.RUN is None


def feed(engine: Engine) -> threading.Thread:
    def enqueue() -> None:
        for number in range(COUNT):
            engine.enqueue("ticks", table(number))

    thread = threading.Thread(target=enqueue)
    thread.start()
    return thread


def test_networks_share_the_session_and_nothing_else(first: Engine) -> None:
    with Engine(sums("second"), master=MASTER) as second, Engine(sums("third", 7), master=MASTER) as third:
        assert first.session is second.session is third.session
        feeding = [feed(engine) for engine in (first, second, third)]
        for thread in feeding:
            thread.join()
        assert rows(first) == alone(doubled("first"), range(COUNT))
        assert rows(second) == alone(sums("second"), range(COUNT))
        assert rows(third) == alone(sums("third", 7), range(COUNT))
    # The end of one is nothing to the others.
    assert session_alive(first.session)
    first.enqueue("ticks", table(0))
    assert rows(first) == alone(doubled("first"), [0])


def test_one_is_changed_while_another_runs(first: Engine) -> None:
    with Engine(sums("second"), master=MASTER) as second:
        second.enqueue("ticks", table(0))
        feeding = feed(first)
        second.modify(sums("second", more=True))
        second.enqueue("ticks", table(1))
        # Windows that were open go on: the answers are those of one run over both tables.
        assert rows(second) == alone(sums("second"), range(2))
        feeding.join()
        assert rows(first) == alone(doubled("first"), range(COUNT))


def _programs(_: Iterable[int]) -> Iterator[tuple[int, int]]:
    yield os.getpid(), len(tasks._WORKERS)


def test_workers_forget_the_programs_of_networks_that_are_no_more(first: Engine) -> None:
    for number in range(4):
        with Engine(sums(f"passing{number}"), master=MASTER) as passing:
            passing.enqueue("ticks", table(0))
            rows(passing)
    first.enqueue("ticks", table(0))
    rows(first)
    context = first.session.sparkContext
    found = dict(context.parallelize(range(8), 8).mapPartitions(_programs).collect())
    # That of the first network, and the last one that passed: what is gone is noticed when another comes.
    assert max(found.values()) <= 2


def test_a_worker_that_died_is_nobodys_loss(first: Engine) -> None:
    with Engine(sums("second"), master=MASTER) as second:
        feeding = [feed(first), feed(second)]
        workers = first.session.sparkContext.parallelize(range(1), 1).mapPartitions(_programs).collect()
        os.kill(workers[0][0], signal.SIGKILL)
        for thread in feeding:
            thread.join()
        assert rows(first) == alone(doubled("first"), range(COUNT))
        assert rows(second) == alone(sums("second"), range(COUNT))


def test_all_want_the_same_of_spark(first: Engine) -> None:
    for options in ({"master": "local[1]"}, {"master": MASTER, "ui": True}):
        with pytest.raises(InputError, match="one session in a process; give the same --master"):
            Engine(sums("other"), **options).start()  # type: ignore[arg-type]
    first.enqueue("ticks", table(0))
    assert rows(first) == alone(doubled("first"), [0])


def test_a_server_hosts_several_on_spark(first: Engine) -> None:
    with Host(settings=EngineSettings(processor="spark", master=MASTER)) as host:
        for network in (sums("one"), doubled("two")):
            host.add(network)
        for name in ("one", "two"):
            host.enqueue(name, "ticks", table(0))
        assert host.dequeue("two", "out", drain=True).rows() == alone(doubled("two"), [0])
        assert host.dequeue("one", "out", drain=True).rows() == alone(sums("one"), [0])
        host.stop("two")
        host.enqueue("one", "ticks", table(1))
        before = len(alone(sums("one"), [0]))
        assert host.dequeue("one", "out", drain=True).rows() == alone(sums("one"), range(2))[before:]
        host.start("two")
        host.enqueue("two", "ticks", table(0))
        assert host.dequeue("two", "out", drain=True).rows() == alone(doubled("two"), [0])


def test_a_session_that_is_lost_is_replaced_for_all(tmp_path: Path) -> None:
    """In a process of its own, since Java dies here."""
    script = tmp_path / "lost.py"
    script.write_text(LOST)
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == "both went on"


LOST = """
import os, signal
from aurora import Engine, Network

def sums(name):
    net = Network(name)
    ticks = net.stream("ticks", n="int")
    net.output("out", ticks.aggregate("sums", window={"size": "2 tuples"}, compute={"total": "sum(n)"}))
    return net

def rows(engine):
    return [row for frame in engine.dequeue("out") for row in frame.rows()]

def open_(name):
    return Engine(sums(name), master="local[2]", state=f"state-{name}")

if __name__ == "__main__":
    with open_("a") as a, open_("b") as b:
        for engine in (a, b):
            engine.enqueue("ticks", [{"n": 1}])
            engine.drain()
        os.kill(a.session.sparkContext._gateway.proc.pid, signal.SIGKILL)
        for engine, more in ((b, 10), (a, 20)):
            engine.enqueue("ticks", [{"n": more}])
            assert rows(engine) == [(1 + more,)], more
        assert a.session is b.session
    print("both went on")
"""
