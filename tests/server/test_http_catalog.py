"""A server and its catalog: what is hosted is kept there, and what others do to it is noticed."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from aurora.catalog import Catalog
from tests.server.http_serving import API, DOCUMENT, WINDOWED, asking, rows, serving


def _until(true: Callable[[], bool]) -> None:
    end_s = time.monotonic() + 15
    while not true():
        assert time.monotonic() < end_s
        time.sleep(0.02)


def test_what_is_hosted_is_kept_and_found_again(tmp_path: Path) -> None:
    file = tmp_path / "catalog.db"
    with serving(catalog=file) as service, asking(service) as http:
        assert http.post(f"{API}/networks", json={"document": WINDOWED, "why": "a try", "author": "me"}).is_success
        (version,) = http.get(f"{API}/networks/counted/versions").json()
        assert (version["why"], version["author"], version["state"]) == ("a try", "me", "accepted")
        found = http.get(f"{API}/find", params={"kind": "aggregate"}).json()
        assert [one["element"] for one in found] == ["pairs"]
        assert http.delete(f"{API}/networks/demo").is_success
    with serving(WINDOWED, catalog=file) as service:
        assert service.host.names() == ["counted"]


def test_another_program_adds_changes_and_removes(tmp_path: Path) -> None:
    file = tmp_path / "catalog.db"
    with serving(catalog=file) as service, Catalog.open(file) as other:
        other.save(WINDOWED)
        _until(lambda: [hosted.stage for hosted in service.host] == ["running"] * 2)
        service.host.enqueue("counted", "ticks", rows(2, 1.0))
        assert service.host.dequeue("counted", "totals", drain=True).rows() == [(3.0,)]
        other.remove("counted")
        _until(lambda: service.host.names() == ["demo"])
        # A document that is wrong is refused, and what runs goes on.
        other.propose("demo", DOCUMENT.replace("in: high", "in: nothing"))
        _until(lambda: other.versions("demo")[-1].state == "refused")
        assert {one.id for one in other.problems(other.versions("demo")[-1])} == {"unknown-arc", "unused-box"}
        assert service.host.hosted("demo").stage == "running"


def test_statements_in_names_are_names(tmp_path: Path) -> None:
    file = tmp_path / "catalog.db"
    with serving(catalog=file) as service, asking(service) as http:
        for text in ("'; DROP TABLE versions; --", '" OR 1=1', "x' UNION SELECT document FROM versions --", "%", "*"):
            for name in ("text", "tag", "kind", "network", "column"):
                answer = http.get(f"{API}/find", params={name: text})
                assert answer.status_code == 200, answer.text
                assert name == "text" or answer.json() == []
            assert http.get(f"{API}/networks/{text.replace('/', '')}/versions").json() == []
        assert len(http.get(f"{API}/networks/demo/versions").json()) == 1
        # What people write is kept as they wrote it.
        said = "it's \"x\"'); DROP TABLE versions; --"
        body = {"document": DOCUMENT.replace("network: demo", f"network: demo\ndescription: {json.dumps(said)}")}
        assert http.put(f"{API}/networks/demo", json={**body, "why": said, "author": said}).is_success
        latest = http.get(f"{API}/networks/demo/versions").json()[-1]
        assert (latest["why"], latest["author"]) == (said, said)
        assert http.get(f"{API}/networks/demo").json()["network"]["description"] == said
    with sqlite3.connect(file) as sql:
        assert sql.execute("SELECT COUNT(*) FROM versions").fetchone() == (2,)
    sql.close()


def test_without_a_catalog_there_is_nothing_to_find() -> None:
    with serving() as service, asking(service) as http:
        answer = http.get(f"{API}/find")
        assert answer.status_code == 400
        assert "--catalog" in answer.json()["error"]
