"""On Spark: arcs inside segments are seen, break-points pause between steps, and a step is of the whole network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.flight as flight
import pytest

from aurora import Engine, StateError
from aurora.model import loads
from aurora.server.settings import EngineSettings
from tests.server.http_serving import asking, received, serving, socket_to
from tests.server.serving import until

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]

DOCUMENT = """\
aurora: 1
network: inner
streams:
  s: {schema: {g: string, x: int, note: string}}
boxes:
  above: {kind: filter, in: s, where: x > 0}
  counts: {kind: latch, in: above, group_by: g, compute: {n: count(*)}}
  some: {kind: filter, in: counts, where: n > 0}
  doubled: {kind: map, in: some, compute: {g: g, n: n * 2}}
outputs:
  o: {from: doubled}
"""


def rows(*xs: int) -> list[dict[str, Any]]:
    return [{"g": "ab"[x % 2], "x": x, "note": f"n{x}"} for x in xs]


def answers(engine: Engine) -> list[Any]:
    return [row for train in engine.dequeue("o") for row in train.rows()]


def test_taps_break_points_and_steps_of_an_engine(tmp_path: Path) -> None:
    network = loads(DOCUMENT)
    above: list[pl.DataFrame] = []
    some: list[pl.DataFrame] = []
    with Engine(network, master="local[2]", state=tmp_path) as engine:
        engine.enqueue("s", rows(1, 2))
        assert answers(engine) == [("b", 2), ("a", 2)]
        # Behind a filter, where nobody needs the note; and in parts by key.
        assert list(engine.tap("above", above.append)) == ["g", "x", "note"]
        engine.tap("some", some.append)
        engine.enqueue("s", rows(0, 3, 4, 5))
        assert answers(engine) == [("b", 4), ("a", 4), ("b", 6)]
        assert pl.concat(above)["note"].to_list() == ["n3", "n4", "n5"]
        assert pl.concat(some).rows() == [("b", 2), ("a", 2), ("b", 3)]
        engine.untap("above", above.append)
        engine.untap("some", some.append)

        engine.break_at("some", "n = 4 and g = 'b'")
        engine.enqueue("s", rows(6, 7))
        with pytest.raises(StateError, match="break-point was hit on some"):
            engine.drain()
        assert [hit.tuples.rows() for hit in engine.hits()] == [[("b", 4)]]
        engine.enqueue("s", rows(8, 9))
        assert engine.describe()["queued"] == {"s": 2}

        step = engine.step(tuples=1)
        assert step.whole
        assert [(seen.arc, seen.first["note"].to_list()) for seen in step.entered] == [("s", ["n8"])]
        made = {box.box: [seen.first.rows() for seen in box.made] for box in step.boxes}
        assert made["some"] == [[("a", 4)]]
        assert made["doubled"] == [[("a", 8)]]
        with pytest.raises(StateError, match="one superbox"):
            engine.step("some")
        engine.resume()
        engine.drain()
        assert answers(engine) == [("a", 6), ("b", 8), ("a", 8), ("b", 10)]
    with Engine(network, master="local[2]", state=tmp_path) as again:
        again.enqueue("s", rows(1))
        assert answers(again) == [("b", 12)]


@pytest.fixture
def served() -> Iterator[Any]:
    settings = EngineSettings(processor="spark", master="local[2]", memory="64MB")
    with serving(DOCUMENT, settings=settings, flight=True) as service:
        yield service


def test_flight_and_sockets_see_arcs_inside_segments(served: Any) -> None:
    path = "/api/v1/networks/inner"
    with asking(served) as http, socket_to(served, f"{path}/arcs/above/live") as tap:
        assert received(tap, 60) == {"columns": {"g": "string", "x": "int", "note": "string"}}
        with flight.connect(served.flight_url) as client:
            descriptor = flight.FlightDescriptor.for_path("inner", "some")
            reader = client.do_get(client.get_flight_info(descriptor).endpoints[0].ticket)
            assert reader.schema.names == ["g", "n"]
            http.post(f"{path}/streams/s", json=rows(3))
            assert reader.read_chunk().data.to_pylist() == [{"g": "b", "n": 1}]
            reader.cancel()
        assert received(tap, 60)["tuples"] == rows(3)
        http.post(f"{path}/debug/breakpoints", json={"arc": "counts"})
        http.post(f"{path}/streams/s", json=rows(4))
        until(lambda: http.get(path).json()["stage"] == "paused")
        assert http.get(f"{path}/debug/state").json()["hits"][0]["tuples"] == [{"g": "a", "n": 1}]
        refused = http.post(f"{path}/debug/inject", params={"arc": "above"}, json=rows(1))
        assert refused.status_code == 409
    engine = served.host.hosted("inner").engine
    until(lambda: len(engine._check_started().delivery.taps) == 1)
