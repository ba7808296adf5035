"""The pages and pictures that come from the code show what the code says now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
STALE = """
from docs.generate import pages, pictures
for path, text in (pages() | pictures()).items():
    if not path.exists() or path.read_text("utf-8") != text:
        print(path.name)
"""


def test_they_are_those_that_make_docs_writes() -> None:
    """In a process of its own, because tests register functions and boxes that the pages would name."""
    done = subprocess.run([sys.executable, "-c", STALE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "", f"run `make docs`; these pages are not as the code is: {done.stdout.split()}"
