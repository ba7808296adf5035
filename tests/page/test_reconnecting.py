"""A server that goes away and comes back: nothing disappears, and the page goes on by itself."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.page.faults import Faults
from tests.server.http_serving import DOCUMENT
from tests.server.ports import free_port

AURORA = [sys.executable, "-c", "from aurora.cli import main; main()"]


@contextmanager
def _served(folder: Path, port: int, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """``aurora serve`` as a process, when it answers."""
    command = [*AURORA, "serve", *arguments, "--processor", "local", "--port", str(port), "--no-flight"]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    assert process.stderr is not None
    try:
        said = ""
        while not said.startswith("page at"):
            said = process.stderr.readline()
            assert said, "the server did not start"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_a_server_that_is_killed_and_started_again(page: Page, faults: Faults, tmp_path: Path) -> None:
    (tmp_path / "demo.yaml").write_text(DOCUMENT)
    port = free_port()
    run = page.get_by_role("group", name="Run")
    lost = page.get_by_text("The connection is lost.")
    with _served(tmp_path, port, "demo.yaml") as process:
        page.goto(f"http://127.0.0.1:{port}/")
        expect(run).to_contain_text("Running")
        _change(page)
        faults.expect_no_server()
        process.send_signal(signal.SIGKILL)
        process.wait()
        expect(lost).to_be_visible()
        # All of it is still there, and nothing can be done that needs the server.
        expect(page.get_by_role("main", name="Network")).to_be_visible()
        expect(run.get_by_role("button", name="Pause")).to_be_disabled()
        expect(_deploy_button(page)).to_be_disabled()
    with _served(tmp_path, port, "demo.yaml"):
        expect(lost).to_be_hidden()
        expect(run.get_by_role("button", name="Pause")).to_be_enabled()
        expect(_deploy_button(page)).to_be_enabled()
        page.reload()
        expect(_deploy_button(page)).to_be_enabled()


def test_statistics_go_on_without_a_reload(page: Page, faults: Faults, tmp_path: Path) -> None:
    (tmp_path / "demo.yaml").write_text(DOCUMENT)
    port = free_port()
    with _served(tmp_path, port, "demo.yaml") as process:
        page.goto(f"http://127.0.0.1:{port}/")
        expect(page.get_by_role("group", name="Run")).to_contain_text("Running")
        faults.expect_no_server()
        process.send_signal(signal.SIGKILL)
        process.wait()
        expect(page.get_by_text("The connection is lost.")).to_be_visible()
    with _served(tmp_path, port, "demo.yaml"):
        with page.expect_websocket(lambda socket: "stats/live" in socket.url) as coming:
            expect(page.get_by_text("The connection is lost.")).to_be_hidden()
        assert '"inputs"' in str(coming.value.wait_for_event("framereceived"))


def test_a_network_that_is_gone_afterwards_leaves_its_drawing(page: Page, faults: Faults, tmp_path: Path) -> None:
    (tmp_path / "demo.yaml").write_text(DOCUMENT)
    (tmp_path / "other.yaml").write_text(DOCUMENT.replace("network: demo", "network: other"))
    port = free_port()
    with _served(tmp_path, port, "demo.yaml") as process:
        page.goto(f"http://127.0.0.1:{port}/")
        expect(page.get_by_role("group", name="Run")).to_contain_text("Running")
        faults.expect_no_server()
        process.send_signal(signal.SIGKILL)
        process.wait()
        expect(page.get_by_text("The connection is lost.")).to_be_visible()
    with _served(tmp_path, port, "other.yaml"):
        expect(page.get_by_role("status", name="Messages")).to_contain_text("demo is no longer on the server")
        expect(page.get_by_role("group", name="Run")).to_contain_text("Not deployed")
        _deploy_button(page).click()
        page.get_by_role("dialog").get_by_role("button", name="Deploy").click()
        expect(page.get_by_role("group", name="Run")).to_contain_text("Running")


def _change(page: Page) -> None:
    page.get_by_role("button", name="Import and export").click()
    page.get_by_role("menuitem", name="Import").click()
    page.get_by_role("textbox", name="Document").fill(DOCUMENT.replace("price > 10", "price > 12"))
    page.get_by_role("button", name="Draw it").click()
    expect(_deploy_button(page)).to_be_enabled()


def _deploy_button(page: Page) -> Locator:
    return page.get_by_role("banner").get_by_role("button", name=re.compile("Deploy"))
