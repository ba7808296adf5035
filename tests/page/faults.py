"""What a page should not do: console errors, uncaught errors, requests that fail or are refused."""

from __future__ import annotations

import re

from playwright.sync_api import ConsoleMessage, Page, Request, Response


class Faults:
    """Everything that went wrong in a page since it was opened, beside what the test expects."""

    def __init__(self, page: Page) -> None:
        self.found: list[str] = []
        self._expected: list[re.Pattern[str]] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self._note(f"uncaught: {error}"))
        page.on("requestfailed", self._failed)
        page.on("response", self._response)

    def expect(self, pattern: str) -> None:
        """From now on what matches is no fault: a refusal that the test asks for."""
        self._expected.append(re.compile(pattern))

    def expect_no_server(self) -> None:
        """From now on nothing may be reached at times, which browsers report as errors."""
        self.expect(r"net::ERR_|WebSocket connection to|Unable to preload")

    def _note(self, fault: str) -> None:
        if not any(pattern.search(fault) for pattern in self._expected):
            self.found.append(fault)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._note(f"console: {message.text} ({message.location.get('url', '')})")

    def _failed(self, request: Request) -> None:
        # Requests that the page itself gives up, such as a check that was overtaken.
        if request.failure != "net::ERR_ABORTED":
            self._note(f"failed: {request.method} {request.url}: {request.failure}")

    def _response(self, response: Response) -> None:
        if response.status >= 400:
            self._note(f"refused: {response.status} {response.request.method} {response.url}")
