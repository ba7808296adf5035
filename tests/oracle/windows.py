"""Windows, one delivered tuple at a time: which are open, when each is emitted, and with which members."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from oracle.order import Placed
from oracle.values import Moment

INFINITY = math.inf


@dataclass
class Closed:
    """A window to emit. ``start`` is None for a window of tuples; ``trigger`` is the arrival time of an empty one.

    ``newest`` is how many of the members came since it was last emitted, if not all.
    """

    group: Hashable
    members: list[Placed]
    start: Any = None
    end: Any = None
    timed_out: bool = False
    trigger: int = 0
    newest: int = 0

    @property
    def arrival(self) -> int:
        return min((member.tuple.arrival for member in self.members[-self.newest :]), default=self.trigger)


@dataclass
class Open:
    """A window that has members. ``index`` counts the group's windows from the first one that can be."""

    group: Hashable
    index: int
    due: float
    members: list[Placed] = field(default_factory=list)
    done: bool = False


@dataclass
class Group:
    """What the windows of one group share. ``rank`` is its place in the order in which groups appeared."""

    rank: int
    base: Any = 0
    delivered: int = 0
    passed: int | None = None
    windows: dict[int, Open] = field(default_factory=dict)


class Windows(Protocol):
    def give(self, placed: Placed, moment: Moment) -> tuple[list[Closed], bool]:
        """What the tuple makes come out, and whether it is late after all."""

    def pass_to(self, progress: Any, trigger: int) -> list[Closed]:
        """What closes in all groups now that the whole stream has come to ``progress``."""

    def due(self) -> float: ...

    def fire(self, clock: int) -> list[Closed]: ...


class Groups:
    """The groups in order of appearance, and the timeouts of their windows."""

    def __init__(self, timeout: int | None) -> None:
        self.timeout = timeout
        self.groups: dict[Hashable, Group] = {}

    def of(self, key: Hashable, base: Any = 0) -> Group:
        if key not in self.groups:
            self.groups[key] = Group(len(self.groups), base)
        return self.groups[key]

    def open(self, group: Group, key: Hashable, index: int, moment: Moment) -> Open:
        """The window of this index, opened now if it is not there yet."""
        if index not in group.windows:
            due = INFINITY if self.timeout is None else moment.clock + self.timeout
            group.windows[index] = Open(key, index, due)
        return group.windows[index]

    def waiting(self) -> Iterable[tuple[Group, Open]]:
        return [(g, window) for g in self.groups.values() for window in g.windows.values() if not window.done]

    def due(self) -> float:
        return min((window.due for _, window in self.waiting()), default=INFINITY)

    def expired(self, clock: int) -> list[tuple[Group, Open]]:
        """The windows whose time is over, marked as done, in order of due time, group, window."""
        over = [(group, window) for group, window in self.waiting() if window.due <= clock]
        over.sort(key=lambda pair: (pair[1].due, pair[0].rank, pair[1].index))
        for _, window in over:
            window.done = True
        return over


class TupleWindows(Groups):
    """A window opens at every ``advance``-th tuple of a group and is emitted when it holds ``size``."""

    def __init__(self, size: int, advance: int, timeout: int | None) -> None:
        super().__init__(timeout)
        self.size = size
        self.advance = advance

    def give(self, placed: Placed, moment: Moment) -> tuple[list[Closed], bool]:
        group = self.of(placed.group)
        place = group.delivered
        group.delivered += 1
        if place % self.advance == 0:
            self.open(group, placed.group, place, moment)
        closed = []
        for index, window in sorted(group.windows.items()):
            if not window.done:
                window.members.append(placed)
            if index + self.size == place + 1:
                del group.windows[index]
                if not window.done:
                    closed.append(Closed(placed.group, window.members))
        return closed, False

    def pass_to(self, progress: Any, trigger: int) -> list[Closed]:
        return []

    def fire(self, clock: int) -> list[Closed]:
        return [Closed(w.group, w.members, timed_out=True) for _, w in self.expired(clock)]


class ValueWindows(Groups):
    """Windows [start, start + size) of the order value, where start = base + index · advance."""

    def __init__(
        self, size: Any, advance: Any, timeout: int | None, *, from_first: bool, emit_empty: bool, per_group: bool
    ) -> None:
        super().__init__(timeout)
        self.size = size
        self.advance = advance
        self.from_first = from_first
        self.emit_empty = emit_empty
        self.per_group = per_group

    def give(self, placed: Placed, moment: Moment) -> tuple[list[Closed], bool]:
        group = self.of(placed.group, placed.value if self.from_first else 0)
        if self.from_first and placed.value < group.base:
            return [], True
        index = int((placed.value - group.base) // self.advance)
        while placed.value < self.end(group, index):
            if not self.from_first or index >= 0:
                window = self.open(group, placed.group, index, moment)
                if not window.done:
                    window.members.append(placed)
            index -= 1
        if not self.per_group:
            return [], False
        return self.close(group, placed.group, placed.value, placed.tuple.arrival), False

    def start(self, group: Group, index: int) -> Any:
        return group.base + index * self.advance

    def end(self, group: Group, index: int) -> Any:
        return self.start(group, index) + self.size

    def pass_to(self, progress: Any, trigger: int) -> list[Closed]:
        """Closings of several groups stand in order of window start, then of the groups' appearance."""
        ranked = [
            (closed.start, group.rank, closed)
            for key, group in self.groups.items()
            for closed in self.close(group, key, progress, trigger)
        ]
        return [closed for _, _, closed in sorted(ranked, key=lambda entry: entry[:2])]

    def close(self, group: Group, key: Hashable, progress: Any, trigger: int) -> list[Closed]:
        """Passes the windows that end at or before ``progress``, up to the last one that has held a tuple."""
        closed: list[Closed] = []
        if not group.windows:
            return closed
        first = min(group.windows) if group.passed is None else group.passed + 1
        indices = range(first, max(group.windows) + 1) if self.emit_empty else sorted(group.windows)
        for index in indices:
            if self.end(group, index) > progress:
                break
            group.passed = index
            window = group.windows.pop(index, None)
            if window is None:
                closed.append(self.closed(group, key, index, [], trigger=trigger))
            elif not window.done:
                closed.append(self.closed(group, key, index, window.members))
        return closed

    def fire(self, clock: int) -> list[Closed]:
        return [self.closed(g, w.group, w.index, w.members, timed_out=True) for g, w in self.expired(clock)]

    def closed(
        self,
        group: Group,
        key: Hashable,
        index: int,
        members: list[Placed],
        *,
        timed_out: bool = False,
        trigger: int = 0,
    ) -> Closed:
        ordered = sorted(members, key=lambda member: member.rank)
        return Closed(key, ordered, self.start(group, index), self.end(group, index), timed_out, trigger)


class Lifetime(Groups):
    """latch: one window per group that never ends, emitted after every ``every`` tuples."""

    def __init__(self, every: int) -> None:
        super().__init__(None)
        self.every = every
        self.life: dict[Hashable, list[Placed]] = {}

    def give(self, placed: Placed, moment: Moment) -> tuple[list[Closed], bool]:
        life = self.life.setdefault(placed.group, [])
        life.append(placed)
        answer = [Closed(placed.group, list(life), newest=self.every)]
        return (answer if len(life) % self.every == 0 else []), False

    def pass_to(self, progress: Any, trigger: int) -> list[Closed]:
        return []

    def fire(self, clock: int) -> list[Closed]:
        return []
