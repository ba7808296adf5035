"""Every metric, declared once: what is read by ``stats()``, written by ``--stats`` and shown anywhere else.

The classes below are the declaration. Each stands for what is known of one thing (a box, an arc, ...) at one time, and
each field is a metric: its name, type, unit and meaning, and whether it only ever grows. ``METRICS`` lists them.
*Recent* values are smoothed and forget with a half-life of two seconds; the others count since the run began.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

from aurora.engine.latencies import Latencies
from aurora.qos.monitor import Utility

Kind = Literal["counter", "gauge", "histogram"]
Of = Literal["engine", "part", "input", "box", "arc", "output", "drop"]


@dataclass(frozen=True)
class Metric:
    """``of`` is the sort of thing that has it. A counter only grows; a gauge goes up and down.

    A metric with ``by`` has a value for each of these, such as each reason: a mapping, or mappings in a mapping.
    """

    of: Of
    name: str
    kind: Kind
    unit: str
    meaning: str
    by: tuple[str, ...] = ()


class _Declared(NamedTuple):
    kind: Kind
    unit: str
    meaning: str
    by: tuple[str, ...] = ()


def _counter(unit: str, meaning: str, *by: str) -> _Declared:
    return _Declared("counter", unit, meaning, by)


def _gauge(unit: str, meaning: str, *by: str) -> _Declared:
    return _Declared("gauge", unit, meaning, by)


def _histogram(unit: str, meaning: str) -> _Declared:
    return _Declared("histogram", unit, meaning)


@dataclass(frozen=True)
class _Reading:
    def to_dict(self) -> dict[str, Any]:
        """Plain values by metric."""
        return {part.name: _plain(getattr(self, part.name)) for part in fields(self)}


@dataclass(frozen=True)
class InputReading(_Reading):
    tuples: Annotated[int, _counter("tuples", "taken from the source")]
    rejected: Annotated[int, _counter("tuples", "lines or tuples that did not fit the schema")]
    shed: Annotated[
        int, _counter("tuples", "dropped on entry, because the storage budget was reached or by the load shedder")
    ]
    rate_per_s: Annotated[float, _gauge("tuples/s", "taken, since the run began")]
    recent_rate_per_s: Annotated[float, _gauge("tuples/s", "taken, recently")]


@dataclass(frozen=True)
class BoxReading(_Reading):
    tuples_in: Annotated[int, _counter("tuples", "taken from its queues")]
    tuples_out: Annotated[int, _counter("tuples", "put on its arcs")]
    calls: Annotated[int, _counter("calls", "how often it was run")]
    cost_s: Annotated[float, _counter("s", "time that its calls took")]
    late: Annotated[int, _counter("tuples", "discarded because they were out of order")]
    rejected: Annotated[int, _counter("tuples", "on which a function of the operator's failed")]
    nulled: Annotated[int, _counter("values", "that became NULL because of a division by zero or an overflow")]
    shed: Annotated[int, _counter("tuples", "dropped at its entrance because only windows need them that are left out")]
    estimated: Annotated[int, _counter("windows", "whose counts and sums are estimates from a sample of the tuples")]
    error: Annotated[float, _counter("share", "the sum of the relative standard errors of these windows")]
    tuple_cost_s: Annotated[
        float | None, _gauge("s", "c(b): time per tuple taken, calls included, since the run began")
    ]
    selectivity: Annotated[
        float | None, _gauge("tuples", "s(b): tuples that came out for one taken, since the run began")
    ]
    recent_tuple_cost_s: Annotated[
        float, _gauge("s", "c(b): time per tuple taken, without what a call costs, recently")
    ]
    recent_overhead_s: Annotated[float, _gauge("s", "what a call costs whatever it takes, recently")]
    recent_selectivity: Annotated[float, _gauge("tuples", "s(b): tuples that came out for one taken, recently")]
    recent_load: Annotated[float, _gauge("share", "seconds of work per second, recently; 1 is one worker kept busy")]
    queue_tuples: Annotated[int, _gauge("tuples", "waiting on its queues")]
    queue_bytes: Annotated[int, _gauge("bytes", "that the waiting tuples take")]
    age_s: Annotated[float, _gauge("s", "since the oldest of the waiting tuples arrived; 0 if none waits")]


@dataclass(frozen=True)
class ArcReading(_Reading):
    tuples: Annotated[int, _counter("tuples", "that were put on it")]
    shed: Annotated[int, _counter("tuples", "dropped from it")]
    rate_per_s: Annotated[float, _gauge("tuples/s", "put on it, since the run began")]
    recent_rate_per_s: Annotated[float, _gauge("tuples/s", "put on it, recently")]
    queue_tuples: Annotated[int, _gauge("tuples", "waiting on it for the box that is furthest behind")]


@dataclass(frozen=True)
class OutputReading(_Reading):
    tuples: Annotated[int, _counter("tuples", "delivered")]
    latency_s: Annotated[Latencies, _histogram("s", "from arrival to delivery: median and 99th percentile, to 1%")]
    mean_latency_s: Annotated[float | None, _gauge("s", "from arrival to delivery, the mean since the run began")]
    recent_latency_s: Annotated[float | None, _gauge("s", "from arrival to delivery, the mean recently")]
    rate_per_s: Annotated[float, _gauge("tuples/s", "delivered, since the run began")]
    recent_rate_per_s: Annotated[float, _gauge("tuples/s", "delivered, recently")]
    lost: Annotated[
        float, _counter("tuples", "that would have come, by the selectivities, of those that were shed on the way")
    ]
    delivered: Annotated[float, _gauge("%", "delivered of all that would have come, since the run began")]
    error: Annotated[
        float | None,
        _gauge("share", "the mean relative standard error of estimated windows that it is made of; NULL if none is"),
    ]
    utility: Annotated[
        Mapping[str, Utility],
        _gauge(
            "0 to 1",
            "measured by each graph, and overall, which is their product: live, which is smoothed, over the last 1, 10 "
            "and 60 seconds, and over the whole run; NULL where there is no graph, or nothing came",
            "window",
            "graph",
        ),
    ]

    @property
    def latencies(self) -> Latencies:
        return self.latency_s


@dataclass(frozen=True)
class DropReading(_Reading):
    """Of a place where tuples are dropped or have been, and a reason: ``ARC: REASON`` or ``ARC before BOX: REASON``."""

    shed: Annotated[int, _counter("tuples", "dropped there for that reason")]
    in_force: Annotated[int, _gauge("0 or 1", "whether it is being dropped there just now by the load shedder")]
    keep: Annotated[
        float | None, _gauge("share", "of the tuples that stays just now; NULL where a condition says which do")
    ]


@dataclass(frozen=True)
class PartReading(_Reading):
    """Of a part of the run-time: ``boxes`` for their own work, and beside it ``scheduler``, ``storage``, ``worker`` and
    ``drops``."""

    calls: Annotated[int, _counter("calls", "how often it was at work")]
    seconds: Annotated[float, _counter("s", "how long it was at work")]
    share: Annotated[float, _gauge("share", "of the time since the run began; 1 is one worker kept busy")]
    recent_share: Annotated[float, _gauge("share", "of the time recently")]


@dataclass(frozen=True)
class EngineReading(_Reading):
    wall_s: Annotated[float, _counter("s", "that the run has taken")]
    recent_load: Annotated[float, _gauge("share", "seconds of work of all boxes per second, recently")]
    capacity: Annotated[float, _gauge("share", "the load that the workers can carry for long: their number x headroom")]
    memory_bytes: Annotated[int, _gauge("bytes", "that queues take in memory")]
    disk_bytes: Annotated[int, _gauge("bytes", "that queues take on disk")]
    utility: Annotated[float | None, _gauge("0 to 1", "the mean of the outputs' live overall utilities")]
    shed: Annotated[Mapping[str, int], _counter("tuples", "dropped anywhere, by reason", "reason")]


_CLASSES: Mapping[Of, type[_Reading]] = {
    "engine": EngineReading,
    "part": PartReading,
    "input": InputReading,
    "box": BoxReading,
    "arc": ArcReading,
    "output": OutputReading,
    "drop": DropReading,
}


def _declared() -> Iterator[Metric]:
    for of, reading in _CLASSES.items():
        for name, annotated in get_type_hints(reading, include_extras=True).items():
            (declared,) = annotated.__metadata__
            yield Metric(of, name, *declared)


METRICS: tuple[Metric, ...] = tuple(_declared())


class Sample(NamedTuple):
    """A single value. ``labels`` say of what: the name of a thing under ``box``, ``output`` ..., and what it is by."""

    metric: Metric
    labels: Mapping[str, str]
    value: float | Latencies | None


@dataclass(frozen=True)
class Statistics:
    """Everything that is known of a run at one time; plain values with ``to_dict``."""

    processor: str
    train: int
    engine: EngineReading
    parts: Mapping[str, PartReading]
    inputs: Mapping[str, InputReading]
    boxes: Mapping[str, BoxReading]
    arcs: Mapping[str, ArcReading]
    outputs: Mapping[str, OutputReading]
    drops: Mapping[str, DropReading] = field(default_factory=dict)

    @property
    def wall_s(self) -> float:
        return self.engine.wall_s

    def samples(self) -> Iterator[Sample]:
        """Every value of every metric, one by one, in the order of the declaration."""
        groups: Mapping[Of, Mapping[str, _Reading]] = {
            "engine": {"": self.engine},
            "part": self.parts,
            "input": self.inputs,
            "box": self.boxes,
            "arc": self.arcs,
            "output": self.outputs,
            "drop": self.drops,
        }
        for metric in METRICS:
            for name, reading in groups[metric.of].items():
                labels: dict[str, str] = {metric.of: name} if name else {}
                yield from _samples(metric, labels, metric.by, getattr(reading, metric.name))

    def to_dict(self) -> dict[str, Any]:
        """What ``--stats`` writes as JSON."""
        return {
            "processor": self.processor,
            "train": self.train,
            "wall_s": self.wall_s,
            "inputs": _plain(self.inputs),
            "boxes": _plain(self.boxes),
            "arcs": _plain(self.arcs),
            "outputs": _plain(self.outputs),
            "drops": _plain(self.drops),
            "parts": _plain(self.parts),
            "engine": _plain(self.engine),
        }


def _samples(metric: Metric, labels: Mapping[str, str], by: tuple[str, ...], value: Any) -> Iterator[Sample]:
    if not by:
        yield Sample(metric, labels, value)
        return
    entries: Mapping[str, Any] = value.to_dict() if isinstance(value, Utility) else value
    for key, entry in entries.items():
        yield from _samples(metric, {**labels, by[0]: key}, by[1:], entry)


def _plain(value: Any) -> Any:
    if isinstance(value, Latencies):
        return {"p50": value.quantile(0.5), "p99": value.quantile(0.99)}
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    return value.to_dict() if isinstance(value, _Reading | Utility) else value
