"""Draws a document in the page as somebody would who has it on paper: from the palette, and in the forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playwright.sync_api import Locator, Page, expect

_NOTES = ("description", "tags")
_TITLES = {"streams": "Stream", "outputs": "Output"}


class Hand:
    """Puts one element after the other onto the drawing. It uses what the page shows, and nothing else."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._palette = page.get_by_role("navigation", name="Palette")
        self._form = page.get_by_role("tabpanel", name="Element")

    def draw(self, document: Mapping[str, Any]) -> None:
        for section in ("streams", "boxes", "outputs", "sources"):
            for name, element in document.get(section, {}).items():
                self.element(section, name, element)

    def element(self, section: str, name: str, element: Mapping[str, Any]) -> None:
        title = _TITLES.get(section) or str(element["kind"]).capitalize()
        self._add(title)
        label = self._form.get_by_role("textbox", name="Name", exact=True)
        expect(label).to_have_value(title.lower())
        label.fill(name)
        label.press("Enter")
        expect(label).to_have_value(name)
        if "in" in element:
            self._connect([element["in"]] if isinstance(element["in"], str) else element["in"])
        wanted = {key: value for key, value in element.items() if key not in ("kind", "in")}
        self._remove_others(wanted)
        for key, value in wanted.items():
            self._fill(self._field(self._form, key), value)

    def _add(self, title: str) -> None:
        """Searched for, and clicked; what is not to be read from is not selected while that happens."""
        self._page.keyboard.press("Escape")
        self._page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})
        search = self._palette.get_by_role("searchbox", name="Search the palette")
        search.fill(title)
        self._palette.get_by_role("button", name=title, exact=True).first.click()
        search.fill("")

    def _connect(self, inputs: list[str]) -> None:
        reads = self._form.get_by_role("group", name="Reads from")
        for at, arc in enumerate(inputs):
            rows = reads.locator(".inputs-row select")
            another = reads.get_by_role("combobox", name="Another input")
            (rows.nth(at) if at < rows.count() else another).select_option(arc)

    def _remove_others(self, wanted: Mapping[str, Any]) -> None:
        shown = self._form.locator("[data-path]").evaluate_all("all => all.map(one => one.dataset.path)")
        for path in shown:
            if "." not in path and path not in wanted and path not in ("in", *_NOTES):
                self._form.locator(f"[data-path='{path}'] .field-remove").first.click()

    def _field(self, parent: Locator, path: str) -> Locator:
        field = parent.locator(f"[data-path='{path}']")
        if not field.count():
            chips = parent.get_by_role("group", name="Add a parameter").last
            chips.get_by_role("button", name=path.rpartition(".")[2].replace("_", " "), exact=True).click()
        return field

    def _fill(self, field: Locator, value: Any) -> None:
        expect(field).to_be_visible()
        path = field.get_attribute("data-path") or ""
        if path == "qos":
            for kind, points in value.items():
                self._graph(field, kind, points)
        elif field.locator(".pairs").count():
            self._pairs(field, value)
        elif isinstance(value, Mapping):
            for key, part in value.items():
                self._fill(self._field(field, f"{path}.{key}"), part)
        elif field.locator(".chips").count():
            self._words(field, value)
        else:
            self._plain(field.locator("textarea, input, select").first, value)

    def _plain(self, control: Locator, value: Any) -> None:
        if control.evaluate("element => element.tagName") == "SELECT":
            control.select_option(str(value))
        else:
            control.fill(str(value))
            control.press("Escape")

    def _words(self, field: Locator, words: list[str]) -> None:
        for word in words:
            control = field.locator(".chips > select, .chips > input")
            self._plain(control, word)
            if control.evaluate("element => element.tagName") == "INPUT":
                control.fill(word)
                control.press("Enter")

    def _pairs(self, field: Locator, pairs: Mapping[str, Any]) -> None:
        rows = field.locator(".pairs > .pair")
        for at, (name, value) in enumerate(pairs.items()):
            if rows.count() <= at:
                field.locator(".pairs > .form-chips .form-chip").click()
            row = rows.nth(at)
            self._plain(row.locator(".pair-name"), name)
            if isinstance(value, Mapping):
                ((way, parts),) = value.items()
                row.locator(".made > select").select_option(way)
                for number, part in zip(row.locator("input[type=number]").all(), parts, strict=True):
                    number.fill(str(part))
            else:
                self._plain(row.locator("textarea, input:not(.pair-name), select:not(.pair-name)").last, value)

    def _graph(self, field: Locator, kind: str, points: list[list[Any]]) -> None:
        field.get_by_role("group", name="Add a graph").get_by_role("button", name=kind).click()
        table = field.get_by_role("table", name=f"{kind.capitalize()} in numbers")
        rows = table.locator("tbody tr")
        expect(rows.first).to_be_visible()
        there = rows.count()
        while there != len(points):
            more = there < len(points)
            table.get_by_role("button", name="Add a point" if more else "Remove point").nth(0 if more else 1).click()
            there += 1 if more else -1
            expect(rows).to_have_count(there)
        # From the far end: no point passes another on the way.
        for at in reversed(range(len(points))):
            for cell, number in zip(rows.nth(at).locator("input").all(), points[at], strict=True):
                if cell.is_enabled():
                    cell.fill(str(number))
                    cell.press("Enter")
                    expect(cell).to_have_value(str(number))
