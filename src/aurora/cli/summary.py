"""What a run did, as tables on standard error."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from aurora.connectors.rejected import RejectedWriter
from aurora.engine.statistics import RunStatistics


def show_summary(statistics: RunStatistics, files: Mapping[str, str], *, stopped: bool) -> None:
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        console.width = 120
    if statistics.boxes:
        console.print(_boxes(statistics), "")
    if statistics.outputs:
        console.print(_outputs(statistics, files), "")
    taken = sum(entry.tuples for entry in statistics.inputs.values())
    rate = taken / statistics.wall_s if statistics.wall_s else 0.0
    how = "interrupted after" if stopped else "done:"
    console.print(f"{how} {taken:,} tuples in {statistics.wall_s:.2f} s ({rate:,.0f} per second)")


def show_rejected(rejected: RejectedWriter) -> None:
    """Said even when the user wants quiet: nothing is lost silently."""
    console = Console(stderr=True, highlight=False)
    for stream, count in rejected.counts.items():
        if count:
            rows = "row was" if count == 1 else "rows were"
            console.print(f"{count:,} {rows} rejected from {stream}; see {rejected.path(stream)}", soft_wrap=True)


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(columns[0], overflow="fold")
    for column in columns[1:]:
        table.add_column(column, justify="right")
    return table


def _boxes(statistics: RunStatistics) -> Table:
    counted = [
        name for name in ("late", "nulled", "rejected") if any(getattr(b, name) for b in statistics.boxes.values())
    ]
    table = _table("box", "in", "out", "calls", "cost", "per tuple", *counted)
    for name, box in statistics.boxes.items():
        per_tuple = f"{box.cost_s / box.tuples_in * 1e6:,.2f} µs" if box.tuples_in else "-"
        numbers = [f"{box.tuples_in:,}", f"{box.tuples_out:,}", f"{box.calls:,}", f"{box.cost_s:.3f} s", per_tuple]
        table.add_row(name, *numbers, *(f"{getattr(box, column):,}" for column in counted))
    return table


def _outputs(statistics: RunStatistics, files: Mapping[str, str]) -> Table:
    table = _table("output", "tuples", "latency p50", "p99")
    table.add_column("to", overflow="fold")
    for name, output in statistics.outputs.items():
        quantiles = [_seconds(output.latencies.quantile(q)) for q in (0.5, 0.99)]
        target = files.get(name)
        shown = "not written" if target is None else "standard output" if target == "-" else target
        table.add_row(name, f"{output.tuples:,}", *quantiles, shown)
    return table


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.1f} ms"
