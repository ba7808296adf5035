"""Finding Java among executables that only pretend to be one, and getting it where there is none."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from aurora.errors import InputError
from aurora.processors.spark import java
from aurora.processors.spark.java import ensure_java, find_java, install_with_system, java_home, missing_java

GOOD = 'openjdk version "17.0.15" 2025-04-15'


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No Java anywhere: what a test wants there it makes."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(java, "SYSTEM_FOLDER", tmp_path / "jvm")


def fake(home: Path, says: str = GOOD, exit_code: int = 0) -> Path:
    """A ``java`` that says its version to standard error, as the real one does."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\necho run >> {home}/runs\necho '{says}' >&2\nexit {exit_code}\n")
    executable.chmod(0o755)
    return executable


def unavailable(_folder: Path, _runtime_only: bool) -> None:
    raise OSError("no network")


def quiet(_text: str) -> None: ...


@pytest.mark.parametrize(
    ("says", "usable"),
    [
        (GOOD, True),
        ('java version "17" 2021-09-14 LTS', True),
        ('openjdk version "21.0.2" 2024-01-16', True),
        ('openjdk version "25.0.3" 2026-04-21', True),
        ('openjdk version "25.0.2" 2026-01-20', False),
        ('openjdk version "25" 2025-09-16', False),
        ('openjdk version "1.8.0_392"', False),
        ('openjdk version "11.0.22" 2024-01-16', False),
        ('openjdk version "19.0.1" 2022-10-18', False),
        ('openjdk version "26" 2026-03-17', False),
        ("Unrecognized option", False),
    ],
)
def test_only_versions_that_spark_supports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, usable: bool
) -> None:
    executable = fake(tmp_path / "home", says)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert find_java() == (executable if usable else None)


def test_the_order_of_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = fake(tmp_path / "data" / "aurora" / "jdk" / "jdk-21")
    assert find_java() == fetched
    packaged = fake(tmp_path / "jvm" / "java-17")
    assert find_java() == packaged
    on_path = fake(tmp_path / "usr")
    monkeypatch.setenv("PATH", f"/nowhere:{on_path.parent}")
    assert find_java() == on_path
    at_home = fake(tmp_path / "home")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert find_java() == at_home


def test_one_that_is_too_old_does_not_hide_a_good_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path / "old", 'openjdk version "11.0.22"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    good = fake(tmp_path / "usr")
    monkeypatch.setenv("PATH", str(good.parent))
    assert find_java() == good


def test_a_version_is_asked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path / "home")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert find_java() == find_java()
    assert (tmp_path / "home" / "runs").read_text() == "run\n"


def test_none_and_too_old_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "none was found" in missing_java()
    old = fake(tmp_path / "old", 'openjdk version "11.0.22"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    assert f"{old} is Java 11.0.22, too old" in missing_java()
    assert "none was found" not in missing_java()


def test_a_runtime_without_the_module_that_spark_asks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path / "slim")
    (tmp_path / "slim" / "release").write_text('JAVA_VERSION="17"\nMODULES="java.base java.xml"\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "slim"))
    assert find_java() is None
    assert "without the module jdk.incubator.vector" in missing_java()


def test_a_runtime_that_lists_the_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fake(tmp_path / "whole")
    (tmp_path / "whole" / "release").write_text('MODULES="java.base jdk.incubator.vector java.xml"\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "whole"))
    assert find_java() == whole


def test_what_cannot_be_executed_is_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path / "home").chmod(0o644)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert find_java() is None


def test_home_is_what_java_says_else_where_its_link_leads(tmp_path: Path) -> None:
    shim = fake(tmp_path / "shims", f"    java.home = {tmp_path}/elsewhere\n{GOOD}")
    assert java_home(shim) == tmp_path / "elsewhere"
    real = fake(tmp_path / "jvm" / "java-17")
    link = tmp_path / "java"
    link.symlink_to(real)
    assert java_home(link) == tmp_path / "jvm" / "java-17"


def test_what_is_there_is_neither_installed_nor_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = fake(tmp_path / "home")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    said: list[str] = []
    assert ensure_java(said.append, system=pytest.fail, fetch=pytest.fail) == there
    assert said == []


def test_the_system_s_package_comes_first(tmp_path: Path) -> None:
    def system(_say: Callable[[str], None]) -> str:
        fake(tmp_path / "jvm" / "java-17")
        return ""

    assert ensure_java(quiet, system=system, fetch=unavailable) == tmp_path / "jvm" / "java-17" / "bin" / "java"


def test_fetched_where_the_system_has_none(tmp_path: Path) -> None:
    said: list[str] = []

    def fetch(folder: Path, runtime_only: bool) -> None:
        assert runtime_only
        assert find_java() is None, "what is half there must not be found"
        fake(folder / "jdk-21-jre", 'openjdk version "21.0.2"')
        assert find_java() is None

    found = ensure_java(said.append, system=lambda _say: "sudo asks for a password", fetch=fetch)
    folder = tmp_path / "data" / "aurora" / "jdk"
    assert found == folder / "jdk-21-jre" / "bin" / "java"
    assert find_java() == found
    assert [path.name for path in folder.parent.iterdir()] == ["jdk"]
    assert any(str(folder) in text for text in said)


def test_the_whole_kit_where_the_runtime_does_not_do(tmp_path: Path) -> None:
    def fetch(folder: Path, runtime_only: bool) -> None:
        home = folder / ("jre" if runtime_only else "kit")
        fake(home)
        (home / "release").write_text(f'MODULES="java.base{"" if runtime_only else " jdk.incubator.vector"}"\n')

    assert ensure_java(quiet, fetch=fetch) == tmp_path / "data" / "aurora" / "jdk" / "kit" / "bin" / "java"


def test_when_nothing_works_one_message_names_the_ways_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path / "old", 'openjdk version "1.8.0_392"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    with pytest.raises(InputError) as failed:
        ensure_java(quiet, system=lambda _say: "apt-get needs root", fetch=unavailable)
    message = str(failed.value)
    for part in (
        "is Java 8.0, too old",
        "apt-get needs root",
        "no network",
        "17, 21",
        "JAVA_HOME",
        "--processor local",
    ):
        assert part in message


class Managers:
    """A machine with these commands, which notes what is run and fails what it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *commands: str, root: bool = True) -> None:
        self.ran: list[str] = []
        self.fails: set[str] = set()
        monkeypatch.setattr(java.shutil, "which", lambda name: name if name in commands else None)
        monkeypatch.setattr(java.os, "geteuid", lambda: 0 if root else 1000)
        monkeypatch.setattr(java.subprocess, "run", self._run)

    def _run(self, command: list[str], **_options: object) -> subprocess.CompletedProcess[str]:
        text = " ".join(command)
        self.ran.append(text)
        failed = any(part in text for part in self.fails)
        return subprocess.CompletedProcess(command, int(failed), "", "line\nE: it failed" if failed else "")


def test_root_installs_with_apt(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Managers(monkeypatch, "apt-get", "dnf")
    assert install_with_system(quiet) == ""
    assert machine.ran == ["apt-get install -y --no-install-recommends openjdk-21-jre-headless"]


def test_another_version_where_the_first_is_not_packaged(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Managers(monkeypatch, "apt-get")
    machine.fails = {"openjdk-21"}
    assert install_with_system(quiet) == ""
    assert machine.ran[-1].endswith("openjdk-17-jre-headless")


def test_the_list_of_packages_is_refreshed_before_giving_up(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Managers(monkeypatch, "apt-get")
    machine.fails = {"install"}
    assert "E: it failed" in install_with_system(quiet)
    assert machine.ran.count("apt-get update") == 1
    assert len(machine.ran) == 7


def test_sudo_only_where_it_asks_for_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Managers(monkeypatch, "dnf", "sudo", root=False)
    assert install_with_system(quiet) == ""
    assert machine.ran == ["sudo -n true", "sudo -n dnf install -y java-21-openjdk-headless"]
    machine.fails = {"sudo -n true"}
    assert "asks for a password" in install_with_system(quiet)
    assert machine.ran[-1] == "sudo -n true"


def test_a_system_whose_packages_we_do_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Managers(monkeypatch, "pacman")
    assert "no package manager" in install_with_system(quiet)
    assert machine.ran == []
