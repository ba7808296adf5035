"""What a person can choose about scheduling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from aurora.errors import InputError, did_you_mean
from aurora.scheduler.train_rules import TrainRule
from aurora.scheduler.traversal import Traversal

POLICIES = ("round_robin", "tuple_at_a_time", "applications", "spanner", "qos", "feedback", "buckets")


@dataclass(frozen=True)
class SchedulerSettings:
    """``policy`` says which boxes run next, ``traversal`` in which order those of one superbox do.

    Without a ``train`` rule, policies that look at QoS have trains as long as it allows, others take whole queues.
    ``horizon`` is how many superboxes are planned at once at most: more cost less each, but the last of them are
    decided on old news. Policies that look at priority take no more than a fifth of what waits.
    ``push`` lets a box's tuples go on to the outputs at once, for ``qos`` and ``buckets``. ``partitions`` is the number
    of ranges that ``buckets`` makes of utility and of slack. ``spanned`` is how many boxes of highest priority a
    superbox of ``spanner`` reaches. ``good`` is the utility from which on ``feedback`` is content with an output.

    >>> SchedulerSettings(policy="bukets")
    Traceback (most recent call last):
    aurora.errors.InputError: there is no scheduling policy 'bukets'; did you mean 'buckets'? choices: round_robin, ...
    """

    policy: str = "qos"
    traversal: str = "auto"
    train: TrainRule | None = None
    horizon: int = 32
    push: bool = True
    partitions: int = 20
    spanned: int = 8
    good: float = 0.95

    def __post_init__(self) -> None:
        _check_choice("scheduling policy", self.policy, POLICIES)
        _check_choice("traversal", self.traversal, get_args(Traversal))
        for name in ("horizon", "partitions", "spanned"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InputError(f"scheduler setting {name} is {value!r}; give a whole number, at least 1")
        if not 0 < self.good <= 1:
            raise InputError(f"scheduler setting good is {self.good!r}; give a utility above 0, at most 1")
        if self.policy == "tuple_at_a_time" and self.train is not None:
            raise InputError(
                "policy tuple_at_a_time takes one tuple per call; leave out the train rule, or choose another"
            )


def _check_choice(what: str, given: object, choices: tuple[str, ...]) -> None:
    if given not in choices:
        hint = did_you_mean(str(given), choices)
        found = f"there is no {what} {given!r}; {hint + ' ' if hint else ''}choices: {', '.join(choices)}"
        raise InputError(found)
