"""Installs what the tests of sources and sinks talk to: Mosquitto, PostgreSQL and Kafka. ``python -m`` this module.

What cannot be installed is said, and is no failure: the tests that need it are skipped with the same reason. With
``--once`` a machine on which it was tried in vain is left alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.server.brokers import KAFKA, kafka_missing, mosquitto_missing, postgres_missing

_POM = Path(__file__).with_name("kafka") / "pom.xml"
_TRIED = Path(tempfile.gettempdir(), f"aurora-brokers-{os.getuid()}.txt")
_MOST_S = 600


def missing() -> list[str]:
    return list(filter(None, (mosquitto_missing(), postgres_missing(), kafka_missing())))


def main(*arguments: str) -> None:
    if missing() and not ("--once" in arguments and _TRIED.exists()):
        _TRIED.touch()
        _install()
    for reason in missing():
        print(f"{reason}; its tests will be skipped", flush=True)
    if missing() and "--once" in arguments:
        print("To try to install what is missing: make brokers", flush=True)


def _install() -> None:
    packages = ["mosquitto"] if mosquitto_missing() else []
    packages += ["postgresql"] if postgres_missing() else []
    packages += ["maven"] if kafka_missing() and shutil.which("mvn") is None else []
    if packages:
        _system_packages(packages)
    if kafka_missing() and shutil.which("mvn") is not None:
        print("Fetching Kafka with Maven, about 60 MB ...", flush=True)
        KAFKA.mkdir(parents=True, exist_ok=True)
        _run(["mvn", "-q", "-B", "-f", str(_POM), "dependency:copy-dependencies", f"-DoutputDirectory={KAFKA}"])


def _system_packages(packages: Sequence[str]) -> None:
    names = ", ".join(packages)
    if shutil.which("apt-get") is None:
        print(f"Install {names} with this system's package manager; there is no apt-get here.", flush=True)
        return
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    print(f"Installing {names} ...", flush=True)
    if _run([*sudo, "apt-get", "update", "-qq"]):
        _run([*sudo, "apt-get", "install", "-qq", "--yes", "--no-install-recommends", *packages])


def _run(command: Sequence[str]) -> bool:
    """Whether it succeeded; what it has to say is shown only if it did not."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=_MOST_S)
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip()
        print(f"{' '.join(command[:4])} failed: {said[-500:]}", flush=True)
        return False
    return True


if __name__ == "__main__":
    main(*sys.argv[1:])
