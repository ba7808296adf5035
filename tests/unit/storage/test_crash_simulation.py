"""State, journal and output together: whatever moment the process dies at, and whatever the disk then holds.

The right output is known without any of the machinery, so these tests see tuples that are lost or come twice, and sums
that were taken up from the wrong state.
"""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from aurora.engine.journal import KEPT
from aurora.errors import StateError
from aurora.storage.folder import LocalFolder
from tests.unit.storage.crashing import Crash, Disk, Fuse, Tape, harmed
from tests.unit.storage.toy import Pipeline, expected

INPUTS = random.Random(7).choices(range(1000), k=24)
RIGHT = expected(INPUTS)
AT_REST = 1 + 1 + KEPT + 2 * KEPT
MOST_FILES = 1 + 2 + (KEPT + 1) + 2 * (KEPT + 1) + 1
"""Identity; attempts; records; the states of two partitions for each, and the ones being written; a temporary."""


@dataclass
class World:
    """One disk, one output, and the life of a pipeline on them."""

    durable: bool
    power: bool
    seed: int
    faults: dict[str, bool] = field(default_factory=dict)
    stragglers: bool = False

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.fuse = Fuse()
        self.disk = Disk(self.fuse, write_back_after=self.chance.randint(0, 8))
        self.tape = Tape(self.fuse)
        self.crashes = 0
        self.skipped: list[str] = []

    def run(self, crash_at: int | None = None) -> bool:
        """Whether the pipeline came to its end; otherwise it crashed, and the disk is as that left it."""
        self.fuse.left, self.fuse.passed = crash_at, 0
        try:
            self.skipped += Pipeline(INPUTS, self.disk, self.tape, self.durable, **self.faults).run(self.chance)
        except Crash:
            self.crashes += 1
            if self.power:
                self.disk.power_failed(self.chance)
                self.tape.power_failed(self.chance)
            if self.stragglers:
                self.disk.process_died(straggle_after=self.chance.randrange(12))
            return False
        finally:
            self.fuse.left = None
        return True

    def run_through(self, crashes: int, within: int = 120) -> None:
        """Crashes again and again, then lets it go."""
        for _ in range(crashes):
            if self.run(self.chance.randrange(within)):
                return
        assert self.run()


def test_an_undisturbed_run() -> None:
    world = World(durable=True, power=False, seed=0)
    assert world.run()
    assert world.tape.content == RIGHT
    assert world.disk.most_files <= MOST_FILES
    assert len(world.disk.files) == AT_REST
    before = world.disk.names("journal") + world.disk.names("states")
    assert world.run()
    assert world.disk.names("journal") + world.disk.names("states") == before
    assert world.tape.content == RIGHT


SAFE = [(False, False), (True, False), (True, True)]
"""What promises a right end: durable writes always, the others unless the power fails."""


@pytest.mark.parametrize(("durable", "power"), SAFE)
def test_a_crash_at_every_single_moment(durable: bool, power: bool) -> None:
    whole = World(durable, power, seed=3)
    assert whole.run()
    for moment in range(whole.fuse.passed):
        world = World(durable, power, seed=3)
        assert not world.run(crash_at=moment)
        assert world.run()
        assert world.tape.content == RIGHT, f"after a crash at moment {moment}"
    assert whole.fuse.passed > 200


@pytest.mark.parametrize(("durable", "power"), SAFE)
def test_thousands_of_crashes_lose_and_double_nothing(durable: bool, power: bool) -> None:
    crashes = 0
    for seed in range(150):
        world = World(durable, power, seed)
        world.run_through(crashes=12, within=80)
        assert world.tape.content == RIGHT, f"seed {seed}"
        # Files that were deleted may come back when the power fails, until the next run deletes them again.
        assert world.disk.most_files <= MOST_FILES + (1 + world.disk.write_back_after if power else 0)
        assert len(world.disk.files) == AT_REST
        assert world.disk.temporaries == 0
        crashes += world.crashes
    assert crashes > 1000


def test_a_run_in_a_real_folder(tmp_path: Path) -> None:
    chance = random.Random(5)
    fuse = Fuse()
    tape = Tape(fuse)
    pipeline = Pipeline(INPUTS, LocalFolder(tmp_path), tape, durable=False)
    for moment in range(30):
        fuse.left = moment
        with suppress(Crash):
            pipeline.run(chance)
    fuse.left = None
    pipeline.run(chance)
    assert tape.content == RIGHT
    # And the lock.
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == AT_REST + 1


@pytest.mark.parametrize(
    ("faults", "ends"),
    [
        # Attempts keep stragglers apart; without them the marks notice; without both they go unnoticed.
        ([], {"right"}),
        (["forgets_attempts"], {"right", "refused"}),
        (["forgets_attempts", "forgets_marks"], {"right", "wrong"}),
    ],
)
def test_tasks_that_outlive_their_run(faults: list[str], ends: set[str]) -> None:
    found = _ends(faults, stragglers=True)
    assert found.keys() == ends, found


def test_without_durable_writes_a_power_failure_gives_the_right_end_or_an_error() -> None:
    refused = skipped = 0
    for seed in range(300):
        world = World(durable=False, power=True, seed=seed)
        try:
            world.run_through(crashes=3)
        except StateError:
            refused += 1
        else:
            assert world.tape.content == RIGHT, f"seed {seed}"
            skipped += bool(world.skipped)
    # It does happen that there is no way on, and that an older commit is the way on; else this would test nothing.
    assert 20 < refused < 200
    assert skipped > 20


def _damage(files: dict[str, bytes], chance: random.Random) -> None:
    names = sorted(files)
    name = chance.choice(names)
    kind = chance.randrange(4)
    if kind == 0:
        del files[name]
    elif kind == 1:
        other = chance.choice(names)
        files[name], files[other] = files[other], files[name]
    else:
        files[name] = harmed(files[name], chance)


def test_damaged_files_give_the_right_end_or_an_error() -> None:
    refused = skipped = 0
    for seed in range(400):
        world = World(durable=False, power=False, seed=seed)
        world.run(crash_at=world.chance.randrange(20, 250))
        for _ in range(world.chance.randint(1, 2)):
            if world.disk.files:
                _damage(world.disk.files, world.chance)
        try:
            assert world.run()
        except StateError:
            refused += 1
        else:
            assert world.tape.content == RIGHT, f"seed {seed}"
            skipped += bool(world.skipped)
    assert 50 < refused < 300
    assert skipped > 30


@pytest.mark.parametrize(("fault", "end"), [("commits_too_early", "refused"), ("forgets_to_truncate", "wrong")])
def test_the_simulation_finds_faults(fault: str, end: str) -> None:
    assert end in _ends([fault], stragglers=False)


def _ends(faults: list[str], *, stragglers: bool) -> Counter[str]:
    """How runs end on which the process dies several times."""
    ends: Counter[str] = Counter()
    for seed in range(100):
        world = World(False, False, seed, dict.fromkeys(faults, True), stragglers)
        try:
            world.run_through(crashes=8)
        except StateError:
            ends["refused"] += 1
        else:
            ends["right" if world.tape.content == RIGHT else "wrong"] += 1
    return ends
