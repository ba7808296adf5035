"""Watching a network run: numbers on the drawing, drops under overload, panels, and the last hour after a reload."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import datetime

import pytest
from playwright.sync_api import Page, Response, expect

from aurora.server.service import Service
from benchmarks.experiments import overload
from tests.server.http_serving import API, DOCUMENT, FED, asking
from tests.server.serving import until

Open = Callable[..., Service]
OVERLOADED = f"""{overload.NETWORK}
sources:
  flood:
    kind: generator
    into: readings
    rate: 200
    bursts: {{every: 24s, last: 10s, rate: 20000}}
    columns: {{sensor: {{uniform: [0, 20]}}, level: {{uniform: [0, 100]}}, sent: n * 50}}
"""
SOME = re.compile(r"[1-9][\d.]*\s*k?/s")
LONG_MS = 60_000


def show(page: Page, tab: str) -> None:
    page.get_by_role("tablist", name="Panel below").get_by_role("tab", name=tab).click()


def select(page: Page, element: str) -> None:
    page.locator(f".react-flow__node[data-id='{element}']").click()


def test_numbers_appear_on_the_drawing_while_a_generator_feeds(page: Page, opened: Open) -> None:
    opened(FED)
    expect(page.get_by_test_id("arc-watch-ticks")).to_contain_text(SOME)
    expect(page.get_by_test_id("arc-watch-high")).to_contain_text(SOME)
    box = page.locator(".react-flow__node[data-id='boxes/high']")
    expect(box.locator(".box-watch")).to_contain_text(re.compile(r"\d [µm]?s"))
    expect(box.locator(".box-watch")).to_contain_text("×0.")
    output = page.locator(".react-flow__node[data-id='outputs/dear']")
    expect(output.locator(".output-watch")).to_contain_text(SOME)
    expect(page.locator(".arc-watch-drop")).to_have_count(0)


def test_drops_appear_under_overload_and_go_again(page: Page, opened: Open, no_barriers: Callable[[], None]) -> None:
    overload.network()  # its boxes need a function that does real work
    opened(OVERLOADED)
    drop = page.locator(".arc-watch-drop").first
    expect(drop).to_be_visible(timeout=LONG_MS)
    assert str(drop.get_attribute("title")).startswith("Overload: ")
    expect(page.get_by_role("region", name="What is dropped")).to_contain_text(re.compile(r"→ |readings"))
    no_barriers()
    expect(page.locator(".arc-watch-drop")).to_have_count(0, timeout=LONG_MS)
    expect(page.get_by_role("region", name="What is dropped")).to_contain_text("Nothing just now")
    show(page, "History")
    expect(page.get_by_role("region", name="Events")).to_contain_text("Drops begin at readings")
    # A mark tells what happened where it happened.
    mark = page.get_by_role("group", name="What happened").get_by_role("button", name=re.compile("Drops begin")).first
    mark.focus()
    expect(mark).to_contain_text("Drops begin at readings")


def test_the_last_hour_is_there_after_a_reload(page: Page, opened: Open) -> None:
    service = opened(FED)
    with asking(service) as http:

        def seconds() -> int:
            told = http.get(f"{API}/networks/demo/history", params={"seconds": 300}).json()["series"].get("", {})
            return sum(value is not None for value in told.get("in_per_s", []))

        until(lambda: seconds() >= 6, 30)
    reloaded_s = time.time()
    page.reload()

    def is_history(response: Response) -> bool:
        return "/history?of=network" in response.url

    with page.expect_response(is_history) as answered:
        show(page, "History")
    told = answered.value.json()
    known = [at for at, value in zip(told["times"], told["series"][""]["in_per_s"], strict=True) if value]
    assert sum(at < reloaded_s for at in known) >= 5
    expect(page.get_by_role("img", name=re.compile(r"Throughput: in \d"))).to_be_visible()
    expect(page.get_by_role("region", name="Events")).to_contain_text("Started")
    # Of one element, and further back.
    page.get_by_role("combobox", name="Whose history").select_option(label="dear")
    expect(page.get_by_role("img", name=re.compile("Latency: "))).to_be_visible()
    page.get_by_role("button", name="1 h").click()
    expect(page.get_by_role("button", name="1 h")).to_have_attribute("aria-pressed", "true")
    # Brushing looks closer, and one comes back.
    plot = page.locator(".history-panel-stack .plot .u-over").first
    place = plot.bounding_box()
    assert place
    y = place["y"] + place["height"] / 2
    page.mouse.move(place["x"] + place["width"] * 0.5, y)
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] * 0.8, y, steps=4)
    page.mouse.up()
    page.get_by_role("button", name="Now").click()
    expect(page.get_by_role("button", name="Now")).to_have_count(0)


def test_a_stretch_of_the_history_is_chosen_by_keyboard(page: Page, opened: Open) -> None:
    opened(FED)
    show(page, "History")
    expect(page.get_by_role("img", name=re.compile(r"Throughput: in \d"))).to_be_visible()
    plots = page.get_by_role("group", name="Plots")
    page.get_by_role("button", name="15 min").focus()
    page.keyboard.press("Enter")
    while not plots.evaluate("plots => plots === document.activeElement"):
        page.keyboard.press("Tab")

    # The crosshair stands in all plots, and what is under it is told.
    page.keyboard.press("ArrowLeft")
    expect(plots.locator(".plot-told")).to_have_count(3)
    expect(page.get_by_role("status").filter(has_text=re.compile(r"\d\d:\d\d:\d\d, Throughput"))).to_have_count(1)
    for _ in range(4):
        page.keyboard.press("Shift+ArrowLeft")
    expect(plots.locator(".u-select").first).to_have_css("width", re.compile(r"^[1-9]\d"))
    page.keyboard.press("Escape")
    expect(plots.locator(".u-select").first).to_have_css("width", "0px")
    expect(plots.locator(".plot-told")).to_have_count(0)

    # Four sixtieths of fifteen minutes are one.
    page.keyboard.press("ArrowLeft")
    for _ in range(4):
        page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Enter")
    shown = page.locator(".history-panel-bar .muted")
    expect(shown).to_have_text(re.compile(r"\d\d:\d\d:\d\d – \d\d:\d\d:\d\d"))
    first, last = (datetime.strptime(at, "%H:%M:%S") for at in shown.inner_text().split(" – "))
    assert (last - first).seconds in range(55, 66)
    expect(page.get_by_role("button", name="15 min")).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Now")).to_have_count(0)
    expect(page.get_by_role("button", name="15 min")).to_have_attribute("aria-pressed", "true")


def test_an_element_is_told_of_in_full(page: Page, opened: Open) -> None:
    service = opened(FED)
    select(page, "boxes/high")
    measured = page.get_by_role("region", name="Measured")
    expect(measured).to_contain_text("Selectivity")
    expect(measured).to_contain_text("keeps up")
    expect(measured.get_by_role("img", name=re.compile("Load: load"))).to_be_visible()
    with asking(service) as http:
        http.post(f"{API}/networks/demo/pause").raise_for_status()
    expect(measured).to_contain_text("The network is paused")
    select(page, "outputs/dear")
    expect(measured.get_by_role("img", name=re.compile("Latency: "))).to_be_visible()
    select(page, "streams/ticks")
    expect(measured).to_contain_text("generator, connected")
    measured.get_by_role("button", name="Last hour").click()
    expect(page.get_by_role("combobox", name="Whose history")).to_have_value(re.compile('"input","name":"ticks"'))


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_the_overview_in_every_stage(page: Page, opened: Open, no_barriers: Callable[[], None], colours: str) -> None:
    page.emulate_media(color_scheme="light" if colours == "light" else "dark")
    service = opened(DOCUMENT)
    below = page.get_by_role("tabpanel", name="Overview")
    expect(below).to_contain_text("Nothing has come in yet.")
    with asking(service) as http:
        http.post(f"{API}/networks/demo/streams/ticks", json=[{"ticker": "a", "price": 20.0}]).raise_for_status()
        expect(below).not_to_contain_text("Nothing has come in yet.")
        for outputs in ("Latency", "Delivered", "Utility"):
            expect(below.get_by_role("img", name=f"{outputs} of dear", exact=False)).to_be_visible()
        http.post(f"{API}/networks/demo/pause").raise_for_status()
        expect(below).to_contain_text("Paused.")
        no_barriers()
        http.post(f"{API}/networks/demo/stop").raise_for_status()
        expect(below).to_contain_text("Stopped.")
        no_barriers()
