"""The Java that Spark runs on: found on this machine, or installed.

``python -m aurora.processors.spark.java`` is what ``make install`` calls at its end. Nothing here imports pyspark, so
that it can run where Spark cannot.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from aurora.errors import InputError

Say = Callable[[str], None]

SUPPORTED = "17, 21 or 25"
"""What Spark 4.3 runs on. Java 25 counts from 25.0.3: the ones before may corrupt data with the default collector."""

OLDEST = 17
FIRST_SOUND = {17: (17,), 21: (21,), 25: (25, 0, 3)}
NEEDED_MODULE = "jdk.incubator.vector"
"""Spark's launcher asks for it, and a Java without it does not start. Slimmed runtimes lack it."""

SYSTEM_FOLDER = Path("/usr/lib/jvm")
"""Where packages of Linux distributions put every Java, also those that are not the one on PATH."""

PACKAGES = {
    "apt-get": ("openjdk-21-jre-headless", "openjdk-17-jre-headless", "openjdk-25-jre-headless"),
    "dnf": ("java-21-openjdk-headless", "java-17-openjdk-headless", "java-25-openjdk-headless"),
}
FETCHED_VERSION = "21"
INSTALL_TIMEOUT_S = 900


@dataclass(frozen=True)
class Runtime:
    """One ``java`` executable, and what it said of itself."""

    java: Path
    home: Path
    version: tuple[int, ...]
    objection: str
    """Why Spark cannot use it; empty if it can."""

    def __str__(self) -> str:
        return f"{self.java} {self.objection}"


def find_java() -> Path | None:
    """The first ``java`` that Spark can use: of JAVA_HOME, of PATH, of the system's folder, or fetched by us."""
    return next((runtime.java for runtime in _runtimes() if not runtime.objection), None)


def java_home(java: Path) -> Path:
    """What JAVA_HOME has to be for this executable, which may be a link or a script that starts another one."""
    return _probe(java).home


def missing_java() -> str:
    """What was found in place of a Java that Spark can use: none at all, or ones that are too old or unfit."""
    unfit = list(dict.fromkeys(str(runtime) for runtime in _runtimes() if runtime.objection))
    if not unfit:
        return f"Spark needs Java {SUPPORTED}, and none was found."
    return f"Spark needs Java {SUPPORTED}, and what was found does not do: {'; '.join(unfit)}."


def ensure_java(
    say: Say,
    *,
    system: Callable[[Say], str] | None = None,
    fetch: Callable[[Path, bool], None] | None = None,
) -> Path:
    """Find Java, else install the system's package with ``system`` (if given), else ``fetch`` one into our folder.

    ``system`` returns why it did not work, or an empty text. Both are parameters because they change the machine.
    """
    if found := find_java():
        return found
    tried = []
    if system is not None:
        if reason := system(say):
            tried.append(reason)
        elif found := find_java():
            return found
        else:
            tried.append("the system's package was installed, but brought no Java that does")
    for runtime_only in (True, False):
        what = "runtime" if runtime_only else "development kit"
        say(f"fetching a Java {FETCHED_VERSION} {what} into {_our_folder()} ...")
        try:
            _fetch_whole(fetch or _fetch, runtime_only)
        except Exception as error:
            tried.append(f"fetching Java {FETCHED_VERSION} failed ({error})")
            break
        if found := find_java():
            return found
        tried.append(f"the {what} that was fetched does not do")
    raise InputError(
        f"{missing_java()} Installing it did not work: {'; '.join(tried)}.\n"
        f"  way out: install Java {SUPPORTED} (Debian and Ubuntu: apt install openjdk-17-jre-headless), "
        "or set JAVA_HOME to one, or run without Spark: --processor local"
    )


def install_with_system(say: Say) -> str:
    """Install the headless runtime with the system's package manager, if that needs no password; else say why not."""
    manager = next((name for name in PACKAGES if shutil.which(name)), None)
    if manager is None:
        return f"there is no package manager that we know ({', '.join(PACKAGES)})"
    prefix = _prefix_for_root()
    if prefix is None:
        return f"{manager} needs root, and sudo asks for a password"
    say(f"installing Java with {manager} ...")
    for refreshed in (False, True):
        if refreshed and manager == "apt-get" and (reason := _run([*prefix, manager, "update"])):
            return reason
        for package in PACKAGES[manager]:
            options = ["--no-install-recommends"] if manager == "apt-get" else []
            if not (reason := _run([*prefix, manager, "install", "-y", *options, package])):
                say(f"installed {package}")
                return ""
    return reason


def _prefix_for_root() -> list[str] | None:
    if os.geteuid() == 0:
        return []
    return ["sudo", "-n"] if shutil.which("sudo") and not _run(["sudo", "-n", "true"]) else None


def _run(command: list[str]) -> str:
    """Why the command failed, in its own last words; empty if it did not."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=INSTALL_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{' '.join(command)}: {error}"
    last = (done.stderr or done.stdout).strip().rpartition("\n")[2]
    return f"{' '.join(command)}: {last or f'exit code {done.returncode}'}" if done.returncode else ""


def _our_folder() -> Path:
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "aurora" / "jdk"


def _fetch_whole(fetch: Callable[[Path, bool], None], runtime_only: bool) -> None:
    """Fetch beside our folder and move in what is complete: what was cut short is never taken for Java."""
    folder = _our_folder()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="fetching-", ignore_cleanup_errors=True) as scratch:
        fetch(Path(scratch), runtime_only)
        folder.mkdir(exist_ok=True)
        for part in Path(scratch).iterdir():
            shutil.rmtree(folder / part.name, ignore_errors=True)
            part.rename(folder / part.name)
    _probe.cache_clear()


def _fetch(folder: Path, runtime_only: bool) -> None:
    import jdk

    jdk.install(FETCHED_VERSION, jre=runtime_only, path=str(folder))


def _runtimes() -> Iterator[Runtime]:
    for java in _executables():
        if java.is_file() and os.access(java, os.X_OK):
            yield _probe(java)


def _executables() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if folder:
            yield Path(folder) / "java"
    for parent in (SYSTEM_FOLDER, _our_folder()):
        yield from sorted(parent.glob("*/bin/java"))
        yield from sorted(parent.glob("*/Contents/Home/bin/java"))  # where macOS has it


@functools.lru_cache
def _probe(java: Path) -> Runtime:
    try:
        command = [str(java), "-XshowSettings:properties", "-version"]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        said = done.stderr + done.stdout
    except OSError:
        said = ""
    home = re.search(r"^\s*java\.home = (.+)$", said, re.MULTILINE)
    folder = Path(home[1].strip()) if home else java.resolve().parent.parent
    version = _version(said)
    return Runtime(java, folder, version, _objection(version, folder))


def _version(said: str) -> tuple[int, ...]:
    """The numbers of ``java -version``; Java 8 and before call themselves 1.8.

    >>> _version('openjdk version "17.0.15" 2025-04-15'), _version('java version "1.8.0_392"'), _version("none")
    ((17, 0, 15), (8, 0), ())
    """
    match = re.search(r'version "(\d+(?:\.\d+)*)', said)
    numbers = tuple(int(part) for part in match[1].split(".")) if match else ()
    return numbers[1:] if numbers[:1] == (1,) else numbers


def _objection(version: tuple[int, ...], home: Path) -> str:
    if not version:
        return "does not tell its version"
    text = ".".join(str(part) for part in version)
    if version[0] < OLDEST:
        return f"is Java {text}, too old"
    if version < FIRST_SOUND.get(version[0], (version[0] + 1,)):
        return f"is Java {text}, which Spark does not support"
    if not _has_needed_module(home):
        return f"is a Java {text} without the module {NEEDED_MODULE}"
    return ""


def _has_needed_module(home: Path) -> bool:
    """What the runtime's own list of modules says; one that keeps no list is given the benefit of the doubt."""
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    modules = re.search(r'^MODULES="(.*)"$', release, re.MULTILINE)
    return modules is None or NEEDED_MODULE in modules[1].split()


def main() -> int:
    """Make sure that there is Java, and say in a line where; failing is no failure of an installation."""
    try:
        java = ensure_java(lambda text: print(text, flush=True), system=install_with_system)
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Java for Spark: {java} (version {'.'.join(str(part) for part in _probe(java).version)})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
