"""Figure 8: what longer trains save when tuples come in bursts."""

from __future__ import annotations

from aurora.scheduler.settings import SchedulerSettings
from aurora.scheduler.train_rules import TrainRule
from benchmarks.experiments.figure import Effort, Experiment, Finding, Measured, median
from benchmarks.experiments.harness import run
from benchmarks.experiments.plots import Axis, line_chart
from benchmarks.experiments.workload import constant, evenly, forest

BURSTS = (1, 2, 4)
SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
COST_S = 10e-6
RATE_PER_S = 500.0
DEPTH = 5


def measure(effort: Effort) -> Measured:
    workload = forest(1, DEPTH, 2, constant(COST_S))
    waits: dict[str, list[tuple[float, float]]] = {}
    work: dict[str, list[tuple[float, float]]] = {}
    for burst in BURSTS:
        name = f"bursts of {burst}"
        waits[name], work[name] = [], []
        arrivals = evenly(len(workload.streams), RATE_PER_S, effort.seconds(3.0), burst)
        for share in SHARES:
            effort.say(f"{name}, trains of {share:g} of the queue")
            rule = TrainRule(share=share, qos=False, overhead=1.0)
            settings = SchedulerSettings("round_robin", horizon=1, train=rule)
            runs = [run(workload, settings, arrivals) for _ in range(effort.repeats)]
            waits[name].append((share, median(one.latency_s - DEPTH * COST_S for one in runs) * 1e3))
            work[name].append((share, median(one.overhead_s / arrivals.total for one in runs) * 1e3))
    first, last = f"bursts of {BURSTS[0]}", f"bursts of {BURSTS[-1]}"
    flat = waits[first][-1][1] / waits[first][0][1]
    rise = waits[last][0][1] / waits[first][0][1]
    fall = waits[last][-1][1] / waits[last][0][1]
    left = waits[last][-1][1] / waits[first][-1][1]
    saved = work[last][-1][1] / work[last][0][1]
    note = "one tree of 31 boxes, round-robin BAAT, the same rate for all bursts"
    return Measured(
        {"wait_ms": waits, "work_ms": work},
        {
            "figure_08": line_chart(
                "Figure 8: overhead against train size",
                note,
                Axis("train size, as a share of the queue"),
                Axis("latency less processing, per tuple (ms)"),
                waits,
            ),
            "figure_08_work": line_chart(
                "Figure 8, in work of the processor",
                note,
                Axis("train size, as a share of the queue"),
                Axis("work beside processing, per tuple (ms)"),
                work,
            ),
        },
        (
            Finding(f"Without bursts train size has no effect ({flat:.2f} times from end to end).", 0.85 < flat < 1.15),
            Finding(
                f"With trains of 0.2 of the queue, bursts of {BURSTS[-1]} have {rise:.1f} times the overhead of "
                f"evenly spaced tuples; whole queues bring it down to {fall:.2f} of that, {left:.1f} times the "
                "overhead without bursts.",
                rise > 2 and fall < 0.8,
            ),
            Finding(
                f"In work of the processor, whole queues need {saved:.2f} of what trains of 0.2 need.", saved < 0.6
            ),
        ),
    )


EXPERIMENT = Experiment(
    "8",
    "Trains under bursts",
    "Without bursts, train size has no effect. With bursts of four and trains of 0.2 of the queue overhead is four "
    "times that without; it falls as trains grow, nearly to the level without bursts, but not quite.",
    "One application tree with fan-out 2 and depth 5 (31 boxes, 16 inputs), round-robin BAAT. Each input gets 1, 2 "
    "or 4 tuples at once, at the same mean rate. Overhead is the time a tuple spends in the system less its own "
    "processing; the second picture has what the processor spends beside processing, per input tuple.",
    "Inputs take turns, so that bursts of different inputs do not meet; the four tuples of a burst are then on "
    "average 2.5 tuples' time away from coming out, rather than 4. Boxes cost 10 µs per tuple, so that overhead is "
    "what one sees. Bursts stay above the even case at the right for the paper's reason: tuples wait for those "
    "before them in their train.",
    measure,
)
