"""``aurora serve`` as a process: it starts, answers, and ends cleanly when it is told to."""

from __future__ import annotations

import os
import re
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from aurora.cli.app import app
from tests.server.http_serving import API, DOCUMENT, FULL, WINDOWED, rows

AURORA = [sys.executable, "-c", "from aurora.cli import main; main()"]


class Running:
    def __init__(self, process: subprocess.Popen[str], lines: list[str]) -> None:
        self.process = process
        self.lines = lines
        found = re.search(r"on (http\S+)", lines[-1])
        assert found is not None, lines
        self.url = found[1]
        self.http = httpx.Client(base_url=self.url, timeout=60, trust_env=False)

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        self.process.send_signal(number)
        _, rest = self.process.communicate(timeout=60)
        return self.process.returncode, rest


@contextmanager
def aurora_serve(folder: Path, *arguments: str, processor: str = "local") -> Iterator[Running]:
    environment = {**os.environ, "AURORA_PROCESSOR": processor}
    command = [*AURORA, "serve", *arguments, "--port", "0", "--no-flight"]
    process = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    lines: list[str] = []
    try:
        for line in process.stderr:
            lines.append(line)
            if line.startswith("serving"):
                break
        running = Running(process, lines)
        try:
            yield running
        finally:
            running.http.close()
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stderr.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "demo.yaml").write_text(DOCUMENT)
    (tmp_path / "counted.yaml").write_text(WINDOWED)
    return tmp_path


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_cleanly_when_told_to(folder: Path, number: int) -> None:
    with aurora_serve(folder, "demo.yaml", "counted.yaml") as running:
        assert running.http.post(f"{API}/networks/demo/streams/ticks", json=rows(3)).json()["tuples"] == 3
        code, said = running.end(number)
    assert code == 0
    assert "stopping: taking what is enqueued" in said
    assert said.rstrip().endswith("stopped")
    assert "Traceback" not in said


def test_a_client_may_end_it(folder: Path) -> None:
    with aurora_serve(folder, "demo.yaml") as running:
        assert running.http.post(f"{API}/shutdown").status_code == 202
        assert running.process.wait(30) == 0


def test_with_state_the_next_server_goes_on(folder: Path) -> None:
    """Half a window is open when the server ends; the next one closes it."""
    arguments = ("counted.yaml", "--state", "kept")
    with aurora_serve(folder, *arguments) as running:
        running.http.post(f"{API}/networks/counted/streams/ticks", json=rows(3, 1.0))
        came = running.http.post(f"{API}/networks/counted/outputs/totals/dequeue", params={"drain": True}).json()
        assert came == [{"total": 3.0}]
        assert running.end()[0] == 0
    with aurora_serve(folder, *arguments) as running:
        assert running.http.get(f"{API}/networks/counted/stats").json()["inputs"]["ticks"]["tuples"] == 3
        running.http.post(f"{API}/networks/counted/streams/ticks", json=rows(1, 10.0))
        came = running.http.post(f"{API}/networks/counted/outputs/totals/dequeue", params={"drain": True}).json()
        assert came == [{"total": 13.0}]
        assert running.end()[0] == 0


def test_without_state_the_next_server_begins_anew(folder: Path) -> None:
    for _ in range(2):
        with aurora_serve(folder, "counted.yaml") as running:
            running.http.post(f"{API}/networks/counted/streams/ticks", json=rows(1, 1.0))
            url = f"{API}/networks/counted/outputs/totals/dequeue"
            assert running.http.post(url, params={"drain": True}).json() == []
            assert running.end()[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "nothing to serve"),
        (["demo.yaml", "--host", "0.0.0.0"], "no token"),
        (["demo.yaml", "--token", "short"], "too short"),
        (["demo.yaml", "--read-token", "r" * 20], "no --token"),
        (["demo.yaml", "--tls-cert", "demo.yaml"], "needs its key"),
        (["demo.yaml", "--tls-cert", "demo.yaml", "--tls-key", "demo.yaml"], "no certificate"),
        (["demo.yaml", "--processor", "spork"], "spork"),
        (["demo.yaml", "demo.yaml"], "already"),
        (["bad.yaml"], "unknown-arc"),
    ],
)
def test_what_cannot_be_served_is_said_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    (folder / "bad.yaml").write_text(DOCUMENT.replace("from: double", "from: nothing"))
    monkeypatch.chdir(folder)
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    # In this process: to start one takes longer than the rest. What were served by mistake would end by the time limit.
    done = CliRunner().invoke(app, ["serve", *arguments, "--port", "0", "--no-flight"])
    assert isinstance(done.exception, SystemExit)
    assert done.exit_code in (1, 2)
    assert said in done.stderr


def test_a_port_that_is_taken_is_named(folder: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        command = [*AURORA, "serve", "demo.yaml", "--port", str(taken.getsockname()[1]), "--no-flight"]
        environment = {**os.environ, "AURORA_PROCESSOR": "local"}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "choose another --port" in done.stderr


def test_with_a_token_and_a_certificate(folder: Path) -> None:
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 "
        "-keyout key.pem -out cert.pem"
    )
    subprocess.run(command.split(), cwd=folder, capture_output=True, check=True)
    tls = ("--tls-cert", "cert.pem", "--tls-key", "key.pem", "--token", FULL)
    with aurora_serve(folder, "demo.yaml", *tls) as running:
        assert running.url.startswith("https://")
        trusting = ssl.create_default_context(cafile=folder / "cert.pem")
        with httpx.Client(base_url=running.url, verify=trusting, trust_env=False) as http:
            assert http.get(f"{API}/networks").status_code == 401
            answer = http.get(f"{API}/networks", headers={"authorization": f"Bearer {FULL}"})
            assert answer.json()[0]["name"] == "demo"
        assert running.end()[0] == 0


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(300)
def test_on_spark(folder: Path) -> None:
    with aurora_serve(folder, "demo.yaml", "counted.yaml", "--master", "local[1]", processor="spark") as running:
        assert running.http.get(f"{API}/server").json()["processor"] == "spark"
        running.http.post(f"{API}/networks/counted/streams/ticks", json=rows(3, 1.0))
        running.http.post(f"{API}/networks/demo/streams/ticks", json=rows(3))
        came = running.http.post(f"{API}/networks/demo/outputs/dear/dequeue", params={"drain": True})
        assert [row["price"] for row in came.json()] == [40.0, 42.0, 44.0]
        came = running.http.post(f"{API}/networks/counted/outputs/totals/dequeue", params={"drain": True})
        assert came.json() == [{"total": 3.0}]
        code, said = running.end()
    assert code == 0
    assert "Traceback" not in said
