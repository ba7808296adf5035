"""The case study, drawn in the page from an empty canvas until its alarms come."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Page, expect

from aurora import Network
from aurora.server.service import Service
from tests.page.drawn_by_hand import Hand
from tests.server.http_serving import DOCUMENT

CASE = Path(__file__).parents[2] / "case_studies" / "feed_alarms"
FEED = "reuters_fast_feed"


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_it_is_drawn_from_an_empty_canvas_and_alarms_come(page: Page, serve: Callable[..., Service]) -> None:
    document: dict[str, Any] = yaml.safe_load((CASE / "network.yaml").read_text())
    document["sources"] = {FEED: yaml.safe_load((CASE / "live.yaml").read_text())["sources"][FEED]}
    service = serve(DOCUMENT)
    service.host.remove("demo")
    page.goto(service.url)
    page.get_by_role("main", name="Welcome").get_by_role("button", name="New network").click()
    page.get_by_role("dialog", name="New network").get_by_label("Name").fill("feed-alarms")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing is drawn yet.")).to_be_visible()

    Hand(page).draw(document)
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})
    page.keyboard.press("l")
    expect(page.get_by_role("button", name="Undo: Lay out")).to_be_visible()
    page.get_by_role("banner").get_by_role("button", name=re.compile("Deploy .* changes")).click()
    page.get_by_role("dialog").get_by_role("button", name="Deploy").click()
    expect(page.get_by_role("group", name="Run")).to_contain_text("Running")

    running, wanted = service.host.hosted("feed-alarms").network, Network.from_document(document)
    for section in ("streams", "boxes", "outputs", "sources"):
        assert running.to_document()[section] == wanted.to_document()[section]

    # A feed is silent for each security in turn, so some alarms come after 5 s.
    page.get_by_role("tablist", name="Panel below").get_by_role("tab", name="Tuples").click()
    page.get_by_role("combobox", name="Look at an arrow").select_option("levels_reuters.low")
    alarms = page.get_by_role("table", name="Tuples on levels_reuters.low").locator("tbody tr")
    expect(alarms.first).to_contain_text("Reuters", timeout=60_000)
    expect(alarms.first).to_contain_text("low")
