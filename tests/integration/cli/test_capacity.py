"""``aurora capacity``: the verdict, its ways out, the picture, and what it refuses."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from integration.cli.conftest import Aurora

RATES = ("--rates", "ticks=5000")


@pytest.fixture
def costs(folder: Path) -> Path:
    """high costs 100 µs and lets half through; per_second costs 200 µs: 1.5 cores at 5,000 per second."""
    counts: dict[str, Any] = {
        "high": {"tuples_in": 10_000, "tuples_out": 5_000, "calls": 1, "cost_s": 1.0},
        "per_second": {"tuples_in": 10_000, "tuples_out": 100, "calls": 1, "cost_s": 2.0},
    }
    path = folder / "costs.json"
    path.write_text(json.dumps({"boxes": counts}))
    return path


def test_a_load_that_does_not_fit(aurora: Aurora, costs: Path) -> None:
    options = ("--costs", "costs.json", "--cores", "1", "--processor", "spark")
    result = aurora("capacity", "net.yaml", *RATES, *options)
    assert result.exit_code == 1
    assert "needs 1.50 cores; 1 core with headroom 0.8 gives 0.8 cores" in result.stdout
    assert "bottleneck: per_second, 1 core, 67% of the load" in result.stdout
    assert "short by 0.7 cores, 87% of what there is" in result.stdout
    assert "more cores: 2 with this headroom" in result.stdout
    assert "a cheaper box: per_second by a factor of 3.33, from 200 µs to 60 µs" in result.stdout
    assert "a cheaper box: high" not in result.stdout
    assert "all of them by a factor of 1.88" in result.stdout
    # 0.7 of 1.5 is 46.67%; what is said is enough.
    assert "shedding: 46.7% of ticks" in result.stdout


def test_a_load_that_fits(aurora: Aurora, costs: Path) -> None:
    options = ("--costs", "costs.json", "--cores", "4", "--headroom", "0.5", "--processor", "spark")
    result = aurora("capacity", "net.yaml", *RATES, *options)
    assert result.exit_code == 0
    assert "it fits: up to 1.33 times these rates" in result.stdout


def test_on_the_local_processor_a_box_has_one_core_at_most(aurora: Aurora, costs: Path) -> None:
    result = aurora("capacity", "net.yaml", *RATES, "--costs", "costs.json", "--cores", "8", "--processor", "local")
    assert result.exit_code == 1
    assert (
        "per_second can use one core at a time, of which headroom leaves 0.8 cores, and needs 1 core" in result.stdout
    )
    assert "more cores: of no use" in result.stdout


def test_json(aurora: Aurora, costs: Path) -> None:
    options = ("--costs", "costs.json", "--cores", "1", "--processor", "spark", "--json")
    result = aurora("capacity", "net.yaml", *RATES, *options)
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["min_cap"] == pytest.approx(1.5)
    assert found["fits"] is False
    assert found["boxes"]["per_second"] == pytest.approx({"rate_per_s": 5000, "cost_s": 2e-4, "load": 1.0})
    assert found["arcs"]["high"] == pytest.approx({"rate_per_s": 2500, "coefficient_s": 0})
    assert found["inputs"]["ticks"] == pytest.approx({"rate_per_s": 5000, "coefficient_s": 3e-4, "load": 1.5})
    assert found["cures"]["cores"] == 2


def test_the_picture(aurora: Aurora, folder: Path, costs: Path) -> None:
    aurora("capacity", "net.yaml", *RATES, "--costs", "costs.json", "--cores", "9", "--draw", "load.svg")
    text = (folder / "load.svg").read_text()
    assert ET.fromstring(text).tag.endswith("svg")
    assert "hottest" in text


def test_costs_of_a_run(aurora: Aurora) -> None:
    run = ("run", "net.yaml", "-i", "ticks=ticks.csv", "-q", "--processor", "local", "--stats", "stats.json")
    assert aurora(*run).exit_code == 0
    result = aurora("capacity", "net.yaml", "--rates", "ticks=1", "--costs", "stats.json", "--cores", "1", "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["arcs"]["high"]["rate_per_s"] == pytest.approx(2 / 3)
    assert found["notes"]


def test_costs_of_a_sample(aurora: Aurora, monkeypatch: pytest.MonkeyPatch) -> None:
    from aurora.engine import calibration

    monkeypatch.setattr(
        calibration.calibrate, "__kwdefaults__", {**calibration.calibrate.__kwdefaults__, "seconds": 0.1}
    )
    options = ("-i", "ticks=ticks.csv", "--clock", "time", "--cores", "1", "--json")
    result = aurora("capacity", "net.yaml", "--rates", "ticks=0.001", *options)
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["arcs"]["high"]["rate_per_s"] == pytest.approx(0.001 * 2 / 3)
    assert found["boxes"]["high"]["cost_s"] > 0
    assert "note: 1 row of the samples is no tuple" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rates", "tick=5", "--costs", "costs.json"), "no such stream; it has ticks; did you mean 'ticks'?"),
        (("--costs", "costs.json"), "no rate is given for the stream ticks"),
        (("--rates", "ticks", "--costs", "costs.json"), "not STREAM=TUPLES_PER_SECOND"),
        (("--rates", "ticks=lots", "--costs", "costs.json"), "not STREAM=TUPLES_PER_SECOND"),
        (("--rates", "ticks=-1", "--costs", "costs.json"), "give tuples per second, 0 or more"),
        ((*RATES, *RATES, "--costs", "costs.json"), "'ticks' is given twice"),
        (RATES, "what the boxes cost is not known; give --costs STATS.json"),
        ((*RATES, "--costs", "costs.json", "-i", "ticks=ticks.csv"), "give one of them"),
        ((*RATES, "--costs", "nope.json"), "nope.json: cannot read it"),
        ((*RATES, "--costs", "ticks.csv"), "ticks.csv: this is no JSON"),
        ((*RATES, "--costs", "part.json"), "part.json has no costs of per_second; it has those of high"),
        ((*RATES, "--costs", "costs.json", "--headroom", "1.2"), "a headroom of 1.2 is not possible"),
        ((*RATES, "--costs", "costs.json", "--cores", "0"), "0 cores are not possible"),
        ((*RATES, "--costs", "costs.json", "--processor", "cuda"), "use spark or local"),
        ((*RATES, "--costs", "costs.json", "--draw", "x.png"), "ends in .svg"),
        ((*RATES, "--costs", "costs.json", "--clock", "time"), "--clock time is for samples"),
        ((*RATES, "-i", "ticks=-"), "give a file"),
        ((*RATES, "-i", "tick=ticks.csv"), "did you mean 'ticks'?"),
    ],
)
def test_what_cannot_be_used(aurora: Aurora, folder: Path, costs: Path, arguments: Any, message: str) -> None:
    one = {"boxes": {"high": {"tuples_in": 1, "tuples_out": 1, "cost_s": 1}}}
    (folder / "part.json").write_text(json.dumps(one))
    result = aurora("capacity", "net.yaml", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_box_that_no_tuple_reached(aurora: Aurora, costs: Path) -> None:
    known = json.loads(costs.read_text())
    known["boxes"]["high"].update(tuples_in=0, tuples_out=0)
    costs.write_text(json.dumps(known))
    result = aurora("capacity", "net.yaml", *RATES, "--costs", "costs.json")
    assert result.exit_code == 2
    assert "what a tuple costs is not known of the box high" in result.stderr
