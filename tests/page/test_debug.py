"""Looking for a mistake: tuples of an arrow, break-points, steps by keyboard, and tuples made by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from aurora.server.service import Service
from tests.page.faults import Faults
from tests.server.http_serving import API, DOCUMENT, READ, TOKENS, asking
from tests.server.serving import until

Open = Callable[..., Service]


def enqueue(service: Service, *prices: float) -> None:
    service.host.enqueue("demo", "ticks", [{"ticker": f"t{price:g}", "price": price} for price in prices])


def show(page: Page) -> Locator:
    page.get_by_role("tablist", name="Panel below").get_by_role("tab", name="Tuples").click()
    return page.get_by_role("tabpanel", name="Tuples")


def select_arrow(page: Page, box: str) -> None:
    """By keyboard: the arrow that leaves a box."""
    page.locator(f".react-flow__node[data-id='boxes/{box}']").focus()
    page.keyboard.press("e")
    expect(page.get_by_role("tabpanel", name="Element").get_by_text("Arc", exact=True)).to_be_visible()


def cells(table: Locator, column: int) -> list[str]:
    return table.locator(f"tbody tr td:nth-child({column})").all_inner_texts()


def taps(service: Service) -> int:
    return len(service.host.hosted("demo").engine._check_started().delivery.taps)


def paused(page: Page) -> Locator:
    return page.get_by_role("group", name="Way on")


def test_the_tuples_of_an_arrow_are_seen_filtered_and_downloaded(page: Page, opened: Open) -> None:
    service = opened(DOCUMENT)
    select_arrow(page, "high")
    page.get_by_role("button", name="Look at the tuples of high").first.click()
    until(lambda: taps(service) == 1)
    table = page.get_by_role("table", name="Tuples on high")
    enqueue(service, 5, 15, 25)
    expect(table).to_be_visible()
    assert cells(table, 1) == ["t25", "t15"]
    expect(page.locator(".tap-count")).to_have_text("2 tuples")
    page.get_by_role("button", name="Newest first").click()
    assert cells(table, 1) == ["t15", "t25"]

    page.get_by_role("searchbox", name="Filter tuples of high").fill("price > 20")
    expect(table.locator("tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Download what is shown").click()
    with page.expect_download() as waited:
        page.get_by_role("menuitem", name="CSV").click()
    assert Path(waited.value.path()).read_bytes() == b"ticker,price\r\nt25,25\r\n"
    page.get_by_role("button", name="Download what is shown").click()
    with page.expect_download() as waited:
        page.get_by_role("menuitem", name="Lines of JSON").click()
    assert [json.loads(line) for line in Path(waited.value.path()).read_text().splitlines()] == [
        {"ticker": "t25", "price": 25}
    ]
    page.get_by_role("searchbox", name="Filter tuples of high").fill("")

    page.get_by_role("button", name="Let the table stand still").click()
    enqueue(service, 35)
    expect(page.locator(".tap-count")).to_have_text("3 tuples")
    expect(table.locator("tbody tr")).to_have_count(2)
    page.get_by_role("button", name="Let the table stand still").click()
    enqueue(service, 45)
    expect(table.locator("tbody tr")).to_have_count(3)
    page.get_by_role("combobox", name="Plot a column").select_option("price")
    expect(page.get_by_role("img", name="price of high over time")).to_be_visible()

    # Another arrow beside it; and whoever goes leaves nothing behind.
    page.get_by_role("combobox", name="Look at an arrow").select_option("ticks")
    until(lambda: taps(service) == 2)
    tabs = page.get_by_role("tablist", name=re.compile("Tapped arrows"))
    expect(tabs.get_by_role("tab", name="ticks")).to_have_attribute("aria-selected", "true")
    page.get_by_role("toolbar").get_by_role("button", name="Stop looking at ticks").click()
    tabs.get_by_role("tab", name="high").click()
    page.get_by_role("toolbar").get_by_role("button", name="Stop looking at high").click()
    until(lambda: taps(service) == 0)


def test_a_thousand_tuples_are_kept_and_only_those_in_sight_are_made(page: Page, opened: Open) -> None:
    service = opened(DOCUMENT)
    show(page).get_by_role("combobox", name="Look at an arrow").select_option("ticks")
    until(lambda: taps(service) == 1)
    for start in range(0, 3_000, 150):
        enqueue(service, *range(start, start + 150))
        page.wait_for_timeout(40)
    expect(page.locator(".tap-count")).to_have_text(re.compile(r"3,000 tuples"))
    table = page.get_by_role("table", name="Tuples on ticks")
    expect(table.locator("tbody tr td:first-child").first).to_have_text("t2999")
    assert int(table.get_attribute("aria-rowcount") or 0) <= 1_001
    assert table.locator("tbody tr").count() < 40
    page.get_by_role("region", name="Tuples on ticks").evaluate("box => { box.scrollTop = 2400 }")
    expect(table.locator("tbody tr[aria-rowindex='102']")).to_be_visible()


def test_a_break_point_stops_the_network_and_keys_go_on_from_there(page: Page, opened: Open) -> None:
    service = opened(DOCUMENT)
    select_arrow(page, "high")
    page.keyboard.press("F9")
    expect(page.get_by_role("button", name="Break-point on high", exact=True).first).to_be_visible()
    enqueue(service, 5, 15, 25)

    expect(page.get_by_role("alert").filter(has_text="high")).to_contain_text("stopped 2 tuples")
    expect(page.get_by_role("group", name="Run")).to_contain_text("Paused")
    stopped = page.get_by_role("table", name="Tuple that stopped at high")
    assert cells(stopped, 1) == ["t15"]
    expect(page.get_by_role("button", name="Paused here on high").first).to_be_visible()

    page.keyboard.press("F11")
    ran = page.get_by_role("region", name="Box double")
    expect(ran).to_be_visible()
    expect(ran.get_by_label("high, in")).to_contain_text("15")
    expect(ran.get_by_label("double, out")).to_contain_text("30")
    expect(page.locator(".react-flow__node[data-id='boxes/double']")).to_have_class(re.compile(r"\bselected\b"))
    page.keyboard.press("F10")
    expect(ran.get_by_label("double, out")).to_contain_text("50")
    page.keyboard.press("F10")
    expect(page.get_by_role("status", name="Messages")).to_contain_text("nothing to step through")

    page.keyboard.press("F8")
    expect(page.get_by_role("group", name="Run")).to_contain_text("Running")
    with asking(service) as http:
        answers = http.post(f"{API}/networks/demo/outputs/dear/dequeue", params={"drain": True}).json()
    assert [row["price"] for row in answers] == [30, 50]
    # The key takes it away again.
    select_arrow(page, "high")
    page.keyboard.press("F9")
    expect(page.get_by_role("button", name="Set a break-point on high").first).to_be_visible()
    enqueue(service, 35)
    until(lambda: not service.host.hosted("demo").debugging.breakpoints())
    assert service.host.hosted("demo").stage == "running"


def test_a_condition_is_written_mended_disabled_and_removed(page: Page, opened: Open, faults: Faults) -> None:
    service = opened(DOCUMENT)
    panel = show(page).get_by_role("region", name="Break-points")
    panel.get_by_role("combobox", name="Arrow of the break-point").select_option("high")
    condition = panel.get_by_role("combobox", name="Condition")
    faults.expect("422")
    condition.fill("prise > 20")
    condition.press("Escape")
    condition.press("Enter")
    expect(panel.get_by_text("no column", exact=False).first).to_be_visible()
    condition.fill("price > 20")
    condition.press("Escape")
    panel.get_by_role("button", name="Add").click()
    known = panel.get_by_role("checkbox", name="Break-point on high where price > 20")
    expect(known).to_be_checked()
    enqueue(service, 15)
    enqueue(service, 25)
    expect(page.get_by_role("alert").filter(has_text="price > 20")).to_be_visible()
    paused(page).get_by_role("button", name="Go on").click()
    expect(panel.get_by_text("1×")).to_be_visible()
    known.click()
    expect(known).not_to_be_checked()
    enqueue(service, 35)
    panel.get_by_role("button", name="Remove the break-point on high where price > 20").click()
    expect(known).to_have_count(0)
    assert service.host.hosted("demo").stage == "running"


def test_steps_of_a_box_of_ones_own_choice(page: Page, opened: Open) -> None:
    service = opened(DOCUMENT)
    show(page).get_by_role("button", name="Pause").click()
    expect(paused(page)).to_be_visible()
    enqueue(service, 15, 25)
    page.get_by_role("combobox", name="Box to step").select_option("high")
    paused(page).get_by_role("button", name="Step tuple").click()
    ran = page.get_by_role("region", name="Box high")
    expect(ran.get_by_label("ticks, in")).to_contain_text("15")
    expect(page.get_by_text("2 from ticks came in")).to_be_visible()
    paused(page).get_by_role("button", name="Step train").click()
    expect(ran.get_by_label("high, out")).to_contain_text("25")
    paused(page).get_by_role("button", name="Step train").click()
    expect(page.get_by_role("status", name="Messages")).to_contain_text("Nothing waits before high")
    assert service.host.hosted("demo").stats().boxes["double"].queue_tuples == 2


def test_tuples_made_by_hand(page: Page, opened: Open, faults: Faults) -> None:
    service = opened(DOCUMENT)
    panel = show(page)
    panel.get_by_role("tab", name="Inject").click()
    panel.get_by_role("combobox", name="Arrow to put tuples on").select_option("ticks")
    price = panel.get_by_role("textbox", name="price double")
    price.fill("dear")
    panel.get_by_role("textbox", name="ticker string").fill("IBM")
    expect(panel.get_by_text("A number")).to_be_visible()
    inject = panel.get_by_role("button", name="Inject", exact=True)
    expect(inject).to_be_disabled()
    price.fill("12.5")
    inject.click()
    expect(page.get_by_role("status", name="Messages")).to_contain_text("1 tuple was put on ticks")
    panel.get_by_role("radio", name="Lines of JSON").check()
    panel.get_by_role("combobox", name="Arrow to put tuples on").select_option("high")
    lines = panel.get_by_role("textbox", name="Lines of JSON")
    faults.expect("422")
    lines.fill('{"ticker": "x", "price": "much"}')
    inject.click()
    expect(panel.get_by_role("alert").filter(has_text="do not fit high")).to_be_visible()
    lines.fill('{"ticker": "a", "price": 1}\n{"ticker": "b", "price": null}')
    inject.click()
    expect(page.get_by_role("status", name="Messages")).to_contain_text("2 tuples were put on high")
    with asking(service) as http:
        answers = http.post(f"{API}/networks/demo/outputs/dear/dequeue", params={"drain": True}).json()
    assert [row["price"] for row in answers] == [25, 2, None]

    # A tuple that was seen is the beginning of another.
    panel.get_by_role("combobox", name="Look at an arrow").select_option("ticks")
    until(lambda: taps(service) == 1)
    enqueue(service, 44)
    panel.get_by_role("button", name="Put into the form for tuples made by hand").click()
    expect(panel.get_by_role("textbox", name="price double")).to_have_value("44")
    expect(panel.get_by_role("textbox", name="ticker string")).to_have_value("t44")


def test_who_may_only_look_sees_tuples_and_can_stop_nothing(page: Page, serve: Open, faults: Faults) -> None:
    faults.expect("401")
    service = serve(DOCUMENT, tokens=TOKENS)
    page.goto(service.url)
    page.get_by_label("Token").fill(READ)
    page.keyboard.press("Enter")
    panel = show(page)
    expect(panel.get_by_role("button", name="Pause")).to_be_disabled()
    expect(panel.get_by_role("button", name="Add")).to_be_disabled()
    panel.get_by_role("combobox", name="Look at an arrow").select_option("ticks")
    until(lambda: taps(service) == 1)
    enqueue(service, 11)
    expect(page.get_by_role("table", name="Tuples on ticks")).to_contain_text("t11")


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_nothing_is_in_anybodys_way(page: Page, opened: Open, no_barriers: Callable[[], None], colours: str) -> None:
    page.emulate_media(color_scheme="dark" if colours == "dark" else "light")
    service = opened(DOCUMENT)
    panel = show(page)
    panel.get_by_role("combobox", name="Look at an arrow").select_option("high")
    until(lambda: taps(service) == 1)
    enqueue(service, 15, 25)
    expect(page.get_by_role("table", name="Tuples on high")).to_be_visible()
    no_barriers()
    select_arrow(page, "high")
    page.keyboard.press("F9")
    expect(panel.get_by_role("checkbox", name="Break-point on high")).to_be_checked()
    enqueue(service, 35, 45)
    expect(page.get_by_role("alert").filter(has_text="high")).to_be_visible()
    no_barriers()
    page.keyboard.press("F10")
    expect(page.get_by_role("region", name="Box double")).to_be_visible()
    no_barriers()
    panel.get_by_role("tab", name="Inject").click()
    no_barriers()
