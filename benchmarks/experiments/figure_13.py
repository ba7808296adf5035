"""Figure 13: what bucketing does to QoS."""

from __future__ import annotations

from benchmarks.experiments.bucketing import SLOPE_SLACK, sweep
from benchmarks.experiments.figure import Effort, Experiment, Finding, Measured
from benchmarks.experiments.plots import Axis, line_chart


def measure(effort: Effort) -> Measured:
    found = sweep(effort)
    best = max(found.utility, key=lambda partitions: found.utility[partitions])
    least, most = min(found.utility), max(found.utility)
    picture = line_chart(
        "Figure 13: bucketing and QoS",
        "200 chains of 5 boxes, one decision at a time; average QoS",
        Axis("partitions of utility and of slack", log=True),
        Axis("average QoS"),
        {"buckets": list(found.utility.items())},
        {SLOPE_SLACK: found.plain_utility, "round-robin": found.round_robin_utility},
    )
    return Measured(
        {"utility": found.utility, SLOPE_SLACK: found.plain_utility, "round_robin": found.round_robin_utility},
        {"figure_13": picture},
        (
            Finding(
                f"One bucket gives {found.utility[least]:.2f}, not far from round-robin's "
                f"{found.round_robin_utility:.2f}.",
                found.utility[least] < 0.9 * found.utility[best],
            ),
            Finding(
                f"At {best:g} partitions QoS is highest, {found.utility[best]:.3f}; slope-slack has "
                f"{found.plain_utility:.3f}.",
                found.utility[best] >= found.plain_utility and least < best < most,
            ),
            Finding(
                f"With many partitions it declines, to {found.utility[most]:.3f} at {most:g}.",
                found.utility[most] < 0.97 * found.utility[best],
            ),
        ),
    )


EXPERIMENT = Experiment(
    "13",
    "Bucketing and QoS",
    "With one bucket QoS is poor (0.427), since that is round-robin. It rises sharply with the number of "
    "partitions, to 0.85 at 20, 7% above the exact slope-slack method (0.796), because the scheduler costs less; "
    "then it declines, below slope-slack from 260 partitions on.",
    "200 chains of five boxes. Every application has its own QoS graph, good for up to 0.8 s and falling to nothing "
    "within 0.08 to 0.8 s. All get eight tuples at once, again and again, at 0.3 of ideal capacity; costs are 0.1 "
    "of the paper's. The scheduler is asked for one superbox at a time, and boxes take one tuple per call.",
    "The paper does not give the graphs or the load of this experiment; the ones used here were chosen such that the "
    "order in which applications are served matters. Where the scheduler costs nothing, 20 partitions decide as well "
    "as slope-slack; what differs here is what deciding costs.",
    measure,
)
