"""The shelter around unit tests does hold: without this, a broken guard would go unnoticed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FORBIDDEN = {
    "sleep": "import time\ndef test_it():\n    time.sleep(0.001)\n",
    "spark": "def test_it():\n    import pyspark\n",
    "wall clock": "def test_it():\n    exec('import time; time.time()', {'__name__': 'aurora.anything'})\n",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_a_unit_test_may_not(what: str, tmp_path: Path) -> None:
    unit = tmp_path / "unit"
    unit.mkdir()
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (unit / "test_it.py").write_text(FORBIDDEN[what])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(unit)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "ForbiddenInUnitTestsError" in done.stdout
