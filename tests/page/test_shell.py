"""The frame of the page: networks, colours, tokens, documents in and out, deploying, problems, dialogs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from aurora.processors.local import LocalProcessor
from aurora.server.service import Service
from tests.page.faults import Faults
from tests.server.http_serving import DOCUMENT, FULL, READ, TOKENS, WINDOWED, rows
from tests.server.serving import until

Open = Callable[..., Service]
NEW = DOCUMENT.replace("network: demo", "network: brought")


def _import(page: Page, text: str) -> None:
    page.get_by_role("button", name="Import and export").click()
    page.get_by_role("menuitem", name="Import").click()
    page.get_by_role("textbox", name="Document").fill(text)
    page.get_by_role("button", name="Draw it").click()
    expect(page.get_by_role("dialog")).to_be_hidden()


def _deploy(page: Page) -> None:
    page.get_by_role("banner").get_by_role("button", name=re.compile("Deploy .* change")).click()
    page.get_by_role("dialog").get_by_role("button", name="Deploy").click()
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_it_lists_the_networks_and_opens_another(page: Page, opened: Open) -> None:
    service = opened(DOCUMENT, WINDOWED)
    service.host.pause("counted")
    picker = page.get_by_role("button", name="Network:")
    picker.click()
    items = page.get_by_role("menu").get_by_role("menuitemradio")
    expect(items).to_have_text([re.compile("counted.*Paused", re.S), re.compile("demo.*Running", re.S)])
    page.keyboard.press("d")
    page.keyboard.press("Enter")
    expect(picker).to_have_accessible_name("Network: demo")
    expect(picker).to_be_focused()
    assert page.url.endswith("#demo")
    page.go_back()
    expect(picker).to_have_accessible_name("Network: counted")
    page.go_forward()
    page.reload()
    expect(picker).to_have_accessible_name("Network: demo")


def test_a_network_is_paused_resumed_stopped_and_started(page: Page, opened: Open) -> None:
    service = opened(DOCUMENT)
    run = page.get_by_role("group", name="Run")
    run.get_by_role("button", name="Pause").click()
    expect(run).to_contain_text("Paused")
    assert service.host.hosted("demo").stage == "paused"
    run.get_by_role("button", name="Resume").click()
    expect(run).to_contain_text("Running")
    run.get_by_role("button", name="Stop").click()
    page.get_by_role("dialog", name="Stop demo?").get_by_role("button", name="Stop").click()
    expect(run).to_contain_text("Stopped")
    expect(run).to_contain_text("it was stopped")
    expect(page.get_by_role("status", name="Messages")).to_contain_text("demo is stopped")
    run.get_by_role("button", name="Start").click()
    expect(run).to_contain_text("Running")


def test_a_network_that_fails_says_why_and_can_be_started_again(
    page: Page, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = opened(DOCUMENT)

    def run(processor: LocalProcessor, plan: object) -> object:
        raise MemoryError("on purpose")

    monkeypatch.setattr(LocalProcessor, "run", run)
    service.host.enqueue("demo", "ticks", rows(1))
    alert = page.get_by_role("alert").filter(has_text="demo has failed.")
    expect(alert).to_contain_text("on purpose")
    monkeypatch.undo()
    page.get_by_role("group", name="Run").get_by_role("button", name="Start").click()
    expect(page.get_by_role("group", name="Run")).to_contain_text("Running")
    expect(alert).to_be_hidden()


def test_what_others_do_to_the_network_is_seen(page: Page, opened: Open) -> None:
    service = opened(DOCUMENT)
    service.host.pause("demo")
    expect(page.get_by_role("group", name="Run")).to_contain_text("Paused")
    # Nothing was drawn, so the drawing follows what runs: it takes in the change, and there is nothing to deploy.
    with page.expect_request(lambda request: "price > 11" in (request.post_data or "")):
        service.host.modify_network("demo", DOCUMENT.replace("price > 10", "price > 11"))
    expect(page.get_by_role("banner").get_by_role("button", name="Deploy", exact=True)).to_be_disabled()


def test_colours_are_switched_and_kept(page: Page, opened: Open) -> None:
    opened(DOCUMENT)
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "light")
    page.get_by_role("button", name="Switch to dark colours").click()
    expect(root).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(root).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Switch to light colours").click()
    expect(root).to_have_attribute("data-theme", "light")


def test_a_server_with_tokens_asks_for_one(page: Page, serve: Open, faults: Faults) -> None:
    faults.expect("401")
    page.goto(serve(DOCUMENT, tokens=TOKENS).url)
    field = page.get_by_label("Token")
    expect(field).to_be_focused()
    field.fill("not-the-token-of-the-tests")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The server does not know this token.")).to_be_visible()
    field.fill(FULL)
    page.keyboard.press("Enter")
    expect(page.get_by_role("main", name="Network")).to_be_visible()
    expect(page.get_by_role("group", name="Run")).to_contain_text("Running")
    page.reload()
    expect(page.get_by_role("main", name="Network")).to_be_visible()
    assert FULL not in page.evaluate("JSON.stringify(localStorage)")


def test_with_the_read_token_one_may_only_look(page: Page, serve: Open, faults: Faults) -> None:
    faults.expect("401")
    page.goto(serve(DOCUMENT, tokens=TOKENS).url)
    page.get_by_label("Token").fill(READ)
    page.keyboard.press("Enter")
    expect(page.get_by_role("banner").get_by_text("Looking only")).to_be_visible()
    expect(page.get_by_role("button", name="Pause")).to_be_disabled()
    _import(page, DOCUMENT.replace("price > 10", "price > 11"))
    expect(page.get_by_role("banner").get_by_role("button", name=re.compile("Deploy"))).to_be_disabled()


def test_a_document_is_brought_deployed_and_runs(page: Page, opened: Open) -> None:
    service = opened(DOCUMENT)
    _import(page, NEW)
    expect(page.get_by_role("button", name="Network:")).to_have_accessible_name("Network: brought")
    expect(page.get_by_role("group", name="Run")).to_contain_text("Not deployed")
    page.get_by_role("banner").get_by_role("button", name="Deploy 4 changes").click()
    dialog = page.get_by_role("dialog", name="Deploy brought as a new network")
    expect(dialog.get_by_role("listitem")).to_have_count(4)
    expect(dialog).to_contain_text("4 added")
    dialog.get_by_role("button", name="Deploy").click()
    expect(page.get_by_role("group", name="Run")).to_contain_text("Running")
    expect(page.get_by_role("status", name="Messages")).to_contain_text("brought runs")
    assert service.host.names() == ["brought", "demo"]
    expect(page.get_by_role("banner").get_by_role("button", name="Deploy", exact=True)).to_be_disabled()


def test_what_would_change_is_shown_before_it_does(page: Page, opened: Open) -> None:
    service = opened(DOCUMENT)
    changed = DOCUMENT.replace("price > 10", "price > 12").replace("dear:", "costly:") + "  all: {from: ticks}\n"
    _import(page, changed)
    page.keyboard.press("Control+s")
    dialog = page.get_by_role("dialog", name="Deploy changes to demo")
    expect(dialog).to_contain_text("1 added")
    expect(dialog.get_by_role("deletion")).to_have_text("price > 10")
    expect(dialog.get_by_role("insertion").get_by_text("price > 12")).to_be_visible()
    expect(dialog).to_contain_text("was dear")
    what = dialog.get_by_role("region", name="What happens")
    expect(what).to_contain_text("Start anew")
    expect(what).to_contain_text("ticks")
    dialog.get_by_label("Reason").fill("too much noise")
    dialog.get_by_role("button", name="Deploy").click()
    expect(page.get_by_role("status", name="Messages")).to_contain_text(
        re.compile(r"demo: 3 changes deployed in \d+ ms")
    )
    assert sorted(service.host.hosted("demo").network.outputs) == ["all", "costly"]


def test_the_reason_is_kept_with_the_version(page: Page, opened: Open, tmp_path: Path) -> None:
    service = opened(DOCUMENT, catalog=tmp_path / "catalog.db")
    _import(page, DOCUMENT.replace("price > 10", "price > 12"))
    page.keyboard.press("Control+s")
    page.get_by_label("Reason").fill("too much noise")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_hidden()
    catalog = service.host.catalog
    assert catalog is not None
    assert catalog.versions("demo")[-1].why == "too much noise"


def test_a_drawing_that_cannot_run_shows_its_problems_and_leads_to_them(page: Page, opened: Open) -> None:
    service = opened(DOCUMENT)
    _import(page, DOCUMENT.replace("price > 10", "prise > 10").replace("from: double", "from: twice"))
    tab = page.get_by_role("tab", name="Problems")
    expect(tab).to_contain_text("3")
    page.keyboard.press("Control+s")
    dialog = page.get_by_role("dialog", name="Deploy changes to demo")
    expect(dialog.get_by_role("button", name="Deploy")).to_be_disabled()
    expect(dialog.get_by_role("region", name="Problems").get_by_role("listitem")).to_have_count(2)
    dialog.get_by_role("button", name=re.compile("no column 'prise'")).click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("tab", name="Element")).to_have_attribute("aria-selected", "true")
    tab.click()
    page.get_by_role("tabpanel", name="Problems").get_by_role("button", name=re.compile("twice")).focus()
    page.keyboard.press("Enter")
    assert service.host.hosted("demo").network.outputs["dear"].source == "double"


def test_what_the_server_refuses_is_shown_with_its_reasons(page: Page, opened: Open, faults: Faults) -> None:
    """The operator's own sources are not for clients to change; only the server knows that."""
    faults.expect("422")
    opened(DOCUMENT)
    _import(page, DOCUMENT + "sources:\n  pushed: {kind: http, into: ticks, format: json}\n")
    page.keyboard.press("Control+s")
    problems = page.get_by_role("dialog").get_by_role("region", name="Problems")
    expect(problems).to_contain_text("The server refuses.")
    expect(problems.get_by_role("listitem").first).to_contain_text("pushed")


def test_a_drawing_that_was_not_deployed_survives_the_page(page: Page, opened: Open) -> None:
    opened(DOCUMENT, WINDOWED)
    _import(page, DOCUMENT.replace("price > 10", "price > 12"))
    deploy = page.get_by_role("banner").get_by_role("button", name="Deploy 1 change")
    expect(deploy).to_be_enabled()
    page.reload()
    expect(deploy).to_be_enabled()
    messages = page.get_by_role("status", name="Messages")
    expect(messages).to_contain_text("not deployed are here again")
    messages.get_by_role("button", name="Discard").click()
    expect(page.get_by_role("banner").get_by_role("button", name="Deploy", exact=True)).to_be_disabled()


def test_a_new_network_that_was_not_deployed_is_found_again(page: Page, opened: Open) -> None:
    opened(DOCUMENT)
    _import(page, NEW)
    picker = page.get_by_role("button", name="Network:")
    picker.click()
    page.get_by_role("menuitemradio", name="demo").click()
    expect(picker).to_have_accessible_name("Network: demo")
    picker.click()
    page.get_by_role("menuitemradio", name="brought").click()
    expect(picker).to_have_accessible_name("Network: brought")
    expect(page.get_by_role("banner").get_by_role("button", name="Deploy 4 changes")).to_be_enabled()


def test_changes_by_others_are_told_before_they_are_overwritten(page: Page, opened: Open) -> None:
    service = opened(DOCUMENT)
    _import(page, DOCUMENT.replace("price > 10", "price > 12"))
    service.host.modify_network("demo", DOCUMENT.replace("price * 2", "price * 3"))
    page.keyboard.press("Control+s")
    theirs = page.get_by_role("dialog").get_by_role("region", name="Changes by others")
    expect(theirs.get_by_role("insertion")).to_have_text("price * 3")


def test_who_deploys_at_the_same_moment_is_not_overwritten(page: Page, opened: Open, faults: Faults) -> None:
    faults.expect("409")
    service = opened(DOCUMENT)
    _import(page, DOCUMENT.replace("price > 10", "price > 12"))

    def overtake(route: Route) -> None:
        service.host.modify_network("demo", DOCUMENT.replace("price * 2", "price * 3"))
        route.continue_()

    page.route("**/networks/demo?revision=*", overtake, times=1)
    page.keyboard.press("Control+s")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Deploy").click()
    expect(dialog).to_contain_text("somebody else changed 'demo' in the meantime")
    expect(dialog.get_by_role("region", name="Changes by others").get_by_role("insertion")).to_have_text("price * 3")
    assert "price * 3" in service.host.hosted("demo").network.to_yaml()
    dialog.get_by_role("button", name="Deploy").click()
    expect(dialog).to_be_hidden()
    assert "price > 12" in service.host.hosted("demo").network.to_yaml()


def test_undo_and_redo_name_the_step(page: Page, opened: Open) -> None:
    opened(DOCUMENT)
    _import(page, DOCUMENT.replace("price > 10", "price > 12"))
    page.get_by_role("button", name="Undo: Import demo").click()
    expect(page.get_by_role("banner").get_by_role("button", name="Deploy", exact=True)).to_be_disabled()
    page.keyboard.press("Control+y")
    expect(page.get_by_role("banner").get_by_role("button", name="Deploy 1 change")).to_be_enabled()


def test_the_drawing_goes_out_as_yaml(page: Page, context: BrowserContext, opened: Open) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(DOCUMENT)
    menu = page.get_by_role("button", name="Import and export")
    menu.click()
    with page.expect_download() as coming:
        page.get_by_role("menuitem", name="Download as YAML").click()
    assert coming.value.suggested_filename == "demo.yaml"
    written = Path(coming.value.path()).read_text()
    assert "where: price > 10" in written
    menu.click()
    page.get_by_role("menuitem", name="Copy as YAML").click()
    expect(page.get_by_role("status", name="Messages")).to_contain_text("clipboard")
    assert page.evaluate("navigator.clipboard.readText()") == written


def test_a_file_can_be_brought(page: Page, opened: Open, tmp_path: Path) -> None:
    opened(DOCUMENT)
    file = tmp_path / "brought.yaml"
    file.write_text(NEW)
    page.get_by_role("button", name="Import and export").click()
    page.get_by_role("menuitem", name="Import").click()
    page.get_by_label("File").set_input_files(file)
    expect(page.get_by_role("button", name="Network:")).to_have_accessible_name("Network: brought")


@pytest.mark.parametrize(
    ("text", "said"), [("a: [", "not YAML"), ("just words", "not a mapping"), ("boxes: [1]", "not a mapping of names")]
)
def test_what_is_no_document_is_not_drawn(page: Page, opened: Open, faults: Faults, text: str, said: str) -> None:
    faults.expect("422")
    opened(DOCUMENT)
    page.get_by_role("button", name="Import and export").click()
    page.get_by_role("menuitem", name="Import").click()
    page.get_by_role("textbox", name="Document").fill(text)
    page.get_by_role("button", name="Draw it").click()
    expect(page.get_by_role("textbox", name="Document")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("dialog")).to_contain_text(said)
    expect(page.get_by_role("button", name="Network:", include_hidden=True)).to_have_accessible_name("Network: demo")


def test_an_empty_server_invites_to_draw(page: Page, serve: Open) -> None:
    service = serve(DOCUMENT)
    service.host.remove("demo")
    page.goto(service.url)
    page.get_by_role("main", name="Welcome").get_by_role("button", name="New network").click()
    dialog = page.get_by_role("dialog", name="New network")
    name = dialog.get_by_label("Name")
    expect(name).to_be_focused()
    name.fill("1st")
    expect(dialog.get_by_role("button", name="Start drawing")).to_be_disabled()
    name.fill("first")
    page.keyboard.press("Enter")
    expect(page.get_by_role("main", name="Network")).to_be_visible()
    expect(page.get_by_role("button", name="Network:")).to_have_accessible_name("Network: first")
    expect(page.get_by_role("banner").get_by_role("button", name="Deploy", exact=True)).to_be_disabled()


def test_a_network_is_removed_and_the_drawing_stays(page: Page, opened: Open, faults: Faults) -> None:
    # What was asked for in the same moment is not there any more.
    faults.expect("404")
    service = opened(DOCUMENT)
    page.get_by_role("button", name="Network:").click()
    page.get_by_role("menuitem", name="Remove demo").click()
    page.get_by_role("dialog", name="Remove demo").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("group", name="Run")).to_contain_text("Not deployed")
    # The page does not wait for the server with that.
    until(lambda: service.host.names() == [])
    _deploy(page)
    expect(page.get_by_role("group", name="Run")).to_contain_text("Running")


def test_search_finds_elements_of_all_networks(page: Page, opened: Open) -> None:
    opened(DOCUMENT, WINDOWED)
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Search all elements")
    expect(box).to_be_focused()
    box.fill("filter")
    options = page.get_by_role("listbox", name="Found").get_by_role("option")
    expect(options).to_have_count(1)
    expect(options).to_contain_text("high")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Network:")).to_have_accessible_name("Network: demo")
    page.keyboard.press("/")
    box.fill("nothing like it")
    expect(options).to_have_count(0)
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()


def test_help_lists_the_shortcuts_and_gives_the_focus_back(page: Page, opened: Open) -> None:
    opened(DOCUMENT)
    button = page.get_by_role("banner").get_by_role("button", name="Help")
    button.click()
    dialog = page.get_by_role("dialog", name="Help")
    expect(dialog).to_contain_text("Undo")
    expect(dialog.get_by_text("Deploy")).to_be_visible()
    # Shortcuts of the page do nothing behind a dialog.
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search all elements")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(button).to_be_focused()
    page.keyboard.press("?")
    expect(dialog).to_be_visible()


def test_tabs_and_the_panel_below_work_by_keyboard(page: Page, opened: Open) -> None:
    opened(DOCUMENT)
    tabs = page.get_by_role("tablist", name="Panel below")
    tabs.get_by_role("tab", name="Overview").focus()
    page.keyboard.press("ArrowRight")
    expect(tabs.get_by_role("tab", name="Problems")).to_be_focused()
    panel = page.get_by_role("tabpanel", name="Problems")
    expect(panel).to_contain_text("No problems")
    page.keyboard.press("End")
    expect(tabs.get_by_role("tab", name="History")).to_have_attribute("aria-selected", "true")
    grip = page.get_by_role("separator", name="Height of the panel below")
    before = int(grip.get_attribute("aria-valuenow") or 0)
    grip.focus()
    page.keyboard.press("ArrowUp")
    assert int(grip.get_attribute("aria-valuenow") or 0) == before + 24
    page.keyboard.press("Control+j")
    expect(page.locator("#lower-panel")).to_be_hidden()
    page.reload()
    page.get_by_role("tab", name="Problems").click()
    assert page.locator("#lower-panel").evaluate("panel => panel.offsetHeight") == before + 24
