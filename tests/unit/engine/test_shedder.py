"""The engine's side of load shedding: what it tells of itself, and that it drops what it is told to drop."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from aurora import Engine, InputError, Network
from aurora.boxes.drop import lucky
from aurora.clock import ManualClock
from aurora.connectors.frames import FrameSink
from aurora.engine.enqueued import Enqueued
from aurora.engine.flow import AtOnce, FlowMaker
from aurora.engine.journal import Journal
from aurora.engine.recovery import Recovery
from aurora.engine.room import Room
from aurora.engine.run import Run
from aurora.engine.scheduled import make_flow
from aurora.engine.shedder import LOOK_US, SELDOM_US, LoadShedder, drops_of, make_shedder
from aurora.model.check import typecheck
from aurora.model.typed import Consumer, Producer
from aurora.processors.local import LocalProcessor
from aurora.shedding.observation import Directions, Dropping, Observation, ThinnedBox
from aurora.shedding.places import Place
from aurora.storage.folder import LocalFolder
from aurora.storage.states import StateStore

S = Producer("s")
BEFORE_EVEN = Place(S, Consumer("even", 0))
LOSS = {"loss": [[100, 1], [0, 0]]}


def network(qos: dict[str, Any] | None = LOSS) -> Network:
    net = Network("shed")
    s = net.stream("s", x="int")
    net.output("even", s.filter("even", "x % 2 = 0"), qos=qos)
    net.output("all", s.map("all", compute={"x": "x"}))
    return net


def rows(first: int, count: int) -> pl.DataFrame:
    return pl.DataFrame({"x": np.arange(first, first + count)})


class Told:
    """Decides what it is told to, and remembers what it was asked."""

    def __init__(self, *answers: Directions | None) -> None:
        self.answers = deque(answers)
        self.seen: list[Observation] = []
        self.values: list[int] = []

    def observe(self, observation: Observation) -> Directions | None:
        self.seen.append(observation)
        return self.answers.popleft() if self.answers else None

    def note_values(self, output: str, values: pl.Series) -> None:
        self.values += values.to_list()


class Running:
    """A run that a test moves by hand."""

    def __init__(
        self,
        decider: Told,
        net: Network | None = None,
        *,
        scheduled: bool = True,
        scheduler: str | None = None,
        recovery: Recovery | None = None,
        states: StateStore | None = None,
    ) -> None:
        self.typed = typecheck(net or network())
        self.clock = ManualClock(1_000_000)
        self.queue = Enqueued({"s": self.typed.arcs["s"].schema}, self.clock, None)
        self.room = Room("1MB", "1MB", "shed", ["s"])
        self.sinks = {name: FrameSink(self.typed.arcs[arc].schema) for name, arc in self.typed.outputs.items()}
        flow: FlowMaker = make_flow("local", scheduler, 1, self.room) if scheduled else AtOnce
        self.run = Run(
            self.typed,
            self.queue,
            self.sinks,
            wall=self.clock,
            processor=LocalProcessor(self.typed, states=states),
            recovery=recovery,
            flow=flow,
            shedder=lambda parts, flow, queue: LoadShedder(parts, flow, queue, decider, self.room.pressed),
        )
        # There is nothing to compare the first look with.
        self.run.turn()

    def offer(self, first: int, count: int) -> None:
        self.queue.note_offer("s", count)
        self.queue.put("s", rows(first, count))

    def settle(self) -> None:
        """Lets everything through; no time passes."""
        while self.run.turn():
            pass

    def look(self, *, after_s: float = SELDOM_US / 1e6) -> None:
        """The next look, after which what was decided is in force."""
        self.clock.move_s(after_s)
        self.run.turn()

    def out(self, output: str) -> list[int]:
        return self.sinks[output].frame.get_column("x").to_list()


def half(*, keep: float = 0.5) -> Directions:
    return Directions((Dropping(BEFORE_EVEN, "random", ("even",), keep=keep),), why="there is too much")


def stay(drop: Dropping, first: int, count: int) -> list[int]:
    numbers = np.arange(first, first + count)
    return numbers[lucky(drop.seed, 1 - drop.keep, numbers)].tolist()


# What it tells


def test_it_looks_ten_times_a_second_and_not_more_often() -> None:
    told = Told()
    running = Running(told)
    for _ in range(100):
        running.clock.move_s(0.01)
        running.run.turn()
    gaps_us = [later.now_us - sooner.now_us for sooner, later in pairwise(told.seen)]
    assert len(gaps_us) >= 2
    # On a machine that is slow just now it looks less often.
    assert all(LOOK_US <= gap_us <= SELDOM_US + 10_000 for gap_us in gaps_us)


def test_what_is_offered_counts_whether_or_not_there_was_room_for_it() -> None:
    told = Told()
    running = Running(told)
    running.offer(0, 300)
    running.queue.note_offer("s", 200)
    running.look()
    assert told.seen[-1].offered_per_s == pytest.approx({"s": 2000.0})


def test_costs_capacity_and_latency_are_those_since_the_last_look() -> None:
    told = Told()
    running = Running(told)
    running.offer(0, 10_000)
    running.clock.move_s(0.05)
    running.settle()
    running.look()
    seen = told.seen[-1]
    assert set(seen.profiles) == {"even", "all"}
    assert seen.profiles["even"].selectivity == {"out": 0.5}
    assert seen.profiles["even"].cost_s > 0
    assert 0 < seen.busy <= 1
    assert 0 < seen.capacity <= 1
    assert seen.latency["even"].recent_s == seen.latency["even"].newest_s == pytest.approx(0.05)
    running.look()
    assert told.seen[-1].latency == {}
    assert (told.seen[-1].busy, told.seen[-1].capacity) == (0, seen.capacity)


def test_what_waits_is_told_as_work_wherever_it_waits() -> None:
    told = Told()
    running = Running(told)
    running.offer(0, 1000)
    running.settle()
    running.look()
    cost_s = {box: profile.cost_s for box, profile in told.seen[-1].profiles.items()}
    running.offer(1000, 500)
    assert running.run._shedder is not None
    running.clock.move_s(0.6)
    running.run._shedder.look(lambda: 0.0)
    # Both boxes read what has not been taken in yet.
    assert told.seen[-1].waiting_s == pytest.approx({Consumer(box, 0): 500 * cost_s[box] for box in ("even", "all")})


def test_senders_that_found_no_room_are_told_of_once() -> None:
    told = Told()
    running = Running(told)
    assert not running.room.admit("s", rows(0, 10), lambda: 10**9, lambda: None)
    running.look()
    running.look()
    assert [seen.pressed for seen in told.seen] == [{"s"}, frozenset()]


def test_values_are_handed_on_where_somebody_drew_a_value_graph() -> None:
    told = Told()
    running = Running(told, network({"value": {"on": "x", "graph": [[0, 0], [100, 1]]}}))
    running.offer(0, 100)
    running.look()
    running.settle()
    running.look()
    assert told.values == list(range(0, 100, 2))
    running.offer(0, 1_000_000)
    running.settle()
    running.look()
    assert 500 <= len(told.values) < 6_000


# What it does


@pytest.mark.parametrize("scheduled", [True, False])
def test_drops_come_change_and_go(scheduled: bool) -> None:
    told = Told(half(), half(keep=0.2), Directions(why="it fits again"))
    running = Running(told, scheduled=scheduled)
    expected: list[int] = []
    for number, answer in enumerate((half(), half(keep=0.2), None)):
        running.look()
        running.offer(1000 * number, 1000)
        running.settle()
        kept = list(range(2000, 3000)) if answer is None else stay(answer.drops[0], 1000 * number, 1000)
        expected += [x for x in kept if x % 2 == 0]
    assert running.out("even") == expected
    assert running.out("all") == list(range(3000))
    assert not running.run.sheds
    assert running.run.drops == []
    assert [line for line in running.run.decisions() if line.startswith("load shedder: ")] == [
        "load shedder: there is too much",
        "load shedder: there is too much",
        "load shedder: it fits again",
    ]


def test_what_is_dropped_can_be_seen() -> None:
    told = Told(half(), half(keep=0.25))
    running = Running(told)
    running.look()
    running.offer(0, 1000)
    running.settle()
    running.look()
    shed = 1000 - len(stay(half().drops[0], 0, 1000))
    assert running.run.sheds
    assert running.run.drops == [
        {
            "place": "s before even",
            "reason": "random",
            "keep": 0.25,
            "outputs": ["even"],
            "since": "1970-01-01T00:00:01.250000+00:00",
            "shed": shed,
        }
    ]
    read = running.run.reading()
    assert read.drops["s before even: random"].to_dict() == {"shed": shed, "in_force": 1, "keep": 0.25}
    assert read.engine.shed == {"random": shed}
    assert read.arcs["s"].shed == read.inputs["s"].shed == shed
    assert read.parts["drops"].seconds > 0


def test_only_the_outputs_below_a_drop_have_lost_something() -> None:
    running = Running(Told(half()))
    running.offer(0, 10_000)
    running.settle()
    running.look()
    running.offer(10_000, 10_000)
    running.settle()
    read = running.run.reading()
    assert read.outputs["all"].delivered == 100
    assert read.outputs["even"].lost == pytest.approx(0.5 * read.engine.shed["random"], rel=0.05)
    assert read.outputs["even"].delivered == pytest.approx(75, abs=2)
    assert read.outputs["even"].utility["run"].loss == pytest.approx(0.75, abs=0.02)


@pytest.mark.parametrize("place", [Place(S), BEFORE_EVEN, Place(Producer("even"))])
def test_a_backlog_is_thinned_without_waiting_for_its_turn(place: Place) -> None:
    net = Network("chain")
    s = net.stream("s", x="int")
    even = s.filter("even", "x % 2 = 0")
    net.output("even", even.map("same", compute={"x": "x"}), qos=LOSS)
    # This box asks for the numbers of tuples, so that they have some before anything is dropped.
    net.output("all", s.map("all", extend={"at": "arrival_time()"}))
    running = Running(Told(), net, scheduler="round_robin")
    flow = running.run._flow
    running.offer(0, 1000)
    next(running.run.epochs())
    reader = Consumer("even", 0)
    if place.arc.name == "even":
        reader = Consumer("same", 0)
        while reader not in flow.waiting():
            assert flow.step()
    before = flow.waiting()
    drop = Dropping(place, "random", ("even",), keep=0.5)
    flow.drop(drops_of(Directions((drop,))))
    came = range(0, 1000, 2) if place.arc.name == "even" else range(1000)
    kept = [x for x in stay(drop, 0, 1000) if x in came]
    assert (before[reader], flow.waiting()[reader]) == (len(came), len(kept))
    assert running.run.reading().engine.shed == {"random": len(came) - len(kept)}
    running.settle()
    assert running.out("even") == [x for x in kept if x % 2 == 0]
    assert running.out("all") == (kept if place == Place(S) else list(range(1000)))
    assert running.run.reading().engine.shed == {"random": len(came) - len(kept)}


def test_an_aggregate_gets_its_rule() -> None:
    net = Network("windows")
    s = net.stream("s", x="int")
    net.output("n", s.tumble("n", order_by="x", window={"size": 10}, compute={"n": "count(*)"}), qos=LOSS)
    place = Place(S, Consumer("n", 0))
    thin = Directions(boxes=(ThinnedBox("n", place, "windows", 0.5, ("n",), max_gap=3),), why="too much")
    running = Running(Told(thin, Directions(why="it fits")), net)
    running.look()
    running.offer(0, 1000)
    running.settle()
    delivered = running.sinks["n"].frame
    assert 30 <= delivered.height <= 70
    assert set(delivered["n"]) == {10}
    drop = running.run.reading().drops["s before n: windows"]
    assert (drop.in_force, drop.keep) == (1, 0.5)
    assert drop.shed > 300
    running.look()
    running.offer(1000, 1000)
    running.settle()
    assert running.sinks["n"].frame.height >= delivered.height + 98
    assert running.run.reading().drops["s before n: windows"].in_force == 0


def test_commits_say_what_was_dropped(tmp_path: Path) -> None:
    folder = LocalFolder(tmp_path)
    with Journal.open(folder, {}) as journal:
        recovery = Recovery(journal)
        assert recovery.peek() is None
        running = Running(Told(half()), recovery=recovery, states=StateStore(folder, durable=False))
        running.run.commit()
        running.look()
        running.run.commit()
        earlier, later = (commit.content["drops"] for commit in journal.kept())
        known = recovery.peek()
    assert earlier == []
    assert [(drop["place"], drop["keep"]) for drop in later] == [("s before even", 0.5)]
    assert known is not None
    assert known.drops == later


# Who has one


def test_where_nothing_may_be_dropped_nobody_looks() -> None:
    room = Room(0, 0, "block", ["s"])
    graphed, plain = typecheck(network()), typecheck(network(None))
    assert make_shedder(plain, "auto", 0.9, room.pressed) is None
    assert make_shedder(graphed, "off", 0.9, room.pressed) is None
    assert make_shedder(graphed, "auto", 0.9, room.pressed) is not None
    assert make_shedder(plain, "uniform", 0.9, room.pressed) is not None


def test_an_unknown_way_of_shedding_is_refused() -> None:
    with pytest.raises(InputError, match=r"shedding is 'randon'.*random"):
        Engine(network(), processor="local", shedding="randon")  # type: ignore[arg-type]


def test_an_engine_with_nothing_to_drop_says_so() -> None:
    with Engine(network(), processor="local", wall=ManualClock()) as engine:
        engine.enqueue("s", rows(0, 100))
        engine.drain()
        assert engine.describe()["drops"] == []
        assert engine.stats().drops == {}
