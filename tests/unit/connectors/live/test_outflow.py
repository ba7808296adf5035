"""Tuples on their way out: in order, in batches, again where it failed, and never more than the queue has room for."""

from __future__ import annotations

from random import Random
from typing import Any

import polars as pl

from aurora.clock import ManualClock
from aurora.connectors.live.backoff import BackOff
from aurora.connectors.live.failures import HopelessError, UndeliverableError
from aurora.connectors.live.outflow import Outflow
from aurora.connectors.live.state import Status
from tests.unit.connectors.live.stand_ins import CountedHalt, meter


class _Sink:
    def __init__(self, *, batch: int = 100, attempts: int | None = None) -> None:
        self.batch = batch
        self.attempts = attempts
        self.failures: list[BaseException | None] = []
        self.open_failures: list[BaseException] = []
        self.sent: list[list[int]] = []
        self.opened = self.closed = self.idled = 0

    def open(self) -> None:
        if self.open_failures:
            raise self.open_failures.pop(0)
        self.opened += 1

    def send(self, frame: pl.DataFrame) -> int:
        failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            raise failure
        self.sent.append(frame["x"].to_list())
        return 8 * frame.height

    def idle(self) -> None:
        self.idled += 1

    def close(self) -> None:
        self.closed += 1


class _Out:
    """A sink with its queue, driven turn by turn."""

    def __init__(self, sink: _Sink, *, limit: int = 1_000, waits: int = 100) -> None:
        clock = ManualClock()
        self.halt = CountedHalt(clock, waits)
        self._meter = meter(clock, "sink")
        self.flow = Outflow(lambda: sink, self._meter, self.halt, BackOff(1, 4, Random(0)), limit, block=False)

    def put(self, *values: int) -> None:
        self.flow.waiting.put(pl.DataFrame({"x": values}))

    def finish(self) -> Status:
        self.flow.waiting.close()
        while self.flow.turn(0):
            pass
        return self.status

    @property
    def status(self) -> Status:
        return self._meter.status()


def test_what_waits_goes_in_batches_and_in_order() -> None:
    sink = _Sink(batch=3)
    out = _Out(sink)
    out.put(1, 2)
    out.put(3, 4, 5, 6, 7)
    out.put()
    status = out.finish()
    assert sink.sent == [[1, 2, 3], [4, 5, 6], [7]]
    assert (status.tuples, status.bytes, status.waiting, status.state) == (7, 56, 0, "stopped")
    assert (sink.opened, sink.closed) == (1, 1)


def test_it_opens_before_tuples_come_and_is_told_that_nothing_does() -> None:
    sink = _Sink()
    out = _Out(sink)
    assert out.flow.turn(0)
    assert (sink.opened, sink.idled, out.status.state) == (1, 1, "connected")


def test_what_failed_is_sent_again_after_it_was_opened_anew() -> None:
    sink = _Sink(batch=2)
    sink.failures = [None, ConnectionError("lost"), ConnectionError("lost")]
    out = _Out(sink)
    out.put(1, 2, 3, 4)
    status = out.finish()
    assert sink.sent == [[1, 2], [3, 4]]
    assert (sink.opened, status.retries, status.connects, status.dead) == (3, 2, 3, 0)
    assert out.halt.waited_s[1] > 1.0


def test_after_so_many_attempts_tuples_are_dead_letters() -> None:
    sink = _Sink(batch=1, attempts=3)
    sink.failures = [ConnectionError("503")] * 3
    out = _Out(sink)
    out.put(1, 2)
    status = out.finish()
    assert sink.sent == [[2]]
    assert (status.dead, status.tuples, status.waiting) == (1, 1, 0)


def test_what_the_other_side_refuses_is_not_sent_again() -> None:
    sink = _Sink(batch=1)
    sink.failures = [UndeliverableError("400")]
    out = _Out(sink)
    out.put(1, 2)
    status = out.finish()
    assert (sink.sent, status.dead, status.retries, sink.opened) == ([[2]], 1, 0, 1)


def test_a_full_queue_leaves_tuples_out_and_counts_them() -> None:
    out = _Out(_Sink(), limit=3)
    out.put(1, 2)
    out.put(3, 4)
    out.put(5)
    assert (out.status.waiting, out.status.dropped) == (3, 2)
    assert out.finish().tuples == 3


def test_a_train_longer_than_the_queue_comes_in_alone() -> None:
    sink = _Sink()
    out = _Out(sink, limit=2)
    out.put(1, 2, 3)
    assert out.finish().tuples == 3


def test_tuples_that_are_being_sent_again_take_room_in_the_queue() -> None:
    sink = _Sink(batch=2)
    sink.failures = [ConnectionError("away")] * 3
    out = _Out(sink, limit=2)
    out.put(1, 2)
    assert out.flow.turn(0)
    out.put(3)
    assert out.status.dropped == 1


def test_one_that_cannot_be_opened_is_tried_again() -> None:
    sink = _Sink()
    sink.open_failures = [ConnectionError("refused")] * 4
    out = _Out(sink)
    out.put(1)
    status = out.finish()
    assert (sink.sent, status.retries, status.dead) == ([[1]], 4, 0)
    assert out.halt.waited_s == sorted(out.halt.waited_s[:3]) + out.halt.waited_s[3:]


def test_what_cannot_be_helped_ends_it_and_counts_what_waited() -> None:
    sink = _Sink()
    sink.failures = [HopelessError("install it")]
    out = _Out(sink)
    out.put(1, 2)
    assert not out.flow.turn(0)
    out.put(3)
    assert (out.status.state, out.status.dropped, out.status.last_error) == ("failed", 3, "install it")


def test_told_to_stop_it_gives_up_what_nobody_takes() -> None:
    sink = _Sink()
    sink.failures = [ConnectionError("away")] * 100
    out = _Out(sink, waits=2)
    out.put(1, 2, 3)
    status = out.finish()
    assert (status.state, status.dropped, status.waiting, status.tuples) == ("stopped", 3, 0, 0)


class _Lingering(_Sink):
    lingers = True


def test_a_sink_that_still_has_something_on_its_way_is_looked_after_soon() -> None:
    """A turn of it may not take as long as one of a sink that has nothing to do."""
    waited: list[float] = []
    for sink in (_Sink(), _Lingering()):
        out = _Out(sink)
        take = out.flow.waiting.take

        def taking(most: int, wait_s: float, take: Any = take) -> pl.DataFrame | None:
            waited.append(wait_s)
            return take(most, 0)

        out.flow.waiting.take = taking  # type: ignore[method-assign]
        out.flow.turn(0.1)
        assert sink.idled == 1
    assert waited[0] == 0.1
    assert waited[1] < 0.02


def test_a_panic_is_told_and_the_batch_sent_again() -> None:
    sink = _Sink(batch=1)
    sink.open_failures = [pl.exceptions.PanicException("at the start")]
    sink.failures = [pl.exceptions.PanicException("index out of bounds")] * 2
    out = _Out(sink)
    out.put(1, 2)
    status = out.finish()
    assert sink.sent == [[1], [2]]
    assert (status.retries, status.dead, status.last_error) == (3, 0, "index out of bounds")


def test_a_batch_on_which_a_library_panics_each_time_is_a_dead_letter() -> None:
    sink = _Sink(batch=1)
    sink.failures = [pl.exceptions.PanicException("index out of bounds")] * 5
    out = _Out(sink)
    out.put(1, 2)
    status = out.finish()
    assert (sink.sent, status.dead, status.waiting) == ([[2]], 1, 0)


def test_an_engine_does_not_wait_for_a_sink_whose_thread_has_ended() -> None:
    class Broken(Outflow):
        def turn(self, wait_s: float) -> bool:
            raise pl.exceptions.PanicException("in the midst of it")

    clock = ManualClock()
    known = meter(clock, "sink")
    flow = Broken(_Sink, known, CountedHalt(clock, 1), BackOff(1, 4, Random(0)), 1, block=True)
    thread = flow.start()
    assert thread is not None
    thread.join(20)
    assert (known.state, flow.waiting.closed) == ("failed", True)
