"""Documents that do not run, or not yet: brought into one form, and what deploying them would do."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
import yaml

from aurora.server.service import Service
from tests.server.http_serving import API, DOCUMENT, READ, TOKENS, WINDOWED, asking, serving

CHANGED = DOCUMENT.replace("price > 10", "price > 12")


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serving(DOCUMENT, WINDOWED, tokens=TOKENS) as running:
        yield running


@pytest.fixture
def http(service: Service) -> Iterator[httpx.Client]:
    """Looking is enough: nothing is changed by any of it."""
    with asking(service, READ) as client:
        yield client


def test_a_document_comes_back_in_both_forms(http: httpx.Client) -> None:
    found = http.post(f"{API}/format", json={"document": DOCUMENT}).json()
    assert found["complete"]
    assert found["document"]["boxes"]["high"] == {"kind": "filter", "in": "ticks", "where": "price > 10"}
    assert http.post(f"{API}/format", content=found["yaml"]).json() == found
    assert http.post(f"{API}/format", json={"document": found["document"]}).json() == found


def test_a_drawing_that_is_not_finished_can_be_kept(http: httpx.Client) -> None:
    unfinished = {"aurora": 1, "network": "draft", "boxes": {"new": {"kind": "filter", "in": []}}}
    found = http.post(f"{API}/format", json={"document": unfinished}).json()
    assert not found["complete"]
    assert found["document"] == yaml.safe_load(found["yaml"]) == unfinished


def test_mistakes_of_a_network_stay_as_they_are(http: httpx.Client) -> None:
    broken = DOCUMENT.replace("kind: filter", "kind: filtre").replace("from: double", "from: nothing")
    found = http.post(f"{API}/format", content=broken).json()
    assert not found["complete"]
    assert found["document"]["boxes"]["high"]["kind"] == "filtre"
    assert found["document"]["outputs"] == {"dear": {"from": "nothing"}}
    assert "filtre" in found["yaml"]


@pytest.mark.parametrize(
    ("text", "problem"), [("a: [", "malformed-document"), ("just words", "not-a-mapping"), ("- 1", "not-a-mapping")]
)
def test_what_is_no_document_is_refused(http: httpx.Client, text: str, problem: str) -> None:
    answer = http.post(f"{API}/format", content=text)
    assert answer.status_code == 422
    assert [one["id"] for one in answer.json()["problems"]] == [problem]


def test_what_a_change_would_do_is_told_and_not_done(http: httpx.Client, service: Service) -> None:
    foreseen = http.post(f"{API}/networks/demo/foresee", content=CHANGED).json()
    assert foreseen["boxes"]["changed"] == ["high"]
    assert foreseen["restarted"] == ["double"]
    assert foreseen["held"] == ["ticks"]
    assert (foreseen["drain_s"], foreseen["swap_s"]) == (0, 0)
    assert "price > 10" in http.get(f"{API}/networks/demo/document").text


def test_it_is_refused_as_the_change_would_be(http: httpx.Client) -> None:
    url = f"{API}/networks/demo/foresee"
    assert http.post(url, content=DOCUMENT.replace("price > 10", "prise > 10")).status_code == 422
    other = http.post(url, content=WINDOWED)
    assert [one["id"] for one in other.json()["problems"]] == ["other-network"]
    own = http.post(url, content=DOCUMENT + "sources:\n  pushed: {kind: http, into: ticks, format: json}\n")
    assert own.status_code == 422
    assert http.post(f"{API}/networks/nothing/foresee", content=DOCUMENT).status_code == 404


def test_a_network_that_does_not_run_changes_at_its_next_start(http: httpx.Client, service: Service) -> None:
    service.host.stop("counted")
    answer = http.post(f"{API}/networks/counted/foresee", content=WINDOWED.replace("2 tuples", "3 tuples"))
    assert answer.json() == {"applied": "at the next start"}
