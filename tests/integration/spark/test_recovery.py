"""``aurora run --state`` on Spark: whoever is killed, and whenever, the outputs are those of an undisturbed run.

A killed worker or executor is Spark's to replace, and a killed Java process ours: the run goes on by itself. After the
death of the driver the same command is given again. Moments are counted in steps, which are seen from outside by the
states that tasks store, so that they do not depend on how fast the machine is.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import pytest

from integration.spark.killing import Job, Process, Processes, feed_alarms, joined, kill, leftovers, said, wait_for

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes in /proc"),
]

LOCAL = "local[2]"
CLUSTER = "local-cluster[2,1,1024]"
PATIENCE_S = 120

Victim = Literal["worker", "executor", "java", "driver", "starting driver", "interrupt"]
FOUND = {"worker": Processes.workers, "executor": Processes.executors, "java": Processes.java}


@dataclass
class Hunt:
    """A run in a folder, called again whenever its driver was killed, and the kills still to be made."""

    job: Job
    folder: Path
    master: str
    plan: list[tuple[int, Victim]]
    chance: random.Random
    kills: Counter[str] = field(default_factory=Counter)
    drivers: list[int] = field(default_factory=list)
    seen: dict[int, Process] = field(default_factory=dict)
    story: list[str] = field(default_factory=list)
    places: set[Path] = field(default_factory=set)
    earlier: set[str] = field(default_factory=set)

    def to_end(self) -> None:
        process = self.start()
        try:
            while process.poll() is None:
                if self.plan and self.due(process.pid) and self.strike(process):
                    process = self.start()
                time.sleep(0.002)
        finally:
            process.kill()
        assert process.returncode == 0, said(self.folder)
        assert not self.plan, f"the run was over before {self.plan}; {self.story}"

    def start(self) -> subprocess.Popen[str]:
        # Tasks of the run before may still store states, but under its own mark.
        self.earlier |= {name.partition("-")[0] for name in self.states()}
        process = self.job.start(self.folder, "--processor", "spark", "--master", self.master, "--state", "state")
        self.drivers.append(process.pid)
        return process

    def states(self) -> list[str]:
        folder = self.folder / "state" / "states"
        return [name for name in os.listdir(folder) if not name.endswith(".tmp")] if folder.exists() else []

    def step(self) -> int:
        """The step that the process has come to; 0 while it is starting."""
        own = [name for name in self.states() if name.partition("-")[0] not in self.earlier]
        return max((int(name.rpartition("-")[2]) for name in own), default=0)

    def due(self, driver: int) -> bool:
        step, victim = self.plan[0]
        if victim == "starting driver":
            return self.step() == 0 and bool(Processes().java(driver))
        return self.step() >= max(step, 1)

    def strike(self, process: subprocess.Popen[str]) -> bool:
        """Makes the next kill if its victim lives; whether the command must be given again."""
        _, victim = self.plan[0]
        time.sleep(self.chance.uniform(0, 1 if victim == "starting driver" else 0.05))
        processes = Processes()
        self.seen.update(processes.below(process.pid))
        self.places |= {Path(f"/proc/{pid}/cwd").resolve() for pid in processes.executors(process.pid)}
        again = victim not in FOUND
        hit = process.pid
        if not again:
            candidates = FOUND[victim](processes, process.pid)
            if not candidates:
                return False
            hit = self.chance.choice(candidates)
        if process.poll() is not None:
            return False
        if victim == "interrupt":
            os.killpg(hit, signal.SIGINT)
        elif not kill(hit):
            return False
        self.story.append(f"{victim} {hit} at step {self.step()} of driver {process.pid}")
        self.kills[victim] += 1
        del self.plan[0]
        if again:
            code = process.wait(PATIENCE_S)
            assert code == (130 if victim == "interrupt" else -signal.SIGKILL), said(self.folder)
            # What is left of Spark dies with its driver, but may still be at work when the next run begins.
        return again

    def left(self, processes: Iterable[int]) -> list[Process]:
        now = Processes().all
        return [now[pid] for pid in processes if now.get(pid) == self.seen[pid]]


def hunted(job: Job, folder: Path, master: str, victims: list[Victim], seed: int) -> Hunt:
    """To kill all of the victims, in any order, at steps spread over the run; a starting driver after another."""
    chance = random.Random(seed)
    train = int(job.options[job.options.index("--train") + 1])
    steps = job.tuples // train
    running = [victim for victim in victims if victim != "starting driver"]
    chance.shuffle(running)
    # The last kills leave some steps, as those that are under way when a kill is decided must not be the last.
    moments = sorted(chance.sample(range(2, steps * 3 // 4), len(running)))
    plan: list[tuple[int, Victim]] = list(zip(moments, running, strict=True))
    if "starting driver" in victims:
        plan.insert(1 + running.index("driver"), (0, "starting driver"))
    return Hunt(job, folder, master, plan, chance)


@pytest.mark.parametrize(
    ("network", "master", "victims", "seed"),
    [
        ("feed", LOCAL, {"worker": 6, "java": 1, "driver": 1}, 1),
        ("feed", CLUSTER, {"worker": 4, "executor": 4, "driver": 1}, 2),
        ("join", LOCAL, {"worker": 6, "driver": 1, "starting driver": 1, "interrupt": 1}, 3),
        ("join", CLUSTER, {"worker": 4, "executor": 4, "driver": 1}, 4),
    ],
)
def test_killed(tmp_path: Path, network: str, master: str, victims: dict[Victim, int], seed: int) -> None:
    if network == "feed":
        job = feed_alarms(tmp_path / "input", train=400)
    else:
        job = joined(tmp_path / "input", tuples=20_000, train=400)
    # Executors do not have our working directory.
    job = replace(job, inputs={name: Path("..", path.relative_to(tmp_path)) for name, path in job.inputs.items()})
    undisturbed = job.undisturbed(tmp_path / "undisturbed")
    hunt = hunted(job, tmp_path / "run", master, [name for name, count in victims.items() for _ in range(count)], seed)
    hunt.to_end()
    print(*hunt.story, sep="\n")
    for place in hunt.places:
        # A cluster of processes keeps the logs of its executors beside Spark, in a folder for each application. A
        # process that is just being started may still be where its parent is.
        if place.parent.name.startswith("app-") and place.parent.parent.name == "work":
            shutil.rmtree(place.parent, ignore_errors=True)
    assert hunt.kills == victims
    assert job.made(hunt.folder) == undisturbed
    restarts = sum(count for name, count in victims.items() if name in ("driver", "starting driver", "interrupt"))
    assert len(hunt.drivers) == 1 + restarts, "only the death of the driver needs another call"
    if restarts > 1:
        assert "going on from state" in said(hunt.folder)
    wait_for(lambda: not hunt.left(hunt.seen), "no process is left", PATIENCE_S)
    assert not leftovers(hunt.drivers)
    assert not list((hunt.folder / "state" / "blocks").iterdir())
