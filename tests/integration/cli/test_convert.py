"""``aurora convert``: from format to format, what is rejected, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from integration.cli.conftest import Aurora

TICKS = "ticker: string, price: double, time: timestamp"


def test_csv_to_json_and_back(aurora: Aurora, folder: Path) -> None:
    first = aurora("convert", "ticks.csv", "--from", "csv", "--to", "json", "-o", "t.jsonl", "--network", "net.yaml")
    assert first.exit_code == 0
    assert first.stderr.splitlines() == [
        "rejected, input 4: column 'price': 'oops' is not a double",
        "3 tuples read, 1 rejected",
    ]
    assert [json.loads(line)["price"] for line in (folder / "t.jsonl").read_text().splitlines()] == [5, 15, 25.5]
    back = aurora("convert", "t.jsonl", "--from", "json", "--to", "csv", "--schema", f"{{{TICKS}}}", "--quiet")
    assert back.exit_code == 0
    assert back.stderr == ""
    assert back.stdout.splitlines()[:2] == ["ticker,price,time", "a,5.0,2024-01-01T00:00:00.000000Z"]


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("arrow", []),
        ("avro", []),
        ("xml", ["record=ticks/tick", 'columns={ticker: "@t"}']),
        ("binary", ["fields={ticker: S3, price: f8, time: i8}", "byte_order=big"]),
        ("json", ["form=array"]),
        ("csv", ["separator=|", "header=false"]),
    ],
)
def test_there_and_back(aurora: Aurora, folder: Path, target: str, options: list[str]) -> None:
    to = [part for option in options for part in ("--to-option", option)]
    back = [part for option in options for part in ("--from-option", option)]
    common = ("--schema", TICKS, "--quiet")
    aurora("convert", "ticks.csv", "--from", "csv", "--to", target, *to, "-o", "x", "--rejected", "r", *common)
    found = aurora("convert", "x", "--from", target, "--to", "csv", *back, *common)
    assert found.exit_code == 0
    assert [line.split(",")[1] for line in found.stdout.splitlines()] == ["price", "5.0", "15.0", "25.5"]
    assert [json.loads(line)["line"] for line in (folder / "r").read_text().splitlines()] == [4]


def test_standard_input(aurora: Aurora) -> None:
    found = aurora("convert", "--from", "json", "--to", "csv", "--schema", "x: int", "-q", input='{"x":1}\n')
    assert found.stdout == "x\n1\n"


def test_what_has_no_place_in_the_output(aurora: Aurora) -> None:
    fields = "fields={ticker: S1, price: f4}"
    schema = "ticker: string, price: double"
    found = aurora("convert", "ticks.csv", "--from", "csv", "--to", "binary", "--schema", schema, "--to-option", fields)
    assert found.exit_code == 0
    assert found.stderr.splitlines()[-1] == "3 tuples read, 1 rejected"
    found = aurora(
        *("convert", "-", "--from", "csv", "--to", "binary", "--schema", schema, "--to-option", fields),
        input="ticker,price\nlong,1\na,2\n",
    )
    assert found.stderr.splitlines() == [
        "rejected, output 1: column 'ticker' holds 'long', which does not fit its format",
        "2 tuples read, 0 rejected, and 1 have no place in the output",
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--from", "cvs", "--to", "json", "--schema", TICKS), 2, "there is no converter 'cvs'"),
        (("--from", "csv", "--to", "json"), 2, "give the columns either with --schema or with --network"),
        (("--from", "csv", "--to", "json", "--schema", "x: in"), 1, "unknown-type"),
        (("--from", "csv", "--to", "json", "--schema", "x: ["), 2, "write ticker: string, price: double"),
        (("--from", "csv", "--to", "xml", "--schema", TICKS), 2, "the option 'record' is not given"),
        (("--from", "csv", "--to", "json", "--schema", TICKS, "--to-option", "form"), 2, "write NAME=VALUE"),
        (("--from", "csv", "--to", "json", "--schema", "x: int"), 2, "the header has no column 'x'"),
        (("--from", "csv", "--to", "json", "--schema", TICKS, "-o", "ticks.csv"), 2, "both read and written"),
        (("--from", "csv", "--to", "json", "--network", "net.yaml", "--stream", "tick"), 2, "did you mean 'ticks'"),
    ],
)
def test_what_is_refused(aurora: Aurora, folder: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    found = aurora("convert", "ticks.csv", *arguments)
    assert found.exit_code == code
    assert message in found.stderr
    assert "a,5" in (folder / "ticks.csv").read_text()
