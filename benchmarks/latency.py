"""From a tuple's birth to its result: Aurora beside Bytewax, Pathway, Flink SQL and Structured Streaming.

    python -m benchmarks.latency [--quick] [--only aurora,bytewax]

Each system in turn reads 5,000 ticks a second from a loopback socket. Q1 is an alert: price above 50, with price times
volume; its latency is from the tuple's birth, stamped just before it is sent, until the consumer has the result. Q2 is
count, average and maximum per ticker over tumbling seconds with 200 ms of slack; its latency is from the birth of the
tuple that closes the window. All results are compared with the right ones. Opponents are installed into virtual
environments under .bench-venvs when they are first needed. Writes latency.json and latency.svg to the folder results.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from benchmarks.latency_feed import RATE_PER_S
from benchmarks.latency_peer import PEERS, NotMeasuredError, Peer, Say
from benchmarks.latency_picture import Span, latency_chart, milliseconds
from benchmarks.latency_samples import Samples

RESULTS = Path(__file__).parent / "results"
QUERIES = {"q1": "Q1, an alert", "q2": "Q2, a window of a second"}
ALERT_GOAL_MS = 2.0
STRUCTURED_GOAL = 0.2
QUICKER_THAN = ("bytewax", "bytewax-wait", "pathway")
RATE_SHORTFALL = 0.98
BUSY_LOAD = 0.7


@dataclass
class Measured:
    """A system's figures for each query, or why there are none."""

    peer: Peer
    figures: dict[str, Samples] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Goal:
    """A p99 that should be at most ``limit_ms``, which may be an opponent's."""

    name: str
    p99_ms: float
    limit_ms: float

    @property
    def passed(self) -> bool:
        return self.p99_ms <= self.limit_ms


def measure(peer: Peer, warm_up_s: float, seconds: float, done: Callable[[], None], say: Say) -> Measured:
    measured = Measured(peer)
    try:
        peer.install(say)
    except NotMeasuredError as reason:
        measured.remarks.append(str(reason))
        return measured
    for query in QUERIES:
        say(f"{query.upper()} on {peer.title}")
        try:
            figures = peer.measure(query, peer.warm_up_s(warm_up_s), seconds, say)
        except NotMeasuredError as reason:
            measured.remarks.append(f"{query.upper()}: {reason}")
            continue
        finally:
            done()
        measured.figures[query] = figures
        if figures.objection:
            measured.remarks.append(f"{query.upper()}: {figures.objection}")
        if figures.rate_per_s < RATE_SHORTFALL * RATE_PER_S:
            measured.remarks.append(f"{query.upper()}: only {figures.rate_per_s:,.0f} tuples/s were sent")
    return measured


def goals(systems: Sequence[Measured]) -> list[Goal]:
    """Those whose systems have all been measured."""
    p99 = {(m.peer.name, query): figures.p99_ms for m in systems for query, figures in m.figures.items()}
    titles = {m.peer.name: m.peer.title for m in systems}
    found = []
    if ours := p99.get(("aurora", "q1")):
        found.append(Goal(f"Q1, local, at most {ALERT_GOAL_MS:g} ms", ours, ALERT_GOAL_MS))
    for query in QUERIES:
        ours, theirs = p99.get(("aurora-spark", query)), p99.get(("structured", query))
        for name in QUICKER_THAN:
            if (local := p99.get(("aurora", query))) and (other := p99.get((name, query))):
                found.append(Goal(f"{query.upper()}, local, against {titles[name]}", local, other))
        if ours and theirs:
            found.append(
                Goal(f"{query.upper()}, Spark, against a fifth of Structured Streaming", ours, STRUCTURED_GOAL * theirs)
            )
    return found


def latency_table(systems: Sequence[Measured]) -> Table:
    title = f"Latency at {RATE_PER_S:,} tuples/s, in ms"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    table.add_column("system", no_wrap=True)
    for query in QUERIES:
        table.add_column(f"{query.upper()} p50", justify="right", no_wrap=True)
        table.add_column("p99", justify="right", no_wrap=True)
        table.add_column("worst", justify="right", no_wrap=True)
    table.add_column("answers")
    for measured in systems:
        cells = []
        for query in QUERIES:
            figures = measured.figures.get(query)
            values = (figures.p50_ms, figures.p99_ms, figures.worst_ms) if figures else ()
            cells += [milliseconds(value) for value in values] or ["–", "–", "–"]
        table.add_row(measured.peer.title, *cells, "; ".join(measured.remarks) or "right")
    return table


def goal_table(found: Sequence[Goal]) -> Table:
    table = Table(title="Goals for p99, in ms", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("what")
    table.add_column("p99", justify="right")
    table.add_column("at most", justify="right")
    table.add_column("")
    for goal in found:
        verdict = "[green]holds[/]" if goal.passed else "[red]missed[/]"
        table.add_row(goal.name, milliseconds(goal.p99_ms), milliseconds(goal.limit_ms), verdict)
    return table


def write_results(
    name: str, systems: Sequence[Measured], found: Sequence[Goal], seconds: float, load: float
) -> list[Path]:
    """The figures as JSON and as a picture; a quick run does not replace the results of a full one."""
    RESULTS.mkdir(exist_ok=True)
    machine = {"cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}
    document = {
        "tuples_per_s": RATE_PER_S,
        "seconds": seconds,
        "environment": {**machine, "load_before": load},
        "systems": [
            {
                "name": measured.peer.title,
                "version": measured.peer.version,
                **{query: asdict(figures) for query, figures in measured.figures.items()},
                "remarks": measured.remarks,
            }
            for measured in systems
        ],
        "goals": [{**asdict(goal), "passed": goal.passed} for goal in found],
    }
    panels = {
        title: [
            Span(m.peer.title, m.figures[query].p50_ms, m.figures[query].p99_ms, not m.peer.requirement)
            for m in systems
            if query in m.figures
        ]
        for query, title in QUERIES.items()
    }
    note = f"from a tuple's birth to its result, p50 / p99 in ms; {RATE_PER_S:,} tuples/s over a loopback socket"
    files = [RESULTS / f"{name}.json", RESULTS / f"{name}.svg"]
    files[0].write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    files[1].write_text(latency_chart("Latency", note, panels), encoding="utf-8")
    return files


def chosen(only: str, parser: argparse.ArgumentParser) -> list[Peer]:
    wanted = [name for name in only.split(",") if name]
    if unknown := [name for name in wanted if name not in {peer.name for peer in PEERS}]:
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(peer.name for peer in PEERS)}")
    return [peer for peer in PEERS if not wanted or peer.name in wanted]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a third of the time")
    parser.add_argument("--only", default="", help="systems, such as aurora,bytewax; the results are not kept")
    options = parser.parse_args()
    peers = chosen(options.only, parser)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # not without ending what was started
    warm_up_s, seconds = (3.0, 5.0) if options.quick else (5.0, 15.0)
    console = Console()
    console.width = max(console.width, 100)
    load = os.getloadavg()[0]
    if load > BUSY_LOAD:
        console.print(f"[yellow]The machine is busy (load {load:.1f}); latencies will be worse than they are.[/]")
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:50}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
    )
    systems = []
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        task = progress.add_task("", total=len(peers) * len(QUERIES))

        def say(what: str) -> None:
            progress.update(task, description=what)

        def done() -> None:
            progress.advance(task)

        for peer in peers:
            systems.append(measure(peer, warm_up_s, seconds, done, say))
    found = goals(systems)
    console.print(latency_table(systems))
    if found:
        console.print(goal_table(found))
    if not options.only:
        for file in write_results("latency-quick" if options.quick else "latency", systems, found, seconds, load):
            console.print(f"written: {file}", soft_wrap=True, highlight=False)


if __name__ == "__main__":
    main()
