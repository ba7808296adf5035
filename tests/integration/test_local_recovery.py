"""A run with ``--state`` that is killed and called again makes the same files as one that nobody disturbed.

No Spark here: the local processor, and steps as Spark runs them but in one process. What differs with Spark is in
``spark/test_recovery.py``.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
import pyarrow as pa
import pytest

from aurora.storage.sealed import seal, unseal
from integration.spark.forge import KILLED_AT, PASSED, Forge
from integration.spark.killing import Job, copied, feed_alarms, joined, kill, said, wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes in /proc"),
]

LOCAL = ("--processor", "local", "--state", "state")
Jobs: TypeAlias = dict[str, tuple[Job, dict[str, bytes]]]
"""Jobs by name, with what an undisturbed run makes of each."""
STEPS = ("--processor", "spark", "--master", "local[2]", "--state", "state")


@pytest.fixture(scope="module")
def forge() -> Iterator[Forge]:
    with Forge() as forge:
        yield forge


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory, forge: Forge) -> Jobs:
    """Jobs, with what an undisturbed run makes of each."""
    folder = tmp_path_factory.mktemp("jobs")
    jobs = {
        "feed": feed_alarms(folder, train=400),
        "join": joined(folder / "join", tuples=20_000, train=300),
        "short": joined(folder / "short", tuples=1_200, train=400),
        # Longer than what is read of a file at a time.
        "long join": joined(folder / "long", tuples=300_000, train=3_000),
    }
    return {
        name: (job, job.undisturbed(folder / f"undisturbed {name}", partial(forge.call, job)))
        for name, job in jobs.items()
    }


@pytest.mark.parametrize(("name", "commits"), [("feed", 5), ("long join", 12)])
def test_killed_at_any_time(forge: Forge, jobs: Jobs, tmp_path: Path, name: str, commits: int) -> None:
    """Some commits after it began, and some time after the last of those."""
    job, undisturbed = jobs[name]
    chance = random.Random(name)
    for _ in range(6):
        before, number = last_commit(tmp_path), chance.randint(0, commits)
        run = forge.start(job, tmp_path, *LOCAL, every_s=0)
        wait_for(partial(owns, run, tmp_path), "the run has begun")
        wait_for(lambda: last_commit(tmp_path) >= before + number, "it commits")  # noqa: B023
        time.sleep(chance.uniform(0, 0.05))
        assert kill(run)
        assert forge.wait() == -signal.SIGKILL
    code, text = forge.call(job, tmp_path, *LOCAL)
    assert code == 0, text
    assert "going on from state" in text
    assert job.made(tmp_path) == undisturbed


def last_commit(folder: Path) -> int:
    return max((int(path.name) for path in records(folder)), default=0)


def owns(run: int, folder: Path) -> bool:
    lock = folder / "state" / "lock"
    return lock.exists() and lock.read_text() == f"{run}\n"


@pytest.mark.parametrize("inline", [False, True], ids=["local", "steps"])
@pytest.mark.parametrize("name", ["feed", "join"])
def test_killed_at_any_moment_of_a_commit(forge: Forge, jobs: Jobs, tmp_path: Path, name: str, inline: bool) -> None:
    """After every step there is a commit, and the run dies at a moment at which files are as they should not stay."""
    job, undisturbed = jobs[name]
    options = STEPS if inline else LOCAL
    chance = random.Random(f"{name} {inline}")
    for _ in range(9):
        code, text = forge.call(job, tmp_path, *options, inline=inline, every_s=0, kill_at=chance.randint(1, 250))
        assert code == -signal.SIGKILL, text
    code, text = forge.call(job, tmp_path, *options, inline=inline)
    assert code == 0, text
    assert "going on from state" in text
    killed_at = (tmp_path / KILLED_AT).read_text()
    assert "state/journal" in killed_at
    assert "state/states" in killed_at
    assert job.made(tmp_path) == undisturbed


def test_killed_at_any_moment_of_the_end(forge: Forge, jobs: Jobs, tmp_path: Path) -> None:
    """From the last step on: outputs are flushed, closed, given their final form, and the run is marked finished."""
    job, undisturbed = jobs["short"]
    code, text = forge.call(job, tmp_path / "whole", *LOCAL, every_s=100, kill_at=10_000)
    assert code == 0, text
    end = int((tmp_path / "whole" / PASSED).read_text())
    chance = random.Random(4)
    moments = sorted(chance.sample(range(end // 3, end + 1), 16))
    for moment in moments:
        folder = tmp_path / str(moment)
        code, text = forge.call(job, folder, *LOCAL, every_s=100, kill_at=moment)
        assert code == -signal.SIGKILL, text
        killed_at = (folder / KILLED_AT).read_text()
        code, text = forge.call(job, folder, *LOCAL)
        assert code == 0, (killed_at, text)
        assert job.made(folder) == undisturbed, killed_at
        assert not (folder / "state" / "outputs").exists(), killed_at


@pytest.fixture(scope="module")
def killed(forge: Forge, jobs: Jobs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a run of the job ``join`` was killed somewhere in the middle."""
    folder = tmp_path_factory.mktemp("killed") / "run"
    forge.call(jobs["join"][0], folder, *LOCAL, every_s=0, kill_at=500)
    assert len(records(folder)) == 2
    return folder


def records(folder: Path) -> list[Path]:
    return sorted((folder / "state" / "journal").glob("0*"))


def states(folder: Path) -> list[Path]:
    """Those of the commits on record, the oldest first."""
    found = [unsealed(path)["content"]["processor"]["state"] for path in records(folder)]
    return [folder / "state" / "states" / name for name in found]


def unsealed(path: Path) -> Any:
    return json.loads(unseal(pa.py_buffer(path.read_bytes()), path.name).to_pybytes())


def torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def cut_to_nothing(path: Path) -> None:
    path.write_bytes(b"")


def never_written(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def corrupted(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


HARMS = [torn, cut_to_nothing, never_written, corrupted, Path.unlink]


@pytest.mark.parametrize("kind", [records, states])
@pytest.mark.parametrize("harm", HARMS)
def test_a_harmed_commit_leads_to_the_one_before(
    forge: Forge,
    jobs: Jobs,
    killed: Path,
    tmp_path: Path,
    kind: Callable[[Path], list[Path]],
    harm: Callable[[Path], None],
) -> None:
    job, undisturbed = jobs["join"]
    folder = copied(killed, tmp_path / "run")
    number = int(records(folder)[-1].name)
    harm(kind(folder)[-1])
    code, text = forge.call(job, folder, *LOCAL)
    assert code == 0, text
    assert "going on from state" in text
    if (kind, harm) != (records, Path.unlink):
        assert f"note: a commit was harmed and the one before it is used: commit {number}: " in text
    assert job.made(folder) == undisturbed


def refused(forge: Forge, job: Job, folder: Path, *options: str) -> str:
    """What the run says, which refuses to go on. It may have cut what was not committed off an output."""
    before = job.made(folder)
    code, text = forge.call(job, folder, *options)
    assert code == 1, text
    assert "\nerror: " in f"\n{text}"
    assert "Traceback" not in text
    after = job.made(folder)
    assert after.keys() == before.keys()
    assert all(before[file].startswith(after[file]) for file in before)
    assert all(after[file] == before[file] for file in job.rejected if file in before)
    return text


@pytest.mark.parametrize("kind", [records, states])
@pytest.mark.parametrize("harm", [torn, corrupted])
def test_two_harmed_commits_are_refused(
    forge: Forge,
    jobs: Jobs,
    killed: Path,
    tmp_path: Path,
    kind: Callable[[Path], list[Path]],
    harm: Callable[[Path], None],
) -> None:
    folder = copied(killed, tmp_path / "run")
    for path in kind(folder):
        harm(path)
    text = refused(forge, jobs["join"][0], folder, *LOCAL)
    assert "none of the commits in" in text
    assert "begin anew with another --state folder" in text


@pytest.mark.parametrize("file", ["open.csv", "per_minute.jsonl", "state/outputs/pairs.parquet.*.staged"])
def test_an_output_that_is_shorter_than_committed_is_refused(
    forge: Forge, jobs: Jobs, killed: Path, tmp_path: Path, file: str
) -> None:
    job, undisturbed = jobs["join"]
    folder = copied(killed, tmp_path / "run")
    (path,) = folder.glob(file)
    content = path.read_bytes()
    os.truncate(path, 100)
    text = refused(forge, job, folder, *LOCAL)
    assert path.name in text
    assert "bytes of it were committed, and now it has only 100" in text
    path.write_bytes(content)
    assert forge.call(job, folder, *LOCAL)[0] == 0
    assert job.made(folder) == undisturbed


@pytest.mark.parametrize("steps", [False, True], ids=["local", "steps"])
@pytest.mark.parametrize("stream", ["orders", "payments"])
def test_an_input_that_is_shorter_than_read_is_refused(
    forge: Forge, jobs: Jobs, tmp_path: Path, stream: str, steps: bool
) -> None:
    job = jobs["join"][0]
    options = STEPS if steps else LOCAL
    file = tmp_path / job.inputs[stream].name
    shutil.copy(job.inputs[stream], file)
    job = replace(job, inputs={**job.inputs, stream: file})
    forge.call(job, tmp_path / "run", *options, inline=steps, every_s=0, kill_at=500)
    if stream == "orders":
        pl.read_parquet(file).head(5).write_parquet(file)
    else:
        file.write_text("".join(file.read_text().splitlines(keepends=True)[:5]))
    code, text = forge.call(job, tmp_path / "run", *options, inline=steps)
    assert code == 1, text
    assert f"cannot continue reading {file}: " in text


def test_the_state_of_another_run_is_refused(forge: Forge, jobs: Jobs, killed: Path, tmp_path: Path) -> None:
    job = jobs["join"][0]
    folder = copied(killed, tmp_path / "run")
    network = tmp_path / "other.yaml"
    network.write_text(job.network.read_text().replace("within: 2s", "within: 3s"))
    elsewhere = tmp_path / "elsewhere.csv"
    shutil.copy(job.inputs["payments"], elsewhere)
    others = {
        "fingerprint": (replace(job, network=network), LOCAL),
        "clock": (replace(job, options=("--train", "300")), LOCAL),
        "at_end": (job, (*LOCAL, "--at-end", "hold")),
        "inputs.payments": (replace(job, inputs={**job.inputs, "payments": elsewhere}), LOCAL),
        "outputs.open": (replace(job, outputs={**job.outputs, "open": "elsewhere.csv"}), LOCAL),
        "processor": (job, STEPS),
    }
    for what, (other, options) in others.items():
        text = refused(forge, other, folder, *options, "--quiet")
        assert "belongs to another run" in text
        assert f"\n  {what}: the folder has " in text
    code, text = forge.call(job, folder, *LOCAL, "--train", "77")
    assert code == 0, "how long trains are does not matter"


def test_the_state_of_a_later_aurora_is_refused(forge: Forge, jobs: Jobs, killed: Path, tmp_path: Path) -> None:
    job = jobs["join"][0]
    folder = copied(killed, tmp_path / "run")
    identity = folder / "state" / "identity"
    content = unsealed(identity)
    identity.write_bytes(b"".join(bytes(part) for part in seal(json.dumps({**content, "format": 2}).encode())))
    assert "has the format 2, and this Aurora knows format 1" in refused(forge, job, folder, *LOCAL)
    header = bytearray(identity.read_bytes()[:64])
    header[8] = 9
    header[60:64] = zlib.crc32(header[:60]).to_bytes(4, "little")
    identity.write_bytes(bytes(header) + identity.read_bytes()[64:])
    assert "format version 9, and this Aurora reads version 1" in refused(forge, job, folder, *LOCAL)


def test_a_folder_of_other_things_is_refused(forge: Forge, jobs: Jobs, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "letter.txt").write_text("dear")
    assert "it holds letter.txt" in refused(forge, jobs["join"][0], tmp_path, *LOCAL)


def test_a_state_folder_in_use_is_refused(forge: Forge, jobs: Jobs, killed: Path, tmp_path: Path) -> None:
    job, undisturbed = jobs["join"]
    folder = copied(killed, tmp_path / "run")
    run = forge.start(job, folder, *LOCAL, every_s=0)
    wait_for(partial(owns, run, folder), "the run has begun")
    os.kill(run, signal.SIGSTOP)
    code, text = job.call(folder, *LOCAL, "--quiet")
    assert code == 1
    assert f"is in use by process {run}; wait for it to end" in text
    os.kill(run, signal.SIGCONT)
    assert forge.wait() == 0
    assert job.made(folder) == undisturbed


def test_a_finished_run_called_again_changes_nothing(forge: Forge, jobs: Jobs, tmp_path: Path) -> None:
    job, undisturbed = jobs["short"]
    assert forge.call(job, tmp_path, *LOCAL, "--stats", "first.json")[0] == 0

    def times() -> dict[str, int]:
        files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name not in ("said", "lock")]
        return {str(path): path.stat().st_mtime_ns for path in files if path.parent.name != "attempts"}

    before = times()
    code, text = forge.call(job, tmp_path, *LOCAL)
    assert code == 0
    assert "this run is finished already" in text
    assert "15 rows were rejected from payments" in text
    assert times() == before
    assert job.made(tmp_path) == undisturbed
    corrupted(records(tmp_path)[-1])
    code, text = forge.call(job, tmp_path, *LOCAL, "--stats", "again.json")
    assert code == 0, text
    assert "this run is finished already" in text
    assert job.made(tmp_path) == undisturbed
    first, again = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("first", "again"))
    assert again["outputs"] == first["outputs"]
    assert again["inputs"] == first["inputs"]


@pytest.mark.parametrize(
    ("name", "file", "signals"), [("feed", "reuters_low.csv", 1), ("long join", "per_minute.jsonl", 2)]
)
def test_an_interrupted_run_goes_on(
    forge: Forge, jobs: Jobs, tmp_path: Path, name: str, file: str, signals: int
) -> None:
    """One signal stops after the step that runs and commits it; two stop at once, and nothing half done is kept."""
    job, undisturbed = jobs[name]
    if signals == 2:
        # Steps so long that the second signal comes in the middle of one.
        job = replace(job, options=("--clock", "time", "--train", "100000"))
    output = tmp_path / file
    head = undisturbed[file].index(b"\n") + 1 if file.endswith("csv") else 0
    for _ in range(2):
        heard, before_ns = len(said(tmp_path)), time.time_ns()
        length = output.stat().st_size if records(tmp_path) else head
        run = forge.start(job, tmp_path, *LOCAL, every_s=100)
        wait_for(partial(grown, output, before_ns, length), "a tuple comes out")
        for _ in range(signals):
            time.sleep(0.02)
            with suppress(ProcessLookupError):
                os.kill(run, signal.SIGINT)
        assert forge.wait() == 130
        text = said(tmp_path)[heard:]
        assert "interrupted" in text
        assert "Traceback" not in text
        if signals == 1:
            assert "interrupted after" in text
            assert records(tmp_path)
    code, text = forge.call(job, tmp_path, *LOCAL)
    assert code == 0, text
    if signals == 1:
        assert "going on from state" in text
    assert job.made(tmp_path) == undisturbed


def grown(path: Path, since_ns: int, length: int) -> bool:
    return path.exists() and path.stat().st_mtime_ns > since_ns and path.stat().st_size > length
