"""Figure 14: what bucketing costs."""

from __future__ import annotations

from benchmarks.experiments.bucketing import SLOPE_SLACK, sweep
from benchmarks.experiments.figure import Effort, Experiment, Finding, Measured
from benchmarks.experiments.plots import Axis, line_chart


def measure(effort: Effort) -> Measured:
    found = sweep(effort)
    most = max(found.overhead)
    moderate = [overhead for partitions, overhead in found.overhead.items() if 5 <= partitions <= 30]
    picture = line_chart(
        "Figure 14: bucketing overheads",
        "200 chains of 5 boxes, one decision at a time; the scheduler's share of the busy time",
        Axis("partitions of utility and of slack", log=True),
        Axis("scheduler overhead (%)"),
        {"buckets": list(found.overhead.items())},
        {SLOPE_SLACK: found.plain_overhead},
    )
    return Measured(
        {"overhead_percent": found.overhead, SLOPE_SLACK: found.plain_overhead},
        {"figure_14": picture},
        (
            Finding(
                f"With 5 to 30 partitions the scheduler takes {min(moderate):.1f} to {max(moderate):.1f}% of the "
                f"busy time, slope-slack {found.plain_overhead:.1f}%.",
                max(moderate) < found.plain_overhead,
            ),
            Finding(
                f"With {most:g} partitions it takes {found.overhead[most]:.1f}%.",
                found.overhead[most] > 1.2 * max(moderate),
            ),
        ),
    )


EXPERIMENT = Experiment(
    "14",
    "Bucketing overheads",
    "Up to a moderate number of partitions, about 30, scheduler overhead is low and nearly constant; beyond that it "
    "grows, as keeping a very large number of buckets in order becomes the work.",
    "The runs of figure 13.",
    "The overhead grows for the paper's reason: while they wait, boxes pass through more buckets, and each passage is "
    "work. Slope-slack ranks all 200 waiting boxes in a few array operations, so it is not as far behind as the "
    "paper's, which needed a computation and a sort step for each.",
    measure,
)
