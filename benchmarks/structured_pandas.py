"""Pandas for the opponent alone: what Spark's own state for Python functions needs, in a folder beside the tree."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from aurora.errors import InputError

FOLDER = Path(__file__).parents[1] / ".bench-venvs" / "pandas"
REQUIREMENTS = ("pandas>=2.2,<3", "protobuf")
"""PySpark 4.3 warns of Pandas 3; protobuf is for its conversation with the state store."""


def provide_pandas(say: Callable[[str], None]) -> None:
    """Makes pandas importable here and, since workers get our path, in workers of sessions that start from now on."""
    stamp = FOLDER / "installed"
    if not stamp.exists():
        shutil.rmtree(FOLDER, ignore_errors=True)
        say(f"installing {' and '.join(REQUIREMENTS)} into {FOLDER.name} ...")
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        done = subprocess.run([*pip, "--target", str(FOLDER), *REQUIREMENTS], capture_output=True, text=True)
        if done.returncode:
            raise InputError(
                f"{' and '.join(REQUIREMENTS)} could not be installed: {done.stderr.strip()[-300:]}\n"
                "  way out: see that pip reaches an index, or measure the steps alone: --only steps"
            )
        # NumPy is here already; two of them in one process do not get on.
        for unwanted in FOLDER.glob("numpy*"):
            shutil.rmtree(unwanted)
        stamp.touch()
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
