"""Drawing: with the mouse and with the keyboard alone, undoing, superboxes, finding, what the server keeps of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from aurora.server.service import Service
from tests.server.http_serving import API, DOCUMENT, WINDOWED, asking
from tests.server.serving import until

Open = Callable[..., Service]
EMPTY = "aurora: 1\nnetwork: empty\n"
NESTED = """\
aurora: 1
network: nested
streams:
  ticks: {schema: {ticker: string, price: double}}
boxes:
  high: {kind: filter, in: ticks, where: price > 10, tags: [night]}
  double: {kind: map, in: high, compute: {ticker: ticker, twice: price * 2}}
  split: {kind: filter, in: double, routes: {cheap: twice < 100}, else: dear}
outputs:
  cheap: {from: split.cheap}
  dear: {from: split.dear}
superboxes:
  outer: {boxes: [high, inner]}
  inner: {boxes: [double]}
"""


def node(page: Page, name: str) -> Locator:
    """What the drawing shows of an element, by the beginning of its label: ``ticks, stream``."""
    return page.locator(f".react-flow__node[aria-label^='{name}']")


def arrows(page: Page) -> Locator:
    return page.locator(".react-flow__edge")


def port(page: Page, name: str, handle: str) -> Locator:
    return node(page, name).locator(f".react-flow__handle[data-handleid='{handle}']")


def drag(page: Page, start: Locator, end: Locator) -> None:
    """Slowly enough for what happens on the way."""
    here, there = start.bounding_box(), end.bounding_box()
    assert here
    assert there
    page.mouse.move(here["x"] + here["width"] / 2, here["y"] + here["height"] / 2)
    page.mouse.down()
    page.mouse.move(there["x"], there["y"] - 30, steps=5)
    page.mouse.move(there["x"] + there["width"] / 2, there["y"] + there["height"] / 2, steps=5)


def drop(page: Page, start: Locator, end: Locator) -> None:
    drag(page, start, end)
    page.mouse.up()


def from_palette(page: Page, title: str, x: float, y: float) -> None:
    item = page.get_by_role("navigation", name="Palette").get_by_role("button", name=title, exact=True)
    item.drag_to(page.locator(".react-flow__pane"), target_position={"x": x, "y": y})


def reads(page: Page, element: str) -> Any:
    """What an element reads as it is drawn: what is not deployed is kept in the browser, a moment later."""
    section, name = element.split("/")
    for key, text in page.evaluate("Object.entries(localStorage)"):
        if key.startswith("aurora.drawing/"):
            found = json.loads(text)["drawing"]["document"].get(section, {}).get(name, {})
            return found.get("in", found.get("from"))
    return None


def choose(page: Page, dialog: str, text: str) -> None:
    """Types into a list that has been opened, and takes the first that fits."""
    expect(page.get_by_role("dialog", name=dialog)).to_be_visible()
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def test_a_network_without_positions_comes_up_laid_out_and_in_sight(page: Page, opened: Open) -> None:
    opened(DOCUMENT)
    names = ["ticks", "high", "double", "dear"]
    boxes = []
    for name in names:
        expect(node(page, name)).to_be_visible()
        box = node(page, name).bounding_box()
        assert box
        boxes.append(box)
    assert [box["x"] for box in boxes] == sorted(box["x"] for box in boxes)
    assert all(one["x"] + one["width"] < other["x"] for one, other in pairwise(boxes))
    pane = page.get_by_role("region", name="Drawing").bounding_box()
    assert pane
    for box in boxes:
        assert pane["x"] <= box["x"]
        assert box["x"] + box["width"] <= pane["x"] + pane["width"]
    expect(arrows(page)).to_have_count(3)


def test_a_network_is_drawn_with_the_mouse(page: Page, opened: Open) -> None:
    opened(EMPTY)
    expect(page.get_by_text("Nothing is drawn yet.")).to_be_visible()
    from_palette(page, "Stream", 100, 120)
    from_palette(page, "Filter", 330, 120)
    from_palette(page, "Output", 500, 320)
    expect(node(page, "stream")).to_be_visible()
    drop(page, port(page, "stream, stream", "stream"), port(page, "filter", "in:0"))
    expect(arrows(page)).to_have_count(1)
    drop(page, port(page, "filter", "filter"), port(page, "output", "in:0"))
    expect(arrows(page)).to_have_count(2)
    until(lambda: reads(page, "outputs/output") == "filter")
    assert reads(page, "boxes/filter") == "stream"


def test_a_network_is_drawn_with_the_keyboard_alone(page: Page, opened: Open) -> None:
    opened(EMPTY)
    expect(page.get_by_text("Nothing is drawn yet.")).to_be_visible()
    page.keyboard.press("n")
    choose(page, "Add", "stream network")
    expect(node(page, "stream")).to_be_focused()
    page.keyboard.press("n")
    choose(page, "Add", "filter")
    expect(node(page, "filter")).to_be_focused()
    page.keyboard.press("n")
    choose(page, "Add", "output")
    expect(node(page, "output")).to_be_focused()
    page.keyboard.press("Alt+ArrowUp")
    node(page, "stream").focus()
    page.keyboard.press("c")
    choose(page, "Connect stream to", "filter")
    expect(arrows(page)).to_have_count(1)
    expect(node(page, "stream")).to_be_focused()
    page.keyboard.press("Alt+ArrowRight")
    expect(node(page, "filter")).to_be_focused()
    page.keyboard.press("c")
    choose(page, "Connect filter to", "output")
    expect(arrows(page)).to_have_count(2)
    page.keyboard.press("l")
    expect(page.get_by_role("button", name="Undo: Lay out")).to_be_visible()
    page.keyboard.press("Alt+ArrowLeft")
    expect(node(page, "stream")).to_be_focused()
    until(lambda: reads(page, "outputs/output") == "filter")
    # The arrow is chosen and deleted, then the stream.
    page.keyboard.press("e")
    page.keyboard.press("Delete")
    expect(arrows(page)).to_have_count(1)
    node(page, "stream").focus()
    page.keyboard.press("Delete")
    expect(node(page, "stream")).to_have_count(0)
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    expect(node(page, "stream")).to_be_visible()
    expect(arrows(page)).to_have_count(2)


def test_a_box_that_is_dropped_on_an_arrow_goes_in_between(page: Page, opened: Open) -> None:
    opened(DOCUMENT)
    start, end = port(page, "high", "high").bounding_box(), port(page, "double", "in:0").bounding_box()
    pane = page.locator(".react-flow__pane").bounding_box()
    assert start
    assert end
    assert pane
    x = (start["x"] + end["x"]) / 2 + 18 - pane["x"]
    from_palette(page, "Filter", x, start["y"] + start["height"] / 2 - pane["y"])
    until(lambda: reads(page, "boxes/double") == "filter")
    assert reads(page, "boxes/filter") == "high"


def test_an_arrow_dropped_on_nothing_asks_what_to_add(page: Page, opened: Open) -> None:
    opened(DOCUMENT)
    start = port(page, "double", "double").bounding_box()
    pane = page.locator(".react-flow__pane").bounding_box()
    assert start
    assert pane
    page.mouse.move(start["x"] + 4, start["y"] + 4)
    page.mouse.down()
    page.mouse.move(pane["x"] + pane["width"] / 2, pane["y"] + pane["height"] - 90, steps=8)
    page.mouse.up()
    choose(page, "Add and connect", "union")
    until(lambda: reads(page, "boxes/union") == "double")


WITH_MORE = DOCUMENT.replace("boxes:", "  quotes: {schema: {ticker: string}}\nboxes:").replace(
    "outputs:",
    "  loop_a: {kind: union, in: ticks}\n  loop_b: {kind: map, in: loop_a, compute: {a: price}}\n"
    "outputs:\n  others: {from: quotes}",
)


@pytest.mark.parametrize(
    ("start", "end", "into", "why"),
    [
        ("double", "high", "in:0", "reads one input, and ticks is connected here"),
        ("ticks", "dear", "in:0", "reads double already"),
        ("loop_b", "loop_a", "in:1", "a cycle: loop_a → loop_b → loop_a"),
        ("ticks", "quotes", "fed", "only a source feeds it"),
    ],
)
def test_a_wrong_arrow_is_refused_with_the_reason(
    page: Page, opened: Open, start: str, end: str, into: str, why: str
) -> None:
    opened(WITH_MORE)
    expect(arrows(page)).to_have_count(6)
    drag(page, port(page, start, start), port(page, end, into))
    expect(page.locator(".connection-refused")).to_contain_text(why)
    expect(page.locator(".canvas").get_by_role("status").last).to_contain_text(why)
    page.mouse.up()
    expect(page.locator(".connection-refused")).to_have_count(0)
    expect(arrows(page)).to_have_count(6)


def test_columns_that_do_not_fit_refuse_an_arrow(page: Page, opened: Open) -> None:
    opened(WITH_MORE)
    node(page, "high").click()
    # The arrow that leaves it is chosen first, then the one that arrives.
    page.keyboard.press("e")
    page.keyboard.press("e")
    page.keyboard.press("Delete")
    expect(arrows(page)).to_have_count(5)
    drag(page, port(page, "quotes", "quotes"), port(page, "high", "in:0"))
    expect(page.locator(".connection-refused")).to_contain_text("no column 'price'")
    page.mouse.up()
    expect(arrows(page)).to_have_count(5)
    drop(page, port(page, "ticks", "ticks"), port(page, "high", "in:0"))
    expect(arrows(page)).to_have_count(6)


def test_the_end_of_an_arrow_is_moved(page: Page, opened: Open) -> None:
    opened(DOCUMENT)
    expect(arrows(page)).to_have_count(3)
    anchor = page.locator(".react-flow__edge[data-id^='high>'] .react-flow__edgeupdater-source")
    drop(page, anchor, port(page, "ticks", "ticks"))
    until(lambda: reads(page, "boxes/double") == "ticks")
    expect(arrows(page)).to_have_count(3)


def test_steps_are_undone_one_by_one(page: Page, opened: Open) -> None:
    opened(DOCUMENT)
    before = node(page, "high").bounding_box()
    assert before
    node(page, "high").click()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Control+d")
    expect(node(page, "high_2")).to_be_visible()
    page.keyboard.press("Control+z")
    expect(node(page, "high_2")).to_have_count(0)
    moved = node(page, "high").bounding_box()
    assert moved
    assert moved["y"] > before["y"] + 10
    page.keyboard.press("Control+z")
    until(lambda: node(page, "high").bounding_box() == before)
    page.keyboard.press("Control+Shift+z")
    until(lambda: node(page, "high").bounding_box() == moved)


def test_copies_go_to_another_network(page: Page, context: BrowserContext, opened: Open) -> None:
    service = opened(DOCUMENT, EMPTY)
    node(page, "high").click()
    node(page, "double").click(modifiers=["Shift"])
    expect(page.locator(".react-flow__node.selected")).to_have_count(2)
    page.keyboard.press("Control+c")
    other = context.new_page()
    other.goto(f"{service.url}/#empty")
    expect(other.get_by_text("Nothing is drawn yet.")).to_be_visible()
    other.keyboard.press("Control+v")
    expect(node(other, "double")).to_be_visible()
    expect(arrows(other)).to_have_count(1)
    other.keyboard.press("Control+v")
    expect(node(other, "double_2")).to_be_visible()
    expect(arrows(other)).to_have_count(2)
    expect(other.locator(".react-flow__node.selected")).to_have_count(2)


def test_boxes_are_grouped_entered_and_ungrouped(page: Page, opened: Open) -> None:
    opened(DOCUMENT)
    node(page, "high").click()
    node(page, "double").click(modifiers=["Shift"])
    page.keyboard.press("Control+g")
    page.get_by_role("textbox", name="Name of the superbox").fill("both boxes")
    expect(page.get_by_role("dialog").get_by_role("button", name="Group")).to_be_disabled()
    page.get_by_role("textbox", name="Name of the superbox").fill("both")
    page.keyboard.press("Enter")
    expect(node(page, "both, superbox")).to_be_visible()
    expect(node(page, "high")).to_have_count(0)
    expect(arrows(page)).to_have_count(2)
    node(page, "both").dblclick()
    expect(page.get_by_role("navigation", name="Superboxes")).to_contain_text("both")
    expect(node(page, "high")).to_be_visible()
    expect(node(page, "ticks, outside")).to_be_visible()
    node(page, "dear, outside").dblclick()
    expect(node(page, "dear, output")).to_be_focused()
    node(page, "both").focus()
    page.keyboard.press("Enter")
    expect(node(page, "double")).to_be_visible()
    page.keyboard.press("Escape")
    expect(node(page, "both")).to_be_focused()
    page.keyboard.press("Control+Shift+G")
    expect(node(page, "high")).to_be_visible()
    expect(arrows(page)).to_have_count(3)


def test_superboxes_nest_and_each_is_seen_where_one_left_it(page: Page, opened: Open) -> None:
    opened(NESTED)
    node(page, "outer").dblclick()
    expect(node(page, "high")).to_be_visible()
    node(page, "inner").dblclick()
    expect(node(page, "double")).to_be_visible()
    page.keyboard.press("-")
    page.keyboard.press("-")
    smaller = node(page, "double").bounding_box()
    page.get_by_role("navigation", name="Superboxes").get_by_role("button", name="nested").click()
    expect(node(page, "outer")).to_be_focused()
    node(page, "outer").dblclick()
    node(page, "inner").dblclick()
    until(lambda: node(page, "double").bounding_box() == smaller)
    # What goes is left: the superbox ends with the box in it.
    node(page, "double").click()
    page.keyboard.press("Delete")
    expect(page.get_by_role("navigation", name="Superboxes")).not_to_contain_text("inner")
    expect(node(page, "high")).to_be_visible()


def test_a_box_is_dragged_into_a_superbox_and_sent_out_again(page: Page, opened: Open) -> None:
    opened(NESTED)
    expect(node(page, "split")).to_be_visible()
    drag(page, node(page, "split").locator(".node-title"), node(page, "outer").locator(".node-title"))
    expect(node(page, "outer").locator(".node-target")).to_be_visible()
    page.mouse.up()
    expect(node(page, "split")).to_have_count(0)
    node(page, "outer").dblclick()
    expect(node(page, "split")).to_be_visible()
    node(page, "split").focus()
    page.keyboard.press("i")
    choose(page, "Move split into", "nested")
    expect(node(page, "split, outside")).to_be_visible()
    page.keyboard.press("Escape")
    expect(node(page, "split, box")).to_be_visible()


def test_a_frame_selects_what_is_in_it_and_all_of_it_is_dragged(page: Page, opened: Open) -> None:
    opened(DOCUMENT)
    first, last = node(page, "high").bounding_box(), node(page, "double").bounding_box()
    assert first
    assert last
    page.keyboard.down("Shift")
    page.mouse.move(first["x"] - 12, first["y"] - 12)
    page.mouse.down()
    page.mouse.move(last["x"] + last["width"] / 2, last["y"] + last["height"] + 12, steps=5)
    page.mouse.up()
    page.keyboard.up("Shift")
    expect(page.locator(".react-flow__node.selected")).to_have_count(2)
    page.mouse.move(first["x"] + 40, first["y"] + 12)
    page.mouse.down()
    page.mouse.move(first["x"] + 40, first["y"] + 92, steps=5)
    page.mouse.up()
    for name, before in (("high", first), ("double", last)):
        after = node(page, name).bounding_box()
        assert after
        assert after["y"] > before["y"] + 50
    page.get_by_role("button", name="Undo: Move 2 elements").click()
    until(lambda: node(page, "high").bounding_box() == first and node(page, "double").bounding_box() == last)


def test_a_search_goes_to_what_was_found(page: Page, opened: Open) -> None:
    opened(NESTED)
    expect(node(page, "outer")).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("double")
    page.keyboard.press("Enter")
    expect(node(page, "double")).to_be_visible()
    expect(page.locator(".react-flow__node.selected")).to_have_attribute("aria-label", re.compile("^double"))
    expect(page.get_by_role("navigation", name="Superboxes")).to_contain_text("inner")


def test_the_server_keeps_positions_and_bookmarks(page: Page, opened: Open, tmp_path: Path) -> None:
    service = opened(NESTED, catalog=tmp_path / "catalog.db")
    node(page, "split").click()
    for _ in range(3):
        page.keyboard.press("Shift+ArrowDown")
    with asking(service) as http:
        until(lambda: "boxes/split" in http.get(f"{API}/networks/nested/layout").json())
    node(page, "outer").dblclick()
    expect(node(page, "high")).to_be_visible()
    page.keyboard.press("b")
    page.get_by_role("textbox", name="Name of this view").fill("inside")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(node(page, "split")).to_be_visible()
    stood = node(page, "split").bounding_box()
    page.reload()
    expect(node(page, "split")).to_be_visible()
    page.keyboard.press("1")
    expect(node(page, "high")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Bookmarks").click()
    page.get_by_role("menuitem", name="Remove inside").click()
    with asking(service) as http:
        until(lambda: http.get(f"{API}/networks/nested/bookmarks").json() == [])
        assert http.get(f"{API}/networks/nested/layout").json().keys() >= {"boxes/split", "streams/ticks"}
    assert stood


def test_positions_stay_with_their_network_when_another_is_opened(page: Page, opened: Open) -> None:
    service = opened(DOCUMENT, WINDOWED)
    page.goto(f"{service.url}/#demo")
    with asking(service) as http:
        layout = f"{API}/networks/demo/layout"
        node(page, "high").click()
        page.keyboard.press("ArrowDown")
        # Before a second has gone by: what was moved is saved all the same, and under its own network.
        page.goto(f"{service.url}/#counted")
        expect(node(page, "pairs")).to_be_visible()
        until(lambda: "boxes/high" in http.get(layout).json())
        kept = http.get(layout).json()
        node(page, "pairs").click()
        page.keyboard.press("ArrowDown")
        page.goto(f"{service.url}/#demo")
        expect(node(page, "high")).to_be_visible()
        until(lambda: "boxes/pairs" in http.get(f"{API}/networks/counted/layout").json())
        assert http.get(layout).json() == kept


def test_what_is_selected_is_aligned(page: Page, opened: Open) -> None:
    opened(NESTED)
    expect(node(page, "cheap")).to_be_visible()
    page.locator(".react-flow__pane").click(position={"x": 20, "y": 300})
    page.keyboard.press("Control+a")
    expect(page.locator(".react-flow__node.selected")).to_have_count(5)
    page.get_by_role("button", name="Arrange").click()
    page.get_by_role("menuitem", name="Align left").click()
    lefts = [box["x"] for box in (found.bounding_box() for found in page.locator(".react-flow__node").all()) if box]
    assert max(lefts) - min(lefts) < 2


def test_problems_are_marked_on_their_elements(page: Page, opened: Open) -> None:
    opened(DOCUMENT)
    node(page, "high").click()
    page.keyboard.press("e")
    page.keyboard.press("e")
    page.keyboard.press("Delete")
    expect(node(page, "high, box, Filter, 1 problem")).to_be_visible()
    expect(node(page, "high")).to_have_attribute("aria-description", re.compile("reads 1 input, not 0"))
    expect(node(page, "high").locator(".node-badge")).to_have_attribute("title", re.compile("reads 1 input, not 0"))


def test_statistics_leave_the_drawing_alone(page: Page, opened: Open) -> None:
    opened(DOCUMENT)
    expect(node(page, "high").locator(".node-watch > *")).to_be_visible()
    page.evaluate(
        "window.kept = [...document.querySelectorAll('.react-flow__node')];"
        "window.changed = 0;"
        "new MutationObserver((list) => {"
        "window.changed += list.filter((one) => !one.target.closest('.node-watch')).length; })"
        ".observe(document.querySelector('.react-flow__nodes'), { childList: true, subtree: true, attributes: true });"
    )
    page.wait_for_timeout(3_500)
    assert page.evaluate("window.kept.every((node) => node.isConnected)")
    assert page.evaluate("window.changed") == 0


def test_nobody_is_kept_from_the_drawing(page: Page, opened: Open, no_barriers: Callable[[], None]) -> None:
    opened(NESTED)
    expect(node(page, "outer")).to_be_visible()
    no_barriers()
    node(page, "outer").dblclick()
    page.keyboard.press("n")
    expect(page.get_by_role("dialog", name="Add")).to_be_visible()
    no_barriers()
