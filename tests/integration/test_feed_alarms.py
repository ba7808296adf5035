"""The feed-alarms case study: the network's outputs are those that slow, obvious Python finds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from aurora.model import load
from aurora.testing import run_rows
from case_studies.feed_alarms import expected
from case_studies.feed_alarms.generate import STREAMS, Outage, Plan, generate, write

CASE = Path(__file__).parents[2] / "case_studies" / "feed_alarms"
SMALL = Plan(
    seconds=150,
    seed=11,
    fast=160,
    slow=120,
    outages=(Outage(40, 55, exchange="NYSE"), Outage(90, 100, feed="comstock")),
)


@pytest.fixture(scope="module")
def feed() -> dict[str, pl.DataFrame]:
    return dict(generate(SMALL))


@pytest.fixture(scope="module")
def raised(feed: dict[str, pl.DataFrame]) -> list[expected.Alarm]:
    return expected.alarms(feed)


def test_the_feed_is_as_promised(feed: dict[str, pl.DataFrame]) -> None:
    times = pl.concat([frame["time"] for frame in feed.values()])
    assert times.n_unique() == times.len()
    assert tuple(feed) == STREAMS
    assert all(frame["time"].is_sorted() for frame in feed.values())
    assert feed["reuters_fast"]["ticker"].n_unique() == SMALL.fast
    assert set(feed["comstock_slow"]["exchange"].unique()) == {"NYSE", "NASDAQ"}


def test_a_feed_without_troubles_raises_no_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("case_studies.feed_alarms.generate._silent", lambda _r, _p, _s, times: times < 0)
    calm = Plan(seconds=130, seed=1, fast=20, slow=20, outages=(Outage(500, 501),))
    assert expected.alarms(dict(generate(calm))) == []


def test_the_counts_are_those_on_file(raised: list[expected.Alarm]) -> None:
    counts = {name: len(rows) for name, rows in expected.outputs(raised).items()}
    assert counts == json.loads((CASE / "expected.json").read_text())["outputs"]


@pytest.mark.parametrize("train", [150, 3_000, 100_000])
def test_the_network_raises_exactly_these_alarms(
    train: int, feed: dict[str, pl.DataFrame], raised: list[expected.Alarm]
) -> None:
    answer = run_rows(load(CASE / "network.yaml"), feed, clock="time", train=train)
    for name, rows in expected.outputs(raised).items():
        assert answer.outputs[name].to_dicts() == rows, name


def test_the_files_hold_the_same_feed(tmp_path: Path, feed: dict[str, pl.DataFrame]) -> None:
    heard: list[tuple[str, int]] = []
    files = write(SMALL, tmp_path, "csv", progress=lambda stream, count: heard.append((stream, count)))
    assert heard == [(name, frame.height) for name, frame in feed.items()]
    read: dict[str, Any] = {name: pl.read_csv(path) for name, path in files.items()}
    assert all(read[name].columns == frame.columns for name, frame in feed.items())
    assert read["reuters_fast"]["price"].equals(feed["reuters_fast"]["price"])


def test_every_box_of_the_figure_is_there_once() -> None:
    network = load(CASE / "network.yaml")
    tags = [tag for box in network.boxes.values() for tag in box.tags if tag.startswith("box-")]
    assert sorted(tags) == sorted(f"box-{number}" for number in range(1, 19))


def test_the_demo_tells_its_story(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "case_studies.feed_alarms.demo", "--seconds", "60", "--fast", "60", "--slow", "40"]
    done = subprocess.run(
        [*command, "--to", str(tmp_path)], cwd=CASE.parents[1], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "NYSE is quiet from" in done.stdout
    assert "nyse_alarms" in done.stdout
    assert (tmp_path / "feed_alarms.svg").read_text().startswith("<svg")
