"""A network whose engine fails: it is told everywhere, the others go on, and it can be started again."""

from __future__ import annotations

import httpx
import pytest

from aurora.processors.local import LocalProcessor
from tests.server.http_serving import API, DOCUMENT, asking, rows, serving

OTHER = DOCUMENT.replace("network: demo", "network: other")


def _failed(http: httpx.Client) -> bool:
    return bool(http.get(f"{API}/networks/demo").json()["stage"] == "failed")


def test_one_that_fails_leaves_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(DOCUMENT, OTHER) as service, asking(service) as http:
        genuine = LocalProcessor.run
        broken = service.host.hosted("demo").engine._running
        assert broken is not None

        def run(self: LocalProcessor, plan: object) -> object:
            if self is broken.processor:
                raise MemoryError("on purpose")
            return genuine(self, plan)  # type: ignore[arg-type]

        monkeypatch.setattr(LocalProcessor, "run", run)
        http.post(f"{API}/networks/demo/streams/ticks", json=rows(1))
        http.post(f"{API}/networks/demo/drain")
        assert _failed(http)
        assert "on purpose" in http.get(f"{API}/networks/demo").json()["why"]
        ready = http.get("/health/ready")
        assert (ready.status_code, ready.json()["networks"]) == (503, {"demo": "failed", "other": "running"})
        assert http.post(f"{API}/networks/demo/streams/ticks", json=rows(1)).status_code == 409
        http.post(f"{API}/networks/other/streams/ticks", json=rows(1))
        assert len(http.post(f"{API}/networks/other/outputs/dear/dequeue", params={"drain": True}).json()) == 1
        monkeypatch.undo()
        assert http.post(f"{API}/networks/demo/start").json()["stage"] == "running"
        http.post(f"{API}/networks/demo/streams/ticks", json=rows(1))
        assert len(http.post(f"{API}/networks/demo/outputs/dear/dequeue", params={"drain": True}).json()) == 1
        assert http.get("/health/ready").status_code == 200
