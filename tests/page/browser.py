"""The browser that the tests of the page drive: Chromium from the system's packages. ``python -m`` this installs it.

Where it is missing and can be installed it is, once. Where it cannot, the tests are skipped and say why.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PACKAGES = ("chromium", "fonts-dejavu-core")
_INSTALL_S = 600
_TRIED = Path(tempfile.gettempdir()) / f"aurora-chromium-{os.getuid()}.txt"


def chromium() -> str | None:
    """The browser's path; the environment variable AURORA_CHROMIUM names another one."""
    return os.environ.get("AURORA_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)


def install() -> str:
    """Installs Chromium if it is missing; why it is still missing, or nothing. Test processes take turns."""
    with _TRIED.open("a+") as tried:
        fcntl.flock(tried, fcntl.LOCK_EX)
        if chromium():
            return ""
        tried.seek(0)
        said = tried.read()
        if not said:
            said = _install()
            tried.write(said)
        return said


def _install() -> str:
    way_out = "install it (Debian: apt install chromium), or name one in AURORA_CHROMIUM"
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return f"there is no Chromium, and it cannot be installed without root and apt-get; {way_out}"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update"], ["apt-get", "install", "--yes", "--no-install-recommends", *_PACKAGES]):
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_INSTALL_S)
        except subprocess.TimeoutExpired:
            return f"there is no Chromium, and {' '.join(command)} took longer than {_INSTALL_S} s; {way_out}"
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no reason"])[-1]
            return f"there is no Chromium, and {' '.join(command)} failed: {last}; {way_out}"
    return "" if chromium() else f"there is no Chromium, and its package brought none; {way_out}"


if __name__ == "__main__":
    print(install() or f"Chromium: {chromium()}")
