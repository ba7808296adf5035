"""Looking at arcs inside the network while it runs."""

from __future__ import annotations

import polars as pl
import pytest

from aurora.clock import ManualClock
from aurora.engine.engine import Engine
from aurora.errors import InputError
from aurora.model.network import Network


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
