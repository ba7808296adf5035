"""A catalog that several processes have open: edits are noticed, writers take turns, a kill does no harm."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from aurora.catalog import Candidate, Catalog, Change, Version
from aurora.cli.app import app
from tests.unit.catalog.conftest import TEXT

WRITER = """
import sys
from aurora.catalog import Catalog
path, name, count, text = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.stdin.read()
with Catalog.open(path) as catalog:
    for n in range(count):
        document = text.replace("network: alarms", f"network: {name}").replace("price > 5", f"price > {n}")
        print(catalog.save(document, f"{name} {n}", author=name).number, flush=True)
"""


def start(script: str, *arguments: object, text: str = TEXT) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    process.stdin.write(text)
    process.stdin.close()
    return process


def ended(process: subprocess.Popen[str]) -> int:
    with process:
        return process.wait(120)


class Server:
    """What a server does with a catalog: wait for changes, decide on candidates, and run what is current."""

    def __init__(self, path: Path) -> None:
        self.running: dict[str, str] = {}
        self.seen: list[Change] = []
        self.decided: list[Version] = []
        self._stop = threading.Event()
        self._catalog = Catalog.open(path)
        self._thread = threading.Thread(target=self._serve, args=(self._catalog.watch(self._stop, every_s=0.02),))
        self._thread.start()

    def _serve(self, batches: object) -> None:
        for batch in batches:  # type: ignore[attr-defined]
            self.seen += batch
            if any(change.what in ("edited", "proposed") for change in batch):
                self.decided += self._catalog.review(self._apply)

    def _apply(self, candidate: Candidate) -> list[object]:  # type: ignore[type-arg]
        self.running[candidate.name] = candidate.document
        return []

    def wait_for(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < deadline, (self.seen, self.decided)
            assert self._thread.is_alive()
            time.sleep(0.01)

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(10)
        assert not self._thread.is_alive()
        self._catalog.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "networks.db"
    with Catalog.open(path) as catalog:
        catalog.save(TEXT)
    return path


def plain_edit(path: Path, sql: str) -> None:
    """By a program that knows nothing of Aurora: SQLite's own command, or Python's module in a process of its own."""
    shell = shutil.which("sqlite3")
    program = [shell, "-cmd", ".timeout 30000"] if shell else [sys.executable, "-c", _PLAIN]
    subprocess.run([*program, str(path), sql], check=True, timeout=60)


_PLAIN = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], 30); c.executescript(sys.argv[2]); c.commit()"


def test_a_running_server_notices_what_another_process_edits(path: Path) -> None:
    server = Server(path)
    try:
        plain_edit(path, "UPDATE box_parameters SET value = 'price > 7' WHERE box = 'dear' AND name = 'where'")
        server.wait_for(lambda: len(server.decided) == 1)
        plain_edit(path, "UPDATE box_parameters SET value = 'pirce > 9' WHERE box = 'dear' AND name = 'where'")
        server.wait_for(lambda: len(server.decided) == 2)
        plain_edit(path, "INSERT INTO versions (network, document) VALUES ('alarms', 'no document')")
        server.wait_for(lambda: len(server.decided) == 3)
        again = "SELECT network, document, 'back' FROM versions WHERE number = 1"
        plain_edit(path, f"INSERT INTO versions (network, document, why) {again}")
        server.wait_for(lambda: len(server.decided) == 4)
    finally:
        server.stop()
    assert [version.state for version in server.decided] == ["accepted", "refused", "refused", "accepted"]
    assert server.running["alarms"] == TEXT
    with Catalog.open(path) as catalog:
        now = catalog.current("alarms")
        assert now is not None
        assert (now.number, now.document, now.why) == (5, TEXT, "back")
        refused = catalog.version("alarms", 3)
        assert refused is not None
        assert [problem.id for problem in catalog.problems(refused)] == ["unknown-column"]
    rows = sqlite3.connect(path)
    assert rows.execute("SELECT value FROM box_parameters WHERE name = 'where'").fetchall() == [('"price > 5"',)]
    rows.close()


def test_a_save_of_another_process_is_noticed_too(path: Path) -> None:
    server = Server(path)
    try:
        assert ended(start(WRITER, path, "other", 1)) == 0
        server.wait_for(lambda: server.seen)
    finally:
        server.stop()
    assert [(change.network, change.what, change.detail) for change in server.seen] == [("other", "accepted", "1")]
    assert server.decided == []


def test_two_servers_decide_once(path: Path) -> None:
    servers = [Server(path), Server(path)]
    try:
        for limit in range(10, 15):
            plain_edit(path, f"UPDATE box_parameters SET value = 'price > {limit}' WHERE name = 'where'")
            for server in servers:
                server.wait_for(lambda: sum(len(s.decided) for s in servers) == limit - 9)  # noqa: B023
    finally:
        for server in servers:
            server.stop()
    with Catalog.open(path) as catalog:
        assert [version.number for version in catalog.versions("alarms")] == list(range(1, 7))


def test_writers_take_turns(tmp_path: Path) -> None:
    """The file is made by whoever comes first; no version is lost, and numbers have no gaps."""
    path = tmp_path / "new.db"
    writers = [start(WRITER, path, name, 10) for name in ("one", "both", "both")]
    assert [ended(writer) for writer in writers] == [0, 0, 0]
    with Catalog.open(path) as catalog:
        assert catalog.networks() == ["both", "one"]
        for name in catalog.networks():
            versions = catalog.versions(name)
            assert [version.number for version in versions] == list(range(1, len(versions) + 1))
            assert len(versions) == 10 or (name == "both" and 10 <= len(versions) <= 20)
            assert catalog.current(name) == versions[-1]
        assert catalog.candidates() == []


@pytest.mark.parametrize("saves", [1, 4, 9])
def test_a_kill_in_the_middle_of_writing_does_no_harm(tmp_path: Path, saves: int) -> None:
    path = tmp_path / "killed.db"
    writer = start(WRITER, path, "alarms", 100_000)
    assert writer.stdout is not None
    for _ in range(saves):
        writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    said = saves + len(writer.stdout.readlines())
    assert ended(writer) == -signal.SIGKILL
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.execute("UPDATE box_parameters SET value = value")
    connection.commit()
    connection.close()
    with Catalog.open(path) as catalog:
        versions = catalog.versions("alarms")
        assert said <= len(versions) <= said + 1
        assert catalog.current("alarms") == versions[-1]
        (candidate,) = catalog.candidates()
        assert candidate.unchanged, "the tables do not show the current version"


def aurora(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_command_line(tmp_path: Path) -> None:
    path, document, export = tmp_path / "c.db", tmp_path / "alarms.yaml", tmp_path / "all.yaml"
    document.write_text(TEXT)
    assert aurora("catalog", "import", document, "--catalog", path, "--why", "first", "--author", "ada").exit_code == 0
    document.write_text(TEXT.replace("price > 5", "pirce > 5"))
    failed = aurora("catalog", "import", document, "--catalog", path)
    assert (failed.exit_code, "unknown-column" in failed.output) == (1, True)
    assert aurora("catalog", "export", "-c", path, "--network", "alarms").output == TEXT
    assert aurora("catalog", "export", "-c", path, "-o", export).exit_code == 0
    copy = tmp_path / "copy.db"
    assert aurora("catalog", "import", export, "-c", copy).exit_code == 0
    assert aurora("catalog", "export", "-c", copy).output == export.read_text()
    assert "ada" in aurora("catalog", "list", "-c", copy).output
    plain_edit(copy, "UPDATE outputs SET source = 'gone'")
    reviewed = aurora("catalog", "review", "-c", copy)
    assert (reviewed.exit_code, "unknown-arc" in reviewed.output) == (1, True)
    assert aurora("catalog", "review", "-c", copy).exit_code == 0
    assert "refused" in aurora("catalog", "history", "alarms", "-c", copy).output
    assert aurora("catalog", "history", "alarms", "-c", copy, "--problems", 2).exit_code == 1
    found = aurora("find", "costs", "more", "--kind", "filter", "--column", "price", "--json", "-c", copy)
    assert [element["element"] for element in json.loads(found.stdout)] == ["dear"]
    assert "nothing found" in aurora("find", "costs", "--tag", "raw", "-c", copy).output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["catalog", "list", "-c", "none.db"], "no such catalog"),
        (["find", "x", "-c", "none.db"], "no such catalog"),
        (["catalog", "history", "nobody", "-c", "c.db"], "it has alarms"),
        (["catalog", "history", "alarms", "--problems", "7", "-c", "c.db"], "no version 7"),
        (["catalog", "export", "--network", "alarm", "-c", "c.db"], "its networks are: alarms"),
        (["catalog", "export", "--version", "1", "-c", "c.db"], "--network"),
        (["catalog", "export", "-o", "no/where.yaml", "-c", "c.db"], "existing folder"),
        (["catalog", "import", "c.db", "-c", "c.db"], "UTF-8"),
        (["catalog", "list", "-c", "text.db"], "no catalog"),
    ],
)
def test_what_cannot_be_done_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.db").write_text("no database, but more than a hundred bytes of text, " * 5)
    with Catalog.open("c.db") as catalog:
        catalog.save(TEXT)
    result = aurora(*arguments)
    assert (result.exit_code, message in result.output) == (2, True), result.output


def test_what_is_found_cannot_steer_the_terminal(tmp_path: Path) -> None:
    with Catalog.open(tmp_path / "c.db") as catalog:
        catalog.save(TEXT.replace("only what costs more", '"red \\e[31m alert"'))
    output = aurora("find", "alert", "-c", tmp_path / "c.db").output
    assert "alert" in output
    assert "\x1b" not in output
