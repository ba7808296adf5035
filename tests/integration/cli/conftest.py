"""A network and its input, and a way to call the command as the shell does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from aurora.cli.app import app

NETWORK = """\
aurora: 1
network: demo
streams:
  ticks: {schema: {ticker: string, price: double, time: timestamp}}
boxes:
  high: {kind: filter, in: ticks, where: price > 10}
  per_second:
    kind: aggregate
    in: ticks
    group_by: [ticker]
    order_by: time
    window: {size: 1s}
    compute: {n: count(*)}
outputs:
  high: {from: high}
  counts: {from: per_second}
"""
ONE_OUTPUT = NETWORK.replace("  counts: {from: per_second}\n", "")
TICKS = """\
ticker,price,time
a,5,2024-01-01T00:00:00Z
a,15,2024-01-01T00:00:00.5Z
b,oops,2024-01-01T00:00:01Z
b,25.5,2024-01-01T00:00:02Z
"""

Aurora = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "net.yaml").write_text(NETWORK)
    (tmp_path / "one.yaml").write_text(ONE_OUTPUT)
    (tmp_path / "ticks.csv").write_text(TICKS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def aurora(folder: Path) -> Aurora:
    def call(*arguments: str, input: str | None = None) -> Result:
        result = CliRunner().invoke(app, list(arguments), input=input)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call
