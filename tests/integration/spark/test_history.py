"""On Spark: what was measured is kept as elsewhere, and it is said that there is nothing to schedule."""

from __future__ import annotations

import pytest

from aurora.server.settings import EngineSettings
from tests.server.http_serving import API, DOCUMENT, asking, rows, serving
from tests.server.serving import until

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]


def test_history_and_scheduling() -> None:
    settings = EngineSettings(processor="spark", master="local[2]")
    with serving(DOCUMENT, settings=settings) as service, asking(service) as http:
        http.post(f"{API}/networks/demo/streams/ticks", json=rows(100)).raise_for_status()

        def kept() -> list[float]:
            answer = http.get(f"{API}/networks/demo/history", params={"of": "arc", "name": "double", "seconds": 300})
            return [value for value in answer.json()["series"].get("double", {}).get("rate_per_s", []) if value]

        until(lambda: len(kept()) >= 2, 120)
        told = http.get(f"{API}/networks/demo/scheduling").json()
        assert told["policy"] is None
        assert "all boxes run as one superbox" in told["note"]
        assert {box["state"] for box in told["boxes"].values()} == {"superbox"}
        assert abs(sum(box["share"] for box in told["boxes"].values()) - 1) < 1e-6
