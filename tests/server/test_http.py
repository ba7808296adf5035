"""The HTTP interface, asked as any program would."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import httpx
import polars as pl
import pytest

from aurora.server.all_routes import ROUTES
from aurora.server.service import Service
from tests.server.http_serving import API, DOCUMENT, WINDOWED, asking, rows, serving


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serving() as running:
        yield running


@pytest.fixture
def http(service: Service) -> Iterator[httpx.Client]:
    with asking(service) as client:
        yield client


def test_tuples_go_in_and_answers_come_out(http: httpx.Client) -> None:
    sent = http.post(f"{API}/networks/demo/streams/ticks", json=[*rows(2), {"ticker": "low", "price": 1.0}])
    assert sent.json() == {"tuples": 3, "rejected": 0, "reasons": []}
    came = http.post(f"{API}/networks/demo/outputs/dear/dequeue", params={"drain": True})
    assert came.json() == [{"ticker": "t0", "price": 40.0}, {"ticker": "t1", "price": 42.0}]
    # It is handed out once.
    assert http.post(f"{API}/networks/demo/outputs/dear/dequeue", params={"drain": True}).json() == []


@pytest.mark.parametrize(
    ("media", "body"),
    [
        ("application/x-ndjson", b'{"ticker": "a", "price": 11}\n{"ticker": "b", "price": 12}\n'),
        ("text/csv", b"ticker,price\na,11\nb,12\n"),
        ("application/json", b'{"ticker": "a", "price": 11} {"ticker": "b", "price": 12}'),
        ("application/vnd.apache.arrow.stream", None),
    ],
)
def test_every_format_is_taken(http: httpx.Client, media: str, body: bytes | None) -> None:
    if body is None:
        buffer = io.BytesIO()
        pl.DataFrame({"ticker": ["a", "b"], "price": [11.0, 12.0]}).write_ipc_stream(buffer)
        body = buffer.getvalue()
    answer = http.post(f"{API}/networks/demo/streams/ticks", content=body, headers={"content-type": media})
    assert answer.json()["tuples"] == 2, answer.text
    came = http.post(f"{API}/networks/demo/outputs/dear/dequeue", params={"drain": True, "format": "csv"})
    assert came.text == "ticker,price\na,22.0\nb,24.0\n"


def test_dequeue_hands_out_as_much_as_asked_for(http: httpx.Client) -> None:
    http.post(f"{API}/networks/demo/streams/ticks", json=rows(5))
    url = f"{API}/networks/demo/outputs/dear/dequeue"
    first = http.post(url, params={"drain": True, "most": 2}).json()
    rest = http.post(url, params={"wait_s": 1}).json()
    assert [row["ticker"] for row in first + rest] == ["t0", "t1", "t2", "t3", "t4"]
    assert len(first) == 2


def test_a_network_is_described_and_listed(http: httpx.Client) -> None:
    known = http.get(f"{API}/networks/demo").json()
    assert known["stage"] == "running"
    assert known["streams"] == {"ticks": {"ticker": "string", "price": "double"}}
    assert known["outputs"]["dear"]["columns"] == {"ticker": "string", "price": "double"}
    kinds = {one["name"]: one["kind"] for one in http.get(f"{API}/entities").json()}
    assert kinds == {"ticks": "stream", "high": "filter", "double": "map", "dear": "output"}
    assert [one["name"] for one in http.get(f"{API}/entities", params={"kind": "box"}).json()] == ["high", "double"]
    assert http.get(f"{API}/networks/demo/document").text.startswith("aurora: 1")
    assert http.get(f"{API}/networks/demo/stats").json()["inputs"]["ticks"]["tuples"] >= 0


def test_a_document_is_checked_without_running(http: httpx.Client) -> None:
    good = http.post(f"{API}/typecheck", content=DOCUMENT).json()
    assert good["valid"]
    assert good["arcs"]["double"] == {"ticker": "string", "price": "double"}
    bad = http.post(f"{API}/typecheck", json={"document": DOCUMENT.replace("price > 10", "prise > 10")}).json()
    assert not bad["valid"]
    assert [one["id"] for one in bad["problems"]] == ["unknown-column"]


def test_the_life_of_a_network(http: httpx.Client) -> None:
    added = http.post(f"{API}/networks", content=WINDOWED)
    assert (added.status_code, added.json()["stage"]) == (201, "running")
    assert http.post(f"{API}/networks", content=WINDOWED).status_code == 409
    base = f"{API}/networks/counted"
    assert http.post(f"{base}/pause").json()["stage"] == "paused"
    http.post(f"{base}/streams/ticks", json=rows(2, 1.0))
    assert http.post(f"{base}/outputs/totals/dequeue").json() == []
    assert http.post(f"{base}/resume").json()["stage"] == "running"
    assert http.post(f"{base}/outputs/totals/dequeue", params={"wait_s": 10}).json() == [{"total": 3.0}]
    assert http.post(f"{base}/stop").json()["stage"] == "stopped"
    refused = http.post(f"{base}/streams/ticks", json=rows(1))
    assert refused.status_code == 409
    assert "start it" in refused.json()["error"]
    assert http.post(f"{base}/start").json()["stage"] == "running"
    assert http.delete(base).json() == {"name": "counted", "removed": True}
    assert http.get(base).status_code == 404


def test_a_network_that_is_not_valid_is_refused_with_all_reasons(http: httpx.Client) -> None:
    broken = WINDOWED.replace("in: ticks", "in: tocks").replace("from: pairs", "from: pears")
    answer = http.post(f"{API}/networks", content=broken)
    assert answer.status_code == 422
    assert {one["id"] for one in answer.json()["problems"]} == {"unknown-arc"}
    assert len(answer.json()["problems"]) == 2
    assert "counted" not in [one["name"] for one in http.get(f"{API}/networks").json()]


def test_what_comes_out_while_nobody_takes_it_is_limited(tmp_path: Path) -> None:
    from aurora.server.settings import Limits

    with serving(limits=Limits(backlog_bytes=2_000)) as service, asking(service) as http:
        for _ in range(20):
            http.post(f"{API}/networks/demo/streams/ticks", json=rows(50))
        came = http.post(f"{API}/networks/demo/outputs/dear/dequeue", params={"drain": True}).json()
        dropped = http.get(f"{API}/networks/demo").json()["outputs"]["dear"]["dropped"]
        assert 0 < len(came) < 1000
        assert len(came) + dropped == 1000
        assert came[-1] == {"ticker": "t49", "price": 138.0}


def test_health_and_readiness(service: Service, http: httpx.Client) -> None:
    assert http.get("/health/live").json() == {"live": True}
    assert http.get("/health/ready").json()["ready"] is True
    service.server.stopping = True
    try:
        assert http.get("/health/ready").status_code == 503
        assert http.post(f"{API}/networks/demo/streams/ticks", json=rows(1)).status_code == 503
    finally:
        service.server.stopping = False


def test_metrics_are_those_that_are_declared(http: httpx.Client) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    from aurora.engine.metrics import METRICS

    http.post(f"{API}/networks/demo/streams/ticks", json=rows(10))
    http.post(f"{API}/networks/demo/outputs/dear/dequeue", params={"drain": True})
    families = {family.name: family for family in text_string_to_metric_families(http.get("/metrics").text)}
    assert {f"aurora_{metric.of}_{metric.name}" for metric in METRICS} <= families.keys()
    counted = {sample.labels["box"]: sample.value for sample in families["aurora_box_tuples_in"].samples}
    assert counted["high"] >= 10
    latency = families["aurora_output_latency_s"].samples
    total = next(one.value for one in latency if one.name.endswith("_count"))
    assert total == next(one.value for one in latency if one.labels.get("le") == "+Inf") >= 10
    up = {sample.labels["network"]: sample.value for sample in families["aurora_network_up"].samples}
    assert up["demo"] == 1


def test_the_openapi_document_has_every_route(http: httpx.Client) -> None:
    document = http.get(f"{API}/openapi.json").json()
    there = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert there == {(route.method, route.path) for route in ROUTES}
    ids = [entry["operationId"] for methods in document["paths"].values() for entry in methods.values()]
    assert len(ids) == len(set(ids))
    page = http.get(f"{API}/docs").text
    assert all(route.path in page for route in ROUTES)


def test_what_waits_in_a_paused_network_is_taken_at_the_end() -> None:
    with serving() as service:
        service.host.pause("demo")
        service.host.enqueue("demo", "ticks", rows(3))
        service.host.stop("demo")
        assert service.host.dequeue("demo", "dear").height == 3


def test_a_network_is_changed_while_it_runs() -> None:
    changed = DOCUMENT.replace("price > 10", "price > 30") + "  high: {from: high}\n"
    with serving() as service, asking(service) as http:
        http.post(f"{API}/networks/demo/streams/ticks", json=rows(1))
        report = http.put(f"{API}/networks/demo", content=changed)
        assert report.status_code == 200, report.text
        http.post(f"{API}/networks/demo/streams/ticks", json=[*rows(1), {"ticker": "z", "price": 31.0}])
        url = f"{API}/networks/demo/outputs"
        came = http.post(f"{url}/dear/dequeue", params={"drain": True}).json()
        assert [row["price"] for row in came] == [40.0, 62.0]
        assert http.post(f"{url}/high/dequeue", params={"drain": True}).json() == [{"ticker": "z", "price": 31.0}]
        assert http.put(f"{API}/networks/demo", content=DOCUMENT.replace("in: high", "in: hihg")).status_code == 422
        assert http.get(f"{API}/networks/demo").json()["stage"] == "running"
