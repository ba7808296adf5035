"""An engine that pauses where a tuple fulfils a condition: before anything downstream runs, and nothing is lost."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from aurora import Engine, InputError, Network, StateError
from aurora.clock import ManualClock
from aurora.connectors.frames import table_frame
from aurora.engine.scheduled import Scheduled
from aurora.errors import ExpressionError
from aurora.scheduler.settings import POLICIES

SOON_S = 30.0


def network(least: int = 10) -> Network:
    net = Network("watched")
    ticks = net.stream("ticks", ticker="string", price="int")
    high = ticks.filter("high", f"price > {least}")
    net.output("dear", high.map("double", compute={"ticker": "ticker", "price": "price * 2"}))
    net.output("all", ticks)
    return net


def rows(*prices: int) -> list[dict[str, Any]]:
    return [{"ticker": "ab"[price % 2], "price": price} for price in prices]


def engine(net: Network | None = None, **options: Any) -> Engine:
    options.setdefault("wall", ManualClock())
    return Engine(net or network(), processor="local", shedding="off", **options)


def prices(running: Engine, output: str = "dear") -> list[int]:
    return [row[-1] for train in running.dequeue(output) for row in train.rows()]


def rest(running: Engine) -> None:
    """Waits until nothing happens by itself: another thread may have taken what was enqueued."""
    while running._looping.wait():
        pass


def test_it_pauses_with_the_tuples_before_anything_downstream_runs() -> None:
    seen: list[pl.DataFrame] = []
    with engine() as running:
        made = running.break_at("high", "price > 20")
        assert (made.number, made.arc, made.enabled, made.hits) == (1, "high", True, 0)
        running.tap("double", seen.append)
        running.enqueue("ticks", rows(5, 15))
        assert prices(running) == [30]
        assert not running.paused
        seen.clear()
        running.enqueue("ticks", rows(25, 12, 31))
        rest(running)
        assert running.paused
        assert seen == []
        (hit,) = running.hits()
        assert (hit.breakpoint, hit.arc, hit.condition, hit.count) == (1, "high", "price > 20", 2)
        assert hit.tuples.rows() == [("b", 25), ("b", 31)]
        assert prices(running) == []
        running.enqueue("ticks", rows(99))
        assert prices(running) == []
        running.resume()
        assert running.hits() == []
        with pytest.raises(StateError, match="break-point was hit on high"):
            running.drain()
        running.resume()
        running.drain()
        assert prices(running) == [50, 24, 62, 198]
        assert prices(running, "all") == [5, 15, 25, 12, 31, 99]
        (known,) = running.breakpoints()
        assert (known.hits, known.tuples) == (2, 3)


def test_going_on_does_not_stop_again_for_the_same_tuples() -> None:
    with engine(paused=True) as running:
        running.break_at("high")
        running.enqueue("ticks", rows(11, 12))
        running.resume()
        rest(running)
        assert running.paused
        assert [hit.count for hit in running.hits()] == [2]
        running.resume()
        running.drain()
        assert not running.paused
        assert prices(running) == [22, 24]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("train", [1, 3, None])
@pytest.mark.parametrize("workers", [1, 3])
def test_nothing_is_lost_or_doubled_wherever_it_stops(policy: str, train: int | None, workers: int) -> None:
    """A superbox that is stopped in the middle has handed tuples to boxes that did not run."""
    if policy == "tuple_at_a_time":
        train = None
    with engine(scheduler=policy, train=train, workers=workers, paused=True) as running:
        for arc, condition in [("ticks", "price % 4 = 0"), ("high", "price % 3 = 0"), ("double", "price % 5 = 0")]:
            running.break_at(arc, condition)
        running.enqueue("ticks", rows(*range(40)))
        stops = 0
        while True:
            try:
                running.drain()
                break
            except StateError:
                stops += 1
                running.resume()
        assert stops > 1
        assert prices(running) == [2 * price for price in range(11, 40)]
        assert prices(running, "all") == list(range(40))
        wanted = [10, len(range(12, 40, 3)), len([p for p in range(11, 40) if 2 * p % 5 == 0])]
        assert [known.tuples for known in running.breakpoints()] == wanted


def test_a_superbox_that_is_stopped_gives_back_what_it_had_handed_on() -> None:
    """The map has been handed its tuples already when the engine stops behind the filter."""
    with engine(paused=True) as running:
        running.break_at("high")
        running.enqueue("ticks", rows(11))
        step = running.step()
        assert [call.box for call in step.boxes] == ["high"]
        assert [hit.arc for hit in step.hits] == ["high"]
        flow = running._check_started().flow
        assert isinstance(flow, Scheduled)
        assert len(flow._chosen[-1].calls) == 2
        assert running.stats().arcs["high"].queue_tuples == 1
        running.resume()
        running.drain()
        assert prices(running) == [22]


def test_break_points_are_listed_disabled_and_removed() -> None:
    with engine() as running:
        one = running.break_at("high")
        other = running.break_at("ticks", "price = 3", enabled=False)
        assert running.breakpoints() == [one, other]
        running.enqueue("ticks", rows(3))
        running.drain()
        running.enable_breakpoint(one.number, enabled=False)
        running.enable_breakpoint(other.number)
        assert [known.enabled for known in running.breakpoints()] == [False, True]
        running.enqueue("ticks", rows(15))
        running.drain()
        running.remove_breakpoint(other.number)
        running.enqueue("ticks", rows(3))
        running.drain()
        assert running.hits() == []
        for refused in (lambda: running.remove_breakpoint(2), lambda: running.enable_breakpoint(7)):
            with pytest.raises(InputError, match="there is no break-point"):
                refused()
        # Nothing that was refused has done the engine any harm.
        assert prices(running) == [30]


@pytest.mark.parametrize(
    ("condition", "problem"), [("cost > 1", "unknown-column"), ("price +", "syntax-error"), ("price", "not-boolean")]
)
def test_a_condition_is_checked_like_any_other_expression(condition: str, problem: str) -> None:
    with engine() as running:
        with pytest.raises(ExpressionError) as refused:
            running.break_at("high", condition)
        assert [found.id for found in refused.value.problems] == [problem]
        with pytest.raises(InputError, match="did you mean 'high'"):
            running.break_at("hihg")
        assert running.breakpoints() == []
        running.enqueue("ticks", rows(15))
        assert prices(running) == [30]


def test_shutdown_goes_past_break_points() -> None:
    running = engine()
    with running:
        running.break_at("high")
        running.enqueue("ticks", rows(15, 16))
        rest(running)
        assert running.paused
    assert prices(running) == [30, 32]


def test_a_paused_engine_commits_nothing_half_done(tmp_path: Path) -> None:
    with engine(state=tmp_path) as running:
        running.break_at("high")
        running.enqueue("ticks", rows(15))
        rest(running)
        assert running.paused
    with engine(state=tmp_path) as again:
        assert again.stats().inputs["ticks"].tuples == 1
        assert again.breakpoints() == []


def test_a_batch_that_is_committed_as_a_whole_goes_past_it(tmp_path: Path) -> None:
    """Whoever brought it forgets it then; so it must not wait between boxes."""
    with engine(state=tmp_path) as running:
        running.break_at("high")
        running.enqueue("ticks", rows(15))
        rest(running)
        run = running._check_started()
        with running._exclusive(), run.batch("ticks", "query", 3):
            running._queued.put("ticks", table_frame(rows(16), running.typecheck().arcs["ticks"].schema))
            run.drain()
        assert running.paused
        assert [hit.count for hit in running.hits()] == [1, 1]
        assert prices(running) == [30, 32]
        assert run.last_batch("ticks", "query") == 3


def test_after_a_change_they_stay_where_their_condition_can_be_told() -> None:
    with engine() as running:
        running.break_at("high", "price = 21")
        running.break_at("double", "ticker = 'a'")
        net = Network("watched")
        ticks = net.stream("ticks", ticker="string", price="int")
        net.output("dear", ticks.filter("high", "price > 20").map("twice", compute={"price": "price * 2"}))
        net.output("all", ticks)
        running.modify(net)
        (known,) = running.breakpoints()
        assert (known.number, known.arc) == (1, "high")
        running.enqueue("ticks", rows(15, 21))
        rest(running)
        assert [hit.tuples.rows() for hit in running.hits()] == [[("b", 21)]]
        running.resume()
        running.drain()
        assert prices(running) == [42]


def test_a_change_is_made_while_it_is_paused_at_one() -> None:
    with engine() as running:
        running.break_at("high")
        running.enqueue("ticks", rows(15))
        rest(running)
        assert running.paused
        running.modify(network(least=20))
        assert running.paused
        assert prices(running) == [30]
        running.resume()
        running.enqueue("ticks", rows(16, 22))
        rest(running)
        assert [hit.count for hit in running.hits()] == [1]


def test_a_condition_may_ask_for_the_arrival_time_of_trains_without_hidden_columns() -> None:
    with engine(wall=ManualClock(5_000_000)) as running:
        running.break_at("ticks", "arrival_time() > timestamp '1970-01-01 00:00:04'")
        running.enqueue("ticks", rows(1))
        rest(running)
        assert [hit.count for hit in running.hits()] == [1]


def test_many_threads_may_enqueue_while_it_stops_and_goes_on() -> None:
    with engine(workers=2) as running:
        running.break_at("high", "price % 7 = 0")

        def bring(start: int) -> None:
            for price in range(start, start + 100):
                running.enqueue("ticks", rows(price))

        threads = [threading.Thread(target=bring, args=(100 * number,)) for number in range(1, 4)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            running.resume()
            threads[0].join(0.001)
        while True:
            try:
                running.drain()
                break
            except StateError:
                running.resume()
        assert sorted(prices(running)) == [2 * price for price in range(100, 400)]
        assert running.breakpoints()[0].tuples == len([price for price in range(100, 400) if price % 7 == 0])
