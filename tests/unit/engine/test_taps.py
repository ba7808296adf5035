"""Looking at arcs inside the network while it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from aurora.clock import ManualClock
from aurora.connectors.frames import table_frame
from aurora.engine.engine import Engine
from aurora.errors import InputError, StateError
from aurora.model.network import Network
from oracle.parts import in_parts


def _network() -> Network:
    net = Network("tapped")
    ticks = net.stream("ticks", price="double")
    high = ticks.filter("high", "price > 10")
    net.output("dear", high.map("double", compute={"price": "price * 2"}))
    return net


def _engine() -> Engine:
    return Engine(_network(), processor="local", wall=ManualClock(), shedding="off")


ROWS = [{"price": 5.0}, {"price": 15.0}]


@pytest.mark.parametrize(("arc", "wanted"), [("ticks", [5.0, 15.0]), ("high", [15.0]), ("double", [30.0])])
def test_every_arc_can_be_looked_at(arc: str, wanted: list[float]) -> None:
    seen: list[pl.DataFrame] = []
    with _engine() as engine:
        engine.tap(arc, seen.append)
        engine.enqueue("ticks", ROWS)
        engine.drain()
        assert pl.concat(seen).to_dict(as_series=False) == {"price": wanted}
        # Looking takes nothing away.
        assert pl.concat(engine.dequeue("dear")).rows() == [(30.0,)]
        engine.untap(arc, seen.append)


def test_who_looks_no_more_is_shown_nothing() -> None:
    seen: list[pl.DataFrame] = []

    def look(frame: pl.DataFrame) -> None:
        seen.append(frame)

    with _engine() as engine:
        engine.tap("high", look)
        engine.untap("high", look)
        engine.enqueue("ticks", ROWS)
        engine.drain()
    assert seen == []


def test_one_that_fails_is_let_go_and_the_others_see_on(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[pl.DataFrame] = []
    calls = 0

    def fail(_frame: pl.DataFrame) -> None:
        nonlocal calls
        calls += 1
        raise ValueError("on purpose")

    with _engine() as engine:
        engine.tap("high", fail)
        engine.tap("high", seen.append)
        for _ in range(2):
            engine.enqueue("ticks", ROWS)
            engine.drain()
    assert calls == 1
    assert pl.concat(seen).height == 2
    assert "on purpose" in caplog.text


def test_an_arc_that_is_not_there_is_named() -> None:
    with _engine() as engine, pytest.raises(InputError, match="did you mean 'high'"):
        engine.tap("hihg", print)


# On the steps of Spark


def wide() -> Network:
    """Nobody but an onlooker needs `note` behind the filter, and a join would have to keep it."""
    net = Network("wide")
    ticks = net.stream("ticks", at="timestamp", ticker="string", price="int", note="string")
    trades = net.stream("trades", at="timestamp", ticker="string", volume="int", note="string")
    high = ticks.filter("high", "price > 10")
    net.output("dear", high.map("double", compute={"price": "price * 2"}))
    net.output("counts", high.latch("counted", group_by="ticker", n="count(*)").filter("some", "n > 0"))
    some = trades.filter("some_trades", "volume > 0")
    known = some.join(
        "pairs",
        high.map("priced", compute={"at": "at", "ticker": "ticker", "price": "price"}),
        on="left.ticker = right.ticker",
        within="1s",
        left_order_by="at",
        right_order_by="at",
        slack="1s",
        compute={"ticker": "left.ticker", "price": "right.price"},
    )
    net.output("known", known)
    return net


T0 = datetime(2020, 1, 1, tzinfo=UTC)


def ticks(*prices: int) -> list[dict[str, object]]:
    return [{"at": T0, "ticker": "ab"[p % 2], "price": p, "note": f"n{p}"} for p in prices]


def trades(*volumes: int) -> list[dict[str, object]]:
    return [{"at": T0, "ticker": "ab"[v % 2], "volume": v, "note": f"t{v}"} for v in volumes]


@pytest.mark.parametrize("parts", [1, 3])
def test_arcs_inside_segments_are_seen_with_all_their_columns(parts: int) -> None:
    seen: list[pl.DataFrame] = []
    with in_parts(parts), Engine(wide(), wall=ManualClock()) as engine:
        engine.enqueue("ticks", ticks(1, 11, 12))
        engine.drain()
        schema = engine.tap("high", seen.append)
        assert list(schema) == ["at", "ticker", "price", "note"]
        engine.enqueue("ticks", ticks(2, 13, 15))
        engine.drain()
        assert pl.concat(seen)["note"].to_list() == ["n13", "n15"]
        engine.untap("high", seen.append)
        engine.enqueue("ticks", ticks(17))
        engine.drain()
        assert pl.concat(seen).height == 2
        assert [row for train in engine.dequeue("dear") for row in train.rows()] == [(22,), (24,), (26,), (30,), (34,)]
        counts = [row for train in engine.dequeue("counts") for row in train.rows()]
        assert counts == [("b", 1), ("a", 1), ("b", 2), ("b", 3), ("b", 4)]


def test_columns_that_a_box_would_have_to_keep_are_not_carried_for_onlookers() -> None:
    """Its state would be another, and an engine that goes on from it without onlookers could not read it."""
    seen: list[pl.DataFrame] = []
    with in_parts(2), Engine(wide(), wall=ManualClock()) as engine:
        assert "note" not in engine.tap("some_trades", seen.append)
        with pytest.raises(StateError, match="some_trades does not carry note"):
            engine.break_at("some_trades", "note = 't1'")
        engine.break_at("high", "note = 'n11'")
        engine.enqueue("trades", trades(1))
        engine.drain()
        (frame,) = seen
        assert frame.select("ticker", "volume").rows() == [("b", 1)]
        assert not engine.paused
        engine.enqueue("ticks", ticks(11))
        with pytest.raises(StateError, match="break-point"):
            engine.drain()
        assert [hit.tuples["note"].to_list() for hit in engine.hits()] == [["n11"]]


def test_state_that_was_committed_while_somebody_looked_on_is_gone_on_from_without(tmp_path: Path) -> None:
    def counts(engine: Engine) -> list[tuple[object, ...]]:
        return [row for train in engine.dequeue("counts") for row in train.rows()]

    with in_parts(2):
        with Engine(wide(), wall=ManualClock(), state=tmp_path) as engine:
            engine.tap("high", lambda frame: None)
            engine.tap("some_trades", lambda frame: None)
            engine.enqueue("ticks", ticks(11, 12))
            engine.enqueue("trades", trades(1))
            assert counts(engine) == [("b", 1), ("a", 1)]
        with Engine(wide(), wall=ManualClock(), state=tmp_path) as engine:
            engine.enqueue("ticks", ticks(13))
            assert counts(engine) == [("b", 2)]


def test_a_stream_whose_rows_workers_read_is_seen_too() -> None:
    seen: list[pl.DataFrame] = []

    class Rows:
        frame = table_frame(ticks(11, 12), wide().streams["ticks"].schema)

        def read(self, start: int, stop: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
            return (self.frame if columns is None else self.frame.select(columns))[start:stop]

        def pieces(self, start: int, stop: int, rows: int) -> Iterator[tuple[int, int]]:
            yield start, stop

        def column(self, name: str, start: int, stop: int) -> pl.Series:
            return self.frame[name][start:stop]

    with in_parts(2), Engine(wide(), wall=ManualClock()) as engine:
        engine.tap("ticks", seen.append)
        engine._queued.put_rows("ticks", Rows(), 2, lambda: None)
        engine.drain()
        assert pl.concat(seen)["note"].to_list() == ["n11", "n12"]
