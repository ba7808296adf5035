"""Order and slack: which tuples a box is given, in which order, and which are late."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol

from oracle.values import Tuple


class Placed:
    """A tuple with its order value, its group, and its place in the order in which the box was given tuples."""

    def __init__(self, tup: Tuple, value: Any, group: Hashable, place: int) -> None:
        self.tuple = tup
        self.value = value
        self.group = group
        self.place = place

    @property
    def rank(self) -> tuple[Any, int]:
        return self.value, self.place


class Order(Protocol):
    """Puts tuples in order. Each call returns what may go on now, and what is late."""

    def take(self, placed: Placed) -> tuple[list[Placed], list[Placed]]: ...

    def flush(self) -> tuple[list[Placed], list[Placed]]: ...


class Sorter:
    """bsort with count slack: a buffer of n + 1 tuples per group, of which the smallest leaves."""

    def __init__(self, slack: int) -> None:
        self.slack = slack
        self.buffers: dict[Hashable, list[Placed]] = {}

    def take(self, placed: Placed) -> tuple[list[Placed], list[Placed]]:
        if placed.value is None:
            return [], [placed]
        buffer = self.buffers.setdefault(placed.group, [])
        buffer.append(placed)
        if len(buffer) <= self.slack:
            return [], []
        smallest = min(buffer, key=lambda p: p.rank)
        buffer.remove(smallest)
        return [smallest], []

    def flush(self) -> tuple[list[Placed], list[Placed]]:
        left = sorted((p for buffer in self.buffers.values() for p in buffer), key=lambda p: p.rank)
        self.buffers.clear()
        return left, []


class CountSlack:
    """The same, and then what is below its group's largest so far is late."""

    def __init__(self, slack: int) -> None:
        self.sorter = Sorter(slack)
        self.largest: dict[Hashable, Any] = {}

    def take(self, placed: Placed) -> tuple[list[Placed], list[Placed]]:
        sorted_, late = self.sorter.take(placed)
        return self.judge(sorted_, late)

    def flush(self) -> tuple[list[Placed], list[Placed]]:
        return self.judge(*self.sorter.flush())

    def judge(self, sorted_: list[Placed], late: list[Placed]) -> tuple[list[Placed], list[Placed]]:
        given: list[Placed] = []
        for placed in sorted_:
            largest = self.largest.get(placed.group)
            if largest is not None and placed.value < largest:
                late.append(placed)
            else:
                self.largest[placed.group] = placed.value
                given.append(placed)
        return given, late


class TimeSlack:
    """Progress is the largest value of the whole stream minus the slack; what is below it is late.

    With ``wait`` tuples are held until progress reaches them and leave in order of value; else they go on at once.
    """

    def __init__(self, slack: Any, *, wait: bool) -> None:
        self.slack = slack
        self.wait = wait
        self.largest: Any = None
        self.held: list[Placed] = []

    @property
    def progress(self) -> Any:
        return None if self.largest is None else self.largest - self.slack

    def take(self, placed: Placed) -> tuple[list[Placed], list[Placed]]:
        if placed.value is None or (self.largest is not None and placed.value < self.progress):
            return [], [placed]
        self.largest = placed.value if self.largest is None else max(self.largest, placed.value)
        if not self.wait:
            return [placed], []
        self.held.append(placed)
        ready = sorted((p for p in self.held if p.value <= self.progress), key=lambda p: p.rank)
        self.held = [p for p in self.held if p.value > self.progress]
        return ready, []

    def flush(self) -> tuple[list[Placed], list[Placed]]:
        left, self.held = sorted(self.held, key=lambda p: p.rank), []
        return left, []
