"""Metrics for Prometheus: those of every network, from the one declaration of them, and the server's own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from aurora.engine.latencies import Latencies
from aurora.engine.metrics import METRICS, Statistics
from aurora.engine.metrics import Metric as Declared
from aurora.errors import AuroraError
from aurora.server.host import Host

if TYPE_CHECKING:
    from aurora.server.counts import Counts

BOUNDS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
CONTENT_TYPE = CONTENT_TYPE_LATEST


def exposition(host: Host, counts: Counts) -> bytes:
    """Everything as it is now, as text that Prometheus reads."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(host, counts))
    return generate_latest(registry)


class _Collector:
    def __init__(self, host: Host, counts: Counts) -> None:
        self._host = host
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        readings: dict[str, Statistics] = {}
        up = GaugeMetricFamily("aurora_network_up", "1 if the network runs, 0 if not", labels=["network"])
        readers = GaugeMetricFamily("aurora_output_readers", "who reads the output live", labels=["network", "output"])
        dropped = CounterMetricFamily(
            "aurora_output_dropped",
            "tuples that readers were too slow for, or that nobody took",
            labels=["network", "output"],
        )
        let_go = CounterMetricFamily(
            "aurora_output_let_go", "readers let go because they were too slow", labels=["network", "output"]
        )
        for name in self._host.names():
            try:
                hosted = self._host.hosted(name)
                described = hosted.describe()
                up.add_metric([name], float(described["stage"] == "running"))
                for output, known in described["outputs"].items():
                    readers.add_metric([name, output], known["readers"])
                    dropped.add_metric([name, output], known["dropped"])
                    let_go.add_metric([name, output], known["let_go"])
                readings[name] = hosted.stats()
            except AuroraError:
                # It was removed meanwhile, or never started.
                continue
        yield from (up, readers, dropped, let_go)
        yield from _of_server(self._counts)
        yield from families(readings)


def _of_server(counts: Counts) -> Iterator[Metric]:
    answers = CounterMetricFamily("aurora_server_answers", "requests answered, by status", labels=["status"])
    for status, number in sorted(counts.answers.items()):
        answers.add_metric([str(status)], number)
    yield answers
    yield GaugeMetricFamily("aurora_server_sockets", "WebSockets open just now", value=counts.sockets)
    yield CounterMetricFamily("aurora_server_refused", "requests without a token that allows them", counts.refused)


def families(readings: dict[str, Statistics]) -> Iterator[Metric]:
    """One family for each declared metric: its name says of what it is, its unit and, of a counter, ``_total``."""
    samples: dict[tuple[str, str], list[tuple[list[str], float | Latencies]]] = {}
    for network, statistics in readings.items():
        for sample in statistics.samples():
            if sample.value is None or (isinstance(sample.value, float) and math.isnan(sample.value)):
                continue
            values = [network, *(sample.labels.get(label, "") for label in _labels(sample.metric))]
            samples.setdefault((sample.metric.of, sample.metric.name), []).append((values, sample.value))
    for metric in METRICS:
        yield _family(metric, samples.get((metric.of, metric.name), ()))


def _labels(metric: Declared) -> list[str]:
    return [*([] if metric.of == "engine" else [metric.of]), *metric.by]


def _family(metric: Declared, samples: Iterable[tuple[list[str], float | Latencies]]) -> Metric:
    name, labels = f"aurora_{metric.of}_{metric.name}", ["network", *_labels(metric)]
    said = f"{metric.unit}: {metric.meaning}"
    if metric.kind == "histogram":
        histogram = HistogramMetricFamily(name, said, labels=labels)
        for values, latencies in samples:
            assert isinstance(latencies, Latencies)
            counts = latencies.up_to(BOUNDS_S)
            buckets = [(str(bound), float(count)) for bound, count in zip(BOUNDS_S, counts, strict=True)]
            histogram.add_metric(values, [*buckets, ("+Inf", float(latencies.tuples))], latencies.sum_s)
        return histogram
    family: CounterMetricFamily | GaugeMetricFamily
    family = (CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily)(name, said, labels=labels)
    for values, value in samples:
        assert not isinstance(value, Latencies)
        family.add_metric(values, float(value))
    return family
