"""One run of an engine that gets more than it can do: the network, the tuples, and what the answers were worth.

What an answer is worth is found at the sinks, from the time at which each of its tuples was sent, and not asked of the
engine. An output's utility is the product of three means over the tuples that were sent while it was measured: by the
delay of those that came, by the share that came, and by the value of those that came.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from aurora.engine.engine import Engine
from aurora.engine.workplace import ProcessorName
from aurora.expressions.registry import FUNCTIONS, register_function
from aurora.model import loads
from aurora.model.network import Network
from aurora.model.qos import QoS
from aurora.shedding.observation import Mode

NETWORK = """
aurora: 1
network: overload
streams: {readings: {schema: {sensor: int, level: double, sent: int}}}
boxes:
  hot: {kind: filter, in: readings, where: level > 95}
  checked: {kind: map, in: hot, compute: {sent: sent, level: 'work(level, 20)'}}
  scored: {kind: map, in: readings, compute: {sent: sent, level: 'work(level, 120)'}}
  odd: {kind: filter, in: readings, where: sensor % 2 = 1}
  logged: {kind: map, in: odd, compute: {sent: sent, level: 'work(level, 40)'}}
  priced: {kind: map, in: readings, compute: {sent: sent, level: level, price: 'work(level, 80)'}}
  means: {kind: aggregate, in: readings, group_by: sensor, order_by: sent, window: {size: 250000},
          compute: {level: avg(level)}}
outputs:
  alarms:
    from: checked
    qos: {latency: [[0s, 1], [1s, 1], [2s, 0]], loss: [[100, 1], [99, 0]]}
  scores:
    from: scored
    qos: {latency: [[0s, 1], [2s, 1], [4s, 0]], loss: [[100, 1], [20, 0.9], [0, 0]]}
  audit:
    from: logged
    qos: {latency: [[0s, 1], [1s, 1], [3s, 0]], loss: [[100, 1], [70, 0.2], [0, 0]]}
  prices:
    from: priced
    qos:
      latency: [[0s, 1], [1s, 1], [3s, 0]]
      loss: [[100, 1], [40, 0.9], [0, 0]]
      value: {on: level, graph: [[0, 0.05], [60, 0.05], [70, 1], [100, 1]]}
  trends:
    from: means
    qos: {latency: [[0s, 1], [2s, 1], [4s, 0]], loss: [[100, 1], [50, 0.9], [0, 0]]}
"""
SENSORS = 20
WINDOW_US = 250_000
BATCH_S = 0.02
LEAD_S = 2.0
"""So long half the load runs first, so that the engine knows its boxes."""
GRACE_S = 4.0
"""After so long no answer is worth anything to any output."""
_MICROS = {"checked": 20, "scored": 120, "logged": 40, "priced": 80}
_MICROS_PER_TUPLE = 0.05 * 20 + 120 + 0.5 * 40 + 80
_FLOOD_S, _FLOOD_PER_S = 12.0, 20_000.0
_TRIES = 3
_LOOK_S = 0.01
_ENDS = 4
"""With fewer ends of calls a capacity would hang on one of them. What waits is worked on when nothing comes any
more."""
_ROUNDS_PER_US = 2.2
"""Rounds of hashing in about a microsecond. The work is real, and done without Python's lock."""


def work(values: pl.Series, micros: pl.Series) -> pl.Series:
    """Keeps a core busy for about so many microseconds per tuple."""
    if len(values):
        hashlib.pbkdf2_hmac("sha256", b"", b"", max(1, round(len(values) * int(micros[0]) * _ROUNDS_PER_US)))
    return values


def register_work() -> None:
    """Makes ``work`` known to expressions."""
    if "work" not in FUNCTIONS:
        register_function("work", work, ["double", "int"], "double")


def network() -> Network:
    register_work()
    return loads(NETWORK)


@dataclass(frozen=True)
class Utilities:
    """By output: what came of what was sent, in percent, and what that was worth."""

    delivered: Mapping[str, float]
    utility: Mapping[str, float]

    @property
    def total(self) -> float:
        return sum(self.utility.values())


@dataclass
class _Sink:
    """What came out on an output: when each train came, and its tuples, which were due so long after they were sent."""

    due_us: int = 0
    trains: list[tuple[int, pl.DataFrame]] = field(default_factory=list)

    def __call__(self, train: pl.DataFrame) -> None:
        self.trains.append((time.time_ns() // 1_000, train))

    def tuples(self) -> pl.DataFrame:
        """The time at which each was sent, its value, and how late it came."""
        sent = pl.col("sent") + self.due_us
        frames = [train.select(sent, "level", (now_us - sent).alias("late")) for now_us, train in self.trains]
        empty = pl.DataFrame(schema={"sent": pl.Int64, "level": pl.Float64, "late": pl.Int64})
        return pl.concat([empty, *frames])


@dataclass
class Feed:
    """Sends tuples by a timetable, whether the engine is ready or not. ``rates`` has seconds and tuples per second."""

    engine: Engine
    rates: Sequence[tuple[float, float]]
    seed: int = 1
    sent: list[pl.DataFrame] = field(default_factory=list)
    error: BaseException | None = None

    def run(self) -> None:
        try:
            self._send()
        except BaseException as error:
            self.error = error

    def _send(self) -> None:
        chance = np.random.default_rng(self.seed)
        began = time.perf_counter()
        start = 0.0
        due = 0.0
        for seconds, rate in self.rates:
            now = start
            while now < start + seconds:
                now += BATCH_S
                time.sleep(max(0.0, began + now - time.perf_counter()))
                due += rate * BATCH_S
                count, due = int(due), due % 1
                batch = pl.DataFrame(
                    {
                        "sensor": chance.integers(0, SENSORS, count),
                        "level": chance.uniform(0, 100, count),
                        "sent": np.full(count, time.time_ns() // 1_000),
                    }
                )
                self.sent.append(batch)
                self.engine.enqueue("readings", batch)
            start += seconds


def capacity(processor: ProcessorName, scheduler: str | None = None) -> float:
    """Tuples per second that an engine gets done while far more comes, by the work of its boxes; the best of some
    tries, since others on the machine can only make it less."""
    return max(_capacity(processor, scheduler) for _ in range(_TRIES))


def _capacity(processor: ProcessorName, scheduler: str | None) -> float:
    with _engine(processor, "off", scheduler) as engine:
        feed = Feed(engine, [(_FLOOD_S, _FLOOD_PER_S)])
        thread = threading.Thread(target=feed.run)
        thread.start()
        time.sleep(_FLOOD_S / 3)
        # Work is seen done at the end of a call, which may be long: so from the end of one to the end of another.
        ends: list[tuple[float, float]] = []
        while thread.is_alive() or len(ends) < _ENDS:
            done, at_s = _work_done(engine), time.perf_counter()
            if not ends or done > ends[-1][1]:
                ends.append((at_s, done))
            time.sleep(_LOOK_S)
        engine.shutdown(drain=False)
    (first_s, before), (last_s, after) = ends[1], ends[-1]
    return (after - before) / (last_s - first_s)


def _work_done(engine: Engine) -> float:
    """How many tuples would have gone through all boxes with the work that was done."""
    boxes = engine.stats().boxes
    return sum(boxes[name].tuples_in * micros for name, micros in _MICROS.items()) / _MICROS_PER_TUPLE


def _engine(processor: ProcessorName, shedding: Mode, scheduler: str | None = None) -> Engine:
    return Engine(
        network(),
        processor=processor,
        master="local[2]",
        shedding=shedding,
        scheduler=scheduler,
        say=lambda line: None,
    )


@dataclass(frozen=True)
class Outcome:
    """Of one run: what was sent and came, by output."""

    sent: pl.DataFrame
    came: Mapping[str, pl.DataFrame]
    shed: Mapping[str, int]

    def utilities(self, start_us: int, stop_us: int) -> Utilities:
        """What tuples were worth that were sent from one time up to another."""
        between = pl.col("sent").is_between(start_us, stop_us, closed="left")
        expected = _expected(self.sent.filter(between))
        delivered, utility = {}, {}
        for name, output in network().outputs.items():
            qos = output.qos
            assert qos is not None
            came = self.came[name].filter(between & (pl.col("late") <= GRACE_S * 1e6))
            delivered[name] = min(100.0, 100 * came.height / max(expected[name], 1))
            utility[name] = _utility(qos, delivered[name], came)
        return Utilities(delivered, utility)


def _expected(sent: pl.DataFrame) -> dict[str, int]:
    windows = sent.select("sensor", pl.col("sent") // WINDOW_US).unique().height
    return {
        "alarms": sent.filter(pl.col("level") > 95).height,
        "scores": sent.height,
        "audit": sent.filter(pl.col("sensor") % 2 == 1).height,
        "prices": sent.height,
        "trends": windows,
    }


def _utility(qos: QoS, delivered: float, came: pl.DataFrame) -> float:
    if not came.height:
        return 0.0
    found = 1.0
    if qos.latency is not None:
        found *= _mean([qos.latency.utility(late / 1e6) for late in came.get_column("late").to_list()])
    if qos.loss is not None:
        found *= qos.loss.utility(delivered)
    if qos.value is not None:
        found *= _mean([qos.value.graph.utility(level) for level in came.get_column("level").to_list()])
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def run(
    processor: ProcessorName,
    shedding: Mode,
    rates: Sequence[tuple[float, float]],
    say: Callable[[str], None],
    scheduler: str | None = None,
) -> tuple[Outcome, list[int]]:
    """One run after another timetable; also when each of its stretches began, and when the last one ended."""
    sinks = {name: _Sink(WINDOW_US if name == "trends" else 0) for name in network().outputs}
    with _engine(processor, shedding, scheduler) as engine:
        for name, sink in sinks.items():
            engine.subscribe(name, sink)
        feed = Feed(engine, rates)
        began_us = time.time_ns() // 1_000
        thread = threading.Thread(target=feed.run)
        thread.start()
        thread.join()
        if feed.error is not None:
            raise feed.error
        time.sleep(GRACE_S)
        shed = dict(engine.stats().engine.shed)
        came = {name: sink.tuples() for name, sink in sinks.items()}
        engine.shutdown(drain=False)
    say(f"  {shedding}: shed {shed}")
    stretches = np.cumsum([0.0, *(seconds for seconds, _ in rates)])
    return Outcome(pl.concat(feed.sent), came, shed), [began_us + int(at * 1e6) for at in stretches]
