"""How many tuples a call takes. All policies ask here.

Long trains spread the overhead of a call over many tuples; short ones let what is urgent come out early, and let
others have the processor.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields

from aurora.errors import InputError
from aurora.scheduler.plan import WHOLE_QUEUE
from aurora.scheduler.priorities import Priorities
from aurora.scheduler.state import Snapshot

_LEAST_S = 1e-12
"""Stands in for a cost of nothing."""


@dataclass(frozen=True)
class TrainRule:
    """The limits of a train, of which the tightest holds; without any a call takes the whole queue.

    ``tuples`` limits it by count, ``age_s`` by the time between the arrivals of its first and last tuple, ``cost_s``
    by the processing time of the call, ``memory_bytes`` by size, ``share`` by a part of the queue.
    With ``qos`` it is as long as latency graphs allow: the train comes out before the next critical point of its own
    outputs if it can, and holds the worker no longer than ``patience`` of the tightest good zone of any output.
    The overhead of a call shall be at most ``overhead`` of its cost: for that a train may be longer than ``age_s``,
    ``cost_s``, ``share`` and patience say, but not longer than its own outputs can wait. Since overhead is
    measured, it makes trains long where calls are dear.
    """

    tuples: int | None = None
    age_s: float | None = None
    cost_s: float | None = None
    memory_bytes: float | None = None
    share: float | None = None
    qos: bool = True
    patience: float = 0.1
    overhead: float = 0.02

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "qos" or value is None:
                continue
            if not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
                raise InputError(f"train rule {field.name} is {value!r}; give a number above 0")
        if self.tuples is not None and self.tuples != int(self.tuples):
            raise InputError(f"train rule tuples is {self.tuples!r}; give a whole number of tuples")
        for name in ("share", "patience", "overhead"):
            if (getattr(self, name) or 0) > 1:
                raise InputError(f"train rule {name} is {getattr(self, name)!r}; give a fraction, at most 1")

    @property
    def is_free(self) -> bool:
        """Whether nothing but QoS limits a train."""
        return (self.tuples, self.age_s, self.cost_s, self.memory_bytes, self.share) == (None,) * 5


WHOLE = TrainRule(qos=False)
"""Every call takes the whole queue."""


class Trains:
    """Applies a rule to the boxes of a network, of which the priorities know the costs."""

    def __init__(self, rule: TrainRule, priorities: Priorities) -> None:
        self._rule = rule
        self._priorities = priorities
        good_s = priorities.tightest_good_zone_s
        no_limit = rule.is_free and (not rule.qos or not math.isfinite(good_s))
        by_count_only = TrainRule(tuples=rule.tuples, qos=False, patience=rule.patience, overhead=rule.overhead)
        self._one_limit = WHOLE_QUEUE if rule.tuples is None else rule.tuples
        self.need_costs = not no_limit and rule != by_count_only
        """Whether trains hang on costs. If not, all are alike."""
        self._seconds = min(
            math.inf if rule.cost_s is None else rule.cost_s, good_s * rule.patience if rule.qos else math.inf
        )
        self._overheads = 1 / rule.overhead - 1
        self._unfed: dict[int, int] = {}
        """Of boxes at which nothing waits: as long as costs stay, they are given the same."""

    def forget(self, boxes: Iterable[int]) -> None:
        """The costs of these boxes, or of those that they feed, have changed."""
        for box in boxes:
            self._unfed.pop(box, None)

    def most(self, boxes: list[int], state: Snapshot) -> list[int]:
        """For each of these boxes, how many tuples a call of it may take. The priorities must be fresh."""
        if not self.need_costs:
            return [self._one_limit] * len(boxes)
        ready, unfed = state.ready.item, self._unfed
        found: list[int] = []
        for box in boxes:
            if waiting := ready(box):
                found.append(self._most(box, waiting, 1e-6 * (state.now_us - state.arrival_us.item(box))))
            else:
                if box not in unfed:
                    unfed[box] = self._most(box, 0, 0.0)
                found.append(unfed[box])
        return found

    def _most(self, box: int, waiting: int, age_s: float) -> int:
        rule, (costs_s, overheads_s, _, tuple_bytes) = self._rule, self._priorities.estimates.lists
        cost_s = max(costs_s[box], _LEAST_S)
        # What a call may take in seconds; then in tuples.
        limit = self._seconds / cost_s
        if rule.age_s is not None and 2 * age_s > rule.age_s:
            # If tuples came evenly, the oldest is twice as old as the mean.
            limit = min(limit, waiting * (rule.age_s / (2 * age_s)))
        if rule.share is not None and waiting:
            limit = min(limit, math.ceil(waiting * rule.share))
        limit = max(limit, overheads_s[box] * self._overheads / cost_s)
        if rule.qos:
            limit = min(limit, self._priorities.in_time(box, age_s))
        if rule.tuples is not None:
            limit = min(limit, rule.tuples)
        if rule.memory_bytes is not None:
            limit = min(limit, rule.memory_bytes / max(tuple_bytes[box], 1.0))
        return int(min(max(limit, 1.0), WHOLE_QUEUE))
