"""The command as a process of its own: interrupts, pipes, and what starting it loads."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl

from integration.cli.conftest import TICKS

COMMAND = [sys.executable, "-c", "from aurora.cli import main; main()"]


def test_an_interrupt_stops_cleanly(folder: Path) -> None:
    """The input never ends; what came before the interrupt is written, counted and summed up."""
    arguments = ["run", "net.yaml", "-i", "ticks=-", "-o", "high=high.parquet", "--stats", "stats.json"]
    process = subprocess.Popen([*COMMAND, *arguments], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(TICKS)
    process.stdin.flush()
    while not (folder / "ticks.rejected.jsonl").exists():  # there as soon as the rows have been read
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    message = process.stderr.read()
    assert process.wait(timeout=30) == 130
    process.stdin.close()
    process.stderr.close()
    assert "interrupted after" in message
    assert "Traceback" not in message
    stats = json.loads((folder / "stats.json").read_text())
    assert stats["interrupted"] is True
    assert pl.read_parquet(folder / "high.parquet").height == stats["outputs"]["high"]["tuples"]


def test_a_reader_that_leaves(folder: Path) -> None:
    rows = "".join(f"a,{n + 20},2024-01-01T00:00:00Z\n" for n in range(200_000))
    (folder / "ticks.csv").write_text("ticker,price,time\n" + rows)
    process = subprocess.Popen(
        [*COMMAND, "run", "one.yaml", "-i", "ticks=ticks.csv", "--train", "1000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == "ticker,price,time\n"
    process.stdout.close()
    message = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=30) == 141
    assert "Traceback" not in message


def test_the_command_itself_imports_nothing_heavy() -> None:
    """Commands import what they need when they run, so that help and usage errors come at once."""
    code = "import sys; before = set(sys.modules); import aurora.cli.app; print(*(set(sys.modules) - before))"
    found = subprocess.run(
        [sys.executable, "-c", f"import aurora; {code}"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not [name for name in found if name.partition(".")[0] in ("polars", "pyarrow", "sqlglot")]
