"""Steps for branches: what is urgent runs first and on everything, what can wait gets the rest of the time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from aurora import Engine, InputError, Network, QoS, StateError
from aurora.clock import ManualClock
from aurora.connectors.frames import FrameSink
from aurora.engine.branched import Branched
from aurora.engine.delivery import Delivery
from aurora.engine.flow import Parts
from aurora.engine.live_statistics import LiveStatistics
from aurora.engine.room import Room
from aurora.engine.statistics import InputStatistics, OutputStatistics, RunStatistics
from aurora.model.check import typecheck
from aurora.model.train import Progress, Train
from aurora.model.typed import Consumer, Producer
from aurora.processors.local import LocalProcessor
from aurora.processors.plan import BoxCost, Execution, FileRows, Result
from aurora.processors.sieve import Drops, Sieve
from aurora.scheduler.settings import POLICIES, SchedulerSettings
from aurora.scheduler.standing import explain
from aurora.shedding.places import Place
from oracle.parts import in_parts

S = Producer("s")
SOON = QoS(latency=[("0s", 1), ("100ms", 1), ("1s", 0)])
LATER = QoS(latency=[("0s", 1), ("60s", 1), ("120s", 0)])


def network() -> Network:
    """Three branches; the slow one is given little time by those who want its answers, or much."""
    net = Network("branched")
    s = net.stream("s", x="int")
    net.output("alarms", s.filter("hot", "x % 2 = 0"), qos=SOON)
    net.output("report", s.map("slow", compute={"x": "x * 2"}), qos=LATER)
    net.output("last", s.aggregate("last", window={"size": "2 tuples", "advance": "2 tuples"}, x="last(x)"))
    net.output("all", s)
    return net


class Watched(LocalProcessor):
    """Notes what it is given."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.plans: list[dict[tuple[str, ...], int]] = []

    def run(self, plan: Sequence[Execution]) -> list[Result]:
        self.plans.append({one.boxes: max(map(len, one.trains.values()), default=0) for one in plan})
        return super().run(plan)


@dataclass
class Running:
    """A flow over the network, whose boxes cost what a test says."""

    settings: SchedulerSettings = field(default_factory=SchedulerSettings)
    wall: ManualClock = field(default_factory=ManualClock)

    def __post_init__(self) -> None:
        self.typed = typecheck(network())
        self.sinks = {name: FrameSink(self.typed.arcs[arc].schema) for name, arc in self.typed.outputs.items()}
        statistics = RunStatistics(
            processor="local",
            train=1,
            boxes={name: BoxCost() for name in self.typed.order},
            inputs={"s": InputStatistics()},
            outputs={name: OutputStatistics() for name in self.sinks},
        )
        self.measured = LiveStatistics(self.typed, statistics, self.wall.now_us())
        self.delivery = Delivery(self.sinks, self.wall, [statistics, self.measured])
        self.processor = Watched(self.typed)
        parts = Parts(self.typed, self.processor, self.delivery, statistics, self.measured, self.wall, -1, 0)
        self.flow = Branched(parts, self.settings)
        self.flow._costs.overhead_s[:] = 0.002
        # What boxes really take here says nothing.
        self.flow._note = lambda *noted: None  # type: ignore[method-assign]
        self.entered = 0

    def costs(self, hot: float, slow: float, last: float) -> None:
        """What a tuple costs in each branch, in seconds."""
        self.flow._costs.cost_s[:] = (hot, slow, last)

    def put(self, tuples: int) -> None:
        numbers = np.arange(self.entered, self.entered + tuples)
        clocks = np.full(tuples, self.wall.now_us())
        self.entered += tuples
        train = Train.of(pl.DataFrame({"x": numbers}), 2 * numbers + 1, clocks, clocks)
        self.flow.put({S: train}, Progress(self.entered - 1, self.wall.now_us(), int(numbers[0]), clocks))

    def came(self, output: str) -> list[int]:
        return self.sinks[output].frame.get_column("x").to_list()


def evens(upto: int) -> list[int]:
    return list(range(0, upto, 2))


def test_when_there_is_little_to_do_all_branches_share_a_step() -> None:
    running = Running()
    running.costs(1e-6, 1e-6, 1e-6)
    running.put(10)
    running.put(6)
    assert running.flow.step()
    assert running.processor.plans == [{("hot", "slow", "last"): 16}]
    assert running.came("alarms") == evens(16)
    assert running.came("all") == list(range(16))
    assert not running.flow.step()
    assert running.flow.bytes == 0


def test_what_is_urgent_does_not_wait_for_what_takes_long() -> None:
    """The slow branch gets what is left of each step, and alarms are complete after each."""
    running = Running()
    running.costs(1e-6, 1e-3, 1e-6)
    running.put(1_000)
    for _ in range(3):
        assert running.flow.step()
        assert running.came("alarms") == evens(running.entered)
        assert 0 < len(running.came("report")) < 400
        running.put(10)
    assert running.flow.waiting()[Consumer("slow", 0)] == running.entered - len(running.came("report"))
    assert running.flow.waiting()[Consumer("hot", 0)] == 10
    running.flow.drain()
    assert running.came("report") == [2 * n for n in range(running.entered)]
    assert running.came("alarms") == evens(running.entered)
    assert running.flow.waiting() == {}


def test_what_can_wait_comes_first_when_it_has_waited_long() -> None:
    """Close to the bend of its graph waiting costs it more than the others, which have lost nothing yet."""
    running = Running()
    running.put(100)
    running.wall.move_s(70)
    running.flow._upto = [running.entered - 1, -1, running.entered - 1]
    running.put(1)
    running.costs(1e-6, 0.5, 1e-6)
    assert running.flow.step()
    assert running.came("report")


def test_decisions_name_the_branch() -> None:
    running = Running()
    running.put(3)
    running.flow.step()
    assert any(line.startswith("box slow: utility 0/s") for line in running.flow.decisions())


def test_standing_tells_of_boxes() -> None:
    running = Running()
    running.costs(1e-6, 1e-3, 1e-6)
    running.put(1_000)
    running.flow.step()
    standing = running.flow.standing()
    assert standing is not None
    told = explain(standing)
    assert told["slow"].state == "waiting"
    assert told["slow"].queued == running.flow.waiting()[Consumer("slow", 0)]
    assert told["hot"].queued == 0
    assert running.flow.reading() is not None


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_comes_to_an_end(policy: str) -> None:
    running = Running(SchedulerSettings(policy=policy))
    running.costs(1e-6, 1e-3, 1e-6)
    running.put(50)
    while running.flow.step():
        pass
    assert running.came("report") == [2 * n for n in range(50)]
    assert running.came("alarms") == evens(50)
    assert running.came("last") == list(range(1, 50, 2))


def test_while_it_is_stopped_nothing_runs_and_nothing_is_lost() -> None:
    running = Running()
    running.put(4)
    running.flow.stop()
    assert not running.flow.step()
    running.flow.drain()
    assert running.processor.plans == []
    assert running.flow.undone(["hot", "slow"]) == ["hot", "slow"]
    running.flow.go_on()
    running.flow.drain()
    assert running.flow.undone(["hot", "slow"]) == []
    assert running.came("alarms") == [0, 2]


def test_rows_of_a_file_run_behind_what_waits_and_at_once() -> None:
    @dataclass(frozen=True)
    class File:
        def read(self, start: int, stop: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
            return pl.DataFrame({"x": np.arange(start, stop)})

        def pieces(self, start: int, stop: int, rows: int) -> list[tuple[int, int]]:
            return [(start, stop)]

    running = Running()
    running.put(3)
    clocks = np.zeros(3, np.int64)
    running.flow.put({S: FileRows(File(), 3, 6, 3, clocks)}, Progress(5, 0, 3, clocks))
    assert running.came("report") == [0, 2, 4, 6, 8, 10]
    running.entered = 6
    running.put(1)
    running.flow.drain()
    assert running.came("report")[-1] == 12
    assert running.came("all") == list(range(7))


def test_a_tap_on_a_stream_is_shown_its_tuples_once() -> None:
    running = Running()
    seen: list[int] = []
    running.delivery.tap(S, lambda train: seen.extend(train.frame.get_column("x")))
    running.put(3)
    running.flow.drain()
    assert seen == [0, 1, 2]


def live(**options: Any) -> Engine:
    return Engine(network(), wall=ManualClock(), **options)


def values(engine: Engine, output: str) -> list[int]:
    return [row[0] for train in engine.dequeue(output) for row in train.rows()]


def test_in_an_engine_on_steps() -> None:
    with in_parts(2), live() as engine:
        for start in range(0, 30, 10):
            engine.enqueue("s", [{"x": x} for x in range(start, start + 10)])
        assert values(engine, "alarms") == evens(30)
        assert values(engine, "report") == [2 * x for x in range(30)]
        assert values(engine, "last") == list(range(1, 30, 2))
        assert values(engine, "all") == list(range(30))
        assert engine.scheduling()["hot"].state == "keeping_up"


def test_first_in_first_out_has_no_choice_on_steps_and_is_no_policy_elsewhere() -> None:
    with in_parts(2), live(scheduler="fifo") as engine:
        engine.enqueue("s", [{"x": x} for x in range(10)])
        assert values(engine, "report") == [2 * x for x in range(10)]
        assert values(engine, "all") == list(range(10))
        assert engine.scheduling() == {}
        assert engine.decisions() == []
    with pytest.raises(InputError, match="no scheduling policy 'fifo'"):
        live(processor="local", scheduler="fifo")


def test_a_step_of_a_paused_engine_runs_all_branches_on_so_many_tuples() -> None:
    with in_parts(2), live(paused=True) as engine:
        engine.enqueue("s", [{"x": x} for x in range(5)])
        step = engine.step(tuples=2)
        assert [box.box for box in step.boxes] == ["hot", "slow", "last"]
        assert [[seen.tuples for seen in box.taken] for box in step.boxes] == [[2], [2], [2]]
        with pytest.raises(StateError, match="no box alone"):
            engine.step("slow")


def test_what_is_dropped_from_a_stream_is_counted_once() -> None:
    with in_parts(2), live() as engine:
        running = engine._running
        assert running is not None
        running.flow.drop(Drops((Sieve(Place(S), 7, keep=0.5),)))
        engine.enqueue("s", [{"x": x} for x in range(1_000)])
        report = values(engine, "report")
        assert 400 < len(report) < 600
        assert values(engine, "alarms") == [x for x in (y // 2 for y in report) if x % 2 == 0]
        assert values(engine, "all") == [y // 2 for y in report]
        assert engine.stats().engine.shed == {"random": 1_000 - len(report)}


def test_a_state_folder_has_all_branches(tmp_path: Path) -> None:
    with in_parts(2), live(state=tmp_path) as engine:
        engine.enqueue("s", [{"x": x} for x in range(7)])
        assert values(engine, "last") == [1, 3, 5]
    with in_parts(2), live(state=tmp_path) as engine:
        assert engine.enqueued("s") == 7
        engine.enqueue("s", [{"x": x} for x in range(7, 10)])
        assert values(engine, "last") == [7, 9]
        assert values(engine, "alarms") == [8]


def test_what_waits_for_a_branch_counts_as_memory(tmp_path: Path) -> None:
    running = Running()
    room = Room(1_000, 0, "reject", ["s"], tmp_path)
    room.watch(lambda: running.flow.bytes)
    some = pl.DataFrame({"x": [1]})
    assert room.admit("s", some, lambda: 0, lambda: None)
    running.put(100)
    with pytest.raises(InputError, match="no room for 1 tuples"):
        room.admit("s", some, lambda: 0, lambda: None)
    running.flow.drain()
    assert room.admit("s", some, lambda: 0, lambda: None)


def test_another_network_takes_over_from_branches_and_gives_back() -> None:
    single = Network("branched")
    s = single.stream("s", x="int")
    single.output("alarms", s.filter("hot", "x % 2 = 0"), qos=SOON)
    with in_parts(2), live() as engine:
        engine.enqueue("s", [{"x": x} for x in range(10)])
        engine.modify(single)
        engine.enqueue("s", [{"x": x} for x in range(10, 20)])
        assert values(engine, "alarms") == evens(20)
        engine.modify(network())
        engine.enqueue("s", [{"x": x} for x in range(20, 30)])
        assert values(engine, "alarms") == evens(30)[10:]
        assert values(engine, "report") == [2 * x for x in [*range(10), *range(20, 30)]]
