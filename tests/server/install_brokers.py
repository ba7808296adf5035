"""Installs what the tests of sources and sinks talk to: Mosquitto, PostgreSQL and Kafka. ``python -m`` this module.

What cannot be installed is said, and is no failure: the tests that need it are skipped with the same reason.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.server.brokers import KAFKA, kafka_missing, mosquitto_missing, postgres_missing

_POM = Path(__file__).with_name("kafka") / "pom.xml"


def main() -> None:
    packages = ["mosquitto"] if mosquitto_missing() else []
    packages += ["postgresql"] if postgres_missing() else []
    packages += ["maven"] if kafka_missing() and shutil.which("mvn") is None else []
    if packages:
        _system_packages(packages)
    if kafka_missing() and shutil.which("mvn") is not None:
        print("Fetching Kafka with Maven, about 60 MB ...", flush=True)
        KAFKA.mkdir(parents=True, exist_ok=True)
        _run(["mvn", "-q", "-B", "-f", str(_POM), "dependency:copy-dependencies", f"-DoutputDirectory={KAFKA}"])
    for missing in filter(None, (mosquitto_missing(), postgres_missing(), kafka_missing())):
        print(f"{missing}; its tests will be skipped")


def _system_packages(packages: Sequence[str]) -> None:
    if shutil.which("apt-get") is None:
        print(f"Install {', '.join(packages)} with this system's package manager; there is no apt-get here.")
        return
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    _run([*sudo, "apt-get", "install", "-y", "--no-install-recommends", *packages])


def _run(command: Sequence[str]) -> None:
    try:
        subprocess.run(command, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{' '.join(command[:3])} failed: {error}")


if __name__ == "__main__":
    main()
