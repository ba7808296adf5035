"""The same network on executors of their own, and on a cluster that was started by hand, gives the same answers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from benchmarks import ticks

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

NETWORK = """
aurora: 1
network: cluster
streams: {ticks: {schema: {ticker: string, price: double, volume: int, ts: timestamp}}}
boxes:
  dear: {kind: filter, in: ticks, where: price > 20}
  means:
    kind: aggregate
    in: dear
    group_by: ticker
    order_by: ts
    slack: 200ms
    window: {size: 1s}
    compute: {mean: avg(price), n: count(*)}
  busy: {kind: filter, in: means, where: n > 2}
  per_count: {kind: aggregate, in: busy, group_by: n, window: {size: 3 tuples}, compute: {top: max(mean)}}
outputs: {means: {from: busy}, tops: {from: per_count}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("cluster")
    (made / "net.yaml").write_text(NETWORK)
    ticks.ticks(60_000).write_parquet(made / "ticks.parquet")
    return made


def _run(folder: Path, name: str, *options: str) -> tuple[bytes, bytes]:
    out = folder / name
    out.mkdir()
    command = [str(Path(sys.executable).with_name("aurora")), "run", "net.yaml", "-i", "ticks=ticks.parquet", "-q"]
    outputs = ["-o", f"means={name}/means.csv", "-o", f"tops={name}/tops.jsonl", "--train", "9000"]
    done = subprocess.run([*command, *outputs, *options], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return (out / "means.csv").read_bytes(), (out / "tops.jsonl").read_bytes()


@pytest.fixture(scope="module")
def expected(folder: Path) -> tuple[bytes, bytes]:
    answers = _run(folder, "local", "--processor", "local")
    assert all(answers)
    return answers


def test_executors_of_their_own(folder: Path, expected: tuple[bytes, bytes]) -> None:
    state = str(folder / "state-executors")
    options = ("--processor", "spark", "--master", "local-cluster[2,1,1024]", "--state", state)
    assert _run(folder, "executors", *options) == expected


@pytest.fixture
def standalone(tmp_path: Path) -> Iterator[str]:
    """A master and two workers, as the how-to page starts them."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home = Path(pyspark.__path__[0])
    url = f"spark://127.0.0.1:{port}"
    roles = [["master.Master", "--host", "127.0.0.1", "--port", str(port)]]
    roles += [["worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g", url] for _ in range(2)]
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    processes = []
    with (tmp_path / "cluster.log").open("wb") as log:
        try:
            for number, (role, *arguments) in enumerate(roles):
                work = tmp_path / str(number)
                work.mkdir()
                command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{role}", "--webui-port", "0"]
                process = subprocess.Popen(
                    [*command, *arguments],
                    env={**environment, "SPARK_WORKER_DIR": str(work)},
                    stdout=log,
                    stderr=log,
                    process_group=0,
                )
                processes.append(process)
                _await(
                    tmp_path / "cluster.log", "Registering worker" if number else "I have been elected leader", number
                )
            yield url
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait()


def _await(log: Path, sign: str, times: int) -> None:
    """Waits until the master has said so often enough."""
    deadline = time.monotonic() + 120
    while log.read_text(errors="replace").count(sign) < max(times, 1):
        assert time.monotonic() < deadline, f"no {sign!r}:\n{log.read_text(errors='replace')[-2000:]}"
        time.sleep(0.1)


def test_a_cluster_started_by_hand(folder: Path, expected: tuple[bytes, bytes], standalone: str) -> None:
    state = str(folder / "state-standalone")
    options = ("--processor", "spark", "--master", standalone, "--state", state)
    assert _run(folder, "standalone", *options) == expected
