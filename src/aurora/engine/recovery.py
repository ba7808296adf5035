"""Recovery: what a run commits to its journal, and how one goes on from there.

A commit says how far the inputs were taken, where the state of the boxes is, and how long the outputs are. What came
after it is done again, and the outputs are cut to the committed length first; so nothing is lost and nothing comes
twice.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from aurora.engine.intake import Position
from aurora.engine.journal import Commit, Journal
from aurora.errors import StateError
from aurora.processors.plan import Processor

Stage = Literal["running", "flushed", "finished"]


@dataclass(frozen=True)
class Committed:
    """A commit's content. Once ``flushed`` nothing more will come out; once ``finished`` the outputs are closed.

    ``feeds`` has, for every stream that is fed in batches, who feeds it and the number of the last batch taken.
    ``drops`` says what was being dropped, for people; a run that goes on decides anew.
    """

    position: Position
    outputs: Mapping[str, int]
    processor: Mapping[str, Any]
    statistics: Mapping[str, Any]
    stage: Stage
    feeds: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    drops: Sequence[Mapping[str, Any]] = ()

    @classmethod
    def of(cls, commit: Commit) -> Committed:
        content = commit.content
        try:
            return cls(
                Position(**content["position"]),
                content["outputs"],
                content["processor"],
                content["statistics"],
                content["stage"],
                {stream: (feeder, batch) for stream, (feeder, batch) in content.get("feeds", {}).items()},
                content.get("drops", ()),
            )
        except (KeyError, TypeError) as error:
            raise StateError(f"commit {commit.number} is not one of a run: {error} is missing or wrong") from error

    def to_dict(self) -> dict[str, Any]:
        return {
            "position": self.position.to_dict(),
            "outputs": dict(self.outputs),
            "processor": dict(self.processor),
            "statistics": dict(self.statistics),
            "stage": self.stage,
            "feeds": dict(self.feeds),
            "drops": list(self.drops),
        }


class Recovery:
    """The commits of one run, at most one every ``every_s`` seconds while it runs."""

    def __init__(self, journal: Journal, *, fingerprint: str | None = None, every_s: float = 1.0) -> None:
        self._journal = journal
        self._fingerprint = fingerprint
        self._every_s = every_s
        self._last_s = time.monotonic()
        self._modified: tuple[Mapping[str, Any], str] | None = None
        self._marked = {} if fingerprint is None else {"fingerprint": fingerprint}
        self.read: Mapping[str, int] = {}
        """How many tuples of each input are in the newest commit."""

    def modify(self, identity: Mapping[str, Any], document: str) -> None:
        """The next commit is one of a changed network, and from then on only that can go on from the folder."""
        self._fingerprint = identity["fingerprint"]
        self._modified = (identity, document)

    def peek(self) -> Committed | None:
        """The newest commit that is intact itself, whatever became of the states that it names."""
        commit = self._journal.latest()
        return None if commit is None else Committed.of(commit)

    def resume(self, processor: Processor) -> Committed | None:
        """Takes the processor to the newest commit whose states are intact, and gives the commit."""

        def usable(commit: Commit) -> None:
            if commit.content.get("fingerprint", self._fingerprint) != self._fingerprint:
                raise StateError("it is of the network as it was before it was modified")
            processor.resume(Committed.of(commit).processor)

        commit = self._journal.latest(usable)
        if commit is None:
            return None
        committed = Committed.of(commit)
        self.read = committed.position.read
        return committed

    @property
    def due(self) -> bool:
        return time.monotonic() - self._last_s >= self._every_s

    def commit(self, committed: Committed, processor: Processor) -> None:
        """Records the commit; what no commit on record needs is deleted."""
        content = committed.to_dict()
        if self._modified is None:
            self._journal.commit({**content, **self._marked})
        else:
            identity, document = self._modified
            self._journal.modify(identity, document, content)
            self._modified = None
            self._marked = {"fingerprint": identity["fingerprint"]}
        self.read = committed.position.read
        processor.forget([Committed.of(kept).processor for kept in self._journal.kept()])
        self._last_s = time.monotonic()

    @property
    def skipped(self) -> list[str]:
        """Why newer commits were not used."""
        return self._journal.skipped

    def close(self) -> None:
        self._journal.close()
