"""States at rest: they come back as they were, under their name and mark only, and old ones go."""

from __future__ import annotations

import pickle
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from aurora.boxes.kernel import BaseKernel
from aurora.errors import StateError
from aurora.storage.folder import LocalFolder
from aurora.storage.sealed import seal
from aurora.storage.states import StateStore, state_name


class _Kernel(BaseKernel):
    def state(self) -> dict[str, pl.DataFrame]:
        return {"sums": pl.DataFrame({"key": ["a", None], "sum": [1.5, 2.5]}), "nothing": pl.DataFrame({"x": []})}


SNAPSHOT = _Kernel().snapshot()
OTHER = pa.table(
    {"n": pa.chunked_array([[1, 2], [], [None]]), "d": pa.array(["x", "y", "x"]).dictionary_encode()}
).replace_schema_metadata({"about": "anything"})


@pytest.fixture
def store(tmp_path: Path) -> StateStore:
    return StateStore(LocalFolder(tmp_path), durable=False)


@pytest.mark.parametrize("durable", [False, True])
def test_states_come_back(tmp_path: Path, durable: bool) -> None:
    store = StateStore(LocalFolder(tmp_path), durable=durable)
    states = {"late": SNAPSHOT, "": OTHER, "mit ümlaut": OTHER.slice(0, 0), "void": pa.table({})}
    store.write("late-0-17", states)
    read = pickle.loads(pickle.dumps(store)).read("late-0-17")
    assert list(read) == list(states)
    assert all(read[box].equals(states[box], check_metadata=True) for box in states)
    store.write("none", {})
    assert store.read("none") == {}
    assert store.folder.names() == ["states/late-0-17", "states/none"]


def test_reading_maps_the_file(store: StateStore) -> None:
    large = pa.table({"x": pa.array(range(100_000), pa.int64())})
    store.write("a", {"box": large})
    before = pa.total_allocated_bytes()
    read = store.read("a")["box"]
    assert pa.total_allocated_bytes() - before < large.nbytes // 10
    store.folder.delete("states/a")
    assert read.equals(large)


def test_writing_again_is_harmless(store: StateStore) -> None:
    store.write("a", {"box": SNAPSHOT})
    first = store.folder.read("states/a").to_pybytes()
    held = store.read("a")
    store.write("a", {"box": SNAPSHOT})
    assert store.folder.read("states/a").to_pybytes() == first
    assert held["box"].equals(SNAPSHOT)


def test_a_missing_state_is_named(store: StateStore) -> None:
    with pytest.raises(StateError, match=r"the state a-0-1 in .* is missing; begin anew"):
        store.read("a-0-1")


def test_harm_is_named(store: StateStore) -> None:
    store.write("a", {"box": SNAPSHOT})
    whole = store.folder.read("states/a").to_pybytes()
    store.folder.write("states/a", whole[:-1])
    with pytest.raises(StateError, match=r"the state a in .* is truncated"):
        store.read("a")


def test_a_state_under_another_name_is_refused(store: StateStore) -> None:
    store.write("a", {"box": SNAPSHOT})
    store.folder.write("states/b", store.folder.read("states/a"))
    with pytest.raises(StateError, match=r"the state b in .* is the file of a"):
        store.read("b")


def test_a_state_of_another_step_is_refused(store: StateStore) -> None:
    store.write("a", {"box": SNAPSHOT}, mark="up to 480")
    assert store.read("a", mark="up to 480").keys() == {"box"}
    assert store.read("a").keys() == {"box"}
    with pytest.raises(StateError, match="of another step: it stands for 'up to 480', and 'up to 500' is wanted"):
        store.read("a", mark="up to 500")


def test_a_sealed_file_that_holds_no_states_is_refused(store: StateStore) -> None:
    for payload in (b"", b"{}", b"\xff" * 100, (2).to_bytes(8, "little") + b"[]", (2).to_bytes(8, "little") + b"{}"):
        store.folder.write("states/a", seal(payload))
        with pytest.raises(StateError, match=r"the state a in .* is no state of boxes"):
            store.read("a")


def test_retain_deletes_all_other_states_and_nothing_else(store: StateStore) -> None:
    for version in range(5):
        store.write(state_name("late", 0, version), {})
    store.folder.write("journal/1", b"")
    store.retain({state_name("late", 0, 3), state_name("late", 0, 4), state_name("gone", 0, 0)})
    assert store.folder.names() == ["journal/1", "states/late-0-3", "states/late-0-4"]
    store.retain([])
    assert store.folder.names("states") == []


def test_state_names_are_told_apart(store: StateStore) -> None:
    long = "box" * 200
    segments = ["a", "a-1", "a-1-1", "a/b", "a%2Fb", "..", "ü", "", "box" * 33, "box" * 34, long, long + "x"]
    some = (0, 1, 11)
    names = {state_name(s, p, v, attempt=a) for s in segments for p in some for v in some for a in some}
    assert len(names) == len(segments) * 27
    for name in names:
        store.write(name, {})
    assert len(store.folder.names("states")) == len(names)
    assert state_name(long, 3, 4) == state_name(long, 3, 4)
    with pytest.raises(ValueError, match="no partition -1, version 0 or attempt 0 below 0"):
        state_name("a", -1, 0)
