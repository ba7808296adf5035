"""The engine at work: boxes run by themselves, answers are handed out, and what does not fit waits or stays out."""

from __future__ import annotations

import asyncio
import logging
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from aurora import Engine, InputError, Network, StateError, run, tuples
from aurora.clock import ManualClock
from aurora.errors import UserCodeError
from aurora.scheduler.settings import POLICIES, SchedulerSettings

SOON_S = 30.0
"""Long enough for anything that happens at all."""


def network() -> Network:
    net = Network("live")
    s = net.stream("s", x="int")
    net.output("even", s.filter("even", "x % 2 = 0").map("twice", compute={"x": "x * 2"}))
    net.output("big", s.filter("big", "x > 5"))
    return net


def rows(*xs: int) -> list[dict[str, int]]:
    return [{"x": x} for x in xs]


def engine(net: Network | None = None, **options: Any) -> Engine:
    options.setdefault("wall", ManualClock())
    return Engine(net or network(), processor="local", **options)


def values(running: Engine, output: str) -> list[int]:
    return [row[0] for train in running.dequeue(output) for row in train.rows()]


def test_answers_are_handed_to_subscribers_as_they_come() -> None:
    got: list[int] = []
    there = threading.Event()

    def take(train: pl.DataFrame) -> None:
        got.extend(train["x"])
        if len(got) == 2:
            there.set()

    with engine() as running:
        running.enqueue("s", rows(2))
        running.subscribe("even", take)
        running.enqueue("s", rows(3, 4))
        assert there.wait(SOON_S)
    assert got == [4, 8]


def test_who_unsubscribes_gets_nothing_more_and_it_waits() -> None:
    got: list[int] = []

    def take(train: pl.DataFrame) -> None:
        got.extend(train["x"])

    with engine() as running:
        running.subscribe("even", take)
        running.enqueue("s", rows(2))
        running.drain()
        running.unsubscribe("even", take)
        running.enqueue("s", rows(4))
        assert values(running, "even") == [8]
    assert got == [4]


def test_what_was_enqueued_is_safe_when_it_is_committed(tmp_path: Path) -> None:
    with engine() as running:
        running.enqueue("s", rows(1, 2))
        assert (running.enqueued("s"), running.kept("s")) == (2, 2)
    for before in (0, 3):
        with engine(state=tmp_path) as running:
            assert (running.enqueued("s"), running.kept("s")) == (before, before)
            running.pause()
            running.enqueue("s", rows(1, 2, 3))
            assert (running.enqueued("s"), running.kept("s")) == (before + 3, before)
            running.resume()
            running.drain()
            running.commit()
            assert running.kept("s") == before + 3


def test_anything_that_can_be_called_can_subscribe() -> None:
    @dataclass
    class Sink:
        got: list[int]

        def __call__(self, train: pl.DataFrame) -> None:
            self.got.extend(train["x"])

    first, second = Sink([]), Sink([])
    with engine() as running:
        running.subscribe("even", first)
        running.subscribe("even", second)
        running.enqueue("s", rows(2))
    assert first.got == second.got == [4]


def test_a_subscriber_that_fails_is_called_no_more(caplog: pytest.LogCaptureFixture) -> None:
    def fail(train: pl.DataFrame) -> None:
        raise ValueError("I cannot")

    with engine() as running, caplog.at_level(logging.ERROR, "aurora"):
        running.subscribe("even", fail)
        running.enqueue("s", rows(2))
        assert values(running, "even") == []
        running.enqueue("s", rows(4))
        assert values(running, "even") == [8]
    assert "a subscriber of the output even failed" in caplog.text


def test_answers_can_be_awaited() -> None:
    async def main() -> list[int]:
        got: list[int] = []
        with engine() as running:
            running.enqueue("s", rows(2, 4))
            async for train in running.stream("even"):
                got.extend(train["x"])
                if len(got) == 2:
                    running.enqueue("s", rows(6))
                if len(got) == 3:
                    break
        return got

    assert asyncio.run(asyncio.wait_for(main(), SOON_S)) == [4, 8, 12]


def test_waiting_for_answers_ends_with_the_engine() -> None:
    async def main() -> list[int]:
        got: list[int] = []
        running = engine()
        running.start()
        running.enqueue("s", rows(2))
        async for train in running.stream("even"):
            got.extend(train["x"])
            running.shutdown()
        return got

    assert asyncio.run(asyncio.wait_for(main(), SOON_S)) == [4]


def test_nothing_runs_while_it_is_paused() -> None:
    with engine() as running:
        running.pause()
        running.enqueue("s", rows(2, 8))
        assert values(running, "even") == []
        assert running.describe()["queued"] == {"s": 2}
        running.resume()
        assert values(running, "even") == [4, 16]
        assert values(running, "big") == [8]


def test_single_steps_show_one_superbox_after_the_other() -> None:
    settings = SchedulerSettings(policy="round_robin")
    with engine(scheduler=settings, paused=True) as running:
        running.enqueue("s", rows(2))
        counts = []
        while running.step():
            boxes = running.stats().boxes
            counts.append([boxes[name].tuples_in for name in ("even", "big", "twice")])
    assert sorted(counts) == counts
    assert counts[-1] == [1, 1, 1]
    assert len({tuple(count) for count in counts}) == 3


def timed() -> Network:
    net = Network("timed")
    s = net.stream("s", g="string")
    net.output("pairs", s.aggregate("pairs", group_by="g", window=tuples(2, timeout="100ms"), alarm="timed_out()"))
    return net


def test_timeouts_fire_by_themselves() -> None:
    fired = threading.Event()
    wall = ManualClock()
    with engine(timed(), wall=wall) as running:
        running.subscribe("pairs", lambda train: fired.set())
        running.enqueue("s", [{"g": "a"}])
        wall.move_s(1)
        assert fired.wait(SOON_S)


@pytest.mark.parametrize("when_full", ["reject", {"s": "reject"}])
def test_what_does_not_fit_is_rejected(when_full: Any) -> None:
    with engine(memory=1000, disk=0, when_full=when_full, paused=True) as running:
        running.enqueue("s", rows(*range(100)))
        with pytest.raises(InputError, match="no room for 50 tuples of s: 1,000 bytes of memory"):
            running.enqueue("s", rows(*range(50)))
        running.resume()
        assert len(values(running, "big")) == 94
        running.enqueue("s", rows(7))
        assert values(running, "big") == [7]


def test_what_does_not_fit_is_shed_and_counted() -> None:
    with engine(memory=1000, disk=0, when_full="shed", paused=True) as running:
        running.enqueue("s", rows(*range(100)))
        running.enqueue("s", rows(*range(50)))
        running.resume()
        assert len(values(running, "big")) == 94
        assert running.stats().inputs["s"].shed == 50
        assert running.stats().inputs["s"].tuples == 100


def test_what_does_not_fit_waits_until_it_does() -> None:
    net = network()
    xs = list(range(5_000))
    wanted = run(net, {"s": rows(*xs)}, wall=ManualClock()).rows("even")
    with engine(net, memory=2_000, disk=0) as running:
        got: list[tuple[Any, ...]] = []
        running.subscribe("even", lambda train: got.extend(train.rows()))
        running.subscribe("big", lambda train: None)
        for start in range(0, len(xs), 50):
            running.enqueue("s", rows(*xs[start : start + 50]))
    assert got == wanted


def test_whoever_waits_for_room_hears_of_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise UserCodeError("broken")

    monkeypatch.setattr("aurora.processors.local.LocalProcessor.run", broken)
    running = engine(memory=0, disk=0)
    running.start()

    def enqueue_for_long() -> None:
        for _ in range(1000):
            running.enqueue("s", rows(1))

    with pytest.raises((UserCodeError, StateError), match="broken"):
        enqueue_for_long()
    running.shutdown()


def test_a_failure_in_the_background_is_told_once_and_then_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise UserCodeError("broken")

    monkeypatch.setattr("aurora.processors.local.LocalProcessor.run", broken)
    running = engine()
    running.start()
    running.enqueue("s", rows(1))
    with pytest.raises(UserCodeError, match="broken"):
        list(running.dequeue("even"))
    with pytest.raises(StateError, match="it failed: broken"):
        running.enqueue("s", rows(1))
    running.shutdown()


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("workers", [1, 3])
def test_answers_depend_on_neither_policy_nor_workers(policy: str, workers: int, tmp_path: Path) -> None:
    xs = list(range(300))
    wanted = run(network(), {"s": rows(*xs)}, wall=ManualClock())
    with engine(scheduler=policy, workers=workers, memory=5_000, train=40) as running:
        for start in range(0, len(xs), 30):
            running.enqueue("s", rows(*xs[start : start + 30]))
        assert values(running, "even") == [row[0] for row in wanted.rows("even")]
        assert values(running, "big") == [row[0] for row in wanted.rows("big")]


def test_every_decision_can_be_explained() -> None:
    with engine(scheduler="qos") as running:
        running.enqueue("s", rows(2, 8))
        assert values(running, "even") == [4, 16]
        decisions = running.decisions()
    assert any(sentence.startswith("box even: ") and "2 tuples ready" in sentence for sentence in decisions)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheduler": "ross_robin"}, "no scheduling policy 'ross_robin'; did you mean 'round_robin'"),
        ({"workers": 0}, "0 workers cannot run boxes"),
        ({"memory": "much"}, "'much' is no size"),
        ({"when_full": "blok"}, "when_full is 'blok' for s; use block, reject, shed; did you mean 'block'"),
        ({"when_full": {"t": "shed"}}, "names the stream 't', which the network does not have"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        engine(**options)
