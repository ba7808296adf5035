"""What a network did in the last hour: series of a few numbers for every element, in memory of a fixed size.

Every second is kept for 5 minutes, and every 10 seconds for an hour: as a mean or, of what hurts while it lasts, as the
most. A number takes 4 bytes, so a box takes 13 kB and an arc 5 kB: a network of 1,000 boxes and as many arcs takes
20 MB. One that would take more than ``BUDGET_BYTES`` is looked at less often. A sample costs 0.15 ms and 1.3 µs for
each box while the engine's lock is held, and about as much again without it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from aurora.engine.samples import OutputSample, Sample
from aurora.model.typed import TypedNetwork

Of = Literal["network", "input", "box", "arc", "output"]
Values = npt.NDArray[np.float32]


class Kept(NamedTuple):
    """A number that is kept. Of ten seconds it is the mean, or with ``most`` the largest."""

    name: str
    unit: str
    meaning: str
    most: bool = False


_QUEUE = Kept("queue_tuples", "tuples", "waiting", most=True)

KEPT: Mapping[Of, tuple[Kept, ...]] = {
    "network": (
        Kept("in_per_s", "tuples/s", "taken at all inputs"),
        Kept("out_per_s", "tuples/s", "delivered at all outputs"),
        Kept("load", "share", "seconds of work of all boxes per second"),
        Kept("busy", "share", "the same with what serves them: scheduler, storage, workers, drops"),
        Kept("capacity", "share", "the load that the workers can carry for long"),
        Kept("memory_bytes", "bytes", "that queues take in memory", most=True),
        Kept("disk_bytes", "bytes", "that queues take on disk", most=True),
        Kept("queue_tuples", "tuples", "waiting at all boxes", most=True),
        Kept("shed_per_s", "tuples/s", "dropped anywhere"),
        Kept("utility", "0 to 1", "the mean of the outputs' utilities"),
    ),
    "input": (Kept("rate_per_s", "tuples/s", "taken"), Kept("shed_per_s", "tuples/s", "dropped on entry")),
    "box": (
        Kept("load", "share", "seconds of work per second"),
        Kept("tuple_cost_s", "s", "per tuple taken, without what a call costs"),
        Kept("selectivity", "tuples", "that came out for one taken"),
        _QUEUE,
        Kept("age_s", "s", "since the oldest of the waiting tuples arrived", most=True),
    ),
    "arc": (Kept("rate_per_s", "tuples/s", "put on it"), _QUEUE),
    "output": (
        Kept("rate_per_s", "tuples/s", "delivered"),
        Kept("latency_s", "s", "from arrival to delivery, the mean recently"),
        Kept("p50_s", "s", "the median latency of what was delivered in that second"),
        Kept("p99_s", "s", "the 99th percentile of it", most=True),
        Kept("delivered", "%", "delivered of all that would have come, recently"),
        Kept("utility", "0 to 1", "overall"),
        Kept("utility_latency", "0 to 1", "by the latency graph"),
        Kept("utility_loss", "0 to 1", "by the loss graph"),
        Kept("utility_value", "0 to 1", "by the value graph"),
    ),
}

FINE_SLOTS, COARSE_SLOTS, COARSE = 300, 360, 10
"""So many seconds, so many times ten seconds."""
BUDGET_BYTES = 32 << 20
"""For each network. One that needs more has longer steps, and fewer of them."""
FEWEST_GONE = 100
"""Of elements that are no more so many of a sort are remembered, or as many as there are now."""
_HOUR_US = 3_600_000_000
_FORGOTTEN_PER_S = 0.2
"""Which part of what was delivered and lost counts no more after a second: windows close only now and then."""


class Ring:
    """The values of all elements of a sort at the latest times. A *slot* is a number of steps since the epoch."""

    def __init__(self, step_us: int, slots: int, metrics: int) -> None:
        self.step_us = step_us
        self._times = np.full(slots, -1, np.int64)
        self._values: Values = np.full((slots, 0, metrics), np.nan, np.float32)

    @property
    def bytes(self) -> int:
        return self._values.nbytes + self._times.nbytes

    def make_room(self, rows: int) -> None:
        slots, there, metrics = self._values.shape
        if rows > there:
            more = np.full((slots, rows - there, metrics), np.nan, np.float32)
            self._values = np.concatenate((self._values, more), axis=1)

    def clear(self, rows: Sequence[int]) -> None:
        self._values[:, rows] = np.nan

    def put(self, slot: int, rows: npt.NDArray[np.intp], values: Values) -> None:
        place = slot % len(self._times)
        if self._times[place] != slot:
            self._times[place] = slot
            self._values[place] = np.nan
        self._values[place, rows] = values

    def between(self, first: int, last: int) -> tuple[npt.NDArray[np.int64], Values]:
        """All values of these slots that are there, in the order of time."""
        places = np.flatnonzero((self._times >= first) & (self._times <= last))
        places = places[np.argsort(self._times[places])]
        return self._times[places], self._values[places]

    def take_over(self, old: Ring) -> None:
        """What another has, as far as there is room; of what falls into one slot the latest."""
        self.make_room(old._values.shape[1])
        slots, values = old.between(0, np.iinfo(np.int64).max)
        slots = slots * old.step_us // self.step_us
        recent = slots > (slots[-1] if len(slots) else 0) - len(self._times)
        places = slots[recent] % len(self._times)
        self._times[places] = slots[recent]
        self._values[places, : values.shape[1]] = values[recent]


class _Table:
    """The series of all elements of a sort. An element keeps its row when it goes, in case it comes again."""

    def __init__(self, kept: Sequence[Kept]) -> None:
        self._kept = kept
        self._most = np.array([one.most for one in kept])
        self.rows: dict[str, int] = {}
        self._free: list[int] = []
        self._gone_us: dict[str, int] = {}
        self._factor = 1
        self.fine, self.coarse = self._rings()
        self.there: tuple[str, ...] = ()
        self.now: npt.NDArray[np.intp] = np.empty(0, np.intp)
        """The rows of the elements that are there, in the order in which their values come."""

    def follow(self, names: Iterable[str], now_us: int) -> None:
        """From now on there are these elements."""
        there = dict.fromkeys(names)
        self.there = tuple(there)
        for name in self.rows.keys() - there.keys():
            self._gone_us.setdefault(name, now_us)
        for name in there:
            self._gone_us.pop(name, None)
        most = max(FEWEST_GONE, len(there))
        for place, (name, gone_us) in enumerate(sorted(self._gone_us.items(), key=lambda entry: -entry[1])):
            if place >= most or now_us - gone_us > _HOUR_US:
                del self._gone_us[name]
                self._free.append(self.rows.pop(name))
        self.fine.clear(self._free)
        self.coarse.clear(self._free)
        for name in there:
            if name not in self.rows:
                self.rows[name] = self._free.pop() if self._free else len(self.rows)
        self.now = np.array([self.rows[name] for name in there], np.intp)

    def numbers(self) -> int:
        return (len(self.rows) + len(self._free)) * len(self._kept)

    def size(self, factor: int) -> None:
        """Sees to it that there is room for all elements, with steps that are longer by this factor."""
        if factor != self._factor:
            self._factor = factor
            old, (self.fine, self.coarse) = (self.fine, self.coarse), self._rings()
            self.fine.take_over(old[0])
            self.coarse.take_over(old[1])
        rows = len(self.rows) + len(self._free)
        self.fine.make_room(rows)
        self.coarse.make_room(rows)

    def _rings(self) -> tuple[Ring, Ring]:
        step_us, metrics = self._factor * 1_000_000, len(self._kept)
        fine = Ring(step_us, -(-FINE_SLOTS // self._factor), metrics)
        return fine, Ring(step_us * COARSE, -(-COARSE_SLOTS // self._factor), metrics)

    def put(self, slot: int, values: Values) -> None:
        self.fine.put(slot, self.now, values)

    def close(self, slot: int) -> None:
        """A coarse slot is over."""
        self.coarse.put(slot, np.arange(len(self.rows) + len(self._free)), self._together(slot))

    def _together(self, slot: int) -> Values:
        _, values = self.fine.between(slot * COARSE, slot * COARSE + COARSE - 1)
        known = ~np.isnan(values)
        count = known.sum(axis=0)
        total = np.where(known, values, 0).sum(axis=0, dtype=np.float64)
        largest = np.where(known, values, -np.inf).max(axis=0, initial=-np.inf)
        found = np.where(self._most, largest, total / np.maximum(count, 1))
        return np.where(count > 0, found, np.nan).astype(np.float32)

    def read(self, rows: Sequence[int], seconds: float, now_us: int) -> tuple[int, list[float], Values]:
        """The length of a step, times in seconds, and values by time, element and metric."""
        ring = self.fine if seconds * 1e6 <= FINE_SLOTS * 1e6 * self._factor else self.coarse
        slot = now_us // ring.step_us
        slots = np.arange(slot - max(1, int(seconds * 1e6 // ring.step_us)) + 1, slot + 1)
        values = np.full((len(slots), len(rows), len(self._kept)), np.nan, np.float32)
        known, there = ring.between(int(slots[0]), slot)
        values[known - slots[0]] = there[:, rows]
        if ring is self.coarse:
            # It is not over yet.
            values[-1] = self._together(slot)[rows]
        elif slot not in known and slot - 1 in known:
            slots, values = slots[:-1], values[:-1]
        return ring.step_us // 1_000_000, (slots * ring.step_us / 1e6).tolist(), values


class History:
    """The series of one network, whatever becomes of its elements and its engine. Any thread may call it."""

    def __init__(self, budget_bytes: int = BUDGET_BYTES) -> None:
        self._budget = budget_bytes
        self._lock = threading.Lock()
        self._tables = {of: _Table(kept) for of, kept in KEPT.items()}
        self._typed: TypedNetwork | None = None
        self._slot = -1
        self._before: Sample | None = None
        self._lately: dict[str, tuple[float, float]] = {}
        self._factor = 1

    @property
    def step_s(self) -> int:
        """How often it wants a sample."""
        return self._factor

    @property
    def latest(self) -> Sample | None:
        """The last sample; None before the first."""
        return self._before

    @property
    def bytes(self) -> int:
        with self._lock:
            return sum(table.fine.bytes + table.coarse.bytes for table in self._tables.values())

    def note(self, sample: Sample) -> None:
        """What was measured, about every ``step_s`` seconds."""
        with self._lock:
            before, self._before = self._before, sample
            passed_s = 0.0 if before is None else (sample.now_us - before.now_us) / 1e6
            if sample.typed is not self._typed:
                self._follow(sample)
            slot = sample.now_us // (self._factor * 1_000_000)
            if self._slot >= 0 and slot // COARSE != self._slot // COARSE:
                for table in self._tables.values():
                    table.close(self._slot // COARSE)
            self._slot = slot
            for of, values in self._values(sample, before, passed_s).items():
                self._tables[of].put(slot, np.asarray(values, np.float32))

    def read(self, of: Of, names: Sequence[str] | None, seconds: float, now_us: int) -> dict[str, Any]:
        """The series of these elements, or of all that there are, as plain values; KeyError for an unknown one."""
        with self._lock:
            table = self._tables[of]
            chosen = table.there if names is None else names
            step_s, times, values = table.read([table.rows[name] for name in chosen], seconds, now_us)
        kept = [one.name for one in KEPT[of]]
        series = {
            name: {metric: _plain(values[:, place, at]) for at, metric in enumerate(kept)}
            for place, name in enumerate(chosen)
        }
        return {"of": of, "step_s": step_s, "times": times, "series": series}

    def names(self, of: Of) -> list[str]:
        """All elements that are remembered, those that are gone as well."""
        with self._lock:
            return list(self._tables[of].rows)

    def _follow(self, sample: Sample) -> None:
        """The network is another one now."""
        typed = self._typed = sample.typed
        elements: dict[Of, Iterable[str]] = {
            "network": [""],
            "input": sample.inputs,
            "box": typed.order,
            "arc": typed.arcs,
            "output": sample.outputs,
        }
        for of, names in elements.items():
            self._tables[of].follow(names, sample.now_us)
        numbers = sum(table.numbers() for table in self._tables.values())
        needed = numbers * (FINE_SLOTS + COARSE_SLOTS) * np.dtype(np.float32).itemsize
        factor = max(1, -(-needed // self._budget))
        if factor != self._factor:
            self._factor, self._slot = factor, -1
        for table in self._tables.values():
            table.size(factor)
        self._lately = {name: sums for name, sums in self._lately.items() if name in sample.outputs}

    def _values(self, now: Sample, before: Sample | None, passed_s: float) -> dict[Of, Any]:
        def per_s(count: float, earlier: float) -> float:
            """An engine that was started anew begins to count anew."""
            return (count - earlier if count >= earlier else count) / passed_s if passed_s > 0 else np.nan

        inputs = [
            (one.rate_per_s, per_s(one.shed, before.inputs[name].shed if before and name in before.inputs else 0))
            for name, one in now.inputs.items()
        ]
        outputs = [self._output(name, one, before, passed_s) for name, one in now.outputs.items()]
        utilities = [o.utility.overall for o in now.outputs.values() if o.utility.overall is not None]
        network = (
            sum(one.rate_per_s for one in now.inputs.values()),
            sum(one.rate_per_s for one in now.outputs.values()),
            float(now.load.sum()),
            now.busy,
            now.capacity,
            now.memory_bytes,
            now.disk_bytes,
            float(now.queue_tuples.sum()),
            per_s(sum(now.shed.values()), 0 if before is None else sum(before.shed.values())),
            sum(utilities) / len(utilities) if utilities else np.nan,
        )
        boxes = (now.load, now.tuple_cost_s, now.selectivity, now.queue_tuples, now.age_s)
        return {
            "network": [network],
            "input": np.array(inputs).reshape(-1, len(KEPT["input"])),
            "box": np.column_stack(boxes),
            "arc": np.column_stack((now.arc_rate_per_s, now.arc_queue_tuples)),
            "output": np.array(outputs, np.float64).reshape(-1, len(KEPT["output"])),
        }

    def _output(self, name: str, now: OutputSample, before: Sample | None, passed_s: float) -> tuple[float | None, ...]:
        earlier = before.outputs.get(name) if before is not None else None
        recent = now.latencies if earlier is None else now.latencies.since(earlier.latencies)
        p50, p99 = recent.quantiles((0.5, 0.99))
        came, lost = self._lately.get(name, (0.0, 0.0))
        kept = (1 - _FORGOTTEN_PER_S) ** passed_s
        if earlier is not None:
            anew = now.tuples < earlier.tuples or now.lost < earlier.lost
            came = came * kept + now.tuples - (0 if anew else earlier.tuples)
            lost = lost * kept + now.lost - (0 if anew else earlier.lost)
        self._lately[name] = (came, lost)
        share = 100 * came / (came + lost) if came + lost > 1e-3 else None
        by = now.utility
        return (now.rate_per_s, now.latency_s, p50, p99, share, by.overall, by.latency, by.loss, by.value)


def _plain(values: Values) -> list[float | None]:
    """To four digits, which is what can be seen, and a third of the text."""
    return [None if value != value else float(f"{value:.4g}") for value in values.tolist()]
