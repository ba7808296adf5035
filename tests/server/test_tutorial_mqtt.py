"""The tutorial from sensor to alarm, done as a reader does it: a real broker, a real server, programs in terminals.

A block of ``text`` that begins with a command is a terminal in which it goes on running; what is shown has to come. The
commands of ``console`` blocks run to their end, and show exactly what the page says.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.integration.pages import ROOT, Page
from tests.integration.shell import commands, differs
from tests.server.brokers import mosquitto_missing, until

PAGE = Page(ROOT / "docs" / "tutorial-mqtt.md")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(bool(mosquitto_missing()), reason=mosquitto_missing()),
]


class Terminal:
    """A program that goes on running; ``said`` is all that it has shown so far."""

    def __init__(self, command: str, folder: Path, environment: dict[str, str]) -> None:
        self.said = ""
        self._process = subprocess.Popen(
            command.split(),
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.said += line

    def shows(self, wanted: str) -> bool:
        """Whether all lines have come, in this order; ``...`` stands for anything."""
        lines = [".*".join(map(re.escape, line.split("..."))) for line in wanted.splitlines()]
        return re.search(r"^" + r"$.*^".join(lines) + r"$", self.said, re.MULTILINE | re.DOTALL) is not None

    def wait(self) -> int:
        return self._process.wait(60)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._reading.join()
        assert self._process.stdout is not None
        self._process.stdout.close()


def test_everything_on_the_page_happens(tmp_path: Path) -> None:
    programs = [Path(sys.executable).parent, Path(shutil.which("mosquitto", path="/usr/sbin:/usr/bin") or "").parent]
    path = os.pathsep.join([*map(str, programs), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1"}
    terminals: list[Terminal] = []
    with ExitStack() as stack:
        for block in PAGE.blocks:
            if block.file is not None:
                (tmp_path / block.file).write_text(block.text, encoding="utf-8")
            elif block.language == "text":
                command, _, wanted = block.text.removeprefix("$ ").partition("\n")
                terminal = Terminal(command, tmp_path, environment)
                terminals.append(terminal)
                stack.callback(terminal.close)
                until(lambda t=terminal, w=wanted: t.shows(w), 60, f"{command} shows {wanted}")  # type: ignore[misc]
            else:
                assert block.language == "console"
                for command, wanted in commands(block.text):
                    done = subprocess.run(
                        command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
                    )
                    wrong = differs(wanted, done.stdout + done.stderr)
                    assert not wrong, f"{PAGE}:{block.line}: $ {command}\n{wrong}\n{terminals[-1].said}"
        # The last thing that the page does is to end the server.
        assert terminals[-1].wait() == 0
        assert "stopped" in terminals[-1].said
