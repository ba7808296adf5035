"""What policies answer: superboxes, each a sequence of box calls, with the reason for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

from aurora.scheduler.state import Snapshot

WHOLE_QUEUE = 2**62
"""As ``most`` of a call: whatever is there when the box is called."""


class Call(NamedTuple):
    """A call of a box with at most so many tuples."""

    box: int
    most: int


class Why(NamedTuple):
    """Why a superbox was chosen. ``utility`` and times are of the box that was decisive, where a policy looks at them.

    ``utility`` is the utility that is lost per second of waiting, ``slack_s`` the time to the next critical point of
    the output's latency graph.
    """

    policy: str
    box: str
    application: str
    ready: int
    reason: str
    utility: float | None = None
    expected_latency_s: float | None = None
    slack_s: float | None = None

    def sentence(self) -> str:
        """For people.

        >>> print(Why("qos", "late", "alarms", 1200, "", 0.31, 2.4, slack_s=0.2).sentence())
        box late: utility 0.31/s at expected latency 2.4 s,
        0.2 s before the next critical point of alarms; 1,200 tuples ready
        """
        parts = [self.reason] if self.reason else []
        if self.utility is not None:
            parts.append(f"utility {self.utility:.3g}/s")
            if self.expected_latency_s is not None:
                parts[-1] += f" at expected latency {shown_s(self.expected_latency_s)}"
        where = f" of {self.application}" if self.application else ""
        if self.slack_s is not None and math.isfinite(self.slack_s):
            parts.append(f"{shown_s(self.slack_s)} before the next critical point{where}")
        elif self.slack_s is not None:
            parts.append(f"no critical point{where} lies ahead")
        said = ", ".join(parts)
        return f"box {self.box}: {said}; {self.ready:,} {'tuple' if self.ready == 1 else 'tuples'} ready"


def shown_s(seconds: float) -> str:
    """
    >>> shown_s(2.4), shown_s(0.0123), shown_s(4e-6)
    ('2.4 s', '12.3 ms', '4 µs')
    """
    if abs(seconds) >= 0.1 or seconds == 0:
        return f"{seconds:.3g} s"
    return f"{seconds * 1e3:.3g} ms" if abs(seconds) >= 1e-3 else f"{seconds * 1e6:.3g} µs"


class Superbox(NamedTuple):
    """Calls that one worker runs one after the other, as one.

    ``told`` says why. Hardly anybody asks, so it holds what was known and puts it together only then.
    """

    calls: tuple[Call, ...]
    told: Callable[[], Why]

    @property
    def why(self) -> Why:
        return self.told()


class Policy(Protocol):
    """Chooses what runs next.

    The engine calls ``plan`` when its execution queue runs low. What it must tell besides depends on two flags; a
    policy takes calls that it did not ask for, and ignores them.
    """

    name: str
    wants_changes: bool
    """The engine calls ``changed`` before ``plan``, with every box of which ``ready``, ``arrival_us`` or ``running``
    changed since the last call. A box that was planned counts as running until the policy is told of it again."""
    wants_utilities: bool
    """The engine calls ``note_utilities`` now and then, with what the monitor measured."""

    def plan(self, state: Snapshot) -> list[Superbox]:
        """What to run next, in this order; nothing if no box could run.

        No box that is running is planned, and none stands in two superboxes of a plan. The first call of a superbox
        has tuples to take; later calls may find none, if what ran before them gave none.
        """

    def changed(self, boxes: Iterable[int], state: Snapshot) -> None:
        """The queues of these boxes changed, or they stopped running."""

    def note_utilities(self, utilities: Mapping[str, float]) -> None:
        """The utility of outputs, by name, as it was measured lately."""
