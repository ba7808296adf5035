"""What tests/conftest.py says of all tests does hold: without this, a broken guard would go unnoticed."""

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


FAILS_AT_FIRST = """
from pathlib import Path
import pytest
SEEN = Path(__file__).with_name("seen")

{mark}
def test_it():
    before, _ = SEEN.exists(), SEEN.touch()
    assert before
"""
MARKERS = "[pytest]\nmarkers =\n    timed: as in pyproject.toml\n"


def run(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """A test of that text in a folder of that name, under the rules of all tests."""
    folder.mkdir()
    root = folder.parent
    (root / "pytest.ini").write_text(MARKERS)
    (root / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (folder / "test_it.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(root), str(folder)]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("what", FORBIDDEN)
def test_a_unit_test_may_not(what: str, tmp_path: Path) -> None:
    done = run(tmp_path / "unit", FORBIDDEN[what])
    assert done.returncode == 1, done.stdout + done.stderr
    assert "ForbiddenInUnitTestsError" in done.stdout


@pytest.mark.parametrize(
    ("folder", "mark", "again"),
    [
        ("page", "", True),
        ("server", "", True),
        ("integration", "@pytest.mark.timed", True),
        ("integration", "", False),
        ("oracle", "", False),
        ("unit", "", False),
    ],
)
def test_only_what_waits_for_other_programs_is_tried_again(folder: str, mark: str, again: bool, tmp_path: Path) -> None:
    done = run(tmp_path / folder, FAILS_AT_FIRST.format(mark=mark))
    assert done.returncode == (0 if again else 1), done.stdout + done.stderr
    assert ("1 rerun" in done.stdout) == again


def test_what_always_fails_is_not_saved_by_another_try(tmp_path: Path) -> None:
    done = run(tmp_path / "page", "def test_it():\n    assert False\n")
    assert done.returncode == 1
    assert "1 failed, 1 rerun" in done.stdout
