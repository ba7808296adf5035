"""A pipeline that treats state, output and journal as the engine does, small enough to be run thousands of times.

For each number of its input it puts out the sum so far of the numbers with the same last digit. Even and odd digits
are two partitions with a state each. How many numbers make a step is drawn anew in every run, so that a run that is
taken up again cuts its steps elsewhere than the one that died.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import pyarrow as pa

from aurora.engine.journal import Commit, Journal
from aurora.errors import StateError
from aurora.storage.folder import Folder
from aurora.storage.states import StateStore, state_name
from tests.unit.storage.crashing import Tape

Sums = dict[int, int]
IDENTITY = {"network": "toy"}


@dataclass
class Pipeline:
    """The faults are off in the pipeline under test; they show that the simulation would notice."""

    inputs: list[int]
    disk: Folder
    tape: Tape
    durable: bool
    commits_too_early: bool = False
    forgets_to_truncate: bool = False
    forgets_marks: bool = False
    forgets_attempts: bool = False

    def run(self, chance: random.Random) -> list[str]:
        """Goes on from where the disk says, to the end; returns what was skipped."""
        self.store = StateStore(self.disk, durable=self.durable)
        with Journal.open(self.disk, IDENTITY, durable=self.durable) as journal:
            last = journal.latest(self._check)
            position, length = (last.content["position"], last.content["length"]) if last else (0, 0)
            sums = [self._sums(last, partition) for partition in (0, 1)]
            self._retain(journal)
            if not self.forgets_to_truncate:
                self.tape.truncate(length)
            number = last.number if last else 0
            attempt = 0 if self.forgets_attempts else journal.attempt
            while position < len(self.inputs):
                number += 1
                step = self.inputs[position : position + chance.randint(1, 4)]
                output = b"".join(_taken(value, sums) for value in step)
                position += len(step)
                length += len(output)
                names = [state_name("sums", partition, number, attempt=attempt) for partition in (0, 1)]
                content = {"position": position, "length": length, "states": names}
                if self.commits_too_early:
                    journal.commit(content)
                for name, own in zip(names, sums, strict=True):
                    # Tasks may be repeated.
                    for _ in range(chance.choice([1, 1, 2])):
                        self.store.write(name, {"sums": _table(own)}, mark=self._mark(position))
                self.tape.append(output, durable=self.durable)
                if not self.commits_too_early:
                    journal.commit(content)
                self._retain(journal)
            return journal.skipped

    def _retain(self, journal: Journal) -> None:
        self.store.retain({name for commit in journal.kept() for name in commit.content["states"]})

    def _mark(self, position: int) -> str:
        return "" if self.forgets_marks else f"up to {position}"

    def _check(self, commit: Commit) -> None:
        for name in commit.content["states"]:
            self.store.read(name, mark=self._mark(commit.content["position"]))
        if len(self.tape.content) < commit.content["length"]:
            raise StateError("the output is shorter than at the commit")

    def _sums(self, commit: Commit | None, partition: int) -> Sums:
        if commit is None:
            return {}
        table = self.store.read(commit.content["states"][partition])["sums"]
        return dict(zip(table["digit"].to_pylist(), table["sum"].to_pylist(), strict=True))


def expected(inputs: list[int]) -> bytes:
    """The output of a run that nothing disturbs, without any of the machinery."""
    sums: list[Sums] = [{}, {}]
    return b"".join(_taken(value, sums) for value in inputs)


def _taken(value: int, sums: list[Sums]) -> bytes:
    digit = value % 10
    own = sums[digit % 2]
    own[digit] = own.get(digit, 0) + value
    return f"{digit}:{own[digit]};".encode()


def _table(sums: Sums) -> pa.Table:
    return pa.table(
        {"digit": pa.array(list(sums), pa.int64()), "sum": pa.array(list(sums.values()), pa.int64())},
    )
