"""The page of metrics: every one that is declared, with its unit and its meaning."""

from __future__ import annotations

from aurora.engine.metrics import METRICS, Of
from docs.sources.tables import notice, table

OPEN = """\
# Metrics

What is measured of a running network. `Engine.stats()` gives all of it; `aurora run --stats` writes what it counted
at the end of a run. The names are those of the attributes, and of the keys in JSON.

A *counter* only grows, a *gauge* goes up and down, a *histogram* counts by size. What is called *recent* is smoothed:
what was noted two seconds ago counts half of what is noted now. Everything else is over the whole run. Each box is
known by its last ten calls at least, however seldom it is called. Of a train with more than 1,024 tuples at most that
many, spread evenly over it, stand for all of them in latencies and utilities.
"""
HEADINGS: dict[Of, str] = {
    "engine": "The engine",
    "part": "Parts of the run-time",
    "input": "Inputs",
    "box": "Boxes",
    "arc": "Arcs",
    "output": "Outputs",
    "drop": "Drops",
}
NOTES: dict[Of, str] = {
    "part": """\
`boxes` is the work of the boxes. What is beside it is overhead: `scheduler` for deciding what to run next, `storage`
for queues, in memory and on disk, `drops` for dropping tuples in an overload, `worker` for whatever else a worker does
from one superbox to the next.""",
    "box": """\
A call with n tuples takes about `recent_overhead_s` + n · `recent_tuple_cost_s`: the straight line through the box's
last calls. While all its trains are of one length, the overhead is taken to be that of most boxes.""",
    "output": """\
The overall utility is the product of those by latency, loss and value, as far as the output has such graphs: each says
which part of its worth is left. Utility by value is the mean over the tuples delivered, so it says how much the values
produced matter, not only how well the engine does.""",
    "drop": """\
One for each place and reason for which tuples are dropped or have been, such as `ticks before heavy: random`. Reasons
are `no room` (the storage budget was reached), and of the load shedder `random`, `semantic` (by value) and `windows`
(an aggregate leaves out whole windows).""",
}


def page() -> str:
    lines = [notice("src/aurora/engine/metrics.py", "docs/sources/metric_page.py"), "", OPEN]
    for of, heading in HEADINGS.items():
        lines += [f"## {heading}", ""]
        if of in NOTES:
            lines += [NOTES[of], ""]
        rows = [
            (f"`{metric.name}`", metric.kind, metric.unit, _meaning(metric.meaning, metric.by))
            for metric in METRICS
            if metric.of == of
        ]
        lines += [*table(("name", "kind", "unit", "meaning"), rows), ""]
    return "\n".join(lines)


def _meaning(meaning: str, by: tuple[str, ...]) -> str:
    return f"{meaning} (one for each {' and '.join(by)})" if by else meaning
