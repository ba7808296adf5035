"""Spark's page: who asks for it sees every step as a job, named after the boxes that it ran."""

from __future__ import annotations

import json
import re
import urllib.request

import pytest

from aurora import Engine, Network

pytestmark = [pytest.mark.spark, pytest.mark.timeout(120)]


def test_each_step_is_a_job_with_the_names_of_its_boxes() -> None:
    net = Network("shown")
    ticks = net.stream("ticks", ticker="string", price="double")
    dear = ticks.filter("dear", "price > 50")
    net.output("counts", dear.aggregate("counted", group_by="ticker", window={"size": "2 tuples"}, n="count(*)"))
    with Engine(net, master="local[2]", ui=True, say=lambda line: None) as engine:
        for _ in range(3):
            engine.enqueue("ticks", [{"ticker": "IBM", "price": 60.0}])
            engine.drain()
        context = engine.session.sparkContext
        address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/jobs"
        with urllib.request.urlopen(address, timeout=30) as answer:
            shown = [job.get("description", "") for job in json.load(answer)]
    steps = {name for name in shown if name.startswith("step ")}
    assert {int(re.findall(r"\d+", name)[0]) for name in steps} >= {1, 2, 3}
    assert any("dear" in name for name in steps)
    assert any("counted" in name for name in steps)
