"""What a network did lately, what happened to it and why its boxes run, asked over HTTP of a real server."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx

from benchmarks.experiments import overload
from tests.server.http_serving import API, FED, asking, serving
from tests.server.serving import until

OVERLOADED = f"""{overload.NETWORK}
sources:
  flood:
    kind: generator
    into: readings
    rate: 300
    columns: {{sensor: {{uniform: [0, 20]}}, level: {{uniform: [0, 100]}}, sent: n * 50}}
"""


def told(http: httpx.Client, what: str, network: str = "demo", **query: Any) -> Any:
    answer = http.get(f"{API}/networks/{network}/{what}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def series(http: httpx.Client, metric: str, of: str = "network", name: str = "", **query: Any) -> list[float | None]:
    asked = {"of": of, "seconds": 300, **query} | ({"name": name} if name else {})
    found: list[float | None] = told(http, "history", **asked)["series"].get(name, {}).get(metric, [])
    return found


def known(values: list[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def kinds(http: httpx.Client, network: str = "demo") -> list[str]:
    return [event["kind"] for event in told(http, "events", network)]


def eventually(true: Callable[[], bool], timeout_s: float = 40.0) -> None:
    until(true, timeout_s)


def test_rates_are_kept_for_every_element() -> None:
    with serving(FED) as service, asking(service) as http:
        eventually(lambda: len(known(series(http, "rate_per_s", "arc", "high"))) >= 4)
        assert known(series(http, "rate_per_s", "input", "ticks"))[-1] > 100
        assert 0 < known(series(http, "selectivity", "box", "high"))[-1] < 1
        assert known(series(http, "p99_s", "output", "dear"))[-1] < 5
        assert known(series(http, "delivered", "output", "dear"))[-1] == 100
        whole = told(http, "history", seconds=10)
        assert whole["step_s"] == 1
        assert len(whole["times"]) in (9, 10)
        assert abs(whole["times"][-1] - time.time()) < 5
        assert whole["budget"]["memory_bytes"] == 64_000_000
        assert whole["units"]["in_per_s"] == "tuples/s"
        assert known(whole["series"][""]["out_per_s"])[-1] > 20
        hour = told(http, "history", of="box")
        assert hour["step_s"] == 10
        assert len(hour["times"]) == 360
        assert set(hour["series"]) == {"high", "double"}


def test_history_survives_changes_and_restarts() -> None:
    with serving(FED) as service, asking(service) as http:
        eventually(lambda: len(known(series(http, "load", "box", "double"))) >= 3)
        changed = FED.replace("  double:", "  twice:").replace("from: double", "from: twice")
        http.put(f"{API}/networks/demo", json={"document": changed, "why": "a better name"}).raise_for_status()
        eventually(lambda: len(known(series(http, "load", "box", "twice"))) >= 2)
        assert len(known(series(http, "load", "box", "double"))) >= 3
        assert series(http, "load", "box", "double")[-1] is None
        http.post(f"{API}/networks/demo/stop", params={"drain": False}).raise_for_status()
        before = len(known(series(http, "rate_per_s", "input", "ticks")))
        http.post(f"{API}/networks/demo/start").raise_for_status()
        eventually(lambda: len(known(series(http, "rate_per_s", "input", "ticks"))) > before)
        http.post(f"{API}/networks/demo/pause").raise_for_status()
        http.post(f"{API}/networks/demo/resume").raise_for_status()
        assert kinds(http) == ["started", "modified", "stopped", "started", "paused", "resumed"]
        events = told(http, "events")
        assert events[1]["text"] == "Changed: a better name"
        assert sorted(event["at_us"] for event in events) == [event["at_us"] for event in events]


def test_overload_shows_in_history_and_events() -> None:
    overload.network()  # its boxes need a function that does real work
    with serving(OVERLOADED) as service, asking(service) as http:

        def shedding() -> list[str]:
            return [event["text"] for event in told(http, "events", "overload") if event["kind"] == "shedding"]

        def flood(factor: float) -> None:
            http.put(f"{API}/networks/overload/rates", params={"factor": factor}).raise_for_status()

        flood(70)
        eventually(lambda: any(said.startswith("Drops begin at readings") for said in shedding()))
        eventually(lambda: max(known(series(http, "shed_per_s", network="overload")), default=0) > 1_000)
        flood(1)
        eventually(lambda: any(said.startswith("Drops end at readings") for said in shedding()))
        lost = known(series(http, "delivered", "output", "scores", network="overload"))
        assert min(lost) < 90
        reasons = told(http, "scheduling", "overload")
        assert reasons["policy"] == "qos"
        assert set(reasons["boxes"]) == {"hot", "checked", "scored", "odd", "logged", "priced", "means"}
        assert all(box["why"] and box["state"] for box in reasons["boxes"].values())
        assert abs(sum(box["share"] for box in reasons["boxes"].values()) - 1) < 1e-6


def test_why_boxes_do_not_run() -> None:
    with serving() as service, asking(service) as http:
        idle = told(http, "scheduling")["boxes"]
        assert idle["high"]["why"] == "Nothing has come for it yet."
        http.post(f"{API}/networks/demo/pause").raise_for_status()
        http.post(f"{API}/networks/demo/streams/ticks", json=[{"ticker": "a", "price": 20.0}]).raise_for_status()
        one = told(http, "scheduling", box="high")["boxes"]
        assert list(one) == ["high"]
        assert one["high"]["state"] == "paused"
        http.post(f"{API}/networks/demo/stop", params={"drain": False}).raise_for_status()
        stopped = told(http, "scheduling")
        assert stopped == {"policy": None, "note": "The network does not run: it was stopped.", "boxes": {}}


def test_a_source_that_fails_is_told_of() -> None:
    lost = FED.replace("kind: generator", "kind: tcp").replace("rate: 500", "format: json\n    connect: 127.0.0.1:9")
    lost = lost.partition("    columns:")[0]
    with serving(lost) as service, asking(service) as http:
        eventually(lambda: "connector" in kinds(http))
        (event,) = (event for event in told(http, "events") if event["kind"] == "connector")
        assert event["text"].startswith("Source made_up tries again:")
        assert (event["of"], event["name"]) == ("source", "made_up")


def test_what_is_not_there_is_refused() -> None:
    with serving() as service, asking(service) as http:
        wrong = http.get(f"{API}/networks/demo/history", params={"of": "output", "name": "deer"})
        assert wrong.status_code == 404
        assert "did you mean 'dear'" in wrong.json()["error"]
        assert http.get(f"{API}/networks/demo/history", params={"of": "tuple"}).status_code == 400
        assert http.get(f"{API}/networks/demo/history", params={"seconds": 1e6}).status_code == 400
        assert http.get(f"{API}/networks/demo/scheduling", params={"box": "low"}).status_code == 404
        # An element of which there is no sample yet is no mistake.
        found = told(http, "history", of="output", name="dear")
        assert list(found["series"]) in ([], ["dear"])
