"""Statistics of an engine at work: what is noted is what is read, by the one declaration of metrics."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aurora as au
from aurora.engine.latencies import Latencies
from aurora.engine.live_statistics import LiveStatistics, Queued
from aurora.engine.metrics import METRICS
from aurora.engine.statistics import InputStatistics, OutputStatistics, RunStatistics
from aurora.model.train import Train
from aurora.model.typed import Consumer, TypedNetwork
from aurora.processors.plan import BoxCost

SECOND = 1_000_000
QOS = au.QoS(
    latency=[("0s", 1), ("1s", 1), ("3s", 0)],
    loss=[(100, 1), (0, 0)],
    value={"on": "x", "graph": [(0, 0), (10, 1)]},
)


def typed() -> TypedNetwork:
    net = au.Network("n")
    clean = net.stream("s", x="int").filter("clean", "x > 0")
    routes = clean.filter("routes", routes={"small": "x < 10"}, otherwise="rest")
    net.output("small", routes["small"], qos=QOS)
    net.output("rest", routes["rest"])
    return au.Engine(net, processor="local").typecheck()


class Engine:
    """What an engine does with its statistics, in short."""

    def __init__(self) -> None:
        self.typed = typed()
        self.totals = RunStatistics(
            "local",
            100,
            {name: BoxCost() for name in self.typed.order},
            {"s": InputStatistics()},
            {name: OutputStatistics() for name in self.typed.outputs},
        )
        self.live = LiveStatistics(self.typed, self.totals, 0)
        self.number = {name: number for number, name in enumerate(self.typed.order)}

    def call(self, box: str, tuples_in: int, out: int | list[int], seconds: float, now_us: int) -> None:
        tuples_out = out if isinstance(out, int) else sum(out)
        self.totals.boxes[box].add(BoxCost(tuples_in, tuples_out, 1, seconds))
        self.live.note_call(self.number[box], tuples_in, out, seconds, now_us)

    def deliver(self, output: str, latencies_us: list[int], values: list[int | None], now_us: int) -> None:
        train = Train(pl.DataFrame({"x": pl.Series(values, dtype=pl.Int64)}), 0)
        for watcher in (self.totals, self.live):
            watcher.note_delivery(output, np.array(latencies_us, np.int64), len(values), train, now_us)


def busy() -> Engine:
    engine = Engine()
    engine.totals.inputs["s"].tuples = 20
    engine.live.note_arrival("s", 20, SECOND)
    engine.call("clean", 20, 10, 2e-3, SECOND)
    engine.call("routes", 10, [4, 6], 1e-3, SECOND)
    engine.deliver("small", [2 * SECOND, 0, 0, 0], [10, 10, 10, None], SECOND)
    engine.deliver("rest", [500], [50] * 6, SECOND)
    engine.live.note_overhead("scheduler", 0.02)
    engine.live.note_overhead("scheduler", 0.02)
    engine.live.note_overhead("storage", 0.01)
    engine.totals.wall_s = 2.0
    return engine


def test_everything_that_was_noted_is_read() -> None:
    engine = busy()
    queues = {
        Consumer("clean", 0): Queued(7, 700, SECOND // 2),
        Consumer("routes", 0): Queued(0),
    }
    read = engine.live.read(2 * SECOND, queues, memory_bytes=5, disk_bytes=6)
    clean, routes = read.boxes["clean"], read.boxes["routes"]
    assert (clean.tuples_in, clean.tuples_out, clean.calls, clean.cost_s) == (20, 10, 1, 2e-3)
    assert (clean.tuple_cost_s, clean.selectivity) == (1e-4, 0.5)
    assert (clean.recent_selectivity, routes.recent_selectivity) == (0.5, 1.0)
    assert clean.recent_overhead_s + 20 * clean.recent_tuple_cost_s == pytest.approx(2e-3)
    assert (clean.queue_tuples, clean.queue_bytes, clean.age_s) == (7, 700, 1.5)
    assert (routes.queue_tuples, routes.age_s) == (0, 0.0)
    assert {name: arc.tuples for name, arc in read.arcs.items()} == {
        "s": 20, "clean": 10, "routes.small": 4, "routes.rest": 6,
    }  # fmt: skip
    assert [arc.queue_tuples for arc in read.arcs.values()] == [7, 0, 0, 0]
    assert read.arcs["s"].rate_per_s == 10.0
    assert read.inputs["s"].recent_rate_per_s == read.arcs["s"].recent_rate_per_s > 0
    small, rest = read.outputs["small"], read.outputs["rest"]
    assert (small.tuples, small.mean_latency_s, small.recent_latency_s) == (4, 0.5, pytest.approx(0.5))
    assert small.utility["10s"].latency == pytest.approx((0.5 + 3) / 4)
    assert small.utility["10s"].value == 1.0
    assert small.utility["10s"].loss == 1.0
    assert rest.utility["run"].overall is None
    assert (rest.tuples, rest.latency_s.tuples, rest.mean_latency_s) == (6, 6, pytest.approx(500e-6))
    assert rest.recent_latency_s == pytest.approx(500e-6)
    assert read.engine.utility == small.utility["live"].overall
    scheduler, boxes = read.parts["scheduler"], read.parts["boxes"]
    assert (scheduler.calls, scheduler.seconds, scheduler.share) == (2, 0.04, 0.02)
    assert scheduler.recent_share == pytest.approx(4 * read.parts["storage"].recent_share)
    assert (boxes.calls, boxes.seconds) == (2, pytest.approx(3e-3))
    assert boxes.recent_share == pytest.approx(clean.recent_load + routes.recent_load)
    assert (read.engine.memory_bytes, read.engine.disk_bytes, read.wall_s) == (5, 6, 2.0)


def test_what_is_shed_is_lost_at_the_outputs_by_the_selectivities() -> None:
    engine = busy()
    engine.live.note_shed("s", "no room", 8)
    engine.live.note_shed("routes.small", "too much", 1)
    read = engine.live.read(SECOND)
    # Half of them would have come through the first box, two fifths of these to this port.
    assert read.outputs["small"].lost == pytest.approx(8 * 0.5 * 0.4 + 1)
    assert read.outputs["rest"].lost == pytest.approx(8 * 0.5 * 0.6)
    delivered = 100 * 4 / (4 + 2.6)
    assert read.outputs["small"].delivered == pytest.approx(delivered)
    assert read.outputs["small"].utility["1s"].loss == pytest.approx(delivered / 100)
    assert read.inputs["s"].shed == read.arcs["s"].shed == 8
    assert read.engine.shed == {"no room": 8, "too much": 1}


def test_shares_are_worked_out_anew_when_selectivities_have_had_time_to_change() -> None:
    engine = busy()
    engine.live.note_shed("s", "no room", 1)
    for call in range(200):
        engine.call("clean", 100, 0, 1e-3, SECOND + call * SECOND)
    engine.live.note_shed("s", "no room", 1_000_000)
    assert engine.live.read(300 * SECOND).outputs["rest"].lost < 10


def test_before_anything_happens_there_is_something_to_read() -> None:
    engine = Engine()
    read = engine.live.read(0).to_dict()
    assert read["boxes"]["clean"]["tuple_cost_s"] is None
    assert read["outputs"]["small"]["latency_s"] == {"p50": None, "p99": None}
    assert read["outputs"]["small"]["delivered"] == 100.0
    assert read["parts"]["scheduler"]["share"] == 0.0
    assert json.loads(json.dumps(read)) == read


def test_what_a_run_writes_is_part_of_what_is_read() -> None:
    engine = busy()
    read = engine.live.read(2 * SECOND).to_dict()

    def within(part: Any, whole: Any) -> bool:
        if isinstance(part, dict):
            return all(key in whole and within(value, whole[key]) for key, value in part.items())
        return bool(part == whole)

    assert within(engine.totals.to_dict(), read)
    assert json.loads(json.dumps(read)) == read


def test_every_metric_has_a_sample_and_every_sample_a_metric() -> None:
    engine = busy()
    engine.live.note_shed("s", "no room", 8)
    samples = list(engine.live.read(2 * SECOND).samples())
    assert {sample.metric for sample in samples} == set(METRICS)
    for metric, labels, value in samples:
        expected = ([] if metric.of == "engine" else [metric.of]) + list(metric.by)
        assert list(labels) == expected, metric.name
        assert isinstance(value, Latencies) is (metric.kind == "histogram"), metric.name
        assert value is None or isinstance(value, int | float | Latencies), metric.name
    by = {(s.metric.of, s.metric.name, *s.labels.values()): s.value for s in samples}
    assert by["output", "utility", "small", "10s", "value"] == 1.0
    assert by["engine", "shed", "no room"] == 8
    assert by["box", "calls", "routes"] == 1


def test_metrics_are_declared_as_people_will_read_them() -> None:
    names = [(metric.of, metric.name) for metric in METRICS]
    assert len(set(names)) == len(names)
    for metric in METRICS:
        assert metric.unit, metric
        assert metric.meaning[-1] != ".", metric
        if metric.name.endswith("_s"):
            assert metric.unit in ("s", "tuples/s"), metric
        if metric.name.endswith("_bytes"):
            assert metric.unit == "bytes", metric
    counted = set(asdict(BoxCost())) | set(asdict(InputStatistics()))
    assert {metric.name for metric in METRICS if metric.name in counted and metric.kind == "counter"} == counted


@given(st.lists(st.tuples(st.integers(0, 500_000), st.integers(0, 40), st.integers(0, 40)), max_size=20))
def test_counters_never_fall(calls: list[tuple[int, int, int]]) -> None:
    engine = Engine()
    counters = [metric for metric in METRICS if metric.kind == "counter"]
    now_us, before = 0, {}
    for passed_us, tuples_in, tuples_out in calls:
        now_us += passed_us
        engine.call("routes", tuples_in, [tuples_out, 0], 1e-5, now_us)
        engine.deliver("small", [5] * tuples_out, [1] * tuples_out, now_us)
        engine.live.note_shed("clean", "no room", tuples_in)
        engine.totals.wall_s += passed_us / 1e6
        read = {
            (s.metric, *s.labels.values()): s.value for s in engine.live.read(now_us).samples() if s.metric in counters
        }
        assert all(read[key] >= value for key, value in before.items())
        before = read


def test_if_tuples_of_several_ports_are_known_only_together_their_arcs_say_nothing() -> None:
    engine = Engine()
    engine.call("routes", 10, 10, 1e-3, SECOND)
    engine.call("clean", 10, 10, 1e-3, SECOND)
    read = engine.live.read(SECOND)
    assert [read.arcs[name].tuples for name in ("clean", "routes.small", "routes.rest")] == [10, 0, 0]
    assert read.boxes["routes"].recent_selectivity == 1.0


def test_a_run_that_goes_on_counts_its_own_overheads_over_its_own_time() -> None:
    engine = Engine()
    engine.totals.wall_s = 100.0
    engine.totals.inputs["s"].tuples = 1000
    live = LiveStatistics(engine.typed, engine.totals, 0)
    live.note_overhead("scheduler", 1.0)
    live.note_arrival("s", 50, 0)
    engine.totals.wall_s = 110.0
    engine.totals.inputs["s"].tuples += 50
    read = live.read(10 * SECOND)
    assert read.parts["scheduler"].share == 0.1
    assert read.arcs["s"].rate_per_s == 5.0
    assert read.inputs["s"].rate_per_s == 1050 / 110


@given(st.lists(st.tuples(st.integers(0, 3 * SECOND), st.integers(1, 9), st.integers(0, 5 * SECOND)), min_size=1))
def test_recent_rates_and_latencies_of_an_output_are_those_of_all_deliveries(
    deliveries: list[tuple[int, int, int]],
) -> None:
    engine = Engine()
    now_us, noted = 0, []
    for passed_us, tuples, latency_us in deliveries:
        now_us += passed_us
        engine.live.note_overhead("worker", tuples)
        engine.deliver("rest", [latency_us], [1] * tuples, now_us)
        noted.append((now_us, tuples, latency_us / 1e6))
    now_us += SECOND
    weights = [0.5 ** ((now_us - at_us) / SECOND / 2) for at_us, _, _ in noted]
    came = sum(w * tuples for w, (_, tuples, _) in zip(weights, noted, strict=True))
    waited_s = sum(w * tuples * latency_s for w, (_, tuples, latency_s) in zip(weights, noted, strict=True))
    read = engine.live.read(now_us).outputs["rest"]
    # What comes within a twentieth of a second counts as having come at once.
    assert read.recent_latency_s == pytest.approx(waited_s / came, rel=0.04, abs=1e-9)
    whole = 1 - 0.5 ** (now_us / SECOND / 2)
    assert read.recent_rate_per_s == pytest.approx(came * np.log(2) / 2 / whole, rel=0.03)
