"""What axe finds in the main states of the page, in both colours: nothing serious."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from aurora.server.service import Service
from tests.page.faults import Faults
from tests.server.http_serving import DOCUMENT, TOKENS, WINDOWED

Open = Callable[..., Service]
Look = Callable[[], None]


@pytest.fixture(params=["light", "dark"])
def colours(request: pytest.FixtureRequest, page: Page) -> str:
    page.emulate_media(color_scheme=request.param)
    return str(request.param)


@pytest.mark.usefixtures("colours")
def test_a_network_and_all_tabs(page: Page, opened: Open, no_barriers: Look) -> None:
    opened(DOCUMENT, WINDOWED)
    expect(page.get_by_role("group", name="Run")).to_contain_text("Running")
    no_barriers()
    for list_of_tabs in ("Details", "Panel below"):
        for tab in page.get_by_role("tablist", name=list_of_tabs).get_by_role("tab").all():
            tab.click()
            no_barriers()


@pytest.mark.usefixtures("colours")
def test_menus_and_dialogs(page: Page, opened: Open, no_barriers: Look, faults: Faults) -> None:
    opened(DOCUMENT, WINDOWED)
    page.get_by_role("button", name="Network:").click()
    expect(page.get_by_role("menu")).to_be_visible()
    no_barriers()
    page.keyboard.press("Escape")
    for keys, dialog in (("Control+k", "Search"), ("?", "Help")):
        page.keyboard.press(keys)
        expect(page.get_by_role("dialog", name=dialog)).to_be_visible()
        no_barriers()
        page.keyboard.press("Escape")
    page.get_by_role("button", name="Import and export").click()
    page.get_by_role("menuitem", name="Import").click()
    no_barriers()
    broken = DOCUMENT.replace("network: demo", "network: counted").replace("price > 10", "prise > 10")
    page.get_by_role("textbox", name="Document").fill(broken)
    page.get_by_role("button", name="Draw it").click()
    page.get_by_role("tab", name="Problems").click()
    expect(page.get_by_role("tabpanel", name="Problems").get_by_role("listitem").first).to_be_visible()
    no_barriers()
    page.get_by_role("banner").get_by_role("button", name=re.compile("Deploy .* changes")).click()
    expect(page.get_by_role("dialog").get_by_role("region", name="Problems")).to_be_visible()
    no_barriers()


@pytest.mark.usefixtures("colours")
def test_states_without_a_network(page: Page, serve: Open, no_barriers: Look, faults: Faults) -> None:
    faults.expect("401")
    page.goto(serve(DOCUMENT, tokens=TOKENS).url)
    expect(page.get_by_label("Token")).to_be_visible()
    no_barriers()
    empty = serve(DOCUMENT)
    empty.host.remove("demo")
    page.goto(empty.url)
    expect(page.get_by_role("heading", name="Draw your first network")).to_be_visible()
    no_barriers()
    faults.expect_no_server()
    empty.close()
    page.get_by_role("button", name="New network").click()
    page.get_by_label("Name").fill("first")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The connection is lost.")).to_be_visible()
    no_barriers()
