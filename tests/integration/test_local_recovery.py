"""A run with ``--state`` that is killed and called again makes the same files as one that nobody disturbed.

No Spark here: the local processor, and steps as Spark runs them but in one process. What differs with Spark is in
``spark/test_recovery.py``.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from integration.spark.forge import KILLED_AT, PASSED, Forge
from integration.spark.killing import Job, copied, feed_alarms, joined, kill, leftovers, said

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes in /proc"),
]

LOCAL = ("--processor", "local", "--state", "state")
STEPS = ("--master", "local[2]", "--state", "state")


@pytest.fixture(scope="module")
def forge() -> Iterator[Forge]:
    with Forge() as forge:
        yield forge


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory, forge: Forge) -> dict[str, tuple[Job, dict[str, bytes]]]:
    """Jobs, with what an undisturbed run makes of each."""
    folder = tmp_path_factory.mktemp("jobs")
    jobs = {
        "feed": feed_alarms(folder, train=300),
        "join": joined(folder / "join", tuples=20_000, train=300),
        "short": joined(folder / "short", tuples=1_200, train=400),
        # Longer than what is read of a file at a time.
        "long join": joined(folder / "long", tuples=300_000, train=3_000),
    }
    return {
        name: (job, job.undisturbed(folder / f"undisturbed {name}", partial(forge.call, job)))
        for name, job in jobs.items()
    }


@pytest.mark.parametrize(("name", "kills"), [("feed", 6), ("long join", 6)])
def test_killed_at_any_time(forge: Forge, jobs: dict[str, tuple[Job, dict[str, bytes]]], tmp_path: Path, name: str, kills: int) -> None:
    job, undisturbed = jobs[name]
    chance = random.Random(name)
    made = 0
    for _ in range(4 * kills):
        run = forge.start(job, tmp_path, *LOCAL)
        time.sleep(chance.uniform(0.1, 0.7))
        if (tmp_path / "state" / "identity").exists():
            made += kill(run)
        else:
            kill(run)
        assert forge.wait() == -signal.SIGKILL
        if made == kills:
            break
    assert made == kills
    code, text = forge.call(job, tmp_path, *LOCAL)
    assert code == 0, text
    assert "going on from state" in text
    assert job.made(tmp_path) == undisturbed


@pytest.mark.parametrize("inline", [False, True], ids=["local", "steps"])
@pytest.mark.parametrize("name", ["feed", "join"])
def test_killed_at_any_moment_of_a_commit(forge: Forge, jobs: dict[str, tuple[Job, dict[str, bytes]]], tmp_path: Path, name: str, inline: bool) -> None:
    """After every step there is a commit, and the run dies at a moment at which files are as they should not stay."""
    job, undisturbed = jobs[name]
    options = STEPS if inline else LOCAL
    chance = random.Random(f"{name} {inline}")
    kills = 12
    for _ in range(kills):
        code, text = forge.call(job, tmp_path, *options, inline=inline, every_s=0, kill_at=chance.randint(1, 250))
        assert code == -signal.SIGKILL, text
    code, text = forge.call(job, tmp_path, *options, inline=inline)
    assert code == 0, text
    print((tmp_path / KILLED_AT).read_text())
    assert "going on from state" in text
    assert job.made(tmp_path) == undisturbed


def test_killed_at_any_moment_of_the_end(forge: Forge, jobs: dict[str, tuple[Job, dict[str, bytes]]], tmp_path: Path) -> None:
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
        print(moment, killed_at)
        assert code == 0, (killed_at, text)
        assert job.made(folder) == undisturbed, killed_at
        assert not (folder / "state" / "outputs").exists(), killed_at
