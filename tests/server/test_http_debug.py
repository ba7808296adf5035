"""Looking for a mistake over HTTP: break-points, steps, tuples made by hand, and taps that go with their readers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from aurora.server.service import Service
from tests.server.http_serving import API, DOCUMENT, FULL, READ, TOKENS, asking, received, rows, serving, socket_to
from tests.server.serving import until

N = f"{API}/networks/demo"
D = f"{N}/debug"


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as running:
        yield running


@pytest.fixture
def http(service: Service) -> Iterator[httpx.Client]:
    with asking(service) as client:
        yield client


def enqueue(http: httpx.Client, *prices: float) -> None:
    tuples = [{"ticker": f"t{price:g}", "price": price} for price in prices]
    assert http.post(f"{N}/streams/ticks", json=tuples).status_code == 200


def dear(http: httpx.Client) -> list[float]:
    return [row["price"] for row in http.post(f"{N}/outputs/dear/dequeue", params={"drain": True}).json()]


def test_a_break_point_pauses_the_network_and_tells_the_tuples(http: httpx.Client) -> None:
    made = http.post(f"{D}/breakpoints", json={"arc": "high", "condition": "price > 20"})
    assert made.status_code == 201
    known = {"number": 1, "arc": "high", "condition": "price > 20", "enabled": True}
    assert made.json() == {**known, "hits": 0, "tuples": 0, "fault": ""}
    enqueue(http, 5, 15, 25)
    until(lambda: http.get(N).json()["stage"] == "paused")
    state = http.get(f"{D}/state").json()
    assert state["stage"] == "paused"
    (hit,) = state["hits"]
    assert (hit["breakpoint"], hit["arc"], hit["count"]) == (1, "high", 1)
    assert hit["tuples"] == [{"ticker": "t25", "price": 25.0}]
    assert hit["at_us"] > 0
    assert http.post(f"{N}/resume").json()["stage"] == "running"
    assert dear(http) == [30.0, 50.0]
    assert http.get(f"{D}/state").json()["hits"] == []
    assert http.get(f"{D}/breakpoints").json() == [{**known, "hits": 1, "tuples": 1, "fault": ""}]
    events = http.get(f"{N}/events").json()
    assert "Break-point hit on high: price > 20" in str(events)


def test_break_points_are_disabled_removed_and_outlive_a_restart(http: httpx.Client) -> None:
    http.post(f"{D}/breakpoints", json={"arc": "ticks"})
    http.post(f"{D}/breakpoints", json={"arc": "high", "condition": "price = 11", "enabled": False})
    assert http.put(f"{D}/breakpoints/1", json={"enabled": False}).json()["enabled"] is False
    enqueue(http, 11)
    assert dear(http) == [22.0]
    assert http.delete(f"{D}/breakpoints/1").json() == {"number": 1, "removed": True}
    http.put(f"{D}/breakpoints/2", json={"enabled": True})
    http.post(f"{N}/stop")
    assert [one["arc"] for one in http.get(f"{D}/breakpoints").json()] == ["high"]
    http.post(f"{N}/start")
    enqueue(http, 11)
    until(lambda: http.get(N).json()["stage"] == "paused")
    # What is paused can be stopped, and loses nothing.
    assert http.post(f"{N}/stop").json()["stage"] == "stopped"


def test_steps_of_a_paused_network_tell_what_went_in_and_came_out(http: httpx.Client) -> None:
    refused = http.post(f"{D}/step", json={})
    assert refused.status_code == 409
    assert "pause it" in refused.json()["error"]
    http.post(f"{N}/pause")
    enqueue(http, 5, 15, 25)
    step = http.post(f"{D}/step", json={"box": "high", "tuples": 2}).json()
    assert step["worked"] is True
    assert step["whole"] is False
    assert [(seen["arc"], seen["tuples"]) for seen in step["entered"]] == [("ticks", 3)]
    (box,) = step["boxes"]
    assert box["box"] == "high"
    assert [row["price"] for row in box["taken"][0]["first"]] == [5.0, 15.0]
    assert [row["price"] for row in box["made"][0]["first"]] == [15.0]
    assert box["state"] == {}
    assert http.get(f"{D}/state").json()["step"] == step
    single = http.post(f"{D}/step", json={"tuples": 1}, params={"rows": 0}).json()
    assert [seen["first"] for box in single["boxes"] for seen in box["taken"]] == [[]]
    while http.post(f"{D}/step").json()["worked"]:
        pass
    http.post(f"{N}/resume")
    assert http.get(f"{D}/state").json()["step"] is None
    assert dear(http) == [30.0, 50.0]


def test_tuples_made_by_hand_go_on_a_stream_or_on_an_arc(http: httpx.Client) -> None:
    on_arc = http.post(f"{D}/inject", params={"arc": "high"}, json=[{"ticker": "x", "price": 1.0}])
    assert on_arc.json() == {"tuples": 1, "rejected": 0, "reasons": []}
    on_stream = http.post(
        f"{D}/inject", params={"arc": "ticks", "format": "jsonl"}, content=b'{"ticker": "y", "price": 12}\n'
    )
    assert on_stream.json()["tuples"] == 1
    assert dear(http) == [2.0, 24.0]
    wrong = http.post(f"{D}/inject", params={"arc": "high"}, json=[{"ticker": "x", "price": "dear"}])
    assert wrong.status_code == 422
    assert "do not fit high" in wrong.json()["error"]
    http.post(f"{N}/pause")
    enqueue(http, 11)
    waits = http.post(f"{D}/inject", params={"arc": "high"}, json=[{"ticker": "x", "price": 1.0}])
    assert waits.status_code == 409
    assert "tuples wait before high" in waits.json()["error"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "said"),
    [
        ("POST", "breakpoints", {}, 400, "no arc is named"),
        ("POST", "breakpoints", {"arc": "hihg"}, 404, "did you mean 'high'"),
        ("POST", "breakpoints", {"arc": "high", "condition": "cost > 1"}, 422, "the expression is not valid"),
        ("POST", "breakpoints", {"arc": "high", "condition": 7}, 400, "give text"),
        ("POST", "breakpoints", {"ark": "high"}, 400, "no field 'ark'"),
        ("POST", "breakpoints", [1], 400, "no object"),
        ("PUT", "breakpoints/1", {"enabled": True}, 404, "there is no break-point '1'"),
        ("DELETE", "breakpoints/one", None, 404, "there is no break-point 'one'"),
        ("POST", "step", {"box": "hihg"}, 404, "there is no box"),
        ("POST", "step", {"tuples": True}, 400, "a whole number"),
        ("POST", "inject", [], 400, "no arc is named"),
        ("POST", "inject?arc=nowhere", [], 404, "there is no arc"),
    ],
)
def test_what_is_wrong_is_refused_with_the_reason(
    http: httpx.Client, method: str, path: str, body: Any, status: int, said: str
) -> None:
    answer = http.request(method, f"{D}/{path}", json=body)
    assert (answer.status_code, said in answer.json()["error"]) == (status, True), answer.text
    # And the engine goes on.
    enqueue(http, 15)
    assert dear(http) == [30.0]


def test_a_socket_hears_of_everything_that_changes(service: Service, http: httpx.Client) -> None:
    with socket_to(service, f"{D}/live") as live:
        assert received(live) == {"stage": "running", "breakpoints": [], "hits": [], "step": None}
        http.post(f"{D}/breakpoints", json={"arc": "high"})
        heard = received(live)
        assert [one["arc"] for one in heard["breakpoints"]] == ["high"]
        enqueue(http, 15)
        while not heard["hits"] or heard["stage"] != "paused":
            heard = received(live)
        assert heard["hits"][0]["tuples"] == [{"ticker": "t15", "price": 15.0}]
        http.post(f"{D}/step", json={"tuples": 1})
        while heard["step"] is None:
            heard = received(live)
        assert [box["box"] for box in heard["step"]["boxes"]] == ["double"]
        http.post(f"{N}/resume")
        while heard["stage"] != "running" or heard["step"] is not None:
            heard = received(live)
        http.delete(f"{D}/breakpoints/1")
        while heard["breakpoints"]:
            heard = received(live)


def test_who_may_only_look_cannot_stop_a_network() -> None:
    with serving(tokens=TOKENS) as service, asking(service, READ) as reading, asking(service, FULL) as doing:
        for method, path in [
            ("POST", "breakpoints"),
            ("PUT", "breakpoints/1"),
            ("DELETE", "breakpoints/1"),
            ("POST", "step"),
            ("POST", "inject"),
        ]:
            assert reading.request(method, f"{D}/{path}").status_code == 403
        assert reading.get(f"{D}/state").status_code == 200
        assert reading.get(f"{D}/breakpoints").json() == []
        assert doing.post(f"{D}/breakpoints", json={"arc": "high"}).status_code == 201
        with socket_to(service, f"{D}/live", READ) as live:
            assert len(received(live)["breakpoints"]) == 1


def test_a_tap_goes_with_its_last_reader(service: Service) -> None:
    delivery = service.host.hosted("demo").engine._check_started().delivery
    with socket_to(service, f"{N}/arcs/high/live") as one, socket_to(service, f"{N}/arcs/high/live") as other:
        received(one)
        received(other)
        assert [len(taps) for taps in delivery.taps.values()] == [2]
    until(lambda: not delivery.taps)
    assert service.host.hosted("demo")._taps == {}


def test_an_arc_can_be_meant_where_an_output_has_its_name() -> None:
    document = DOCUMENT.replace("  dear: {from: double}", "  high: {from: double}")
    with serving(document) as service, socket_to(service, f"{N}/arcs/high/live?inside=true") as inside:
        received(inside)
        with socket_to(service, f"{N}/arcs/high/live") as output:
            received(output)
            service.host.enqueue("demo", "ticks", rows(1))
            (made,) = received(output)["tuples"]
            (before,) = received(inside)["tuples"]
            assert made["price"] == 2 * before["price"]


def test_people_are_shown_the_latest_tuples_and_how_many_came(service: Service) -> None:
    with socket_to(service, f"{N}/arcs/ticks/live?latest=3") as tap:
        received(tap)
        service.host.enqueue("demo", "ticks", rows(100))
        heard = received(tap)
        while heard["count"] < 100:
            heard = received(tap)
        assert len(heard["tuples"]) <= 3
        assert heard["tuples"][-1] == rows(100)[-1]
        assert heard["dropped"] >= 100 - 2 * 3
