"""The rate of generators, turned over HTTP while they run."""

from __future__ import annotations

import time
from collections.abc import Callable

import httpx
import pytest

from aurora.connectors.live.rates import Rate, span
from tests.server.http_serving import API, DOCUMENT, TOKENS, asking, serving

MADE_UP = DOCUMENT + (
    "sources:\n"
    "  slow: {kind: generator, into: ticks, rate: 40, columns: {price: '20.0'}}\n"
    "  fast: {kind: generator, into: ticks, rate: 60, columns: {price: '1.0'}}\n"
    "  pushed: {kind: http, into: ticks, format: json}\n"
)
RATES = f"{API}/networks/demo/rates"
SLOW = f"{API}/networks/demo/sources/slow/rate"


def _until(true: Callable[[], bool]) -> None:
    end_s = time.monotonic() + 15
    while not true():
        assert time.monotonic() < end_s
        time.sleep(0.02)


def _made(http: httpx.Client, source: str) -> int:
    known = http.get(f"{API}/networks/demo/connectors").json()
    return next(int(one["tuples"]) for one in known if one["name"] == source)


def test_generators_tell_their_rate_and_can_be_turned() -> None:
    with serving(MADE_UP) as service, asking(service) as http:
        known = http.get(RATES).json()
        assert (known["least"], known["most"]) == (0.1, 20_000)
        assert known["sources"] == [
            {"source": "slow", "stream": "ticks", "factor": 1.0, "tuples_per_s": 40.0},
            {"source": "fast", "stream": "ticks", "factor": 1.0, "tuples_per_s": 60.0},
        ]
        turned = http.put(RATES, params={"factor": 200}).json()
        assert [one["tuples_per_s"] for one in turned["sources"]] == [8_000.0, 12_000.0]
        _until(lambda: _made(http, "slow") > 4_000 and _made(http, "fast") > 6_000)
        assert http.put(SLOW, params={"factor": 0.01}).json()["factor"] == 0.01
        assert [one["factor"] for one in http.get(RATES).json()["sources"]] == [0.01, 200.0]
        # What was begun before still counts; then there is a tuple in 2.5 s.
        time.sleep(0.1)
        before = _made(http, "slow"), _made(http, "fast")
        time.sleep(0.5)
        assert _made(http, "slow") - before[0] <= 2
        assert _made(http, "fast") - before[1] > 1_000


def test_a_rate_stays_when_the_network_is_changed_and_goes_when_it_is_started_anew() -> None:
    with serving() as service, asking(service) as http:
        mine = MADE_UP.replace("network: demo", "network: mine")
        assert http.post(f"{API}/networks", content=mine).status_code == 201
        rates = f"{API}/networks/mine/rates"
        http.put(rates, params={"factor": 3})
        changed = mine.replace("price > 10", "price > 11")
        assert http.put(f"{API}/networks/mine", content=changed).status_code == 200
        assert {one["factor"] for one in http.get(rates).json()["sources"]} == {3.0}
        http.post(f"{API}/networks/mine/stop")
        assert http.get(rates).json()["sources"] == []
        assert http.put(rates, params={"factor": 3}).status_code == 409
        http.post(f"{API}/networks/mine/start")
        assert {one["factor"] for one in http.get(rates).json()["sources"]} == {1.0}


@pytest.mark.parametrize(
    ("path", "query", "status", "said"),
    [
        (RATES, {"factor": 0}, 400, "0.01"),
        (RATES, {"factor": "nan"}, 400, "0.01"),
        (RATES, {"factor": 1e9}, 400, "100000"),
        (RATES, {}, 400, "?factor=10"),
        (f"{API}/networks/demo/sources/pushed/rate", {"factor": 2}, 400, "http"),
        (f"{API}/networks/demo/sources/other/rate", {"factor": 2}, 404, "slow"),
    ],
)
def test_what_cannot_be_a_rate_is_refused(path: str, query: dict[str, object], status: int, said: str) -> None:
    with serving(MADE_UP) as service, asking(service) as http:
        answer = http.put(path, params=query)
        assert answer.status_code == status
        assert said in answer.json()["error"]
        assert {one["factor"] for one in http.get(RATES).json()["sources"]} == {1.0}


def test_a_network_without_generators_has_no_rate() -> None:
    with serving() as service, asking(service) as http:
        assert http.get(RATES).json()["sources"] == []
        assert http.put(RATES, params={"factor": 2}).status_code == 400
        assert http.get(SLOW).status_code == 404


def test_turning_needs_the_full_token() -> None:
    with serving(MADE_UP, tokens=TOKENS) as service, asking(service, TOKENS.read) as http:
        assert http.get(RATES).status_code == 200
        assert http.put(RATES, params={"factor": 2}).status_code == 403


@pytest.mark.parametrize(("per_s", "most"), [(1.0, 100_000), (100.0, 20_000), (6_460, 500), (1e6, 10), (1e9, 10)])
def test_a_control_goes_as_far_as_a_machine_may(per_s: float, most: float) -> None:
    assert span([Rate("a", "s", per_s, 1.0)]) == (0.1, most)
