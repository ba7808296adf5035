"""The case study live in a terminal: make a feed, run the network over it, show the alarms and what they cost.

    make demo
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from aurora.connectors.files import open_source
from aurora.drawing import draw
from aurora.engine import RunStatistics, run_network
from aurora.model import load, typecheck
from case_studies.feed_alarms.generate import Plan, add_options, plan_of, write

CASE = Path(__file__).parent
LINES_PER_S = 16
STYLE = {"low": "yellow", "high": "bold red"}


@dataclass
class Screen:
    """Shows alarms as they come, but no more of them than a person can follow."""

    console: Console
    second: float = 0.0
    lines: int = 0
    untold: Counter[str] = field(default_factory=Counter)

    def show(self, output: str, alarms: pl.DataFrame) -> None:
        """High alarms come first; what does not fit is counted and told with the next lines that do."""
        now = time.monotonic()
        if now - self.second >= 1:
            self._tell_untold()
            self.second, self.lines = now, 0
        ranked = alarms.sort(pl.col("level") != "high", maintain_order=True)
        room = max(0, min(3, LINES_PER_S - self.lines))
        for row in ranked.head(room).iter_rows(named=True):
            self.console.print(_line(output, row), highlight=False)
            self.lines += 1
        self.untold[output] += ranked.height - min(room, ranked.height)

    def _tell_untold(self) -> None:
        told = [f"{count} {output}" for output, count in self.untold.items() if count]
        if told:
            self.console.print(f"          … and {', '.join(told)}", style="dim", highlight=False)
        self.untold.clear()

    def close(self) -> None:
        self._tell_untold()


def _line(output: str, row: dict[str, object]) -> str:
    last = row["last_update"]
    assert isinstance(last, datetime)
    level = str(row["level"])
    return (
        f"{output:14} [{STYLE[level]}]{level:4}[/] #{row['number']:<5} {row['ticker']:5} {row['exchange']:6} "
        f"of {row['feed']:8} last heard {last:%H:%M:%S}"
    )


@dataclass
class AlarmSink:
    """An output: shows its alarms and remembers what the summary needs."""

    name: str
    screen: Screen
    levels: Counter[str] = field(default_factory=Counter)
    first: datetime | None = None
    last: datetime | None = None

    def write(self, frame: pl.DataFrame) -> None:
        if frame.is_empty():
            return
        self.levels.update(frame["level"].to_list())
        self.first = self.first or frame["last_update"][0]
        self.last = frame["last_update"][-1]
        self.screen.show(self.name, frame)

    def close(self) -> None:
        pass


def bar(console: Console) -> Progress:
    shown = (TextColumn("{task.description:28}"), BarColumn(bar_width=30), TextColumn("{task.percentage:3.0f} %"))
    return Progress(*shown, TimeElapsedColumn(), console=console, transient=True)


def make_feed(console: Console, plan: Plan, folder: Path) -> dict[str, Path]:
    total = 0
    with bar(console) as progress:
        task = progress.add_task("making the feed", total=4)

        def heard(_stream: str, tuples: int) -> None:
            nonlocal total
            total += tuples
            progress.advance(task)

        files = write(plan, folder, progress=heard)
    console.print(f"{total:,} ticks of {plan.seconds:g} s from two feeds, in {folder}", soft_wrap=True)
    for episode in plan.episodes:
        console.print(f"  trouble: {episode}", style="cyan", highlight=False)
    return files


def run(console: Console, files: dict[str, Path], train: int) -> tuple[RunStatistics, dict[str, AlarmSink]]:
    typed = typecheck(load(CASE / "network.yaml"))
    screen = Screen(console)
    sources = {
        name: open_source(files[name], stream.schema, stream=name, on_reject=lambda _row: None)
        for name, stream in typed.network.streams.items()
    }
    sinks = {name: AlarmSink(name, screen) for name in typed.network.outputs}
    with bar(console) as progress:
        task: TaskID = progress.add_task("running the network", total=1.0)
        statistics = run_network(
            typed,
            sources,
            sinks,
            train=train,
            clock="time",
            at_end="flush",
            progress=lambda share: progress.update(task, completed=share),
        )
    screen.close()
    return statistics, sinks
