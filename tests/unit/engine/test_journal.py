"""The journal: whose folder it is, which commit is taken up, and what stays on record."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.fs
import pytest

from aurora.engine.journal import KEPT, Commit, Journal
from aurora.errors import InputError, StateError
from aurora.storage.folder import LocalFolder, RemoteFolder
from aurora.storage.sealed import seal
from tests.unit.storage.stores import MemoryStore

IDENTITY = {"network": "net", "options": {"train": 7, "clock": None}}


@pytest.fixture
def folder(tmp_path: Path) -> LocalFolder:
    return LocalFolder(tmp_path / "state")


def committed(folder: LocalFolder, count: int) -> None:
    with Journal.open(folder, IDENTITY) as journal:
        journal.latest()
        for step in range(count):
            journal.commit({"step": step})


def keep_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aurora.engine.journal.KEPT", 100)


def refuse(*numbers: int) -> Callable[[Commit], None]:
    def usable(commit: Commit) -> None:
        if commit.number in numbers:
            raise StateError(f"state of {commit.number} is torn")

    return usable


def test_a_new_journal_has_no_commits(folder: LocalFolder) -> None:
    with Journal.open(folder, IDENTITY) as journal:
        assert journal.latest() is None
        assert journal.kept() == []
        assert journal.skipped == []


def test_commits_are_found_again_and_old_ones_go(folder: LocalFolder) -> None:
    with Journal.open(folder, IDENTITY) as journal:
        commits = [journal.commit({"step": step, "names": ("a", "b")}) for step in range(5)]
        assert journal.kept() == commits[-KEPT:]
    assert commits[-1].content == {"step": 4, "names": ["a", "b"]}
    assert [commit.number for commit in commits] == [1, 2, 3, 4, 5]
    assert folder.names("journal") == ["journal/000000000004", "journal/000000000005"]
    with Journal.open(folder, IDENTITY) as journal:
        assert journal.latest() == commits[-1]
        assert journal.kept() == commits[-KEPT:]
        assert journal.commit({}).number == 6


def test_the_first_commit_waits_until_the_latest_is_known(folder: LocalFolder) -> None:
    committed(folder, 1)
    with Journal.open(folder, IDENTITY) as journal:
        with pytest.raises(RuntimeError, match="has not been asked for"):
            journal.commit({})
        journal.latest()
        journal.commit({})
    with pytest.raises(RuntimeError, match="closed"):
        journal.commit({})


def test_attempts_are_counted_even_if_they_commit_nothing(folder: LocalFolder) -> None:
    attempts = []
    for _ in range(3):
        with Journal.open(folder, IDENTITY) as journal:
            attempts.append(journal.attempt)
        with pytest.raises(StateError):
            Journal.open(folder, {})
    assert attempts == [1, 2, 3]
    assert folder.names("attempts") == ["attempts/000000000003"]


def test_the_durable_flag_reaches_the_folder(folder: LocalFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[tuple[str, bool]] = []
    genuine = LocalFolder.write

    def write(self: LocalFolder, name: str, data: Any, *, durable: bool = False) -> int:
        written.append((name, durable))
        return genuine(self, name, data, durable=durable)

    monkeypatch.setattr(LocalFolder, "write", write)
    for durable in (False, True):
        with Journal.open(folder, IDENTITY, durable=durable) as journal:
            journal.latest()
            journal.commit({})
    assert written == [
        ("identity", True),
        ("attempts/000000000001", True),
        ("journal/000000000001", False),
        ("attempts/000000000002", True),
        ("journal/000000000002", True),
    ]


@pytest.mark.parametrize(
    ("identity", "difference"),
    [
        ({"network": "new"}, 'network: the folder has "net", this command has "new"'),
        ({"options": {"train": 8, "clock": None}}, "options.train: the folder has 7, this command has 8"),
        ({"options": {"train": 7, "clock": "t"}}, 'options.clock: the folder has null, this command has "t"'),
        ({"options": {"train": 7}}, "options.clock: the folder has null, this command has nothing"),
        ({"more": [1]}, "more: the folder has nothing, this command has [1]"),
    ],
)
def test_a_folder_of_another_run_is_refused(folder: LocalFolder, identity: dict[str, Any], difference: str) -> None:
    committed(folder, 1)
    with pytest.raises(StateError) as error:
        Journal.open(folder, IDENTITY | identity)
    text = str(error.value)
    assert text.splitlines()[0] == f"the state folder {folder.address} belongs to another run:"
    assert text.splitlines()[1] == f"  {difference}"
    assert "run the same network with the same options, give another --state folder, or remove this one" in text
    # The refusal holds nothing back.
    committed(folder, 1)


def test_long_differences_are_shown_where_they_begin(folder: LocalFolder) -> None:
    long = {"network": "x" * 1000 + "old" + "y" * 1000} | {f"option {n}": 0 for n in range(9)}
    Journal.open(folder, long).close()
    with pytest.raises(StateError) as error:
        Journal.open(folder, {"network": "x" * 1000 + "new" + "y" * 1000} | {f"option {n}": 1 for n in range(9)})
    text = str(error.value)
    assert "xxxold" in text
    assert "xxxnew" in text
    assert "and 5 more" in text
    assert len(text) < 1000


def test_the_same_identity_in_other_words_is_the_same(folder: LocalFolder) -> None:
    Journal.open(folder, {"a": (1, 2), "b": {1: "x"}}).close()
    Journal.open(folder, {"b": {"1": "x"}, "a": [1, 2]}).close()


def test_a_folder_of_other_people_is_refused_and_left_alone(folder: LocalFolder) -> None:
    for name in ("letter.txt", "photos/1", "photos/2", "photos/3", "photos/4"):
        folder.write(name, b"dear")
    before = folder.names()
    with pytest.raises(StateError, match=r"is not empty .*\(it holds letter.txt, photos/1, photos/2 and 2 more\)"):
        Journal.open(folder, IDENTITY)
    assert folder.names() == before


def test_a_run_that_died_before_its_identity_was_written_left_a_new_folder(folder: LocalFolder) -> None:
    folder.lock().release()
    (folder.path / ("." + 32 * "0" + ".tmp")).touch()
    Journal.open(folder, IDENTITY).close()
    assert sorted(path.name for path in folder.path.iterdir()) == ["attempts", "identity", "lock"]


def test_a_folder_that_lost_its_identity_is_refused(folder: LocalFolder) -> None:
    committed(folder, 1)
    folder.delete("identity")
    with pytest.raises(StateError, match="has no file identity"):
        Journal.open(folder, IDENTITY)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file identity in .* is truncated"),
        (
            seal(b'{"format": 99}'),
            "the journal in .* has the format 99, and this Aurora knows format 1; run the Aurora",
        ),
        (seal(b"[]"), "the file identity in .* is no record of the journal"),
        (seal(b"{"), "the file identity in .* is no JSON"),
    ],
)
def test_a_harmed_identity_is_refused(folder: LocalFolder, data: Any, message: str) -> None:
    committed(folder, 1)
    folder.write("identity", data)
    with pytest.raises(StateError, match=message):
        Journal.open(folder, IDENTITY)


def test_a_second_owner_is_refused_until_the_first_is_done(folder: LocalFolder) -> None:
    with (
        Journal.open(folder, IDENTITY),
        pytest.raises(StateError, match=r"is in use by process \d+; wait for it to end or stop it"),
    ):
        Journal.open(folder, IDENTITY)
    Journal.open(folder, IDENTITY).close()


def test_a_folder_that_could_not_be_taken_is_free(folder: LocalFolder) -> None:
    with (
        mock.patch.object(LocalFolder, "write", side_effect=InputError("no room")),
        pytest.raises(InputError, match="no room"),
    ):
        Journal.open(folder, IDENTITY)
    Journal.open(folder, IDENTITY).close()


def test_where_there_are_no_locks_the_older_run_gives_way() -> None:
    store = RemoteFolder(pa.fs.PyFileSystem(MemoryStore()), "bucket", "memory://bucket")
    first = Journal.open(store, IDENTITY)
    first.commit({"by": "first"})
    second = Journal.open(store, IDENTITY)
    second.latest()
    with pytest.raises(StateError, match="memory://bucket: it is attempt 2, and this is attempt 1; let one of them go"):
        first.commit({"by": "first"})
    second.commit({"by": "second"})
    assert Journal.open(store, IDENTITY).latest() == Commit(2, {"by": "second"})


def test_an_unusable_commit_gives_way_to_the_one_before(folder: LocalFolder) -> None:
    committed(folder, 5)
    with Journal.open(folder, IDENTITY) as journal:
        latest = journal.latest(refuse(5))
        assert latest == Commit(4, {"step": 3})
        assert journal.skipped == ["commit 5: state of 5 is torn"]
        assert journal.kept() == [latest]
        assert folder.names("journal") == ["journal/000000000004"]
        assert journal.commit({"step": "other"}).number == 5
        assert [commit.number for commit in journal.kept()] == [4, 5]
    with Journal.open(folder, IDENTITY) as journal:
        assert journal.latest() == Commit(5, {"step": "other"})


@pytest.mark.parametrize(
    ("harmed", "message"),
    [
        (b"", "commit 5: the record journal/000000000005 in .* is truncated"),
        (seal(b'{"number": 4, "content": {}}'), "commit 5: .* is not of commit 5"),
        (seal(b'{"number": 5}'), "commit 5: .* is not of commit 5"),
    ],
)
def test_a_harmed_record_gives_way_to_the_one_before(folder: LocalFolder, harmed: Any, message: str) -> None:
    committed(folder, 5)
    folder.write("journal/000000000005", harmed)
    with Journal.open(folder, IDENTITY) as journal:
        assert journal.latest() == Commit(4, {"step": 3})
        assert len(journal.skipped) == 1
        assert re.match(message, journal.skipped[0])


def test_the_newest_of_several_usable_commits_is_taken(folder: LocalFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_all(monkeypatch)
    committed(folder, 6)
    monkeypatch.undo()
    folder.write("journal/000000000003", b"torn")
    with Journal.open(folder, IDENTITY) as journal:
        latest = journal.latest(refuse(5, 6))
        assert latest is not None
        assert latest.number == 4
        assert [commit.number for commit in journal.kept()] == [2, 4]
        journal.commit({})
        assert [commit.number for commit in journal.kept()] == [4, 5]
    assert folder.names("journal") == ["journal/000000000004", "journal/000000000005"]


def test_when_no_commit_can_be_used_all_reasons_are_given_and_nothing_is_deleted(folder: LocalFolder) -> None:
    committed(folder, 5)
    folder.write("journal/000000000004", b"")
    before = folder.names("journal")
    with Journal.open(folder, IDENTITY) as journal:
        with pytest.raises(StateError) as error:
            journal.latest(refuse(5))
        with pytest.raises(RuntimeError):
            journal.commit({})
    first, *reasons, way_out = str(error.value).splitlines()
    assert first == f"none of the commits in {folder.address} can be used:"
    assert reasons[0] == "  commit 5: state of 5 is torn"
    assert reasons[1].startswith("  commit 4: the record journal/000000000004 in")
    assert way_out == "  way out: put back a copy of the folder, or begin anew with another --state folder"
    assert folder.names("journal") == before


def test_errors_that_are_not_about_state_are_not_taken_for_harm(folder: LocalFolder) -> None:
    committed(folder, 2)

    def unreachable(_: Commit) -> None:
        raise OSError("no route")

    with Journal.open(folder, IDENTITY) as journal, pytest.raises(OSError, match="no route"):
        journal.latest(unreachable)
    assert len(folder.names("journal")) == 2
