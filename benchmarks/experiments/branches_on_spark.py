"""QoS scheduling where boxes run in steps on Spark: an urgent branch beside one that takes long and can wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.engine.engine import Engine
from aurora.engine.flow import FIFO
from aurora.model import loads
from aurora.model.network import Network
from benchmarks.experiments.figure import Effort, Experiment, Finding, Measured
from benchmarks.experiments.overload import Feed, register_work
from benchmarks.experiments.plots import Axis, line_chart

NETWORK = """
aurora: 1
network: urgent
streams: {readings: {schema: {sensor: int, level: double, sent: int}}}
boxes:
  hot: {kind: filter, in: readings, where: level > 95}
  scored: {kind: map, in: readings, compute: {sent: sent, level: 'work(level, 200)'}}
outputs:
  alarms: {from: hot, qos: {latency: [[0s, 1], [100ms, 1], [500ms, 0]]}}
  scores: {from: scored, qos: {latency: [[0s, 1], [5s, 1], [10s, 0]]}}
"""
POLICIES: Mapping[str, str] = {"qos": "by QoS", FIFO: "all at once"}
"""The second runs all boxes on every train."""
LOADS = (0.5, 0.8, 0.95, 1.1)
LEAD_S, SETTLE_S, MEASURED_S, GRACE_S = 2.0, 2.0, 8.0, 4.0
_SAMPLE, _SAMPLES, _TRIES = 1_000, 20, 3
_GOAL = 3.0
"""How much sooner alarms come near capacity, at least."""


@dataclass(frozen=True)
class Outcome:
    """Of one output: the latencies of what came, in seconds, and the mean utility of what was sent."""

    p50_s: float
    p99_s: float
    utility: float


def _network() -> Network:
    register_work()
    return loads(NETWORK)


def _engine(scheduler: str) -> Engine:
    return Engine(
        _network(), processor="spark", master="local[2]", scheduler=scheduler, shedding="off", say=lambda line: None
    )


def capacity() -> float:
    """Tuples per second that get done when all of them are there; the best of some tries."""
    chance = np.random.default_rng(1)
    best = 0.0
    with _engine(FIFO) as engine:
        for _ in range(_TRIES):
            batch = pl.DataFrame(
                {"sensor": [0] * _SAMPLE, "level": chance.uniform(0, 100, _SAMPLE), "sent": [0] * _SAMPLE}
            )
            engine.enqueue("readings", batch)
            engine.drain()
            began_s = time.perf_counter()
            for _ in range(_SAMPLES):
                engine.enqueue("readings", batch)
            engine.drain()
            best = max(best, _SAMPLES * _SAMPLE / (time.perf_counter() - began_s))
    return best


Came = list[tuple[int, npt.NDArray[np.int64]]]


def _note(came: Came, train: pl.DataFrame) -> None:
    came.append((time.time_ns() // 1_000, train.get_column("sent").to_numpy()))


def run(scheduler: str, per_s: float, seconds: float) -> dict[str, Outcome]:
    """What came of the tuples that were sent while it was measured."""
    network = _network()
    came: dict[str, Came] = {name: [] for name in network.outputs}
    with _engine(scheduler) as engine:
        for name, trains in came.items():
            engine.subscribe(name, partial(_note, trains))
        feed = Feed(engine, [(LEAD_S, per_s / 2), (SETTLE_S + seconds, per_s)])
        began_us = time.time_ns() // 1_000
        thread = threading.Thread(target=feed.run)
        thread.start()
        thread.join()
        if feed.error is not None:
            raise feed.error
        time.sleep(GRACE_S)
        engine.shutdown(drain=False)
    since_us = began_us + round(1e6 * (LEAD_S + SETTLE_S))
    sent = pl.concat(feed.sent).filter(pl.col("sent") >= since_us)
    expected = {"alarms": sent.filter(pl.col("level") > 95).height, "scores": sent.height}
    found = {}
    for name, trains in came.items():
        late_s = np.concatenate([(now_us - sent[sent >= since_us]) / 1e6 for now_us, sent in trains])
        qos = network.outputs[name].qos
        assert qos is not None
        assert qos.latency is not None
        worth = sum(map(qos.latency.utility, late_s.tolist())) / max(expected[name], 1)
        p50, p99 = (float(np.quantile(late_s, q)) if len(late_s) else float("inf") for q in (0.5, 0.99))
        found[name] = Outcome(p50, p99, worth)
    return found


def measure(effort: Effort) -> Measured:
    effort.say("how much can be processed")
    per_s = capacity()
    effort.say(f"capacity: {per_s:,.0f} tuples/s")
    found: dict[str, dict[float, dict[str, Outcome]]] = {policy: {} for policy in POLICIES}
    for load in effort.some(LOADS):
        for policy, name in POLICIES.items():
            effort.say(f"{load:g} of the capacity, {name}")
            found[policy][load] = run(policy, load * per_s, effort.seconds(MEASURED_S))
    loads = list(found["qos"])
    near = 0.95 if 0.95 in loads else max(loads)
    ours, whole = found["qos"][near], found[FIFO][near]
    sooner = whole["alarms"].p99_s / ours["alarms"].p99_s
    mean = {policy: {load: _mean_utility(some) for load, some in by.items()} for policy, by in found.items()}
    most = max(loads)
    return Measured(
        {
            "capacity_per_s": per_s,
            "outputs": {
                policy: {str(load): {name: vars(one) for name, one in some.items()} for load, some in by.items()}
                for policy, by in found.items()
            },
        },
        pictures(found),
        (
            Finding(
                f"At {near:g} of the capacity 99% of alarms come within {1e3 * ours['alarms'].p99_s:.0f} ms; where all "
                f"boxes run on every train, within {1e3 * whole['alarms'].p99_s:.0f} ms ({sooner:.1f} times as long).",
                sooner >= _GOAL,
            ),
            Finding(
                f"At {most:g} of the capacity the mean utility is {mean['qos'][most]:.2f}, and {mean[FIFO][most]:.2f} "
                "where all boxes run on every train.",
                mean["qos"][most] > mean[FIFO][most],
            ),
        ),
    )


def pictures(found: Mapping[str, Mapping[float, Mapping[str, Outcome]]]) -> dict[str, str]:
    late = {
        f"{output}, {POLICIES[policy]}": [(load, 1e3 * some[output].p99_s) for load, some in by.items()]
        for policy, by in found.items()
        for output in ("alarms", "scores")
    }
    worth = {
        POLICIES[policy]: [(load, _mean_utility(some)) for load, some in by.items()] for policy, by in found.items()
    }
    x = Axis("load, as a share of the capacity")
    note = "alarms are urgent, scores are dear and can wait"
    return {
        "spark_branches": line_chart("Branches on Spark: latency", note, x, Axis("p99 (ms)", log=True), late),
        "spark_branches_utility": line_chart(
            "Branches on Spark: utility", note, x, Axis("mean utility by latency"), worth
        ),
    }


def _mean_utility(some: Mapping[str, Outcome]) -> float:
    return sum(one.utility for one in some.values()) / len(some)


EXPERIMENT = Experiment(
    "spark-qos",
    "QoS scheduling on Spark",
    "Not in the paper: where a step is too dear for single boxes, a scheduler can still choose among branches of the "
    "network, and so keep urgent answers on time beside dear ones that can wait.",
    "A stream feeds two outputs on Spark inside the process: alarms, which a filter makes and which are late after "
    "100 ms, and scores, which keep a core busy for 200 µs each and may take 5 s. Nothing is shed. The capacity is "
    "measured first; then tuples come by a timetable, and latencies count from when each was sent. On the wall clock.",
    "Near the capacity scores come later by QoS: that is the price, and by their graph it is none.",
    measure,
)
