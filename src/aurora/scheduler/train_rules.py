"""How many tuples a call takes. All policies ask here.

Long trains spread the overhead of a call over many tuples; short ones let what is urgent come out early, and let
others have the processor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np

from aurora.errors import InputError
from aurora.scheduler.plan import WHOLE_QUEUE
from aurora.scheduler.priorities import Priorities
from aurora.scheduler.state import Floats, Ints, Snapshot

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
    """Applies a rule to the boxes of a network."""

    def __init__(self, rule: TrainRule, priorities: Priorities) -> None:
        self._rule = rule
        self._priorities = priorities
        self._good_s = priorities.tightest_good_zone_s
        self._no_limit = rule.is_free and (not rule.qos or not math.isfinite(self._good_s))
        self._one_limit = WHOLE_QUEUE if rule.tuples is None else rule.tuples
        by_count_only = TrainRule(tuples=rule.tuples, qos=False, patience=rule.patience, overhead=rule.overhead)
        self.needs_priorities = rule.qos and not self._no_limit
        self._simple = self._no_limit or rule == by_count_only

    def most(self, boxes: list[int], state: Snapshot) -> list[int]:
        """For each of these boxes, how many tuples a call of it may take. The priorities must be fresh."""
        if self._simple:
            return [self._one_limit] * len(boxes)
        rule, at = self._rule, np.asarray(boxes, np.int64)
        cost_s = np.maximum(state.cost_s[at], _LEAST_S)
        # What a call may take in seconds; then in tuples.
        seconds = np.inf if rule.cost_s is None else rule.cost_s
        if rule.qos:
            seconds = min(seconds, self._good_s * rule.patience)
        limit: Floats = seconds / cost_s
        if rule.age_s is not None:
            limit = np.minimum(limit, self._younger_than(rule.age_s, at, state))
        if rule.share is not None:
            waiting = state.ready[at]
            limit = np.minimum(limit, np.where(waiting > 0, np.ceil(waiting * rule.share), np.inf))
        limit = np.maximum(limit, state.overhead_s[at] * (1 / rule.overhead - 1) / cost_s)
        if rule.qos:
            limit = np.minimum(limit, self._priorities.in_time(at, state))
        if rule.tuples is not None:
            limit = np.minimum(limit, rule.tuples)
        if rule.memory_bytes is not None:
            limit = np.minimum(limit, rule.memory_bytes / np.maximum(state.tuple_bytes[at], 1.0))
        found: list[int] = np.minimum(np.maximum(limit, 1.0), float(WHOLE_QUEUE)).astype(np.int64).tolist()
        return found

    @staticmethod
    def _younger_than(age_s: float, at: Ints, state: Snapshot) -> Floats:
        """Tuples that came within ``age_s``, if they came evenly: then the oldest is twice as old as the mean."""
        waiting = state.ready[at]
        span_s = np.maximum(2e-6 * (state.now_us - state.arrival_us[at]), _LEAST_S)
        found: Floats = np.where((waiting > 0) & (span_s > age_s), waiting * (age_s / span_s), float(WHOLE_QUEUE))
        return found
