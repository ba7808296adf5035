"""``aurora demo``: alarms within a minute, overload that is shed and goes again, and the tour of its page."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from aurora.cli.demo_document import demo_document
from aurora.cli.demo_play import Play
from aurora.model.check import typecheck
from aurora.model.document import load, loads
from aurora.server.service import Service
from tests.page.faults import Faults
from tests.server.http_serving import API, DOCUMENT, FULL, READ, TOKENS
from web.build_page import ROOT

Open = Callable[..., Service]
RUN = "from aurora.cli import main; main()"
COMMAND = (sys.executable, "-c", RUN, "demo", "--processor", "local", "--no-open")
FEED = f"{API}/networks/feed-alarms"
ALARMS = ("reuters_low", "reuters_high", "comstock_low", "comstock_high", "nyse_alarms", "nasdaq_alarms")
STEPS = (
    "The network",
    "What flows",
    "What it is worth",
    "The alarms",
    "Too much",
    "A box of boxes",
    "Find anything",
    "Change it while it runs",
)


def _until(true: Callable[[], bool], seconds: float, what: str) -> None:
    end_s = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end_s, what
        time.sleep(0.2)


@contextmanager
def _demo(*options: str) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """The command as a process, and somebody who asks its server."""
    pipe = subprocess.PIPE
    command = [*COMMAND, "--port", "0", *options]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True)
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        address = re.search(r"page at (http://[^/]+)/\?tour#feed-alarms", said)
        assert address is not None, said + process.stderr.read()
        with httpx.Client(base_url=address[1], timeout=30, trust_env=False) as http:
            yield process, http
    finally:
        process.kill()
        process.communicate()


# The whole story


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_alarms_come_and_overload_is_shed_and_goes_again(built_page: object) -> None:
    with _demo("--seconds", "600", "--rate", "1") as (process, http):
        stats: Callable[[], Any] = lambda: http.get(f"{FEED}/stats").json()  # noqa: E731
        alarms = lambda: {name: stats()["outputs"][name]["tuples"] for name in ALARMS}  # noqa: E731
        _until(lambda: min(alarms().values()) > 0, 60, "no alarms on some output within a minute")
        assert alarms()["nyse_alarms"] >= 100

        turned = http.get(f"{FEED}/rates").json()
        assert (turned["least"], turned["most"]) == (0.1, 500)
        before = sum(stats()["engine"]["shed"].values())
        factor = 1.0
        while sum(stats()["engine"]["shed"].values()) <= before + 1_000:
            factor = min(factor * 2, turned["most"])
            http.put(f"{FEED}/rates", params={"factor": factor}).raise_for_status()
            time.sleep(3)
            assert factor < turned["most"] or sum(stats()["engine"]["shed"].values()) > before
        in_force = http.get(FEED).json()["drops"]
        hurt = {output for drop in in_force for output in drop["outputs"]}
        assert hurt <= {"board"}, in_force

        http.put(f"{FEED}/rates", params={"factor": 0.5}).raise_for_status()
        _until(lambda: not http.get(FEED).json()["drops"], 90, "tuples are still dropped")
        delivered = {name: stats()["outputs"][name]["delivered"] for name in ALARMS}
        assert delivered == dict.fromkeys(ALARMS, 100.0)
        assert stats()["outputs"]["board"]["delivered"] < 100

        http.post(f"{API}/shutdown", params={"drain": False}).raise_for_status()
        said, complaints = process.communicate(timeout=60)
        assert process.returncode == 0, complaints
        assert "tuples were shed, at the expense of board\n" in said
        assert re.search(r"nyse_alarms +\d", said)


def test_it_ends_by_itself_and_tells_what_was_seen(built_page: object) -> None:
    with _demo("--seconds", "3") as (process, _):
        said, complaints = process.communicate(timeout=90)
        assert process.returncode == 0, complaints
        assert re.search(r"\d s +rate ×1 +[\d,]+ tuples/s", said)
        for name in (*ALARMS, "board"):
            assert name in said


@pytest.mark.parametrize("options", [("--rate", "0"), ("--processor", "abacus"), ("--port", "TAKEN")])
def test_what_it_cannot_do_is_told(options: tuple[str, ...]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        _refused(options[0], options[1].replace("TAKEN", str(taken.getsockname()[1])))


def _refused(*options: str) -> None:
    done = subprocess.run(
        [*COMMAND, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ")


# Its document


def test_the_case_study_is_in_it_as_it_is() -> None:
    whole = loads(demo_document())
    alone = load(ROOT / "case_studies" / "feed_alarms" / "network.yaml")
    for section in ("streams", "boxes", "outputs", "superboxes"):
        mine, theirs = getattr(whole, section), getattr(alone, section)
        assert {name: mine[name] for name in theirs} == dict(theirs)
    assert [*whole.outputs][len(alone.outputs) :] == ["board"]
    typecheck(whole)


def test_what_it_reads_is_part_of_the_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for name in ("network.yaml", "live.yaml"):
        assert included[f"case_studies/feed_alarms/{name}"] == f"aurora/cli/feed_alarms/{name}"


def test_feeds_report_in_time_unless_they_are_meant_to_be_silent() -> None:
    """500 fast and 4,000 slow securities of each feed, each far more often than every 5 and every 60 s."""
    network = loads(demo_document())
    for source in network.sources.values():
        count = source.columns["ticker"]["keys"][1]
        interval_s = 5 if source.into.endswith("_fast") else 60
        assert count == {5: 500, 60: 4_000}[interval_s]
        # A tenth of the rate is the least that the page lets one choose.
        assert count / (source.rate * 0.1) < interval_s


def test_the_rate_rises_until_something_is_shed() -> None:
    play, now = Play(seconds=100, most=500), 1.0
    factors = [now := play.factor(second, now, shedding=second >= 50) for second in range(100)]
    assert factors[:40] == [1.0] * 40
    assert factors[49] == factors[79] > 100
    assert factors[80:] == [1.0] * 20
    never, now = Play(seconds=100, most=500), 1.0
    factors = [now := never.factor(second, now, shedding=False) for second in range(100)]
    assert max(factors) == 500


def test_where_somebody_turns_the_rate_it_is_left_alone() -> None:
    play = Play(seconds=100, most=500)
    assert play.factor(1, 1.0, shedding=False) == 1.0
    assert [play.factor(second, now, shedding=False) for second, now in ((2, 500.0), (45, 500.0), (50, 1.0))] == [
        500,
        500,
        1,
    ]


# Its page


@pytest.fixture
def shown(page: Page, serve: Open) -> Service:
    """The demonstration's page on the tour."""
    service = serve(demo_document())
    page.goto(f"{service.url}/?tour#feed-alarms")
    expect(_card(page)).to_be_visible(timeout=30_000)
    return service


def _card(page: Page, title: str = "") -> Any:
    return page.locator(".tour-card").filter(has_text=title)


def test_the_tour_points_at_what_is_there(page: Page, shown: Service, no_barriers: Callable[[], None]) -> None:
    for number, title in enumerate(STEPS, start=1):
        card = page.get_by_role("dialog", name=title)
        expect(card).to_be_visible()
        expect(card).to_be_focused()
        expect(card).to_contain_text(f"{number} of {len(STEPS)}")
        light = page.locator(".tour-light")
        expect(light).to_be_visible()
        if number in (1, 5):
            no_barriers()
        card.get_by_role("button", name="Done" if number == len(STEPS) else "Next").click()
    expect(_card(page)).to_have_count(0)
    page.reload()
    expect(page.get_by_role("slider", name="Rate")).to_be_visible()
    page.wait_for_timeout(2_000)
    expect(_card(page)).to_have_count(0)


def test_the_tour_works_by_keyboard_and_ends_with_escape(page: Page, shown: Service) -> None:
    page.keyboard.press("ArrowRight")
    expect(_card(page, STEPS[1])).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(_card(page, STEPS[2])).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(_card(page, STEPS[1])).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="End the tour")).to_be_focused()
    page.keyboard.press("Escape")
    expect(_card(page)).to_have_count(0)
    # It does not come back by itself, but the help has it.
    page.reload()
    page.get_by_role("button", name="Help").click()
    page.get_by_role("button", name="Take the tour").click()
    expect(_card(page, STEPS[0])).to_be_focused()
    _card(page).get_by_role("button", name="Skip").click()
    expect(_card(page)).to_have_count(0)


def test_what_the_tour_points_at_can_be_used(page: Page, shown: Service) -> None:
    for title in STEPS[:4]:
        _card(page, title).get_by_role("button", name="Next").click()
    slider = page.get_by_role("slider", name="Rate")
    slider.focus()
    slider.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^×1\.1, 7\.\d+ k/s$"))
    hosted = shown.host.hosted("feed-alarms")
    _until(lambda: {rate.factor for rate in hosted.rates()} == {1.1}, 10, "the rate was not turned")


def test_the_slider_turns_the_rate_and_follows_others(page: Page, shown: Service) -> None:
    page.keyboard.press("Escape")
    hosted = shown.host.hosted("feed-alarms")
    slider = page.get_by_role("slider", name="Rate")
    slider.focus()
    slider.press("End")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^×500, 3.23 M/s$"))
    _until(lambda: {rate.factor for rate in hosted.rates()} == {500.0}, 10, "the rate was not turned")
    page.get_by_role("button", name="back to ×1").click()
    _until(lambda: {rate.factor for rate in hosted.rates()} == {1.0}, 10, "the rate was not turned back")
    hosted.set_factor(10)
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^×10, 64.6 k/s$"))
    # Also if the page has never heard of what was in between.
    slider.press("End")
    _until(lambda: {rate.factor for rate in hosted.rates()} == {500.0}, 10, "the rate was not turned")
    hosted.set_factor(10)
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^×10, 64.6 k/s$"))


def test_who_may_only_look_cannot_turn_it(page: Page, serve: Open, faults: Faults) -> None:
    service = serve(demo_document(), tokens=TOKENS)
    faults.expect("401|WebSocket")
    page.goto(service.url)
    page.get_by_label("Token").fill(READ)
    page.keyboard.press("Enter")
    expect(page.get_by_role("slider", name="Rate")).to_be_disabled()
    assert FULL not in page.content()


def test_a_network_without_generators_has_no_slider(page: Page, opened: Open) -> None:
    opened(DOCUMENT)
    expect(page.get_by_role("group", name="Run")).to_contain_text("Running")
    page.wait_for_timeout(1_000)
    expect(page.get_by_role("slider", name="Rate")).to_have_count(0)
    # Its tour leaves out what there is not.
    page.get_by_role("button", name="Help").click()
    page.get_by_role("button", name="Take the tour").click()
    card = page.locator(".tour-card")
    expect(card).to_contain_text("1 of 5")
