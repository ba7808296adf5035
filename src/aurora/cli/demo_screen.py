"""The demonstration in a terminal: what the outputs get, how well, and what is shed."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table

from aurora.engine.metrics import Statistics


def outputs_table(stats: Statistics) -> Table:
    table = Table(box=SIMPLE_HEAD)
    table.add_column("output", no_wrap=True)
    for heading in ("tuples", "latency", "delivered", "utility"):
        table.add_column(heading, justify="right")
    for name, output in stats.outputs.items():
        latency = "-" if output.recent_latency_s is None else f"{output.recent_latency_s:.1f} s"
        # Alarms come in bouts, so a shorter time would often have none.
        worth = output.utility["60s"].overall
        utility = "-" if worth is None else f"{worth:.2f}"
        table.add_row(name, f"{output.tuples:,}", latency, f"{output.delivered:.0f} %", utility)
    return table


def what_was_shed(stats: Statistics) -> str:
    shed = sum(stats.engine.shed.values())
    if not shed:
        return "nothing was shed"
    lost = [name for name, output in stats.outputs.items() if output.lost > 0]
    return f"{shed:,} tuples were shed, at the expense of {' and '.join(lost) or 'no output'}"


def line(stats: Statistics, elapsed_s: float, factor: float) -> str:
    """How it is going, in one line."""
    per_s = sum(read.recent_rate_per_s for read in stats.inputs.values())
    alarms = sum(output.tuples for name, output in stats.outputs.items() if name != "board")
    shed = sum(stats.engine.shed.values())
    told = f"{elapsed_s:4.0f} s  rate ×{factor:<6.4g} {per_s:11,.0f} tuples/s  {alarms:5,} alarms"
    return told + (f"  {shed:,} shed" if shed else "")
