"""More comes than can be processed: what the answers are worth with our shedder, with others, and without any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from aurora.engine.flow import FIFO
from aurora.engine.workplace import ProcessorName
from aurora.shedding.observation import Mode
from benchmarks.experiments.figure import Effort, Experiment, Finding, Measured
from benchmarks.experiments.overload import GRACE_S, LEAD_S, Outcome, Utilities, capacity, run
from benchmarks.experiments.plots import Axis, line_chart

POLICIES: Mapping[Mode, str] = {
    "auto": "by value and loss graphs",
    "random": "by loss graphs",
    "uniform": "the same share at the input",
    "off": "no shedding",
}
OURS: tuple[Mode, ...] = ("auto", "random")
LOADS: Mapping[ProcessorName, tuple[float, ...]] = {"local": (0.5, 1.0, 2.0, 4.0), "spark": (0.5, 2.0, 4.0)}
SCHEDULERS: Mapping[ProcessorName, str | None] = {"local": "round_robin", "spark": FIFO}
"""Those that know nothing of QoS, so that it is the shedder that is judged."""
SETTLE_S = 2 * GRACE_S
"""What comes of a change of load is seen in the burst; here things have settled: without shedding, at twice the
capacity, it takes so long until what comes is as late as counts at all."""
MEASURED_S = 8.0
OVER_UNIFORM, OVER_NONE = 1.5, 5.0
BACK_S = 5.0
TOLERANCE = 0.02
"""Runs differ by so much by themselves."""
_NOTHING = 100.0
"""From here on what it is compared with is as good as nothing, and the ratio says no more."""
_BURST = ((4.0, 0.5), (3.0, 3.0), (9.0, 0.5))
_BURSTS = 3
GOAL_LOAD = 2.0
_ROUNDS = 3
"""So many bursts, and so many runs of every policy in turn at the load that the goals are about. The middle one counts:
now and then a machine that is shared is so slow that not even half the load fits."""
_SECOND_US = 1_000_000


def measure(processor: ProcessorName, effort: Effort) -> Measured:
    effort.say("how much can be processed")
    per_s = capacity(processor, SCHEDULERS[processor])
    effort.say(f"capacity: {per_s:,.0f} tuples/s")
    found: dict[Mode, dict[float, Utilities]] = {mode: {} for mode in POLICIES}
    totals: dict[Mode, list[float]] = {}
    for load in LOADS[processor]:
        effort.say(f"{load:g} times the capacity")
        rates = [(LEAD_S, 0.5 * per_s), (SETTLE_S, load * per_s), (effort.seconds(MEASURED_S), load * per_s)]
        runs: dict[Mode, list[Utilities]] = {mode: [] for mode in POLICIES}
        for _ in range(_ROUNDS if load == GOAL_LOAD else 1):
            for mode, some in runs.items():
                outcome, (_, _, start_us, stop_us) = run(processor, mode, rates, effort.say, SCHEDULERS[processor])
                some.append(outcome.utilities(start_us, stop_us))
        for mode, some in runs.items():
            found[mode][load] = sorted(some, key=lambda one: one.total)[len(some) // 2]
        if load == GOAL_LOAD:
            totals = {mode: [one.total for one in some] for mode, some in runs.items()}
    effort.say("bursts")
    rates = [(seconds, load * per_s) for seconds, load in _BURST]
    bursts = [_after_burst(*run(processor, "auto", rates, effort.say, SCHEDULERS[processor])) for _ in range(_BURSTS)]
    share, back_s = sorted(bursts, key=lambda burst: burst[1])[_BURSTS // 2]
    told = {"delivered": share, "full_again_s": back_s, "all_s": [back_s for _, back_s in bursts]}
    return Measured(
        {"capacity_per_s": per_s, "utilities": _plain(found), "totals_at_goal": totals, "burst": told},
        _pictures(processor, found, share),
        _findings(found, back_s),
    )


def _after_burst(outcome: Outcome, marks: Sequence[int]) -> tuple[list[tuple[float, float]], float]:
    """The least share that any output got of what was sent in each half second, and when that was all again."""
    half = _SECOND_US // 2
    share = [
        ((at - marks[0]) / _SECOND_US, _least(outcome.utilities(at, at + half)))
        for at in range(marks[0] + half, marks[-1] - half, half)
    ]
    end_s = (marks[2] - marks[0]) / _SECOND_US
    lacking = [at + 0.5 for at, least in share if least < 99.0 and at >= end_s]
    return share, max(lacking, default=end_s) - end_s


def _least(found: Utilities) -> float:
    """Windows do not end with the half seconds, so they are left out."""
    return min(share for name, share in found.delivered.items() if name != "trends")


def _findings(found: Mapping[Mode, Mapping[float, Utilities]], back_s: float) -> tuple[Finding, ...]:
    loads = list(found["auto"])
    at_two = GOAL_LOAD
    total = {mode: {load: some.total for load, some in by_load.items()} for mode, by_load in found.items()}
    findings = []
    for mode in OURS:
        over_uniform = total[mode][at_two] / max(total["uniform"][at_two], 1e-9)
        over_none = total[mode][at_two] / max(total["off"][at_two], 1e-9)
        name = POLICIES[mode]
        times_none = f"{over_none:.1f} times" if over_none < _NOTHING else "far more than a hundred times"
        findings += [
            Finding(
                f"At {at_two:g} times the capacity, {name}: {over_uniform:.1f} times the utility of dropping the same "
                f"share at the input (goal {OVER_UNIFORM:g}).",
                over_uniform >= OVER_UNIFORM,
            ),
            Finding(
                f"At {at_two:g} times the capacity, {name}: {times_none} the utility of no shedding "
                f"(goal {OVER_NONE:g}).",
                over_none >= OVER_NONE,
            ),
        ]
    worst = min(total[mode][load] / max(total["uniform"][load], 1e-9) for mode in OURS for load in loads)
    findings += [
        Finding(
            f"Over all loads, the least is {worst:.2f} times the utility of dropping the same share at the input.",
            worst >= 1 - TOLERANCE,
        ),
        Finding(
            f"After a burst of three times the capacity everything is delivered again within {back_s:.1f} s, in the "
            f"median of {_BURSTS} (goal {BACK_S:g}).",
            back_s <= BACK_S,
        ),
        Finding(
            "The output that forbids loss lost nothing: "
            + ", ".join(f"{found['auto'][load].delivered['alarms']:.1f}% at {load:g}" for load in loads)
            + ".",
            all(found["auto"][load].delivered["alarms"] > 99.5 for load in loads),
        ),
    ]
    return tuple(findings)


def _pictures(
    processor: ProcessorName, found: Mapping[Mode, Mapping[float, Utilities]], share: Sequence[tuple[float, float]]
) -> dict[str, str]:
    where = "on Spark" if processor == "spark" else "on the local processor"
    totals = {POLICIES[mode]: [(load, some.total) for load, some in by.items()] for mode, by in found.items()}
    of_ours = {
        name: [(load, some.utility[name]) for load, some in found["auto"].items()]
        for name in next(iter(found["auto"].values())).utility
    }
    x = Axis("load, as a multiple of the capacity")
    return {
        f"shedding_{processor}": line_chart(
            f"Utility under overload, {where}", "five outputs with different graphs", x, Axis("total utility"), totals
        ),
        f"shedding_{processor}_outputs": line_chart(
            f"What each output keeps, {where}", "by value and loss graphs", x, Axis("utility"), of_ours
        ),
        f"shedding_{processor}_burst": line_chart(
            f"A burst, {where}",
            "three times the capacity from second 4 to 7",
            Axis("time (s)"),
            Axis("delivered, the output that gets least (%)"),
            {"delivered": share},
        ),
    }


def _plain(found: Mapping[Mode, Mapping[float, Utilities]]) -> dict[str, Any]:
    return {
        mode: {
            str(load): {"total": some.total, "utility": dict(some.utility), "delivered": dict(some.delivered)}
            for load, some in by_load.items()
        }
        for mode, by_load in found.items()
    }


def _experiment(key: str, processor: ProcessorName, where: str) -> Experiment:
    return Experiment(
        key,
        f"Load shedding {where}",
        "When more comes than can be processed, dropping by the outputs' QoS graphs keeps more of what answers are "
        "worth than dropping at random at the input, and far more than dropping nothing.",
        "A stream feeds five outputs: alarms, which must be complete; scores, which are dear to compute and of which "
        "a fifth is nearly as good as all; a log for audit, which loses its worth quickly; prices, of which only the "
        "high ones matter; and means over windows. The boxes really keep a core busy. Boxes are run in turn, on Spark "
        "all on every train: the QoS scheduler, left alone with an overload, would keep all other outputs on time at "
        "the cost of the scores. The capacity is measured first. "
        f"Then tuples come by a timetable: {LEAD_S:g} s at half the capacity, {SETTLE_S:g} s at the load to settle, "
        f"and {MEASURED_S:g} s that are measured. At {GOAL_LOAD:g} times the capacity every policy is run "
        f"{_ROUNDS} times in turn, and the run with the middle utility is shown. "
        "Utility is found at the sinks from when each tuple was sent: by delay, by the share that came within "
        f"{GRACE_S:g} s, and by value, multiplied, and added up over the outputs. A mean over a window counts as "
        "delivered even where the policy has thinned its tuples.",
        "",
        partial(measure, processor),
        apart=True,
    )


LOCAL = _experiment("shedding", "local", "on the local processor")
ON_SPARK = _experiment("shedding-spark", "spark", "on Spark")
