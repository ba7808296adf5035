"""A real server, the built page and a real browser. Console errors and failed requests fail a test."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from aurora.server.service import Service
from tests.page.browser import chromium, install
from tests.page.faults import Faults
from tests.server.http_serving import serving
from web import build_page

_SIZE = {"width": 1280, "height": 720}
_INSTALL_S = 1_500
_HERE = Path(__file__).parent

expect.set_options(timeout=15_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of a module share a browser, and so a process. The first may have to wait until it is installed."""
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.xdist_group(f"page-{item.path.stem}"))
            if chromium() is None:
                item.add_marker(pytest.mark.timeout(_INSTALL_S))


@pytest.fixture(scope="session")
def built_page() -> Path:
    """The page as its sources are now; test processes take turns at building it."""
    lock = build_page.ROOT / "build" / "page.lock"
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            build_page.build()
        except build_page.MissingToolsError as error:
            pytest.skip(f"the page cannot be built here: {error}")
    return build_page.PAGE


# One browser for each module: Playwright has an event loop while it lives, in which other tests cannot have theirs.
@pytest.fixture(scope="module")
def browser(built_page: Path) -> Iterator[Browser]:
    path = chromium()
    if path is None:
        missing = install()
        path = chromium()
        if path is None:
            pytest.skip(missing)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield launched
        launched.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser that has never been here: 1280 × 720, light, and without motion."""
    made = browser.new_context(viewport=_SIZE, color_scheme="light", reduced_motion="reduce")
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture(autouse=True)
def faults(request: pytest.FixtureRequest) -> Iterator[Faults | None]:
    """What went wrong in the page. A test that wants something to be refused says so with ``expect``."""
    if "page" not in request.fixturenames:
        yield None
        return
    noted = Faults(request.getfixturevalue("page"))
    yield noted
    assert not noted.found, "\n".join(noted.found)


@pytest.fixture
def serve() -> Iterator[Callable[..., Service]]:
    """Starts a server on a free port with documents on the local processor: ``serve(DOCUMENT, tokens=...)``."""
    with ExitStack() as stack:
        yield lambda *documents, **options: stack.enter_context(serving(*documents, **options))


@pytest.fixture
def opened(page: Page, serve: Callable[..., Service]) -> Callable[..., Service]:
    """The page of a server for the documents, when it shows the first of its networks."""

    def open_page(*documents: str, **options: Any) -> Service:
        service = serve(*documents, **options)
        page.goto(service.url)
        expect(page.get_by_role("main", name="Network")).to_be_visible()
        return service

    return open_page


@pytest.fixture(scope="session")
def axe_source(built_page: Path) -> str:
    return (build_page.WEB / "node_modules" / "axe-core" / "axe.min.js").read_text()


@pytest.fixture
def no_barriers(page: Page, axe_source: str) -> Callable[[], None]:
    """Fails if something would keep somebody from using the page as it is now: axe finds it serious or critical."""

    def look() -> None:
        page.evaluate(axe_source + "; 0")
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(results => results.violations)")
        grave = [one for one in found if one["impact"] in ("serious", "critical")]
        assert not grave, "\n".join(
            f"{one['impact']} {one['id']}: {one['help']}: {node['html'][:300]} ({node['failureSummary']})"
            for one in grave
            for node in one["nodes"]
        )

    return look
