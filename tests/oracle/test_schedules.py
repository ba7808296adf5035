"""Random networks under every policy, traversal, train rule, number of workers and buffer budget: the same answers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora import RunResult
from aurora.clock import ManualClock
from aurora.connectors.frames import FrameSink, FrameSource
from aurora.engine.delivery import Delivery
from aurora.engine.flow import Flow, FlowMaker, Parts
from aurora.engine.in_memory import run
from aurora.engine.intake import Position, by_column
from aurora.engine.live_statistics import LiveStatistics
from aurora.engine.room import Room
from aurora.engine.run import AtEnd
from aurora.engine.scheduled import Scheduled
from aurora.engine.statistics import InputStatistics, OutputStatistics, RunStatistics
from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.model.train import ARRIVAL, Progress, Train
from aurora.model.typed import Producer, TypedNetwork
from aurora.processors.local import LocalProcessor
from aurora.processors.plan import BoxCost, FileRows, Processor
from aurora.processors.sieve import NO_DROPS, Drops
from aurora.scheduler.settings import POLICIES, SchedulerSettings
from aurora.scheduler.trains import FixedTrain
from oracle.keyed_chains import keyed_chains
from oracle.strategies import CLOCK, Example, examples
from oracle.test_random_networks import assert_same, problems

pytestmark = pytest.mark.timeout(3600)
TRAVERSALS = ("min_cost", "min_latency", "min_memory", "auto")


@st.composite
def schedules(draw: st.DrawFn) -> tuple[SchedulerSettings, int, int, int]:
    """Settings, workers beside the caller, bytes of memory, and tuples in a train as it enters."""
    settings = SchedulerSettings(
        policy=draw(st.sampled_from(POLICIES)),
        traversal=draw(st.sampled_from(TRAVERSALS)),
        horizon=draw(st.sampled_from([1, 3, 32])),
        push=draw(st.booleans()),
        partitions=draw(st.sampled_from([1, 4, 20])),
        spanned=draw(st.sampled_from([1, 2, 8])),
    )
    workers = draw(st.sampled_from([0, 0, 1, 2]))
    memory = draw(st.sampled_from([0, 2_000, 20_000, 2**30]))
    return settings, workers, memory, draw(st.sampled_from([1, 2, 7, 100]))


def scheduled(
    example: Example,
    schedule: tuple[SchedulerSettings, int, int, int],
    steps: list[int],
    at_end: AtEnd,
    drops: Sequence[Drops] = (NO_DROPS,),
) -> RunResult:
    settings, workers, memory, train = schedule
    with tempfile.TemporaryDirectory() as folder:

        def make(parts: Parts) -> Flow:
            room = Room(memory, 2**30, "block", list(parts.typed.network.streams), Path(folder))
            return Scheduled(parts, room.storage(parts.typed), settings, workers=workers)

        return entered(example, LocalProcessor, make, train, steps, at_end, drops)


def entered(
    example: Example,
    processor: Callable[[TypedNetwork], Processor],
    make: FlowMaker,
    train: int,
    steps: list[int],
    at_end: AtEnd,
    drops: Sequence[Drops] = (NO_DROPS,),
) -> RunResult:
    """Enters train after train, and lets so many superboxes run after each. ``drops`` take turns."""
    network = Network.from_document(dict(example.document))
    typed = typecheck(network)
    schemas = {name: typed.arcs[name].schema for name in network.streams}
    sources: dict[str, Any] = {name: FrameSource(example.inputs.get(name, []), schemas[name]) for name in schemas}
    sinks = {name: FrameSink(typed.arcs[producer].schema) for name, producer in typed.outputs.items()}
    statistics = RunStatistics(
        processor="local",
        train=train,
        boxes={name: BoxCost() for name in typed.order},
        inputs={name: InputStatistics() for name in schemas},
        outputs={name: OutputStatistics() for name in sinks},
    )
    wall = ManualClock()
    measured = LiveStatistics(typed, statistics, wall.now_us())
    delivery = Delivery(sinks, wall, [statistics, measured], column_clock=True)
    progress = Progress.standing(-1, 0)
    flow = make(Parts(typed, processor(typed), delivery, statistics, measured, wall, -1, 0))
    bare = [name for name in schemas if steps[0] % 2 and not typed.asked_for_hidden(name)]
    try:
        for number, epoch in enumerate(by_column(sources, schemas, CLOCK, FixedTrain(train), (), Position())):
            progress = epoch.progress
            flow.drop(drops[number % len(drops)])
            may = flow.bare(bare)
            trains = {name: _bare(some) if name in may else some for name, some in epoch.trains.items()}
            flow.put({Producer(name): some for name, some in trains.items()}, progress)
            for _ in range(steps[number % len(steps)]):
                flow.step()
        flow.drain()
        if at_end == "flush":
            flow.pass_time(Progress.standing(progress.seq, progress.clock, end=True))
    finally:
        flow.close()
    return RunResult({name: sink.frame for name, sink in sinks.items()}, statistics)


def _bare(train: Train | FileRows) -> Train:
    assert isinstance(train, Train)
    return Train(train.visible, int(train.hidden(ARRIVAL)[0]))


def whole(example: Example, at_end: AtEnd) -> RunResult:
    network = Network.from_document(dict(example.document))
    return run(network, example.inputs, clock=CLOCK, at_end=at_end, wall=ManualClock())


STEPS = st.lists(st.integers(0, 6), min_size=1, max_size=8)


@pytest.mark.parametrize("at_end", ["flush", "hold"])
@given(example=examples(), schedule=schedules(), steps=STEPS)
def test_every_schedule_gives_the_same(
    at_end: AtEnd, example: Example, schedule: tuple[SchedulerSettings, int, int, int], steps: list[int]
) -> None:
    assert_same(scheduled(example, schedule, steps, at_end), whole(example, at_end))


@pytest.mark.parametrize("at_end", ["flush", "hold"])
@given(example=keyed_chains(), schedule=schedules(), steps=STEPS)
def test_chains_of_keyed_boxes_under_every_schedule(
    at_end: AtEnd, example: Example, schedule: tuple[SchedulerSettings, int, int, int], steps: list[int]
) -> None:
    if not problems(example):
        assert_same(scheduled(example, schedule, steps, at_end), whole(example, at_end))


@given(example=examples(most=2, times=8), schedule=schedules(), steps=STEPS)
def test_long_streams_under_every_schedule(
    example: Example, schedule: tuple[SchedulerSettings, int, int, int], steps: list[int]
) -> None:
    assert_same(scheduled(example, schedule, steps, "flush"), whole(example, "flush"))
