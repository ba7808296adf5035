"""``aurora serve`` tells where the page is, and opens it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.http_serving import DOCUMENT

AURORA = [sys.executable, "-c", "from aurora.cli import main; main()"]


@pytest.fixture
def browser_that_notes(tmp_path: Path) -> Path:
    """In the place of a browser: writes down which address it was to open."""
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


def _said(folder: Path, browser: Path, *arguments: str) -> tuple[str, str]:
    """What the server says until it has told of the page, and the page's address."""
    command = [*AURORA, "serve", *arguments, "--processor", "local", "--port", "0", "--no-flight"]
    environment = {**os.environ, "BROWSER": f"{browser} %s"}
    process = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = ""
    try:
        for line in process.stderr:
            said += line
            if line.startswith("page at "):
                process.terminate()
                process.communicate(timeout=60)
                return said, line.removeprefix("page at ").strip()
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
    raise AssertionError(said)


@pytest.mark.usefixtures("built_page")
def test_it_tells_where_the_page_is(tmp_path: Path, browser_that_notes: Path) -> None:
    (tmp_path / "demo.yaml").write_text(DOCUMENT)
    said, address = _said(tmp_path, browser_that_notes, "demo.yaml")
    assert f"serving demo on {address.rstrip('/')}" in said
    assert not (tmp_path / "opened").exists()


@pytest.mark.usefixtures("built_page")
def test_it_opens_the_page_and_needs_no_network_then(tmp_path: Path, browser_that_notes: Path) -> None:
    said, address = _said(tmp_path, browser_that_notes, "--open")
    assert "serving no networks yet" in said
    assert (tmp_path / "opened").read_text().strip() == address
