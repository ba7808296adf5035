"""Some wait; others do not wait for them."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import polars as pl

from aurora.server.settings import EngineSettings
from tests.server.brokers import until
from tests.server.http_serving import API, DOCUMENT, asking, rows, serving

MANY = 40
"""More than there are threads for requests of one kind."""
OTHER = DOCUMENT.replace("network: demo", "network: other")


def test_who_waits_for_answers_does_not_hold_up_who_brings_tuples() -> None:
    with serving() as service, asking(service) as http, ThreadPoolExecutor(MANY) as pool:
        url = f"{API}/networks/demo/outputs/dear/dequeue"

        def wait() -> int:
            with asking(service) as own:
                return own.post(url, params={"wait_s": 20}).status_code

        waiting = [pool.submit(wait) for _ in range(MANY)]
        lanes = service.server._lanes
        until(lambda: any(lane.borrowed_tokens >= 32 for lane in lanes.values()))
        began_s = time.monotonic()
        assert http.post(f"{API}/networks/demo/streams/ticks", json=rows(1)).status_code == 200
        assert http.get(f"{API}/networks/demo").status_code == 200
        assert time.monotonic() - began_s < 8
        # Every answer lets one of them go.
        end_s = time.monotonic() + 60
        while not all(one.done() for one in waiting):
            assert time.monotonic() < end_s
            http.post(f"{API}/networks/demo/streams/ticks", json=rows(1))
            time.sleep(0.02)
        assert {one.result() for one in waiting} <= {200, 503}


def test_a_network_without_room_does_not_hold_up_another() -> None:
    settings = EngineSettings(processor="local", memory=100_000, disk=0, shedding="off")
    with serving(DOCUMENT, OTHER, settings=settings) as service, asking(service) as http:
        held, goes_on = threading.Event(), threading.Event()

        def stuck(_frame: pl.DataFrame) -> None:
            held.set()
            goes_on.wait(60)

        service.host.hosted("demo").attach("dear", stuck)

        def bring() -> int:
            with asking(service) as own:
                return own.post(f"{API}/networks/demo/streams/ticks", json=rows(1_000)).status_code

        with ThreadPoolExecutor(MANY) as pool:
            bringing = [pool.submit(bring) for _ in range(MANY)]
            try:
                assert held.wait(20)
                lanes = service.server._lanes
                until(lambda: any(lane.borrowed_tokens >= 32 for lane in lanes.values()))
                began_s = time.monotonic()
                assert http.post(f"{API}/networks/other/streams/ticks", json=rows(1)).status_code == 200
                url = f"{API}/networks/other/outputs/dear/dequeue"
                assert len(http.post(url, params={"wait_s": 10}).json()) == 1
                assert time.monotonic() - began_s < 8
            finally:
                goes_on.set()
            assert {one.result() for one in bringing} <= {200, 503}
