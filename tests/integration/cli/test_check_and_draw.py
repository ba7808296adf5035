"""``aurora check`` and ``aurora draw``."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

from integration.cli.conftest import NETWORK, Aurora


def test_a_good_network(aurora: Aurora) -> None:
    result = aurora("check", "net.yaml")
    assert result.exit_code == 0
    assert result.stdout == "net.yaml: no problems\n"
    assert json.loads(aurora("check", "net.yaml", "--json").stdout) == []


def test_every_problem_with_its_place_and_way_out(aurora: Aurora, folder: Path) -> None:
    (folder / "net.yaml").write_text(NETWORK.replace("price > 10", "pirce > 10").replace("from: high", "from: hihg"))
    result = aurora("check", "net.yaml")
    assert result.exit_code == 1
    assert "error unknown-column at net.yaml:6 box high" in result.stdout
    assert "error unknown-arc at net.yaml:15 output high" in result.stdout
    assert "did you mean 'high'?" in result.stdout
    assert "\x1b" not in result.stdout
    problems = json.loads(aurora("check", "net.yaml", "--json").stdout)
    assert {(p["id"], p["severity"], p["line"]) for p in problems} >= {
        ("unknown-column", "error", 6),
        ("unknown-arc", "error", 15),
    }


def test_warnings_are_no_errors(aurora: Aurora, folder: Path) -> None:
    (folder / "net.yaml").write_text(NETWORK.replace("  high: {from: high}\n", ""))
    result = aurora("check", "net.yaml")
    assert result.exit_code == 0
    assert "warning unused-box" in result.stdout
    assert "1 warning" in result.stdout


def test_a_file_that_is_not_there(aurora: Aurora) -> None:
    for command in (["check"], ["run"], ["draw", "-o", "x.svg"]):
        result = aurora(*command, "nope.yaml")
        assert result.exit_code == 2
        assert "nope.yaml" in result.stderr


def test_draw(aurora: Aurora, folder: Path) -> None:
    assert aurora("draw", "net.yaml", "-o", "net.svg").exit_code == 0
    text = (folder / "net.svg").read_text()
    assert ET.fromstring(text).tag.endswith("svg")
    assert aurora("draw", "net.yaml", "-o", "-").stdout == text


def test_draw_what_does_not_type(aurora: Aurora, folder: Path) -> None:
    (folder / "net.yaml").write_text(NETWORK.replace("price > 10", "pirce > 10"))
    result = aurora("draw", "net.yaml", "-o", "net.svg")
    assert result.exit_code == 0
    assert "the network has 1 error; aurora check net.yaml lists them" in result.stderr


def test_draw_something_else(aurora: Aurora) -> None:
    result = aurora("draw", "net.yaml", "-o", "net.png")
    assert result.exit_code == 2
    assert ".svg" in result.stderr


def test_version_and_help(aurora: Aurora) -> None:
    assert aurora("--version").stdout.startswith("aurora")
    assert "check" in aurora("--help").stdout
    assert "did you mean 'run'" in aurora("rnu").stderr.lower()
