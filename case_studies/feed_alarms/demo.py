"""The case study over files: make a feed, run the network over it, show the alarms and what they cost.

    python -m case_studies.feed_alarms.demo

``aurora demo`` shows the same network live.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from aurora.connectors.files import open_source
from aurora.connectors.rejected import Rejected
from aurora.connectors.source import LiveSink
from aurora.drawing import draw
from aurora.engine import Run, RunStatistics
from aurora.engine.workplace import DEFAULT_MASTER, ProcessorName, Workplace
from aurora.model import Network, load, typecheck
from case_studies.feed_alarms.generate import OPENING_BELL, STREAMS, Plan, add_options, plan_of, write

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
        told = [f"{count} {output.removesuffix('_alarms')}" for output, count in self.untold.items() if count]
        if told:
            self.console.print(
                f"         and {', '.join(told)}", style="dim", highlight=False, no_wrap=True, overflow="ellipsis"
            )
        self.untold.clear()

    def close(self) -> None:
        self._tell_untold()


def _line(output: str, row: dict[str, object]) -> str:
    last, due = row["last_update"], row["due"]
    assert isinstance(last, datetime)
    assert isinstance(due, datetime)
    level = str(row["level"])
    return (
        f"{due:%H:%M:%S} [{STYLE[level]}]{level:4}[/] {output:13} #{row['number']:<5}"
        f"{row['ticker']} {row['exchange']:6} {row['feed']:8} silent since {last:%H:%M:%S}"
    )


@dataclass
class AlarmSink(LiveSink):
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
        self.first = self.first or frame["due"][0]
        self.last = frame["due"][-1]
        self.screen.show(self.name, frame)


def bar(console: Console) -> Progress:
    shown = (TextColumn("{task.description:20}"), BarColumn(bar_width=30), TextColumn("{task.percentage:3.0f} %"))
    return Progress(*shown, TimeElapsedColumn(), console=console, transient=True)


def make_feed(console: Console, plan: Plan, folder: Path) -> dict[str, Path]:
    total = 0
    with bar(console) as progress:
        task = progress.add_task("making the feed", total=len(STREAMS))

        def heard(_stream: str, tuples: int) -> None:
            nonlocal total
            total += tuples
            progress.advance(task)

        files = write(plan, folder, progress=heard)
    console.print(
        f"{total:,} ticks of {plan.seconds:g} s from two feeds, in {folder}/", soft_wrap=True, highlight=False
    )
    for episode in plan.episodes:
        starts = OPENING_BELL + timedelta(seconds=episode.start_s)
        ends = OPENING_BELL + timedelta(seconds=episode.end_s)
        console.print(f"trouble ahead: {episode.who} is quiet from {starts:%H:%M:%S} to {ends:%H:%M:%S}", style="cyan")
    return files


def run(
    console: Console, network: Network, files: dict[str, Path], train: int | None, workplace: Workplace
) -> tuple[RunStatistics, list[AlarmSink]]:
    typed = typecheck(network)
    processor = workplace.processor(typed, {})
    screen = Screen(console)
    sources = {
        name: open_source(files[name], stream.schema, stream=name, on_reject=_no_bad_rows)
        for name, stream in network.streams.items()
    }
    sinks = {name: AlarmSink(name, screen) for name in network.outputs}
    with bar(console) as progress:
        task = progress.add_task("running the network", total=len(sources))

        def after_train(_statistics: RunStatistics) -> None:
            progress.update(task, completed=sum(source.fraction() or 0.0 for source in sources.values()))

        running = Run(typed, sources, sinks, train=train, clock="time", processor=processor)
        statistics = running.to_end(on_epoch=after_train)
    screen.close()
    return statistics, list(sinks.values())


def _no_bad_rows(row: Rejected) -> None:
    raise AssertionError(f"the generator wrote a row that is no tick: {row}")


def alarm_table(sinks: list[AlarmSink]) -> Table:
    table = Table(title="Alarms", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("output")
    for heading in ("low", "high", "first", "last"):
        table.add_column(heading, justify="right")
    for sink in sinks:
        moments = [f"{moment:%H:%M:%S}" if moment else "-" for moment in (sink.first, sink.last)]
        table.add_row(sink.name, str(sink.levels["low"]), str(sink.levels["high"]), *moments)
    return table


def box_table(network: Network, statistics: RunStatistics) -> Table:
    table = Table(title="Boxes", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("box", no_wrap=True)
    table.add_column("kind")
    for heading in ("in", "out", "cost ms", "share"):
        table.add_column(heading, justify="right")
    total = sum(box.cost_s for box in statistics.boxes.values()) or 1.0
    for name, box in statistics.boxes.items():
        table.add_row(
            name,
            network.boxes[name].kind,
            f"{box.tuples_in:,}",
            f"{box.tuples_out:,}",
            f"{box.cost_s * 1e3:.1f}",
            f"{box.cost_s / total:.0%}",
        )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description="The feed-alarms case study in a terminal.")
    add_options(parser)
    parser.add_argument(
        "--to", type=Path, default=Path("out/feed_alarms"), help="folder for files (default %(default)s)"
    )
    parser.add_argument("--train", type=int, help="tuples per train (default 5,000, without Spark 2,000)")
    parser.add_argument("--processor", choices=("spark", "local"), default="spark", help="default %(default)s")
    parser.add_argument("--master", default=DEFAULT_MASTER, help="the Spark master (default %(default)s)")
    options = vars(parser.parse_args())
    console = Console()
    network = load(CASE / "network.yaml")
    console.rule(f"[bold]{network.description}", align="left")
    files = make_feed(console, plan_of(options), options["to"])
    console.print()
    name: ProcessorName = options["processor"]
    workplace = Workplace(name, master=options["master"], say=lambda line: console.print(line, style="dim"))
    try:
        train = options["train"] or (2_000 if name == "local" else 5_000)
        statistics, sinks = run(console, network, files, train, workplace)
    finally:
        workplace.close()
    console.print()
    console.print(alarm_table(sinks))
    console.print(box_table(network, statistics))
    drawing = options["to"] / "feed_alarms.svg"
    drawing.write_text(draw(network), encoding="utf-8")
    tuples = sum(source.tuples for source in statistics.inputs.values())
    rate = f"{tuples / statistics.wall_s:,.0f} tuples/s"
    console.print(f"{tuples:,} tuples in {statistics.wall_s:.1f} s: {rate}", highlight=False)
    console.print(f"The network as a picture: {drawing}", soft_wrap=True, highlight=False)


if __name__ == "__main__":
    main()
