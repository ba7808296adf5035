"""A source that fails is run again, later each time; one that cannot be helped is left; the engine is never stopped."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random

import polars as pl
import pytest

from aurora.clock import ManualClock
from aurora.connectors.live.backoff import BackOff
from aurora.connectors.live.failures import HopelessError, optional, secret
from aurora.connectors.live.inlet import Inlet
from aurora.connectors.live.watched import run_watched, start_watched
from aurora.connectors.live.worker import Worker
from aurora.errors import InputError, StateError
from tests.unit.connectors.live.stand_ins import CountedHalt, Recorder, inlet

FRAME = pl.DataFrame({"x": [1, 2]})


class _Source:
    def __init__(self, *runs: Callable[[Inlet], None]) -> None:
        self._runs = list(runs)
        self.count = 0

    def run(self, inlet: Inlet) -> None:
        self.count += 1
        self._runs.pop(0)(inlet)


def _fail(_inlet: Inlet) -> None:
    raise ConnectionError("nobody there")


def _bring(inlet: Inlet) -> None:
    inlet.connected()
    inlet.put(FRAME)


def _bring_and_fail(inlet: Inlet) -> None:
    _bring(inlet)
    raise ConnectionError("lost")


def _run(source: _Source, waits: int = 100) -> tuple[Recorder, CountedHalt, Inlet]:
    clock, target = ManualClock(), Recorder()
    halt = CountedHalt(clock, waits)
    way = inlet(target, halt, clock)
    Worker(lambda: source, way, BackOff(1.0, 8.0, Random(1))).run()
    return target, halt, way


def test_it_waits_longer_each_time_and_never_longer_than_the_most() -> None:
    source = _Source(*[_fail] * 7, _bring)
    target, halt, way = _run(source)
    assert len(halt.waited_s) == 7
    for waited_s, whole_s in zip(halt.waited_s, (1, 2, 4, 8, 8, 8, 8), strict=True):
        assert whole_s / 2 <= waited_s <= whole_s
    assert len(set(halt.waited_s[3:])) == 4, "no chance in it: all sources would come back at the same moment"
    status = way.meter.status()
    assert (status.state, status.retries, status.connects, status.tuples) == ("ended", 7, 1, 2)
    assert status.last_error == "nobody there"
    assert target.rows == [(1,), (2,)]


def test_after_a_good_connection_it_begins_with_the_first_wait_again() -> None:
    _, halt, _ = _run(_Source(_fail, _fail, _fail, _bring_and_fail, _bring))
    assert halt.waited_s[3] <= 1.0


def test_a_connection_that_brings_nothing_is_no_good_one() -> None:
    def connect_and_fail(inlet: Inlet) -> None:
        inlet.connected()
        raise ConnectionError("lost")

    _, halt, way = _run(_Source(*[connect_and_fail] * 4, _bring))
    assert halt.waited_s[3] >= 4.0
    assert way.meter.status().connects == 5


def test_what_cannot_be_helped_is_not_tried_again() -> None:
    def hopeless(_inlet: Inlet) -> None:
        raise HopelessError("install it")

    source = _Source(hopeless)
    _, halt, way = _run(source)
    assert (source.count, halt.waited_s) == (1, [])
    assert (way.meter.status().state, way.meter.status().last_error) == ("failed", "install it")


def test_it_stops_while_it_waits() -> None:
    _, halt, way = _run(_Source(*[_fail] * 50), waits=3)
    assert len(halt.waited_s) == 3
    assert way.meter.status().state == "stopped"


def test_an_engine_that_takes_nothing_just_now_is_asked_again() -> None:
    clock, target = ManualClock(), Recorder()
    target.failures = [StateError("it is paused"), StateError("it is paused")]
    way = inlet(target, CountedHalt(clock, 10), clock)
    way.put(FRAME)
    assert target.rows == [(1,), (2,)]
    assert way.meter.status().last_error == "it is paused"
    assert (way.meter.status().tuples, way.meter.status().dropped) == (2, 0)


def test_tuples_that_an_engine_refuses_are_counted() -> None:
    clock, target = ManualClock(), Recorder()
    target.failures = [InputError("there is no room for 2 tuples")]
    way = inlet(target, CountedHalt(clock, 10), clock)
    way.put(FRAME)
    way.put(FRAME)
    assert (way.meter.status().tuples, way.meter.status().dropped) == (2, 2)


def test_status_says_since_when() -> None:
    clock = ManualClock(5)
    way = inlet(Recorder(), CountedHalt(clock, 1), clock)
    clock.move_s(1)
    way.connected()
    clock.move_s(1)
    status = way.meter.status()
    assert (status.state, status.since_us, status.to_plain()["connects"]) == ("connected", 1_000_005, 1)


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(HopelessError, match=r"aurora-streams\[postgres\]"):
        optional("psycopg")


def test_a_missing_secret_names_the_variable() -> None:
    assert secret("KEY", {"KEY": "x"}) == "x"
    assert secret(None, {}) is None
    with pytest.raises(HopelessError, match="KEY"):
        secret("KEY", {})


class _KeepingSource(_Source):
    closed = 0

    def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize("released", ["before it ends", "after it has ended"])
def test_what_a_source_keeps_over_failures_is_closed_once_and_when_nobody_runs_it(released: str) -> None:
    clock = ManualClock()
    source = _KeepingSource()

    def release(_inlet: Inlet) -> None:
        if released == "before it ends":
            worker.release()
        assert source.closed == 0

    source._runs = [_fail, release]
    worker = Worker(lambda: source, inlet(Recorder(), CountedHalt(clock, 10), clock), BackOff(1.0, 8.0, Random(1)))
    worker.run()
    assert source.closed == (released == "before it ends")
    worker.release()
    assert source.closed == 1


def test_only_what_was_taken_or_will_never_be_may_be_confirmed() -> None:
    clock, target = ManualClock(), Recorder()
    assert inlet(target, CountedHalt(clock, 10), clock).put(FRAME)
    target.failures = [InputError("it does not fit")]
    assert inlet(target, CountedHalt(clock, 10), clock).put(FRAME)
    target.failures = [StateError("it is paused")] * 100
    assert not inlet(target, CountedHalt(clock, 3), clock).put(FRAME)


# Every way in which a worker can end


@pytest.mark.parametrize("error", [pl.exceptions.PanicException("index out of bounds"), SystemExit(3)])
def test_what_is_no_exception_is_told_and_tried_again(error: BaseException) -> None:
    def panic(inlet: Inlet) -> None:
        inlet.connected()
        raise error

    states = list[str]()
    clock, target = ManualClock(), Recorder()
    halt = CountedHalt(clock, 100, lambda _: states.append(way.meter.state))
    way = inlet(target, halt, clock)
    source = _Source(panic, panic, _bring)
    Worker(lambda: source, way, BackOff(1.0, 8.0, Random(1))).run()
    assert states == ["retrying", "retrying"]
    assert (way.meter.state, target.rows) == ("ended", [(1,), (2,)])
    assert way.meter.status().last_error


def test_a_source_that_cannot_be_closed_has_been_stopped_all_the_same() -> None:
    class Clinging(_Source):
        def close(self) -> None:
            raise pl.exceptions.PanicException("it holds on to something")

    clock = ManualClock()
    way = inlet(Recorder(), CountedHalt(clock, 1), clock)
    worker = Worker(lambda: Clinging(_bring), way, BackOff(1.0, 8.0, Random(1)))
    worker.run()
    worker.release()
    assert "holds on" in way.meter.status().last_error


class _SilentError(Exception):
    def __str__(self) -> str:
        raise ValueError("no text either")


def test_a_failure_that_has_no_text_is_told_by_its_type() -> None:
    def fail(_inlet: Inlet) -> None:
        raise _SilentError

    assert _run(_Source(fail, _bring))[2].meter.status().last_error == "_SilentError"


def test_a_thread_that_ends_without_a_word_has_failed() -> None:
    clock = ManualClock()
    way = inlet(Recorder(), CountedHalt(clock, 1), clock)
    way.connected()
    run_watched(lambda: None, way.meter)
    assert (way.meter.state, "without a reason" in way.meter.status().last_error) == ("failed", True)


def test_where_there_is_no_thread_left_the_source_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", full)
    clock = ManualClock()
    way = inlet(Recorder(), CountedHalt(clock, 1), clock)
    assert start_watched("aurora source it", lambda: None, way.meter) is None
    assert (way.meter.state, way.meter.status().last_error) == ("failed", "can't start new thread")


_ALONE = """\
import threading
inside, others = [], threading.Event()

def alone(name):
    inside.append(name)
    if len(inside) > 1:
        others.set()
        raise ImportError(f"{inside} are imported at the same time")
    others.wait(0.3)
    inside.remove(name)
"""


def test_packages_are_imported_by_one_thread_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules of one package that import each other are half made while another thread imports them as well."""
    package = tmp_path / "aurora_test_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "meeting.py").write_text(_ALONE)
    names = ("one", "two", "three")
    for name in names:
        (package / f"{name}.py").write_text(f"from aurora_test_package.meeting import alone\nalone({name!r})\n")
    monkeypatch.syspath_prepend(tmp_path)
    failures = list[BaseException]()

    def load(name: str) -> None:
        try:
            optional(f"aurora_test_package.{name}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=load, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    for module in [name for name in sys.modules if name.startswith("aurora_test_package")]:
        del sys.modules[module]
    assert failures == []


def test_a_package_that_is_there_and_cannot_be_imported_is_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "aurora_test_broken.py").write_text("raise ImportError('libpq is too old')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="libpq is too old"):
        optional("aurora_test_broken")
