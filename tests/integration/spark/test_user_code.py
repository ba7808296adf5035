"""The operator's code reaches the workers, wherever its file is, and what it rejects reaches people."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

CODE = """
import aurora as au

FACTOR = 2.0

@au.function(arguments=["double"], returns="double")
def scaled(x):
    if (x == 13.0).any():
        raise ValueError("bad luck")
    return x * FACTOR
"""
NETWORK = """
aurora: 1
network: scaled
streams: {s: {schema: {x: double}}}
boxes: {m: {kind: map, in: s, extend: {y: scaled(x)}}}
outputs: {out: {from: m}}
"""


def test_functions_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "mine.py").write_text(CODE)
    (tmp_path / "net.yaml").write_text(NETWORK)
    (tmp_path / "s.csv").write_text("x\n1\n13\n3\n")
    aurora = str(Path(sys.executable).with_name("aurora"))
    command = [aurora, "run", "net.yaml", "-i", "s=s.csv", "-o", "out=out.csv", "--functions", "code/mine.py"]
    options = ["--processor", "spark", "--master", "local[2]", "-q"]
    done = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.csv").read_text() == "x,y\n1.0,2.0\n3.0,6.0\n"
    rejected = [json.loads(line) for line in (tmp_path / "m.rejected.jsonl").read_text().splitlines()]
    assert [(row["box"], json.loads(row["tuple"])) for row in rejected] == [("m", {"x": 13.0})]
    assert "bad luck" in rejected[0]["reason"]
