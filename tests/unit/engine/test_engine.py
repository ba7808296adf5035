"""The engine as a program uses it, on the local processor: what was enqueued comes out, once and in order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from aurora import Engine, InputError, Network, StateError, UserCodeError, run, tuples
from aurora.boxes import python
from aurora.clock import ManualClock
from aurora.connectors.block_log import BlockLog, BlockLogSink
from aurora.connectors.block_rows import BlockRows
from aurora.model.schema import Schema
from aurora.storage.blocks import write_block

START = datetime(2026, 1, 1, tzinfo=UTC)


def network() -> Network:
    net = Network("engine")
    s = net.stream("s", g="string", x="int", t="timestamp")
    r = net.stream("r", g="string", x="int", t="timestamp")
    both = s.union("both", r)
    net.output("all", both)
    net.output("big", s.filter("above", "x > 2"))
    net.output("sums", both.latch("sums", group_by="g", total="sum(x)"))
    return net


def rows(*xs: int, g: str = "a", first: int = 0) -> list[dict[str, Any]]:
    return [{"g": g, "x": x, "t": START + timedelta(seconds=first + place)} for place, x in enumerate(xs)]


def engine(net: Network | None = None, **options: Any) -> Engine:
    options.setdefault("wall", ManualClock())
    return Engine(net or network(), processor="local", **options)


def taken(running: Engine, output: str) -> list[tuple[Any, ...]]:
    return [row for train in running.dequeue(output) for row in train.rows()]


def xs(running: Engine, output: str = "all") -> list[int]:
    return [row[1] for row in taken(running, output)]


def test_what_is_enqueued_comes_out_in_the_order_of_enqueueing() -> None:
    with engine() as running:
        running.enqueue("s", rows(1, 2))
        running.enqueue("r", rows(3))
        running.enqueue("s", rows(4))
        assert xs(running) == [1, 2, 3, 4]
        assert xs(running) == []
        running.enqueue("r", rows(5))
        assert xs(running) == [5]
        assert xs(running, "big") == [4]
        assert [row[1] for row in taken(running, "sums")] == [1, 3, 6, 10, 15]


@pytest.mark.parametrize("train", [1, 2, 3, None])
@pytest.mark.parametrize("size", [1, 2, 5, 20])
def test_it_gives_what_a_run_gives_whatever_the_trains_and_tables(train: int | None, size: int) -> None:
    data = {"s": rows(*range(20)), "r": []}
    wanted = run(network(), data, clock="t", wall=ManualClock()).outputs
    with engine(clock="t", train=train) as running:
        for start in range(0, 20, size):
            running.enqueue("s", data["s"][start : start + size])
            if start % 3 == 0:
                running.step()
        running.flush()
        for name, frame in wanted.items():
            assert taken(running, name) == frame.rows()


def test_a_paused_engine_runs_step_by_step() -> None:
    with engine(train=2, paused=True) as running:
        running.enqueue("s", rows(1, 2, 3))
        assert running.stats().inputs["s"].tuples == 0
        assert running.describe()["queued"] == {"s": 3, "r": 0}
        assert running.step()
        assert running.describe()["queued"] == {"s": 0, "r": 0}
        assert running.describe()["waiting"] == {"all": 2, "big": 0, "sums": 2}
        assert running.step()
        while running.step():
            pass
        assert running.describe()["waiting"] == {"all": 3, "big": 1, "sums": 3}
        assert running.stats().inputs["s"].tuples == 3


def test_trains_are_frames_of_the_visible_columns() -> None:
    with engine(train=2) as running:
        running.enqueue("s", rows(1, 2, 3))
        trains = list(running.dequeue("all"))
    assert [train.height for train in trains] == [2, 1]
    assert trains[0].schema == {"g": pl.String(), "x": pl.Int64(), "t": pl.Datetime("us", "UTC")}


class Table:
    """What a pandas frame is to us."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def test_all_kinds_of_tables() -> None:
    frame = pl.DataFrame(rows(1))
    narrow = frame.with_columns(pl.col("x").cast(pl.Int16), pl.col("t").dt.replace_time_zone(None))
    batch = frame.to_arrow().to_batches()[0]
    with engine() as running:
        for table in (frame, narrow, frame.to_arrow(), batch, Table(frame.to_arrow()), rows(1), frame.clear(), []):
            running.enqueue("s", table)
        assert taken(running, "all") == 6 * frame.rows()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: e.enqueue("ss", []), r"no stream 'ss'; it has s, r; did you mean 's'"),
        (lambda e: e.dequeue("al"), r"no output 'al'; it has all, big, sums; did you mean 'all'"),
        (
            lambda e: e.enqueue("s", pl.DataFrame({"g": ["a"]})),
            r"cannot enqueue to s: .* lacks the columns x, t",
        ),
        (lambda e: e.enqueue("s", [{"g": "a", "x": "one", "t": START}]), r"cannot enqueue to s: .* does not fit"),
        (lambda e: e.publish("nothing", "log"), r"no output 'nothing'"),
    ],
)
def test_what_does_not_fit_is_refused_at_once(call: Any, message: str) -> None:
    with engine() as running:
        with pytest.raises(InputError, match=message):
            call(running)
        running.enqueue("s", rows(7))
        assert xs(running) == [7]


def test_options_that_cannot_be() -> None:
    with pytest.raises(InputError, match="no processor 'sparc'"):
        Engine(network(), processor="sparc")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no column y"):
        engine(clock="y").start()
    with pytest.raises(InputError, match="no static connection point 'names'; it has none"):
        engine(statics={"names": []})


def test_static_tables() -> None:
    net = Network("static")
    s = net.stream("s", k="int")
    net.connection_point("names", schema={"k": "int", "name": "string"})
    net.output("named", s.join("named", "names", on="left.k = right.k", compute={"name": "right.name"}))
    with engine(net, statics={"names": [{"k": 1, "name": "one"}]}) as running:
        running.enqueue("s", [{"k": 1}, {"k": 2}])
        assert taken(running, "named") == [("one",)]


def test_local_engines_have_no_session() -> None:
    with engine() as running:
        with pytest.raises(StateError, match='the processor is local; use processor="spark"'):
            running.session  # noqa: B018
        with pytest.raises(StateError, match="the processor is local"):
            running.feed("s", None)


# Time


def timed() -> Network:
    net = Network("timed")
    s = net.stream("s", g="string", x="int", t="timestamp")
    window = tuples(2, advance=2, timeout="5s")
    net.output("pairs", s.aggregate("pairs", group_by="g", window=window, n="count(*)", alarm="timed_out()"))
    return net


def test_timeouts_fire_without_tuples_on_the_wall_clock() -> None:
    wall = ManualClock()
    with engine(timed(), wall=wall) as running:
        running.enqueue("s", rows(1))
        assert taken(running, "pairs") == []
        wall.move_s(6)
        assert taken(running, "pairs") == [("a", 1, True)]
        wall.move_s(100)
        assert taken(running, "pairs") == []
        # The first of these would have belonged to the window that has timed out.
        running.enqueue("s", rows(2, 3, 4))
        assert taken(running, "pairs") == [("a", 2, False)]


def test_the_arrival_time_is_that_of_enqueueing() -> None:
    wall = ManualClock()
    with engine(timed(), wall=wall) as running:
        running.enqueue("s", rows(1))
        wall.move_s(6)
        running.enqueue("s", rows(2))
        assert taken(running, "pairs") == [("a", 1, True)]


def test_a_column_drives_time_and_never_back() -> None:
    with engine(timed(), clock="t") as running:
        running.enqueue("s", rows(1, first=10))
        running.enqueue("s", rows(2, g="b", first=3))
        assert taken(running, "pairs") == []
        running.enqueue("s", rows(3, g="c", first=16))
        assert taken(running, "pairs") == [("a", 1, True), ("b", 1, True)]


@pytest.mark.parametrize("output", ["big", "all"])
def test_latency_is_counted_from_enqueueing(output: str) -> None:
    wall = ManualClock()
    net = Network("latency")
    s = net.stream("s", g="string", x="int", t="timestamp")
    net.output(output, s.filter("above", "x > 0"))
    with engine(net, wall=wall, paused=True) as running:
        running.enqueue("s", rows(1))
        wall.move_s(8)
        running.enqueue("s", rows(1))
        wall.move_s(2)
        running.resume()
        assert len(taken(running, output)) == 2
        latencies = running.stats().outputs[output].latency_s
        assert latencies.quantile(0.25) == pytest.approx(2, rel=0.01)
        assert latencies.quantile(1.0) == pytest.approx(10, rel=0.01)


# Its life


def test_flush_closes_windows_and_ends_the_input() -> None:
    net = Network("windows")
    s = net.stream("s", g="string", x="int", t="timestamp")
    net.output("sums", s.tumble("sums", order_by="t", window={"size": "10s"}, total="sum(x)"))
    with engine(net) as running:
        running.enqueue("s", rows(1, 2))
        assert taken(running, "sums") == []
        running.enqueue("s", rows(3, first=2))
        running.flush()
        assert [row[1] for row in taken(running, "sums")] == [6]
        with pytest.raises(StateError, match="ended with a flush"):
            running.enqueue("s", rows(4))


def test_shutdown_drains_and_what_came_out_can_still_be_had() -> None:
    running = engine()
    with pytest.raises(StateError, match="not been started"):
        running.step()
    running.start()
    running.enqueue("s", rows(1, 2))
    running.shutdown()
    running.shutdown()
    assert xs(running) == [1, 2]
    with pytest.raises(StateError, match="it has been shut down; make another one"):
        running.enqueue("s", rows(3))
    with pytest.raises(StateError, match="started before"):
        running.start()


def test_shutdown_without_drain_forgets_what_waits() -> None:
    running = engine(paused=True)
    running.start()
    running.enqueue("s", rows(1, 2))
    running.shutdown(drain=False)
    assert xs(running) == []


class Picky:
    def process(self, port: int, train: pl.DataFrame) -> pl.DataFrame:
        if 2 in train["x"]:
            raise ValueError("no twos")
        return train.select("x")


def test_tuples_on_which_the_code_fails_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    registered = python.Registered("picky", Picky, {"out": Schema.of(x="int")}, None, None)
    monkeypatch.setitem(python.REGISTERED, "picky", registered)
    net = Network("picky")
    net.output("o", net.stream("s", g="string", x="int", t="timestamp").python("b", "picky"))
    with engine(net) as running:
        running.enqueue("s", rows(1, 2, 3))
        assert taken(running, "o") == [(1,), (3,)]
        ((box, number, reason, _),) = taken(running, "b.rejected")
        assert (box, number) == ("b", 1)
        assert "no twos" in reason


def test_after_a_failure_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    with engine(paused=True) as running:
        running.enqueue("s", rows(1))
        monkeypatch.setattr("aurora.processors.local.LocalProcessor.run", _broken)
        with pytest.raises(UserCodeError, match="broken"):
            running.step()
        with pytest.raises(StateError, match="it failed: broken; make another one"):
            running.step()


def _broken(*_: object) -> None:
    raise UserCodeError("broken")


def test_typecheck_and_describe() -> None:
    running = engine()
    assert running.typecheck().arcs["sums"].schema == Schema.of(g="string", total="int")
    assert Network.from_document(running.describe()["network"]) == network()


# State


def test_an_engine_goes_on_from_its_state(tmp_path: Path) -> None:
    state, log = str(tmp_path / "state"), str(tmp_path / "log")
    with engine(state=state, clock="t") as first:
        first.publish("sums", log)
        first.enqueue("s", rows(1, 2))
        assert xs(first) == [1, 2]
    with engine(state=state, clock="t") as second:
        second.publish("sums", log)
        assert second.stats().inputs["s"].tuples == 2
        second.enqueue("s", rows(3, first=2))
        assert xs(second) == [3]
    assert totals(log) == [1, 3, 6]
    with pytest.raises(StateError, match="another"):
        engine(state=state, clock=None).start()


def totals(log: str) -> list[int]:
    opened = BlockLog(log)
    tables = [opened.read(block.name, 0, block.rows) for block in opened.blocks()]
    return [total for table in tables for total in table["total"].to_pylist()]


def test_what_a_log_has_beyond_the_commit_is_not_written_twice(tmp_path: Path) -> None:
    """The engine died after it had written to the log, and before its commit: the tuples come again."""
    state, log = str(tmp_path / "state"), str(tmp_path / "log")
    with engine(state=state, clock="t") as first:
        first.publish("sums", log)
        first.enqueue("s", rows(1, 2))
    sink = BlockLogSink(log, Schema.of(g="string", total="int"))
    sink.write(pl.DataFrame({"g": ["a", "a"], "total": [6, 10]}))
    sink.close()
    with engine(state=state, clock="t", train=1) as second:
        second.publish("sums", log)
        second.enqueue("s", rows(3, 4, 5, first=2))
    assert totals(log) == [1, 3, 6, 10, 15]


def test_an_output_that_was_not_published_meanwhile_is_appended(tmp_path: Path) -> None:
    """What it delivered then went elsewhere; nothing of what comes now is in the log."""
    state, log = str(tmp_path / "state"), str(tmp_path / "log")
    for number, published in enumerate([True, False, True]):
        with engine(state=Path(state), clock="t") as running:
            if published:
                running.publish("sums", Path(log))
            running.enqueue("s", rows(1, first=number))
    assert totals(log) == [1, 3]


def test_publishing_takes_what_waits_and_ends_dequeueing(tmp_path: Path) -> None:
    with engine() as running:
        running.enqueue("s", rows(1, 2))
        assert xs(running) == [1, 2]
        running.publish("sums", str(tmp_path / "log"))
        running.enqueue("s", rows(3))
        running.drain()
        with pytest.raises(InputError, match="sums is published"):
            running.dequeue("sums")
        with pytest.raises(StateError, match="another process appends"):
            running.publish("big", str(tmp_path / "log"))
    assert totals(str(tmp_path / "log")) == [1, 3, 6]


# Rows that workers read


@pytest.mark.parametrize("clock", [None, "t"])
@pytest.mark.parametrize("train", [1, 2, 100])
def test_blocks_are_read_where_the_boxes_run(tmp_path: Path, train: int, clock: str | None) -> None:
    schema = network().streams["s"].schema.to_polars()
    frames = [pl.DataFrame(rows(*part), schema=schema) for part in ((1, 2, 3), (4,), (5, 6))]
    blocks = [write_block([str(tmp_path)], f"b{number}", frame) for number, frame in enumerate(frames)]
    done: list[str] = []
    with engine(train=train, clock=clock, paused=True) as running:
        running.enqueue("r", rows(0))
        rows_of_blocks = BlockRows(tuple(blocks))
        running._queued.put_rows("s", rows_of_blocks, len(rows_of_blocks), lambda: done.append("s"))
        running.enqueue("r", rows(7))
        seen = []
        while running.step():
            seen.append(len(done))
        assert xs(running) == [0, 1, 2, 3, 4, 5, 6, 7]
        assert done == ["s"]
        assert seen[-1] == 1
