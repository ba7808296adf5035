"""The commands that talk to a server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from aurora.cli.app import app
from aurora.server.service import Service
from tests.server.http_serving import DOCUMENT, FULL, READ, TOKENS, WINDOWED, serving

Aurora = Callable[..., Result]


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serving(tokens=TOKENS, flight=True) as running:
        yield running


@pytest.fixture
def aurora(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Aurora:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AURORA_URL", service.url)
    monkeypatch.setenv("AURORA_TOKEN", FULL)
    Path("counted.yaml").write_text(WINDOWED)
    Path("demo.yaml").write_text(DOCUMENT)

    def call(*arguments: str) -> Result:
        result = CliRunner().invoke(app, list(arguments))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


def test_a_network_from_start_to_end(aurora: Aurora, service: Service) -> None:
    assert aurora("start", "counted.yaml").output == "counted: running\n"
    Path("in.csv").write_text("ticker,price\na,1\nb,2\nc,many\n")
    sent = aurora("enqueue", "ticks", "in.csv", "--network", "counted")
    assert sent.exit_code == 2
    assert "2 tuples sent, 1 rejected" in sent.output
    assert "many" in sent.output
    assert aurora("dequeue", "totals", "-n", "counted", "-o", "out.csv").exit_code == 0
    assert Path("out.csv").read_text() == "total\n3.0\n"
    counted = json.loads(aurora("stats", "-n", "counted").output)
    assert counted["inputs"]["ticks"]["tuples"] == 2
    assert aurora("stop", "counted").output == "counted: stopped\n"
    Path("counted.yaml").write_text(WINDOWED.replace("2 tuples", "3 tuples"))
    assert aurora("modify", "counted.yaml", "--why", "more at a time").exit_code == 0
    assert aurora("start", "counted").output == "counted: running\n"
    assert "3 tuples" in service.host.hosted("counted").network.to_yaml()
    service.host.remove("counted")


def test_a_network_that_is_not_valid_is_refused_with_all_reasons(aurora: Aurora) -> None:
    Path("bad.yaml").write_text(DOCUMENT.replace("price > 10", "prise > 10").replace("from: double", "from: dobule"))
    for command in ("start", "modify"):
        refused = aurora(command, "bad.yaml")
        assert refused.exit_code == 1
        assert "unknown-column" in refused.output
        assert "unknown-arc" in refused.output


def test_what_a_server_has_is_described_and_listed(aurora: Aurora) -> None:
    described = json.loads(aurora("describe", "-n", "demo").output)
    assert described["stage"] == "running"
    assert described["arcs"]["double"] == {"ticker": "string", "price": "double"}
    listed = aurora("entities", "-n", "demo").output.splitlines()
    assert [line.split()[:4] for line in listed] == [
        ["demo", "stream", "ticks", "stream"],
        ["demo", "box", "high", "filter"],
        ["demo", "box", "double", "map"],
        ["demo", "output", "dear", "output"],
    ]
    assert aurora("entities", "--kind", "map").output.split() == ["demo", "box", "double", "map"]


def test_what_is_not_there_is_named(aurora: Aurora) -> None:
    Path("in.csv").write_text("ticker,price\na,1\n")
    wrong = aurora("enqueue", "tick", "in.csv", "-n", "demo")
    assert wrong.exit_code == 2
    assert "did you mean 'ticks'?" in wrong.output
    assert aurora("dequeue", "deer", "-n", "demo").exit_code == 2
    assert aurora("stop", "nothing").exit_code == 2


@pytest.mark.parametrize("token", ["wrong", READ])
def test_without_the_full_token_nothing_is_changed(aurora: Aurora, token: str) -> None:
    refused = aurora("stop", "demo", "--token", token)
    assert refused.exit_code == 2
    assert "token" in refused.output


def test_a_server_that_is_not_there_is_named(aurora: Aurora) -> None:
    gone = aurora("stats", "--url", "http://127.0.0.1:1")
    assert gone.exit_code == 1
    assert "127.0.0.1:1 does not answer" in gone.output
