"""Sources and sinks of hosted networks: they run with the network, and clients may not reach further than allowed."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from aurora.model.document import loads
from aurora.server.host import Host
from aurora.server.settings import EngineSettings
from tests.server.http_serving import API, DOCUMENT, TOKENS, asking, serving

PUSHED = DOCUMENT + "sources:\n  pushed: {kind: http, into: ticks, format: json}\n"
WRITTEN = PUSHED + "sinks:\n  kept: {kind: file, from: dear, path: PATH}\n"
ROWS = b'{"ticker": "a", "price": 20}\n{"ticker": "b", "price": 1}\nnonsense\n'


def _until(true: Callable[[], bool]) -> None:
    end_s = time.monotonic() + 15
    while not true():
        assert time.monotonic() < end_s
        time.sleep(0.02)


def _connected(host: Host) -> bool:
    states = {one["state"] for one in host.hosted("demo").connectors()}
    return states == {"connected"}


def test_messages_are_pushed_to_a_source() -> None:
    with serving(PUSHED) as service, asking(service) as http:
        _until(lambda: _connected(service.host))
        answer = http.post(f"{API}/networks/demo/sources/pushed", content=ROWS).json()
        assert (answer["tuples"], answer["rejected"]) == (2, 1)
        came = http.post(f"{API}/networks/demo/outputs/dear/dequeue", params={"drain": True}).json()
        assert came == [{"ticker": "a", "price": 40.0}]
        (known,) = http.get(f"{API}/networks/demo/connectors").json()
        assert (known["name"], known["tuples"], known["rejected"]) == ("pushed", 2, 1)
        assert http.post(f"{API}/networks/demo/sources/other", content=b"").status_code == 404
        kinds = [one["kind"] for one in http.get(f"{API}/entities", params={"kind": "source"}).json()]
        assert kinds == ["http"]


def test_pushing_needs_the_full_token() -> None:
    with serving(PUSHED, tokens=TOKENS) as service, asking(service, TOKENS.read) as http:
        assert http.post(f"{API}/networks/demo/sources/pushed", content=ROWS).status_code == 403


def test_what_is_under_way_at_the_end_reaches_the_sinks(tmp_path: Path) -> None:
    file = tmp_path / "kept.csv"
    with serving(WRITTEN.replace("PATH", str(file))) as service:
        for _ in range(10):
            service.host.enqueue("demo", "ticks", [{"ticker": "a", "price": 20.0}])
    assert file.read_text().count("a,40.0\n") == 10


@pytest.mark.parametrize("kind", ["file", "unix"])
def test_documents_of_clients_touch_no_files_unless_there_is_a_folder_for_them(kind: str) -> None:
    sink = {
        "file": "{kind: file, from: dear, path: x.csv}",
        "unix": "{kind: unix, from: dear, connect: x, format: csv}",
    }
    document = DOCUMENT.replace("network: demo", "network: mine") + f"sinks:\n  kept: {sink[kind]}\n"
    with serving() as service, asking(service) as http:
        answer = http.post(f"{API}/networks", content=document)
        assert answer.status_code == 422
        assert answer.json()["problems"][0]["id"] == "not-allowed-here"
        assert service.host.names() == ["demo"]


def test_documents_of_clients_stay_in_their_folder(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    settings = EngineSettings(processor="local", files=tmp_path / "files")
    with Host(settings=settings) as host:
        host.add(WRITTEN.replace("PATH", "../outside.csv"))
        kept = lambda: next(one for one in host.hosted("demo").connectors() if one["name"] == "kept")  # noqa: E731
        host.enqueue("demo", "ticks", [{"ticker": "a", "price": 20.0}])
        _until(lambda: kept()["state"] == "failed")
        assert "leads out of the folder" in kept()["last_error"]
        host.remove("demo")
        host.add(WRITTEN.replace("PATH", "inside.csv"))
        host.enqueue("demo", "ticks", [{"ticker": "a", "price": 20.0}])
    assert not (tmp_path / "outside.csv").exists()
    assert "a,40.0" in (tmp_path / "files" / "inside.csv").read_text()


def test_what_the_operator_declared_is_not_for_clients_to_change(tmp_path: Path) -> None:
    own = WRITTEN.replace("PATH", str(tmp_path / "kept.csv"))
    with serving(own) as service, asking(service) as http:
        http.post(f"{API}/networks/demo/stop")
        moved = http.put(f"{API}/networks/demo", content=own.replace("kept.csv", "elsewhere.csv"))
        assert moved.status_code == 422
        assert "as the operator declared it" in moved.json()["problems"][0]["found"]
        assert http.put(f"{API}/networks/demo", content=own.replace("price > 10", "price > 30")).status_code == 200
        assert http.put(f"{API}/networks/demo", content=DOCUMENT).status_code == 200
        assert service.host.hosted("demo").network.to_json() == loads(DOCUMENT).to_json()


def test_a_sink_that_is_taken_away_gets_nothing_more_and_answers_wait_again(tmp_path: Path) -> None:
    """Two sinks read one output. First one goes, then the other; each time the rest notices nothing."""
    sinks = [f"  {name}: {{kind: file, from: dear, path: {tmp_path / name}.csv}}\n" for name in ("one", "two")]
    row = [{"ticker": "a", "price": 20.0}]
    with serving(DOCUMENT + "sinks:\n" + "".join(sinks)) as service:
        hosted = service.host.hosted("demo")
        service.host.enqueue("demo", "ticks", row)
        service.host.modify_network("demo", DOCUMENT + "sinks:\n" + sinks[1])
        service.host.enqueue("demo", "ticks", row)
        service.host.drain("demo")
        assert hosted.dequeue("dear").height == 0
        service.host.modify_network("demo", DOCUMENT)
        service.host.enqueue("demo", "ticks", row)
        service.host.drain("demo")
        assert hosted.dequeue("dear").height == 1
    assert (tmp_path / "one.csv").read_text().count("a,40.0") == 1
    assert (tmp_path / "two.csv").read_text().count("a,40.0") == 2


def test_what_nobody_took_can_be_dequeued_after_the_end_and_is_gone_with_the_next_start() -> None:
    with serving() as service:
        service.host.enqueue("demo", "ticks", [{"ticker": "a", "price": 20.0}] * 3)
        service.host.stop("demo")
        assert service.host.dequeue("demo", "dear", most=2).height == 2
        service.host.start("demo")
        assert service.host.dequeue("demo", "dear", drain=True).height == 0
