"""Folders: what every kind of them does, and how the local one makes files whole and durable."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.fs
import pytest

from aurora.errors import InputError, StateError
from aurora.storage import folder as folder_module
from aurora.storage.folder import Folder, LocalFolder, RemoteFolder, open_folder
from tests.unit.storage.stores import MemoryStore

TEMPORARY = "." + 32 * "0" + ".tmp"


def _memory(_: Path) -> Folder:
    return RemoteFolder(pa.fs.PyFileSystem(MemoryStore()), "bucket/here", "memory://bucket/here")


def _top_of_memory(_: Path) -> Folder:
    return RemoteFolder(pa.fs.PyFileSystem(MemoryStore()), "bucket", "memory://bucket")


def _remote_local(path: Path) -> Folder:
    return RemoteFolder(pa.fs.LocalFileSystem(), str(path), f"elsewhere://{path}")


@pytest.fixture(params=[LocalFolder, _remote_local, _memory, _top_of_memory])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    make: Callable[[Path], Folder] = request.param
    return make(tmp_path / "folder")


@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"bytes", b"bytes"),
        (b"", b""),
        (pa.py_buffer(b"buffer"), b"buffer"),
        ([b"one", pa.py_buffer(b"two"), b""], b"onetwo"),
        ([], b""),
    ],
)
def test_what_is_written_is_read(folder: Folder, data: Any, expected: bytes, durable: bool) -> None:
    assert folder.write("deep/er/name", data, durable=durable) == len(expected)
    assert folder.read("deep/er/name").to_pybytes() == expected


def test_a_second_write_replaces_the_first_and_leaves_readers_alone(folder: Folder) -> None:
    folder.write("a", b"first")
    held = folder.read("a")
    folder.write("a", b"second, and longer")
    assert held.to_pybytes() == b"first"
    assert folder.read("a").to_pybytes() == b"second, and longer"
    assert folder.names() == ["a"]


def test_missing_files(folder: Folder) -> None:
    with pytest.raises(FileNotFoundError):
        folder.read("nothing")
    folder.delete("nothing")
    assert folder.names() == []
    assert folder.names("nothing") == []
    folder.write("a", b"1")
    folder.delete("a")
    with pytest.raises(FileNotFoundError):
        folder.read("a")


def test_names_are_sorted_and_can_be_read(folder: Folder) -> None:
    for name in ["states/b", "z", "states/a", "journal/1", "states/deep/c", "statesman"]:
        folder.write(name, name.encode())
    assert folder.names() == ["journal/1", "states/a", "states/b", "states/deep/c", "statesman", "z"]
    assert folder.names("states") == ["states/a", "states/b", "states/deep/c"]
    assert all(folder.read(name).to_pybytes() == name.encode() for name in folder.names())


@pytest.mark.parametrize("name", ["", "/a", "a/", "a//b", "../a", "a/../b", "./a", "a\\b", TEMPORARY, f"a/{TEMPORARY}"])
def test_names_that_lead_elsewhere_are_refused(folder: Folder, name: str) -> None:
    for use in (lambda: folder.write(name, b""), lambda: folder.read(name), lambda: folder.delete(name)):
        with pytest.raises(ValueError, match="no name for a file"):
            use()


def test_temporaries_are_not_seen_and_can_be_cleared(tmp_path: Path) -> None:
    store = MemoryStore()
    store.files = {f"at/{TEMPORARY}": b"", f"at/deep/{TEMPORARY}": b"", "at/kept": b""}
    remote = RemoteFolder(pa.fs.PyFileSystem(store), "at", "memory://at")
    (tmp_path / "deep").mkdir()
    for name in (TEMPORARY, f"deep/{TEMPORARY}", "kept"):
        (tmp_path / name).touch()
    for folder in (remote, LocalFolder(tmp_path)):
        assert folder.names() == ["kept"]
        folder.clear_temporaries()
        assert folder.names() == ["kept"]
    assert list(store.files) == ["at/kept"]
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["kept"]


def test_folders_can_be_sent_to_other_processes(tmp_path: Path) -> None:
    for folder in (LocalFolder(tmp_path), _remote_local(tmp_path)):
        folder.write("a", b"1", durable=True)
        again = pickle.loads(pickle.dumps(folder))
        assert again.address == folder.address
        assert again.read("a").to_pybytes() == b"1"


def test_a_local_folder_is_the_same_wherever_the_process_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = open_folder("state")
    monkeypatch.chdir("/")
    folder.write("a", b"1")
    assert (tmp_path / "state" / "a").read_bytes() == b"1"


class _Calls:
    """Notes syncs and renames, in order, by the names of the files."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.noted: list[tuple[str, str]] = []
        genuine_sync, genuine_replace = os.fsync, Path.replace

        def sync(file: int) -> None:
            self.noted.append(("sync", os.readlink(f"/proc/self/fd/{file}")))
            genuine_sync(file)

        def replace(path: Path, target: Path) -> Path:
            self.noted.append(("rename", str(path)))
            return genuine_replace(path, target)

        monkeypatch.setattr(os, "fsync", sync)
        monkeypatch.setattr(Path, "replace", replace)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks up open files in /proc")
def test_a_durable_write_syncs_the_file_before_the_rename_and_the_folders_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = _Calls(monkeypatch)
    folder = LocalFolder(tmp_path / "state")
    folder.write("deep/name", b"1", durable=True)
    (first, file), (second, renamed), *after = calls.noted
    assert (first, second) == ("sync", "rename")
    assert file == renamed
    assert Path(file).parent == tmp_path / "state" / "deep"
    new = [str(tmp_path / "state" / "deep"), str(tmp_path / "state"), str(tmp_path)]
    assert after == [("sync", path) for path in new]

    calls.noted.clear()
    folder.write("deep/other", b"1", durable=True)
    assert [what for what, _ in calls.noted] == ["sync", "rename", "sync"]
    assert calls.noted[-1] == ("sync", new[0])

    calls.noted.clear()
    folder.write("deep/third", b"1")
    assert [what for what, _ in calls.noted] == ["rename"]

    shutil.rmtree(tmp_path / "state")
    calls.noted.clear()
    folder.write("deep/name", b"1", durable=True)
    assert calls.noted[2:] == after


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    folder = LocalFolder(tmp_path)
    folder.write("a", b"old")
    full = OSError(28, "No space left on device")
    with (
        mock.patch.object(os, "fsync", side_effect=full),
        pytest.raises(InputError, match=r"cannot write a in .*: No space left on device; check that there is room"),
    ):
        folder.write("a", b"new", durable=True)
    assert folder.read("a").to_pybytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_store_that_cannot_rename_says_so_and_keeps_no_temporary() -> None:
    store = MemoryStore(moves=False)
    folder = RemoteFolder(pa.fs.PyFileSystem(store), "at", "memory://at")
    with pytest.raises(InputError, match="cannot write a in memory://at: cannot rename"):
        folder.write("a", b"1")
    assert store.files == {}


def test_object_stores_are_written_without_a_rename(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore(moves=False)
    filesystem = pa.fs.PyFileSystem(store)
    monkeypatch.setattr(folder_module, "_ATOMIC_PUT", {filesystem.type_name})
    folder = RemoteFolder(filesystem, "bucket/at", "memory://bucket/at")
    assert folder.write("deep/a", [b"1", b"23"]) == 3
    assert store.files == {"bucket/at/deep/a": b"123"}
    assert not store.folders


def test_open_folder_takes_paths_and_file_addresses(tmp_path: Path) -> None:
    path = tmp_path / "with space" / "deep"
    for address in (path, str(path), path.as_uri(), f"file://localhost{path.as_uri()[7:]}"):
        folder = open_folder(address)
        assert isinstance(folder, LocalFolder)
        assert folder.address == str(path)
        assert path.is_dir()


def test_open_folder_reaches_what_arrow_reaches() -> None:
    folder = open_folder("mock://anywhere/")
    assert isinstance(folder, RemoteFolder)
    folder.write("deep/a", b"1")
    folder.write("deep/a", b"2")
    assert folder.names() == ["deep/a"]
    assert folder.read("deep/a").to_pybytes() == b"2"


def test_open_folder_asks_fsspec_for_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def url_to_fs(address: str) -> tuple[Any, str]:
        asked.append(address)
        if address.startswith("odd"):
            raise ValueError("Protocol not known: odd")
        return object(), "/here/"

    core = ModuleType("fsspec.core")
    core.url_to_fs = url_to_fs  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fsspec", ModuleType("fsspec"))
    monkeypatch.setitem(sys.modules, "fsspec.core", core)
    folder = open_folder("memory://here")
    assert isinstance(folder, RemoteFolder)
    assert (folder.path, folder.address, asked) == ("/here", "memory://here", ["memory://here"])
    with pytest.raises(InputError, match="cannot use odd://x as a folder: Protocol not known: odd; give a path"):
        open_folder("odd://x")


def test_folders_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(InputError, match=r"cannot use odd://x as a folder: .*; give a path, .* or install fsspec"):
        open_folder("odd://x")
    with pytest.raises(InputError, match="names the machine elsewhere; write file:///PATH"):
        open_folder("file://elsewhere/x")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot make the folder .*file: File exists; give a folder"):
        open_folder(tmp_path / "file")
    unreachable = mock.Mock(from_uri=mock.Mock(side_effect=OSError("no route")))
    with (
        mock.patch.object(pa.fs, "FileSystem", unreachable),
        pytest.raises(InputError, match="cannot reach s3://b/x: no route; check the address"),
    ):
        open_folder("s3://b/x")


def test_a_folder_has_one_owner(tmp_path: Path) -> None:
    folder = LocalFolder(tmp_path / "new")
    lock = folder.lock()
    with pytest.raises(StateError, match=re.escape(f"{folder.address} is in use by process {os.getpid()}; wait for")):
        folder.lock()
    lock.release()
    lock.release()
    folder.lock().release()


def test_a_file_system_without_locks_is_told_in_words(tmp_path: Path) -> None:
    with (
        mock.patch("fcntl.flock", side_effect=OSError(95, "Operation not supported")),
        pytest.raises(InputError, match=r"cannot lock the state folder .*: Operation not supported; give a --state"),
    ):
        LocalFolder(tmp_path).lock()


_OWNER = """
import os, sys
from pathlib import Path
from aurora.storage.folder import LocalFolder
lock = LocalFolder(sys.argv[1]).lock()
child = os.fork()
os.write(1, b"%d\\n" % os.getpid() if child else b"child\\n")
sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_lock_goes_with_its_owner_even_if_a_forked_child_lives_on(tmp_path: Path) -> None:
    folder = LocalFolder(tmp_path)
    command = [sys.executable, "-c", _OWNER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdin is not None
        assert owner.stdout is not None
        assert sorted(owner.stdout.readline().strip() for _ in "ab") == [str(owner.pid), "child"]
        with pytest.raises(StateError, match=f"is in use by process {owner.pid};"):
            folder.lock()
        owner.kill()
        owner.wait()
        # The child still waits for the end of its input.
        folder.lock().release()
        owner.stdin.close()
        assert owner.stdout.read() == ""
