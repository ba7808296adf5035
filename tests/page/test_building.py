"""How the page gets into the package, and what is done where it cannot be built."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from web import build_page


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sources of a page elsewhere, and the place where it would be built."""
    web = tmp_path / "web"
    (web / "src").mkdir(parents=True)
    (web / "src" / "main.tsx").write_text("one")
    (web / "package-lock.json").write_text('{"packages": {"node_modules/a": {"version": "1.0.0"}}}')
    monkeypatch.setattr(build_page, "WEB", web)
    monkeypatch.setattr(build_page, "ROOT", tmp_path)
    monkeypatch.setattr(build_page, "PAGE", tmp_path / "page")
    monkeypatch.setattr(build_page, "FETCHED_NODE", tmp_path / "node")
    return web


def _built(page: Path) -> None:
    page.mkdir(exist_ok=True)
    (page / "index.html").write_text("<html>")
    (page / build_page.STAMP).write_text(build_page.fingerprint() + "\n")


def test_a_page_is_current_until_a_source_changes(copied: Path) -> None:
    assert not build_page.is_current()
    _built(build_page.PAGE)
    assert build_page.is_current()
    source = copied / "src" / "main.tsx"
    source.write_text("two")
    assert not build_page.is_current()
    source.write_text("one")
    assert build_page.is_current()
    source.rename(source.with_name("other.tsx"))
    assert not build_page.is_current()


def test_a_page_that_was_not_finished_is_not_current(copied: Path) -> None:
    _built(build_page.PAGE)
    (build_page.PAGE / build_page.STAMP).unlink()
    assert not build_page.is_current()


def test_packages_are_fetched_when_the_lock_file_names_others(copied: Path) -> None:
    assert not build_page.packages_are_there()
    (copied / "node_modules").mkdir()
    there = copied / "node_modules" / ".package-lock.json"
    there.write_text('{"packages": {"node_modules/a": {"version": "1.0.0"}, "node_modules/b": {"version": "2.0.0"}}}')
    assert build_page.packages_are_there()
    there.write_text('{"packages": {"node_modules/a": {"version": "0.9.0"}}}')
    assert not build_page.packages_are_there()


@pytest.mark.parametrize(("version", "fits"), [("v20.19.0", True), ("v24.1.0", True), ("v20.18.3", False), ("", False)])
def test_a_node_that_is_too_old_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, fits: bool
) -> None:
    for name in ("node", "npm"):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho {version}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    node = build_page.machine_node()
    assert (node is not None and node.node == tmp_path / "node") == fits


def test_without_node_and_network_it_is_said_and_is_no_failure(tmp_path: Path) -> None:
    """As ``make install`` runs it, with a package index that cannot be reached and no Node."""
    web = tmp_path / "web"
    (web / "src").mkdir(parents=True)
    shutil.copy(build_page.__file__, web)
    environment = {"PATH": str(tmp_path), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "HOME": str(tmp_path)}
    command = [sys.executable, str(web / "build_page.py")]
    soft = subprocess.run([*command, "--if-possible"], env=environment, capture_output=True, text=True)
    assert soft.returncode == 0
    assert "The page could not be built" in soft.stderr
    assert "make page" in soft.stderr
    assert "Traceback" not in soft.stderr
    hard = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert hard.returncode == 1
    assert not (tmp_path / "src").exists()


def test_the_lock_file_names_no_place_to_fetch_from() -> None:
    lock = json.loads((build_page.WEB / "package-lock.json").read_text())
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]
    # What only other machines need may come without a checksum, but not without an exact version.
    loose = [package for name, package in lock["packages"].items() if name and "integrity" not in package]
    assert all(package["optional"] and package["version"] for package in loose)


@pytest.mark.usefixtures("built_page")
def test_types_and_unit_tests_of_the_page() -> None:
    """What ``npm run check`` runs: the compiler, and vitest."""
    node = build_page.machine_node() or build_page.fetched_node() or build_page.fetch_node()
    build_page.install_packages(node)
    node.run("run", "check")
