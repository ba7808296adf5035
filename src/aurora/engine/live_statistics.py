"""Statistics of an engine at work: what it does lately, and how well; with what was counted, all there is to read.

Notes come often, after every call of a box and every delivery, so they do no more than a few additions; what can be
worked out later is worked out by ``read``. They are called with the engine's lock held, or those of one output by one
thread at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np

from aurora.engine.box_costs import USUAL_OVERHEAD_S, BoxCosts, Floats
from aurora.engine.latencies import Latencies
from aurora.engine.metrics import (
    ArcReading,
    BoxReading,
    DropReading,
    EngineReading,
    InputReading,
    OutputReading,
    PartReading,
    Statistics,
)
from aurora.engine.samples import Arrangement, InputSample, OutputSample, Sample
from aurora.engine.statistics import RunStatistics
from aurora.model.train import Ints, Train
from aurora.model.typed import Consumer, Producer, TypedNetwork
from aurora.qos.inner import Flow
from aurora.qos.monitor import QoSMonitor
from aurora.qos.smoothing import HALF_LIFE_S, RESOLUTION_US, Rate
from aurora.shedding.places import Place

_SHARES_US = 100_000

Part = Literal["scheduler", "storage", "worker", "drops"]


class Queued(NamedTuple):
    """What waits for a box at one of its inputs. ``oldest_us`` is the earliest arrival time, None if nothing waits."""

    tuples: int
    bytes: int = 0
    oldest_us: float | None = None


class Delivered(NamedTuple):
    """Tuples that an output has delivered, the sum of their latencies, and the latency of the newest."""

    tuples: int
    sum_s: float
    newest_s: float


class LiveStatistics:
    """Beside ``totals``, where calls and tuples are counted, and which this does not change. The totals may be those of
    earlier runs as well; arcs and overheads are known of this one only.

    ``cost_s`` per tuple, ``overhead_s`` per call and ``selectivity`` are what a scheduler needs: arrays by box number,
    a box's number being its place in ``typed.order``, that change in place. ``usual_overhead_s`` is what a call costs
    with this processor as long as nothing better is known.
    """

    def __init__(
        self,
        typed: TypedNetwork,
        totals: RunStatistics,
        now_us: int,
        *,
        half_life_s: float = HALF_LIFE_S,
        usual_overhead_s: float = USUAL_OVERHEAD_S,
    ) -> None:
        self._costs = BoxCosts(len(typed.order), half_life_s=half_life_s, overhead_s=usual_overhead_s, began_us=now_us)
        self.cost_s = self._costs.cost_s
        self.overhead_s = self._costs.overhead_s
        self.selectivity = self._costs.selectivity
        declared = {name: typed.network.outputs[name].qos for name in typed.outputs}
        self.qos = QoSMonitor(declared, half_life_s=half_life_s)
        self.capacity = 1.0
        """The load that whoever runs the boxes can carry for long."""
        self._typed = typed
        self._totals = totals
        self._earlier_s = totals.wall_s
        self._now_us = now_us

        def rate() -> Rate:
            return Rate(now_us, half_life_s)

        self._number = {name: number for number, name in enumerate(typed.order)}
        self.ports = {name: typed.network.boxes[name].output_ports() for name in typed.order}
        self._arcs = {typed.arcs.producer(name): _Arc(rate()) for name in typed.arcs}
        columns = {name: qos.value.on for name, qos in declared.items() if qos is not None and qos.value is not None}
        self._outputs = {
            name: _Output(rate(), rate(), columns.get(name), totals.outputs[name].latencies) for name in typed.outputs
        }
        self._parts = {part: _Part(rate()) for part in get_args(Part)}
        self._shed: dict[tuple[Place, str], int] = {}
        self.dropping: Mapping[tuple[Place, str], float | None] = {}
        """What is being dropped: by place and reason the share that stays, None where a condition decides."""
        self._upstream = {name: _boxes_above(typed, arc) for name, arc in typed.outputs.items()}
        self._flow = Flow(typed)
        self._kept_shares: dict[Place, tuple[int, Mapping[str, float]]] = {}

    def take_over(self, old: LiveStatistics, kept: Mapping[str, str], arcs: Mapping[Producer, Producer]) -> None:
        """Goes on from the statistics of another network: of the boxes in ``kept``, by new names the old ones, of
        ``arcs`` alike, and of the outputs that both have."""
        self._costs.take_over(old._costs, {self._number[name]: old._number[was] for name, was in kept.items()})
        self._arcs |= {arc: old._arcs[was] for arc, was in arcs.items() if arc in self._arcs and was in old._arcs}
        for name, noted in self._outputs.items():
            before = old._outputs.get(name)
            if before is not None:
                before.catch_up()
                noted.rate, noted.waited, noted.lost = before.rate, before.waited, before.lost
        qos, its = self._typed.network.outputs, old._typed.network.outputs
        self.qos.take_over(old.qos, [name for name in self._outputs if name in its and qos[name].qos == its[name].qos])
        self._parts, self.capacity = old._parts, old.capacity
        same = {was: arc for arc, was in arcs.items()}
        for (place, reason), tuples in old._shed.items():
            if place.reader is None and place.arc in same:
                self._shed[Place(same[place.arc]), reason] = tuples
        self._earlier_s, self._now_us = old._earlier_s, old._now_us

    # Notes

    def note_call(self, box: int, tuples_in: int, tuples_out: int | Sequence[int], seconds: float, now_us: int) -> None:
        """A box was called. Where it has several ports ``tuples_out`` is by port, in their order; if it is only known
        for all ports together, nothing is noted of their arcs."""
        self._now_us = now_us
        if not isinstance(tuples_out, int):
            name = self._typed.order[box]
            for port, tuples in zip(self.ports[name], tuples_out, strict=True):
                if tuples:
                    self._arcs[Producer(name, port)].note(tuples, now_us)
            tuples_out = sum(tuples_out)
        self._costs.note(box, tuples_in, tuples_out, seconds, now_us)

    def note_arrival(self, stream: str, tuples: int, now_us: int) -> None:
        """Tuples of an input were taken."""
        self._now_us = now_us
        self._arcs[Producer(stream)].note(tuples, now_us)

    def note_delivery(self, output: str, latencies_us: Ints, tuples: int, train: Train, now_us: int) -> None:
        """Tuples of an output were delivered, with a latency each or one for all. ``totals`` have been told before."""
        if not tuples:
            return
        noted = self._outputs[output]
        if now_us >= noted.next_us:
            noted.move_on(now_us)
        noted.tuples += tuples
        noted.sum_s = noted.latencies.sum_s
        noted.newest_us = latencies_us
        values = None if noted.column is None else train.frame.get_column(noted.column)
        self.qos.note(output, latencies_us, tuples, values, now_us)

    def note_shed(self, place: Place | str, reason: str, tuples: int) -> None:
        """Tuples were dropped at a place. Each output that it feeds lost what would have become of them."""
        at = Place(self._typed.arcs.producer(place)) if isinstance(place, str) else place
        self._shed[at, reason] = self._shed.get((at, reason), 0) + tuples
        self._arcs[at.arc].shed += tuples
        for output, share in self._shares(at).items():
            self._outputs[output].lost += tuples * share
            self.qos.note_loss(output, tuples * share, self._now_us)

    def note_overhead(self, part: Part, seconds: float) -> None:
        """A part of the run-time worked for so long, once; at about the time of the last note."""
        noted = self._parts[part]
        if self._now_us >= noted.next_us:
            noted.move_on(self._now_us)
        noted.calls += 1
        noted.seconds += seconds

    # Readings

    def shed(self) -> dict[tuple[Place, str], int]:
        """Tuples dropped so far, by place and reason."""
        return dict(self._shed)

    def seconds(self, part: Part) -> float:
        """For how long a part of the run-time has been at work so far."""
        return self._parts[part].seconds

    def delivered(self) -> dict[str, Delivered]:
        """What every output has delivered so far, if anything."""
        return {
            name: Delivered(noted.tuples, noted.sum_s, float(noted.newest_us[-1]) / 1e6)
            for name, noted in self._outputs.items()
            if noted.newest_us is not None
        }

    def tuple_costs_s(self) -> Floats:
        """What a tuple has cost at each box lately, with its share of the calls; NaN where none came."""
        self._costs.catch_up()
        return self._costs.amortised_s()

    def elastic(self, calls_per_s: float, now_us: int) -> Floats:
        """The share of each box's time that longer trains would save, if it were called only so often."""
        self._costs.catch_up()
        return self._costs.elastic(calls_per_s, now_us)

    def read(
        self,
        now_us: int,
        queues: Mapping[Consumer, Queued] | None = None,
        *,
        memory_bytes: int = 0,
        disk_bytes: int = 0,
    ) -> Statistics:
        """Everything as it is now. ``queues`` has what waits at each input of each box; it is known elsewhere."""
        self._costs.catch_up()
        wall_s = self._totals.wall_s
        own_s = wall_s - self._earlier_s
        waiting = queues or {}
        return Statistics(
            processor=self._totals.processor,
            train=self._totals.train,
            engine=self._engine(now_us, memory_bytes, disk_bytes),
            parts={
                "boxes": self._boxes(now_us),
                **{name: part.read(now_us, own_s) for name, part in self._parts.items()},
            },
            inputs={name: self._input(name, now_us, wall_s) for name in self._totals.inputs},
            boxes={name: self._box(number, waiting, now_us) for number, name in enumerate(self._typed.order)},
            arcs={str(arc): self._arc(arc, waiting, now_us, own_s) for arc in self._arcs},
            outputs={name: self._output(name, now_us, wall_s) for name in self._outputs},
            drops={
                f"{place}: {reason}": self._drop(place, reason) for place, reason in {**self._shed, **self.dropping}
            },
        )

    def sample(
        self,
        now_us: int,
        queues: Mapping[Consumer, Queued] | None = None,
        *,
        memory_bytes: int = 0,
        disk_bytes: int = 0,
    ) -> Sample:
        """The few of them that a history keeps, for much less work. ``queues`` are as for ``read``."""
        self._costs.catch_up()
        at = self._arrangement
        made, load = self._costs.rates(now_us)
        arc_rate = np.empty(len(at.arcs))
        arc_rate[at.only_arcs] = made[at.only_boxes]
        for place, arc in at.other_arcs:
            arc_rate[place] = self._arcs[arc].rate.read(now_us)
        queued, age_s, arc_queued = np.zeros(len(load)), np.zeros(len(load)), np.zeros(len(arc_rate))
        for reader, waiting in (queues or {}).items():
            box, place = at.box(reader), at.arc_before(reader)
            queued[box] += waiting.tuples
            arc_queued[place] = max(arc_queued[place], waiting.tuples)
            if waiting.oldest_us is not None:
                age_s[box] = max(age_s[box], (now_us - waiting.oldest_us) / 1e6)
        parts = [part.read(now_us, 1.0).recent_share for part in self._parts.values()]
        return Sample(
            now_us=now_us,
            typed=self._typed,
            load=load,
            tuple_cost_s=self.cost_s.copy(),
            selectivity=self.selectivity.copy(),
            queue_tuples=queued,
            age_s=age_s,
            arc_rate_per_s=arc_rate,
            arc_queue_tuples=arc_queued,
            inputs={
                name: InputSample(arc_rate.item(at.arc(Producer(name))), self._arcs[Producer(name)].shed)
                for name in self._totals.inputs
            },
            outputs={name: self._output_sample(name, now_us) for name in self._outputs},
            busy=float(load.sum()) + sum(parts),
            capacity=self.capacity,
            memory_bytes=memory_bytes,
            disk_bytes=disk_bytes,
            shed=self._shed_by_reason(),
            rejected={name: self._totals.boxes[name].rejected for name in at.users},
        )

    def _output_sample(self, name: str, now_us: int) -> OutputSample:
        noted, total = self._outputs[name], self._totals.outputs[name]
        noted.catch_up()
        rate = noted.rate.read(now_us)
        waited_s = noted.waited.read(now_us) / rate if rate else None
        live = self.qos.live(name, now_us)
        return OutputSample(rate, waited_s, total.tuples, noted.lost, total.latencies.copy(), live)

    def last_called_us(self) -> list[int | None]:
        """When each box was last called, to a twentieth of a second; None if it never was."""
        self._costs.catch_up()
        last_us = self._costs.last_us.tolist()
        return [
            at_us if self._totals.boxes[name].calls else None
            for name, at_us in zip(self._typed.order, last_us, strict=True)
        ]

    @cached_property
    def _arrangement(self) -> Arrangement:
        return Arrangement(self._typed)

    def _engine(self, now_us: int, memory_bytes: int, disk_bytes: int) -> EngineReading:
        utilities = [self.qos.live(name, now_us).overall for name in self._outputs]
        known = [utility for utility in utilities if utility is not None]
        return EngineReading(
            wall_s=self._totals.wall_s,
            recent_load=self._load(now_us),
            capacity=self.capacity,
            memory_bytes=memory_bytes,
            disk_bytes=disk_bytes,
            utility=sum(known) / len(known) if known else None,
            shed=self._shed_by_reason(),
        )

    def _shed_by_reason(self) -> dict[str, int]:
        shed: dict[str, int] = {}
        for (_, reason), tuples in self._shed.items():
            shed[reason] = shed.get(reason, 0) + tuples
        return shed

    def _drop(self, place: Place, reason: str) -> DropReading:
        return DropReading(
            shed=self._shed.get((place, reason), 0),
            in_force=int((place, reason) in self.dropping),
            keep=self.dropping.get((place, reason)),
        )

    def _boxes(self, now_us: int) -> PartReading:
        worked = self._totals.boxes.values()
        seconds = sum(box.cost_s for box in worked)
        calls = sum(box.calls for box in worked)
        return PartReading(calls, seconds, _per(seconds, self._totals.wall_s), self._load(now_us))

    def _load(self, now_us: int) -> float:
        return sum(self._costs.load(number, now_us) for number in self._number.values())

    def _input(self, name: str, now_us: int, wall_s: float) -> InputReading:
        counted, arc = self._totals.inputs[name], self._arcs[Producer(name)]
        return InputReading(
            tuples=counted.tuples,
            rejected=counted.rejected,
            shed=arc.shed,
            rate_per_s=_per(counted.tuples, wall_s),
            recent_rate_per_s=arc.rate.read(now_us),
        )

    def _box(self, number: int, waiting: Mapping[Consumer, Queued], now_us: int) -> BoxReading:
        name = self._typed.order[number]
        total = self._totals.boxes[name]
        ports = [Consumer(name, port) for port in range(len(self._typed.inputs[name]))]
        queued = [waiting[port] for port in ports if port in waiting]
        oldest_us = [queue.oldest_us for queue in queued if queue.oldest_us is not None]
        return BoxReading(
            tuples_in=total.tuples_in,
            tuples_out=total.tuples_out,
            calls=total.calls,
            cost_s=total.cost_s,
            late=total.late,
            rejected=total.rejected,
            nulled=total.nulled,
            shed=total.shed,
            estimated=total.estimated,
            error=total.error,
            tuple_cost_s=total.cost_s / total.tuples_in if total.tuples_in else None,
            selectivity=total.tuples_out / total.tuples_in if total.tuples_in else None,
            recent_tuple_cost_s=float(self.cost_s[number]),
            recent_overhead_s=float(self.overhead_s[number]),
            recent_selectivity=float(self.selectivity[number]),
            recent_load=self._costs.load(number, now_us),
            queue_tuples=sum(queue.tuples for queue in queued),
            queue_bytes=sum(queue.bytes for queue in queued),
            age_s=max(now_us - min(oldest_us), 0) / 1e6 if oldest_us else 0.0,
        )

    def _arc(self, arc: Producer, waiting: Mapping[Consumer, Queued], now_us: int, own_s: float) -> ArcReading:
        noted = self._arcs[arc]
        tuples, recent = noted.tuples, noted.rate.read(now_us)
        if len(self.ports.get(arc.name, ())) == 1:
            # All that the box made is on this arc.
            number = self._number[arc.name]
            tuples, recent = self._costs.made(number), self._costs.made_per_s(number, now_us)
        readers = self._typed.consumers(arc)
        return ArcReading(
            tuples=tuples,
            shed=noted.shed,
            rate_per_s=_per(tuples, own_s),
            recent_rate_per_s=recent,
            queue_tuples=max((waiting[reader].tuples for reader in readers if reader in waiting), default=0),
        )

    def _output(self, name: str, now_us: int, wall_s: float) -> OutputReading:
        noted, total = self._outputs[name], self._totals.outputs[name]
        noted.catch_up()
        rate = noted.rate.read(now_us)
        expected = total.tuples + noted.lost
        return OutputReading(
            tuples=total.tuples,
            latency_s=total.latencies.copy(),
            mean_latency_s=total.latencies.mean(),
            recent_latency_s=noted.waited.read(now_us) / rate if rate else None,
            rate_per_s=_per(total.tuples, wall_s),
            recent_rate_per_s=rate,
            lost=noted.lost,
            delivered=100 * total.tuples / expected if expected else 100.0,
            error=self._error(name),
            utility=self.qos.read(name, now_us),
        )

    def _error(self, output: str) -> float | None:
        estimates = [self._totals.boxes[box] for box in self._upstream[output]]
        windows = sum(box.estimated for box in estimates)
        return sum(box.error for box in estimates) / windows if windows else None

    def _shares(self, place: Place) -> Mapping[str, float]:
        """How many tuples of each output one tuple at the place becomes; worked out anew only now and then."""
        made_us, shares = self._kept_shares.get(place, (0, None))
        if shares is None or self._now_us - made_us > _SHARES_US:
            self._costs.catch_up()
            if place.reader is None:
                shares = self._flow.shares(place.arc, self.selectivity, self.port_share)
            else:
                shares = self._shares_behind(place.reader.box)
            self._kept_shares[place] = (self._now_us, shares)
        return shares

    def _shares_behind(self, box: str) -> Mapping[str, float]:
        """How many tuples of each output one tuple that the box takes becomes."""
        found: dict[str, float] = {}
        for port in self.ports[box]:
            arc = Producer(box, port)
            made = float(self.selectivity[self._number[box]]) * self.port_share(arc)
            for output, share in self._shares(Place(arc)).items():
                found[output] = found.get(output, 0.0) + made * share
        return found

    def port_share(self, arc: Producer) -> float:
        """Which part of what a box puts out goes to this port."""
        ports = self.ports[arc.name]
        if len(ports) == 1:
            return 1.0
        made = self._costs.made(self._number[arc.name])
        return self._arcs[arc].tuples / made if made else 1 / len(ports)


def _boxes_above(typed: TypedNetwork, arc: Producer) -> set[str]:
    found: set[str] = set()
    waiting = [arc.name]
    while waiting:
        box = waiting.pop()
        if box in typed.inputs and box not in found:
            found.add(box)
            waiting += [producer.name for producer in typed.inputs[box]]
    return found


def _per(amount: float, wall_s: float) -> float:
    return amount / wall_s if wall_s > 0 else 0.0


class _Arc:
    __slots__ = ("rate", "shed", "tuples")

    def __init__(self, rate: Rate) -> None:
        self.rate = rate
        self.tuples = 0
        self.shed = 0

    def note(self, tuples: int, now_us: int) -> None:
        self.tuples += tuples
        self.rate.note(tuples, now_us)


class _Output:
    """``latencies`` are those of the totals: how much their sum has grown is how long tuples took lately.

    What is noted within a short time is only counted; it goes into the rates as of the time when that began.
    """

    __slots__ = (
        "_at_us",
        "_noted",
        "_noted_s",
        "column",
        "latencies",
        "lost",
        "newest_us",
        "next_us",
        "rate",
        "sum_s",
        "tuples",
        "waited",
    )

    def __init__(self, rate: Rate, waited: Rate, column: str | None, latencies: Latencies) -> None:
        self.rate = rate
        self.waited = waited
        self.column = column
        self.latencies = latencies
        self.lost = 0.0
        self.newest_us: Ints | None = None
        self.tuples = self._noted = self.next_us = self._at_us = 0
        self.sum_s = self._noted_s = latencies.sum_s

    def catch_up(self) -> None:
        self.rate.note(self.tuples - self._noted, self._at_us)
        self.waited.note(self.sum_s - self._noted_s, self._at_us)
        self._noted, self._noted_s = self.tuples, self.sum_s

    def move_on(self, now_us: int) -> None:
        self.catch_up()
        self._at_us = now_us
        self.next_us = now_us + RESOLUTION_US


class _Part:
    """It goes on like an output."""

    __slots__ = ("_at_us", "_noted_s", "calls", "next_us", "rate", "seconds")

    def __init__(self, rate: Rate) -> None:
        self.rate = rate
        self.calls = self.next_us = self._at_us = 0
        self.seconds = self._noted_s = 0.0

    def catch_up(self) -> None:
        self.rate.note(self.seconds - self._noted_s, self._at_us)
        self._noted_s = self.seconds

    def move_on(self, now_us: int) -> None:
        self.catch_up()
        self._at_us = now_us
        self.next_us = now_us + RESOLUTION_US

    def read(self, now_us: int, own_s: float) -> PartReading:
        self.catch_up()
        return PartReading(self.calls, self.seconds, _per(self.seconds, own_s), self.rate.read(now_us))
