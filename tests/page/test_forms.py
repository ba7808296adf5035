"""Forms, expressions, QoS graphs, the palette and the manual, as people use them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from aurora.server.service import Service
from tests.server.http_serving import DOCUMENT

Open = Callable[..., Service]
Look = Callable[[], None]

NETWORK = """\
aurora: 1
network: demo
streams:
  ticks: {schema: {ticker: string, price: double}}
  names: {schema: {ticker: string, company: string}}
boxes:
  high: {kind: filter, in: ticks, where: price > 10}
  counted: {kind: tumble, in: high, window: {size: 2 tuples}, compute: {total: sum(price)}}
  short: {kind: map, in: names, extend: {short: upper(ticker)}}
outputs:
  dear:
    from: counted
    qos: {latency: [[0s, 1], [2s, 1], [5s, 0]]}
  companies: {from: short}
connection_points:
  recent: {on: high, keep: 1h}
"""


@pytest.fixture
def drawn(page: Page, opened: Open) -> Service:
    return opened(NETWORK)


def _select(page: Page, name: str) -> Locator:
    """Selects an element in the drawing, and gives its form."""
    page.locator(f".react-flow__node[aria-label^='{name}']").click()
    panel = page.get_by_role("tabpanel", name="Element")
    expect(panel.get_by_role("textbox", name="Name", exact=True)).to_have_value(name)
    return panel


def _deploy(page: Page) -> None:
    page.get_by_role("banner").get_by_role("button", name=re.compile("Deploy .* change")).click()
    page.get_by_role("dialog").get_by_role("button", name="Deploy").click()
    expect(page.get_by_role("dialog")).to_be_hidden()


def _running(service: Service) -> dict[str, dict[str, dict[str, object]]]:
    found: dict[str, dict[str, dict[str, object]]] = service.host.hosted("demo").network.to_document()
    return found


def test_an_expression_is_completed_by_keyboard(page: Page, drawn: Service) -> None:
    where = _select(page, "high").get_by_role("combobox", name="Where")
    where.focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("pri")
    options = page.get_by_role("listbox", name="Completions").get_by_role("option")
    expect(options.first).to_contain_text("price")
    expect(options.first).to_contain_text("double")
    expect(where).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Enter")
    page.keyboard.type(" > 20 and upp")
    # The list has the way a function is called; arrows choose, and the caret comes to stand between its parentheses.
    expect(options.first).to_contain_text("(text string) -> string")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Tab")
    page.keyboard.type("tick")
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    page.keyboard.type(" = 'IBM'")
    expect(where).to_have_value("price > 20 and upper(ticker) = 'IBM'")
    expect(where).not_to_have_attribute("aria-invalid", "true")
    # All of it is one step back.
    page.keyboard.press("Escape")
    page.get_by_role("banner").get_by_role("button", name="Undo").click()
    expect(where).to_have_value("price > 10")
    page.get_by_role("banner").get_by_role("button", name="Redo").click()
    _deploy(page)
    assert _running(drawn)["boxes"]["high"]["where"] == "price > 20 and upper(ticker) = 'IBM'"


def test_columns_and_functions_are_offered_where_they_may_stand(page: Page, drawn: Service) -> None:
    total = _select(page, "counted").get_by_role("combobox", name="Compute: total")
    total.fill("")
    page.keyboard.press("Control+Space")
    options = page.get_by_role("listbox", name="Completions").get_by_role("option")
    expect(options.filter(has_text="ticker")).to_be_visible()
    expect(options.filter(has_text="timed_out")).to_be_visible()
    page.keyboard.press("Escape")
    expect(options).to_have_count(0)
    where = _select(page, "high").get_by_role("combobox", name="Where")
    where.fill("su")
    page.keyboard.press("Control+Space")
    expect(options.filter(has_text=re.compile("^.?sum"))).to_have_count(0)


def test_a_mistake_is_underlined_with_its_reason_and_mended(page: Page, drawn: Service) -> None:
    panel = _select(page, "high")
    where = panel.get_by_role("combobox", name="Where")
    where.fill("price > 10 and tiker = 'IBM'")
    wrong = panel.locator(".is-wrong")
    expect(wrong).to_have_text(["tiker"])
    expect(where).to_have_attribute("aria-invalid", "true")
    expect(where).to_have_accessible_description(re.compile("there is no column 'tiker'.*did you mean 'ticker'"))
    panel.get_by_role("button", name="Use ticker").click()
    expect(where).to_have_value("price > 10 and ticker = 'IBM'")
    expect(wrong).to_have_count(0)
    expect(where).to_be_focused()
    # What is wrong as a whole is underlined as a whole.
    where.fill("price")
    expect(wrong).to_have_text(["price"])
    expect(panel).to_contain_text("is double, not bool")


def test_errors_elsewhere_do_not_hide_columns(page: Page, drawn: Service) -> None:
    panel = _select(page, "short")
    panel.get_by_role("combobox", name="Extend: short").fill("uper(ticker)")
    expect(panel).to_contain_text("there is no function 'uper'")
    total = _select(page, "counted").get_by_role("combobox", name="Compute: total")
    total.fill("")
    page.keyboard.type("max(pr")
    expect(page.get_by_role("option", name=re.compile("price"))).to_be_visible()


def test_a_graph_is_drawn_with_the_mouse(page: Page, drawn: Service) -> None:
    panel = _select(page, "dear")
    graph = panel.get_by_role("group", name="Latency: utility by delay")
    points = graph.get_by_role("slider")
    expect(points).to_have_count(3)
    box = points.nth(1).bounding_box()
    assert box is not None
    at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] + 15, at[1] + 20, steps=3)
    page.mouse.move(at[0] + 40, at[1] + 30, steps=3)
    page.mouse.up()
    delay, utility = panel.get_by_label("Delay of point 2"), panel.get_by_label("Utility of point 2")
    expect(delay).not_to_have_value("2s")
    expect(utility).not_to_have_value("1")
    # It cannot pass the next point, nor rise above the one before.
    page.mouse.move(at[0] + 40, at[1] + 30)
    page.mouse.down()
    page.mouse.move(at[0] + 400, at[1] - 200, steps=4)
    page.mouse.up()
    expect(utility).to_have_value("1")
    expect(delay).to_have_value(re.compile(r"^4\.9"))
    area = graph.bounding_box()
    assert area is not None
    page.mouse.dblclick(area["x"] + area["width"] * 0.3, area["y"] + area["height"] * 0.5)
    expect(points).to_have_count(4)
    expect(points.nth(1)).to_be_focused()
    page.keyboard.press("Delete")
    expect(points).to_have_count(3)


def test_a_graph_is_drawn_with_keys_and_numbers(page: Page, drawn: Service) -> None:
    panel = _select(page, "dear")
    point = panel.get_by_role("group", name="Latency: utility by delay").get_by_role("slider").nth(2)
    point.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("ArrowUp")
    expect(point).to_have_attribute("aria-valuetext", "6.1 s, utility 0.05")
    page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press("Shift+ArrowUp")
    expect(point).to_have_attribute("aria-valuetext", "6.1 s, utility 1")
    panel.get_by_label("Utility of point 3").fill("0.25")
    page.keyboard.press("Enter")
    panel.get_by_label("Delay of point 3").fill("1m")
    page.keyboard.press("Enter")
    panel.get_by_role("button", name="loss").click()
    share = panel.get_by_role("group", name="Loss: utility by delivered").get_by_role("slider")
    expect(share.last).to_have_attribute("aria-disabled", "true")
    share.nth(1).focus()
    page.keyboard.press("ArrowLeft")
    panel.get_by_role("button", name="value").click()
    panel.get_by_role("combobox", name="Column").select_option("total")
    expect(page.get_by_role("banner").get_by_role("button", name=re.compile("Deploy .* change"))).to_be_enabled()
    _deploy(page)
    assert _running(drawn)["outputs"]["dear"]["qos"] == {
        "latency": [["0s", 1], ["2s", 1], ["1m", 0.25]],
        "loss": [[100, 1], [51, 0.5], [0, 0]],
        "value": {"on": "total", "graph": [[0, 0.1], [100, 1]]},
    }


def test_a_form_has_all_parameters(page: Page, drawn: Service) -> None:
    panel = _select(page, "counted")
    panel.get_by_role("group", name="Add a parameter").get_by_role("button", name="order by").click()
    panel.get_by_role("combobox", name="Order by").select_option("price")
    expect(panel.get_by_role("combobox", name="Order by")).to_have_value("price")
    size = panel.get_by_role("textbox", name="Size")
    size.fill("5")
    panel.get_by_role("combobox", name="Unit of Size").select_option("")
    panel.get_by_role("button", name="column", exact=True).click()
    expect(panel.get_by_role("textbox", name="Name of column 2")).to_be_focused()
    page.keyboard.type("most")
    panel.get_by_role("combobox", name="Compute: most").fill("max(price)")
    panel.get_by_role("button", name="Remove total").click()
    panel.get_by_role("textbox", name="Description").fill("The dearest")
    panel.get_by_role("textbox", name="Tags").fill("money")
    page.keyboard.press("Enter")
    _deploy(page)
    assert _running(drawn)["boxes"]["counted"] == {
        "kind": "tumble",
        "in": "high",
        "order_by": "price",
        "window": {"size": 5},
        "compute": {"most": "max(price)"},
        "description": "The dearest",
        "tags": ["money"],
    }


def test_a_stream_has_columns_that_are_edited(page: Page, drawn: Service) -> None:
    panel = _select(page, "names")
    panel.get_by_role("button", name="column", exact=True).click()
    page.keyboard.type("founded")
    panel.get_by_role("combobox", name="Type of founded").select_option("timestamp")
    panel.get_by_role("textbox", name="Name of column 3").focus()
    page.keyboard.press("Alt+ArrowUp")
    grips = panel.locator(".pair-grip")
    grips.nth(0).drag_to(grips.nth(2))
    grips.nth(2).drag_to(grips.nth(0))
    # A name that another column has is not taken.
    panel.get_by_role("textbox", name="Name of column 2").fill("ticker")
    page.keyboard.press("Tab")
    expect(panel.get_by_role("textbox", name="Name of column 2")).to_have_value("founded")
    _deploy(page)
    columns = _running(drawn)["streams"]["names"]["schema"]
    assert isinstance(columns, dict)
    assert list(columns.items()) == [("ticker", "string"), ("founded", "timestamp"), ("company", "string")]


def test_an_element_is_renamed_everywhere(page: Page, drawn: Service) -> None:
    panel = _select(page, "high")
    name = panel.get_by_role("textbox", name="Name", exact=True)
    name.fill("ticks")
    expect(name).to_have_attribute("aria-invalid", "true")
    page.keyboard.press("Escape")
    expect(name).to_have_value("high")
    name.fill("above")
    page.keyboard.press("Enter")
    expect(page.locator(".react-flow__node[aria-label^='above']")).to_have_class(re.compile("selected"))
    expect(_select(page, "counted").get_by_role("combobox", name="Input")).to_have_value("above")


def test_inputs_change_places(page: Page, opened: Open) -> None:
    service = opened(DOCUMENT.replace("outputs:", "  all: {kind: union, in: [ticks, high]}\noutputs:"))
    panel = _select(page, "all")
    panel.get_by_role("button", name="Move Input 2 up").click()
    expect(panel.get_by_role("combobox", name="Input 1")).to_have_value("high")
    panel.get_by_role("combobox", name="Another input").select_option("double")
    _deploy(page)
    expect(panel.get_by_role("combobox", name="Input 3")).to_have_value("double")
    assert service.host.hosted("demo").network.boxes["all"].inputs == ("high", "ticks", "double")


def test_the_palette_adds_to_what_is_selected(page: Page, drawn: Service) -> None:
    _select(page, "high")
    page.keyboard.press("p")
    search = page.get_by_role("searchbox", name="Search the palette")
    expect(search).to_be_focused()
    page.keyboard.type("union")
    palette = page.get_by_role("navigation", name="Palette")
    expect(palette.get_by_role("listitem")).to_have_count(1)
    page.keyboard.press("Enter")
    panel = page.get_by_role("tabpanel", name="Element")
    expect(panel.get_by_role("textbox", name="Name", exact=True)).to_have_value("union")
    expect(panel.get_by_role("combobox", name="Input", exact=True)).to_have_value("high")
    search.fill("")
    output = palette.get_by_role("button", name="Output", exact=True)
    output.drag_to(page.locator(".react-flow__pane"), target_position={"x": 80, "y": 80})
    expect(panel.get_by_role("textbox", name="Name", exact=True)).to_have_value("output")
    palette.get_by_role("button", name="Make the palette narrow").click()
    expect(search).to_be_hidden()
    page.reload()
    expect(palette.get_by_role("button", name="Make the palette wide")).to_be_visible()


def test_the_manual_is_read_and_searched(page: Page, drawn: Service) -> None:
    _select(page, "counted")
    page.get_by_role("button", name="Manual page of Tumble").last.click()
    manual = page.get_by_role("tabpanel", name="Manual")
    expect(manual.get_by_role("article", name="tumble")).to_contain_text("A window of tuples comes out when it is full")
    manual.get_by_role("link", name="group_by").first.click()
    expect(manual.get_by_role("article", name="group_by")).to_be_visible()
    manual.get_by_role("searchbox", name="Search the manual").fill("headroom capacity")
    hits = manual.get_by_role("list", name="Pages found").get_by_role("button")
    expect(hits.first).to_be_visible()
    title = hits.first.locator(".manual-hit-title").inner_text()
    page.keyboard.press("Enter")
    expect(manual.get_by_role("article")).to_be_visible()
    assert manual.get_by_role("article").get_attribute("aria-label") in title
    # An element has a page of its own.
    manual.get_by_role("button", name="Tumble", exact=True).click()
    manual.get_by_role("button", name="write one").click()
    manual.get_by_role("textbox", name="Manual of counted").fill("## Why\n\nOnly *pairs* <b>count</b>.")
    manual.get_by_role("button", name="Read").click()
    own = manual.get_by_role("region", name="Manual of counted")
    expect(own.get_by_role("heading", name="Why")).to_be_visible()
    expect(own).to_contain_text("Only pairs <b>count</b>.")


def test_the_network_says_what_it_is(page: Page, drawn: Service) -> None:
    page.get_by_role("tab", name="Network").click()
    panel = page.get_by_role("tabpanel", name="Network")
    expect(panel).to_contain_text(re.compile("boxes.*3|3.*boxes", re.S))
    panel.get_by_role("textbox", name="Description").fill("Dear things")
    _deploy(page)
    assert drawn.host.hosted("demo").network.description == "Dear things"


def test_several_have_tags_in_common(page: Page, drawn: Service) -> None:
    _select(page, "high")
    page.locator(".react-flow__node[aria-label^='counted']").click(modifiers=["Shift"])
    panel = page.get_by_role("tabpanel", name="Element")
    expect(panel).to_contain_text("2 elements")
    panel.get_by_role("textbox", name="Tags that all of them have").fill("both")
    page.keyboard.press("Enter")
    _deploy(page)
    assert [_running(drawn)["boxes"][name]["tags"] for name in ("high", "counted")] == [["both"], ["both"]]


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_everybody_can_use_the_forms(page: Page, opened: Open, no_barriers: Look, colours: str) -> None:
    page.emulate_media(color_scheme=colours)  # type: ignore[arg-type]
    opened(NETWORK)
    for name in ("high", "counted", "dear", "names"):
        _select(page, name)
        no_barriers()
    panel = _select(page, "high")
    panel.get_by_role("combobox", name="Where").fill("prise > 1 and tic")
    page.keyboard.press("Control+Space")
    expect(page.get_by_role("listbox", name="Completions")).to_be_visible()
    expect(panel.locator(".is-wrong")).to_have_text(["prise"])
    no_barriers()
    page.get_by_role("button", name="Manual page of Filter").last.click()
    expect(page.get_by_role("article", name="filter")).to_be_visible()
    no_barriers()
