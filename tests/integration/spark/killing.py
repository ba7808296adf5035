"""Runs that are to be killed: networks with their inputs, the command as a process, and where its victims are.

Every run of a network gets a folder of its own and the same command, so that what is left in two folders can be
compared byte by byte.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from case_studies.feed_alarms.generate import Outage, Plan, write

ROOT = Path(__file__).parents[3]
IN_MEMORY = Path("/dev/shm")
COMMIT_EVERY_S = 0.2
PROGRAM = f"""
import functools
import aurora.engine.workplace as workplace
workplace.Recovery = functools.partial(workplace.Recovery, every_s={COMMIT_EVERY_S})
"""
"""The command ``aurora`` as people call it, but that it commits more often, so that a short run has many commits."""
CALL = "\nfrom aurora.cli import main\nmain()\n"

JOIN = """\
aurora: 1
network: paid
streams:
  orders: {schema: {customer: string, time: timestamp, amount: double}}
  payments: {schema: {customer: string, time: timestamp, paid: double}}
boxes:
  pairs:
    kind: join
    in: [orders, payments]
    on: left.customer = right.customer
    within: 2s
    left_order_by: time
    right_order_by: time
    compute: {customer: left.customer, time: left.time, later: right.time, amount: amount, paid: paid}
  open: {kind: map, in: pairs, compute: {customer: customer, time: time, open: amount - paid}}
  per_minute:
    kind: aggregate
    in: open
    group_by: [customer]
    order_by: time
    slack: 10s
    window: {size: 20s, advance: 5s}
    compute: {pairs: count(*), open: sum(open), worst: max(open)}
outputs:
  pairs: {from: pairs}
  open: {from: open}
  per_minute: {from: per_minute}
"""
JOIN_OUTPUTS = {"pairs": "pairs.parquet", "open": "open.csv", "per_minute": "per_minute.jsonl"}
FEED_OUTPUTS = {
    "reuters_low": "reuters_low.csv",
    "reuters_high": "reuters_high.jsonl.gz",
    "comstock_low": "comstock_low.jsonl",
    "comstock_high": "comstock_high.arrow",
    "nyse_alarms": "nyse_alarms.parquet",
    "nasdaq_alarms": "nasdaq_alarms.csv",
}
FEED = Plan(
    seconds=150,
    seed=11,
    fast=160,
    slow=120,
    outages=(Outage(40, 55, exchange="NYSE"), Outage(90, 100, feed="comstock")),
)


@dataclass(frozen=True)
class Job:
    """A network over files. ``made`` are the files that a run leaves: outputs and rejected rows."""

    network: Path
    inputs: dict[str, Path]
    outputs: dict[str, str]
    rejected: tuple[str, ...]
    options: tuple[str, ...]
    tuples: int

    def arguments(self, *more: str) -> list[str]:
        inputs = [part for name, path in self.inputs.items() for part in ("-i", f"{name}={path}")]
        outputs = [part for name, file in self.outputs.items() for part in ("-o", f"{name}={file}")]
        return ["run", str(self.network), *inputs, *outputs, *self.options, *more]

    def start(self, folder: Path, *more: str, before: str = PROGRAM, after: str = "") -> subprocess.Popen[str]:
        """The command in a folder. What it says goes to the file ``said`` there, one run after the other."""
        folder.mkdir(exist_ok=True)
        with (folder / "said").open("a") as said:
            return subprocess.Popen(
                [sys.executable, "-c", before + after + CALL, *self.arguments(*more)],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                text=True,
                process_group=0,
                env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])},
            )

    def call(self, folder: Path, *more: str, timeout: float = 100) -> tuple[int, str]:
        """The command to its end: the exit code and what it said."""
        before = len(said(folder))
        process = self.start(folder, *more)
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
        return code, said(folder)[before:]

    def made(self, folder: Path) -> dict[str, bytes]:
        files = [*self.outputs.values(), *self.rejected]
        return {file: (folder / file).read_bytes() for file in files if (folder / file).exists()}

    def undisturbed(self, folder: Path, call: Callable[..., tuple[int, str]] | None = None) -> dict[str, bytes]:
        """What a run makes that nobody kills, without Spark and without state."""
        code, text = (call or self.call)(folder, "--processor", "local")
        assert code == 0, text
        made = self.made(folder)
        assert all(made.values()), {name: len(content) for name, content in made.items()}
        assert made.keys() == {*self.outputs.values(), *self.rejected}
        return made


def said(folder: Path) -> str:
    return (folder / "said").read_text() if (folder / "said").exists() else ""


def feed_alarms(folder: Path, *, train: int) -> Job:
    """Four CSV files, of which two have rows that are no tuples; one file for all rejected rows."""
    inputs = write(FEED, folder / "feed", "csv")
    spoil(inputs["reuters_fast"], 20, seed=1)
    spoil(inputs["comstock_slow"], 7, seed=2)
    tuples = sum(path.read_text().count("\n") - 1 for path in inputs.values()) - 27
    options = ("--clock", "time", "--train", str(train), "--rejected", "rejected.jsonl")
    network = ROOT / "case_studies" / "feed_alarms" / "network.yaml"
    return Job(network, inputs, FEED_OUTPUTS, ("rejected.jsonl",), options, tuples)


def joined(folder: Path, *, tuples: int, train: int) -> Job:
    """Two streams, one of Parquet, which Spark's tasks read themselves, and one of CSV with rows that are no tuples."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = np.random.default_rng(5)
    inputs = {}
    for name, value, file in (("orders", "amount", "orders.parquet"), ("payments", "paid", "payments.csv")):
        count = tuples // 2
        # About a hundred tuples in the memory of each side, whatever the length; a few come too late.
        times = np.arange(count) * 40_000 + chance.integers(0, 30_000, count)
        times -= np.where(chance.random(count) < 0.01, 5_000_000, 0)
        frame = pl.DataFrame(
            {
                "customer": chance.choice([f"c{number:02}" for number in range(40)], count),
                "time": pl.Series(times + 1_700_000_000_000_000).cast(pl.Datetime("us", "UTC")),
                value: chance.uniform(1, 100, count).round(2),
            }
        )
        inputs[name] = folder / file
        if file.endswith("parquet"):
            frame.write_parquet(inputs[name])
        else:
            frame.write_csv(inputs[name], datetime_format="%Y-%m-%dT%H:%M:%S%.6fZ")
    spoil(inputs["payments"], 15, seed=3)
    network = folder / "join.yaml"
    network.write_text(JOIN)
    options = ("--clock", "time", "--train", str(train))
    return Job(network, inputs, JOIN_OUTPUTS, ("payments.rejected.jsonl",), options, tuples)


def spoil(file: Path, rows: int, *, seed: int) -> None:
    """Puts rows that are no tuples into a CSV file."""
    chance = random.Random(seed)
    head, *lines = file.read_text().splitlines(keepends=True)
    for number in range(rows):
        bad = lines[0].rstrip("\n").rpartition(",")[0] + f",bad {number}\n"
        lines.insert(chance.randrange(len(lines)), bad)
    file.write_text("".join([head, *lines]))


@dataclass(frozen=True)
class Process:
    parent: int
    command: str


class Processes:
    """The processes that live, in one look. Zombies do not."""

    def __init__(self) -> None:
        self.all: dict[int, Process] = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    kind, parent = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[:2]
                    command = Path(f"/proc/{entry}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                except OSError:
                    continue
                if kind != "Z":
                    self.all[int(entry)] = Process(int(parent), command)

    def below(self, driver: int) -> dict[int, Process]:
        """Children, their children, and so on."""
        found: dict[int, Process] = {}
        last = {driver}
        while last:
            last = {pid for pid, process in self.all.items() if process.parent in last}
            found.update({pid: self.all[pid] for pid in last})
        return found

    def workers(self, driver: int) -> list[int]:
        """The Python workers: children of the daemons that Spark's Java processes have started."""
        daemons = {pid for pid, process in self.below(driver).items() if "spark.daemon" in process.command}
        return sorted(pid for pid in daemons if self.all[pid].parent in daemons)

    def executors(self, driver: int) -> list[int]:
        """Java processes that run tasks, other than the driver's own."""
        below = self.below(driver)
        return sorted(pid for pid, process in below.items() if "CoarseGrainedExecutorBackend" in process.command)

    def java(self, driver: int) -> list[int]:
        """The Java process of the driver."""
        below = self.below(driver)
        return [pid for pid, process in below.items() if process.parent == driver and "java" in process.command]


def kill(process: int) -> bool:
    """Whether there was somebody to kill."""
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def wait_for(condition: Callable[[], object], what: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s in vain: {what}"
        time.sleep(0.005)


def leftovers(drivers: Sequence[int]) -> list[str]:
    """The folders of blocks that these processes made."""
    return [entry.name for entry in IN_MEMORY.glob("aurora-blocks-*") if int(entry.name.split("-")[2]) in drivers]


def copied(folder: Path, to: Path) -> Path:
    shutil.copytree(folder, to)
    return to
