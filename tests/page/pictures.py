"""Takes the pictures of the page that the documentation shows, of a real server with the demonstration's network.

    python -m tests.page.pictures [NAME]...

They differ a little each time, since what is measured does. Take them on a machine that is idle.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect, sync_playwright

from aurora.cli.demo_document import demo_document
from aurora.server.hosted import Hosted
from aurora.server.settings import EngineSettings
from tests.page.browser import chromium
from tests.server.http_serving import serving
from web import build_page

PICTURES = Path(__file__).parents[2] / "docs" / "pictures" / "page"
SIZE = {"width": 1440, "height": 860}
MOST_BYTES = 250_000
_SETTINGS = EngineSettings(processor="local", memory=48 << 20, disk=0)


def demo(page: Page, hosted: Hosted) -> None:
    """All of it, as it runs."""
    _calm(page)
    page.keyboard.press("f")


def draw(page: Page, hosted: Hosted) -> None:
    """A box inside a superbox, and its form with a condition that is being changed."""
    _into(page, "detect_reuters")
    _node(page, "boxes/alarms_reuters_fast").click()
    where = page.get_by_role("combobox", name="Where")
    where.click()
    where.press("End")
    where.press_sequentially(" and price > 2")


def run(page: Page, hosted: Hosted) -> None:
    """What is drawn is about to be deployed."""
    draw(page, hosted)
    page.keyboard.press("Escape")
    page.get_by_role("banner").get_by_role("button", name="Deploy").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def watch(page: Page, hosted: Hosted) -> None:
    """More comes than can be taken, and ticks are dropped before the board."""
    slider = page.get_by_role("slider", name="Rate")
    slider.focus()
    for _ in range(75):
        if hosted.engine.describe()["drops"] and sum(hosted.stats().engine.shed.values()) > 100_000:
            break
        slider.press("ArrowRight")
        page.wait_for_timeout(700)
    page.keyboard.press("f")
    page.wait_for_timeout(4_000)


def debug(page: Page, hosted: Hosted) -> None:
    """A break-point has paused the network; the tuples of an arrow."""
    _into(page, "detect_reuters")
    page.get_by_role("tab", name="Tuples").click()
    page.get_by_role("combobox", name="Look at an arrow").select_option("alarms_reuters")
    page.get_by_role("combobox", name="Arrow of the break-point").select_option("alarms_reuters")
    page.get_by_role("button", name="Add").click()
    _until(lambda: hosted.stage == "paused", 60)


def _calm(page: Page) -> None:
    """So long that every output has had alarms."""
    page.wait_for_timeout(50_000)


def _node(page: Page, element: str) -> Any:
    return page.locator(f'.react-flow__node[data-id="{element}"]')


def _into(page: Page, superbox: str) -> None:
    page.wait_for_timeout(20_000)
    _node(page, f"superboxes/{superbox}").dblclick()
    expect(page.get_by_role("navigation", name="Superboxes")).to_contain_text(superbox)
    page.keyboard.press("f")


def _until(true: Callable[[], bool], seconds: float) -> None:
    end_s = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end_s
        time.sleep(0.2)


SCENES: Mapping[str, Callable[[Page, Hosted], None]] = {
    "demo": demo,
    "draw": draw,
    "run": run,
    "watch": watch,
    "debug": debug,
}


def take(name: str, page: Page) -> None:
    with serving(demo_document(), settings=_SETTINGS) as service:
        page.goto(f"{service.url}/#feed-alarms")
        expect(page.get_by_role("slider", name="Rate")).to_be_visible(timeout=60_000)
        expect(_node(page, "outputs/board")).to_be_visible(timeout=60_000)
        SCENES[name](page, service.host.hosted("feed-alarms"))
        page.wait_for_timeout(1_500)
        path = PICTURES / f"{name}.png"
        page.screenshot(path=path)
    size = path.stat().st_size
    print(f"{path.relative_to(build_page.ROOT)}: {size:,} bytes")
    assert size < MOST_BYTES, "too large for the documentation"


def main(names: list[str]) -> None:
    build_page.build()
    PICTURES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for name in names or SCENES:
            context = browser.new_context(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
            take(name, context.new_page())
            context.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
