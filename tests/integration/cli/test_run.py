"""``aurora run``: files in, files out, statistics, rejected rows, and what can be wrong with the options."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from integration.cli.conftest import NETWORK, TICKS, Aurora

HIGH = "ticker,price,time\na,15.0,2024-01-01T00:00:00.500000Z\nb,25.5,2024-01-01T00:00:02.000000Z\n"
COUNTS = "ticker,time,n\na,2024-01-01T00:00:00.000000Z,2\nb,2024-01-01T00:00:02.000000Z,1\n"


def test_files_in_and_out(aurora: Aurora, folder: Path) -> None:
    result = aurora(
        "run", "net.yaml", "-i", "ticks=ticks.csv", "-o", "high=high.csv", "-o", "counts=counts.csv", "--clock", "time"
    )
    assert result.exit_code == 0, result.stderr
    assert (folder / "high.csv").read_text() == HIGH
    assert (folder / "counts.csv").read_text() == COUNTS
    assert result.stdout == ""
    assert "done: 3 tuples" in result.stderr
    assert "1 row was rejected from ticks; see ticks.rejected.jsonl" in result.stderr
    rejected = json.loads((folder / "ticks.rejected.jsonl").read_text())
    assert rejected["line"] == 4
    assert "'oops'" in rejected["reason"]


def test_rejected_rows_stand_beside_the_output(aurora: Aurora, folder: Path) -> None:
    (folder / "out").mkdir()
    aurora("run", "net.yaml", "-i", "ticks=ticks.csv", "-o", "high=out/high.csv", "-q")
    assert (folder / "out" / "ticks.rejected.jsonl").exists()
    aurora("run", "net.yaml", "-i", "ticks=ticks.csv", "-o", "high=out/high.csv", "-q", "--rejected", "r.jsonl")
    assert (folder / "r.jsonl").exists()


@pytest.mark.parametrize("extension", ["jsonl", "parquet", "arrow", "csv.gz"])
def test_other_formats(aurora: Aurora, folder: Path, extension: str) -> None:
    aurora("run", "one.yaml", "-i", "ticks=ticks.csv", "-o", f"high=high.{extension}", "-q")
    result = aurora("run", "one.yaml", "-i", f"ticks=high.{extension}", "-q")
    assert result.stdout == HIGH


def test_a_single_output_goes_to_standard_output(aurora: Aurora) -> None:
    result = aurora("run", "one.yaml", "--input", "ticks=-", "--quiet", input=TICKS)
    assert result.exit_code == 0
    assert result.stdout == HIGH
    assert result.stderr == "1 row was rejected from ticks; see ticks.rejected.jsonl\n", "not even quiet hides that"


def test_outputs_that_are_not_named_are_counted(aurora: Aurora, folder: Path) -> None:
    result = aurora("run", "net.yaml", "-i", "ticks=ticks.csv", "--stats", "stats.json")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "no --output is given" in result.stderr
    assert json.loads((folder / "stats.json").read_text())["outputs"]["high"]["tuples"] == 2


def test_an_output_without_tuples_has_its_header(aurora: Aurora, folder: Path) -> None:
    (folder / "ticks.csv").write_text("ticker,price,time\n")
    assert aurora("run", "one.yaml", "-i", "ticks=ticks.csv", "-q").stdout == "ticker,price,time\n"


def test_statistics(aurora: Aurora, folder: Path) -> None:
    aurora("run", "net.yaml", "-i", "ticks=ticks.csv", "--clock", "time", "--train", "2", "--stats", "stats.json", "-q")
    stats = json.loads((folder / "stats.json").read_text())
    assert stats["processor"] == "local"
    assert stats["train"] == 2
    assert stats["wall_s"] > 0
    assert stats["interrupted"] is False
    assert stats["inputs"] == {"ticks": {"tuples": 3, "rejected": 1}}
    high = stats["boxes"]["high"]
    assert set(high) == {"tuples_in", "tuples_out", "calls", "cost_s", "late", "rejected", "nulled"}
    assert (high["tuples_in"], high["tuples_out"], high["calls"]) == (3, 2, 2)
    assert set(stats["outputs"]["counts"]["latency_s"]) == {"p50", "p99"}


def test_hold_leaves_windows_open(aurora: Aurora, folder: Path) -> None:
    aurora(
        "run", "net.yaml", "-i", "ticks=ticks.csv", "-o", "counts=c.csv", "--clock", "time", "--at-end", "hold", "-q"
    )
    assert (folder / "c.csv").read_text() == "ticker,time,n\n"


@pytest.mark.parametrize("given", [[], ["--input", "names=other.csv"]])
def test_static_data(aurora: Aurora, folder: Path, given: list[str]) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "names.csv").write_text("ticker,name\na,Alpha\n")
    (folder / "other.csv").write_text("ticker,name\na,Other\n")
    text = """\
aurora: 1
network: static
streams: {ticks: {schema: {ticker: string}}}
connection_points: {names: {schema: {ticker: string, name: string}, file: names.csv}}
boxes: {named: {kind: join, in: [ticks, names], on: left.ticker = right.ticker, compute: {name: right.name}}}
outputs: {out: {from: named}}
"""
    (folder / "sub" / "static.yaml").write_text(text)
    result = aurora("run", "sub/static.yaml", "-i", "ticks=ticks.csv", "-q", *given)
    assert result.stdout == ("name\nOther\nOther\n" if given else "name\nAlpha\nAlpha\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no input is given for ticks; add --input ticks=FILE"),
        (["-i", "tics=ticks.csv"], "did you mean 'ticks'?"),
        (["-i", "ticks.csv"], "not of the form STREAM=FILE"),
        (["-i", "ticks=ticks.csv", "-i", "ticks=ticks.csv"], "'ticks' is given twice"),
        (["-i", "ticks=nope.csv"], "cannot read nope.csv: No such file or directory; the folder holds"),
        (["-i", "ticks=ticks.cvs"], "did you mean '.csv'?"),
        (["-i", "ticks=ticks.csv", "-o", "hihg=x.csv"], "did you mean 'high'?"),
        (["-i", "ticks=ticks.csv", "-o", "high=no/x.csv"], "cannot write no/x.csv"),
        (["-i", "ticks=ticks.csv", "-o", "high=ticks.csv"], "would be overwritten"),
        (["-i", "ticks=ticks.csv", "-o", "high=x.csv", "-o", "counts=x.csv"], "both go to x.csv"),
        (["-i", "ticks=ticks.csv", "--rejected", "ticks.csv"], "rejected rows would replace ticks.csv"),
        (["-i", "ticks=ticks.csv", "--stats", "ticks.csv"], "the run reads or writes this file"),
        (["-i", "ticks=ticks.csv", "--clock", "tiem"], "did you mean 'time'?"),
        (["-i", "ticks=ticks.csv", "--clock", "ticker"], "a clock is a timestamp"),
        (["-i", "ticks=ticks.csv", "--processor", "local", "--master", "local[2]"], "is for --processor spark"),
        (["-i", "ticks=ticks.csv", "--processor", "spark", "--master", "locale"], "is no master that Spark knows"),
        (["-i", "ticks=ticks.csv", "--processor", "spark", "--master", "spark://far:7077"], "give --state"),
        (["-i", "ticks=ticks.csv", "--processor", "locale"], "use spark or local; did you mean 'local'?"),
        (["-i", "ticks=ticks.csv", "--memory", "much"], "'much' is no size"),
        (["-i", "ticks=ticks.csv", "--state", "dir", "-o", "high=-"], "cannot write to standard output"),
        (["-i", "ticks=ticks.csv", "--scheduler", "filo"], "use fifo"),
        (["-i", "ticks=ticks.csv", "--processor", "spark", "--scheduler", "qos"], "take --processor local"),
        (["-i", "ticks=ticks.csv", "--at-end", "flsh"], "use flush or hold; did you mean 'flush'?"),
        (["-i", "ticks=ticks.csv", "--stats", "no/s.json"], "there is no folder no"),
        (["-i", "ticks=ticks.csv", "--functions", "no_such_module"], "there is no module 'no_such_module'"),
        (["-i", "ticks=ticks.csv", "--functions", "no_such.py"], "there is no such file"),
        (["--inptu", "ticks=ticks.csv"], "--input"),
        (["--train", "0"], "--train"),
    ],
)
def test_what_cannot_be_used(aurora: Aurora, folder: Path, arguments: list[str], message: str) -> None:
    result = aurora("run", "net.yaml", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.replace("│", " ").split())
    assert (folder / "ticks.csv").read_text() == TICKS


def test_rejected_rows_do_not_replace_the_input_they_came_from(aurora: Aurora, folder: Path) -> None:
    (folder / "ticks.rejected.jsonl").write_text("{}\n")
    result = aurora("run", "one.yaml", "-i", "ticks=ticks.rejected.jsonl")
    assert result.exit_code == 2
    assert (folder / "ticks.rejected.jsonl").exists()


def test_a_missing_column(aurora: Aurora, folder: Path) -> None:
    (folder / "ticks.csv").write_text("ticker,pirce,time\n")
    result = aurora("run", "net.yaml", "-i", "ticks=ticks.csv")
    assert result.exit_code == 2
    assert "no column 'price'; it has 'ticker', 'pirce', 'time'" in result.stderr


def test_a_network_with_problems_prints_them_all(aurora: Aurora, folder: Path) -> None:
    wrong = NETWORK.replace("price > 10", "pirce > 10").replace("size: 1s", "size: 0s")
    (folder / "net.yaml").write_text(wrong)
    result = aurora("run", "net.yaml", "-i", "ticks=ticks.csv")
    assert result.exit_code == 1
    assert "error unknown-column at net.yaml:6 box high" in result.stderr
    assert "not-positive" in result.stderr
    assert "errors" in result.stderr.splitlines()[-1]


FUNCTIONS = """\
import polars as pl
from aurora.expressions import register_function

register_function("{name}", lambda x: x * 2, arguments=["double"], returns="double")
"""


@pytest.mark.parametrize("by_name", [True, False])
def test_functions_of_the_operator(aurora: Aurora, folder: Path, by_name: bool) -> None:
    name = "twice_by_name" if by_name else "twice_by_file"
    (folder / f"{name}_code.py").write_text(FUNCTIONS.format(name=name))
    (folder / "one.yaml").write_text(
        (folder / "one.yaml").read_text().replace("where: price > 10", f"where: {name}(price) > 40")
    )
    code = f"{name}_code" + ("" if by_name else ".py")
    result = aurora("run", "one.yaml", "-i", "ticks=ticks.csv", "-q", "--functions", code)
    assert result.exit_code == 0, result.stderr
    assert pl.read_csv(result.stdout.encode())["ticker"].to_list() == ["b"]


def test_functions_that_fail(aurora: Aurora, folder: Path) -> None:
    (folder / "broken.py").write_text("x = 1\ny = 1 / 0\n")
    result = aurora("run", "one.yaml", "-i", "ticks=ticks.csv", "--functions", "broken.py")
    assert result.exit_code == 1
    assert "ZeroDivisionError: division by zero" in result.stderr
    assert "broken.py:2" in result.stderr
