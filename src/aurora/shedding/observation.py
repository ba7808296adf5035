"""What the shedder is told of a running network, and what it answers.

The engine observes itself some times a second and hands an ``Observation`` in. The detector makes a ``Verdict`` of it,
the controller ``Directions``: what is to be dropped where from now on. Nothing here reads a clock.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

from aurora.boxes.thinned import MAX_GAP, Rule, Weighted, WholeWindows
from aurora.model.typed import Consumer
from aurora.shedding.load import BoxProfile
from aurora.shedding.places import Place

Mode: TypeAlias = Literal["auto", "random", "semantic", "uniform", "off"]
"""``random``: by loss graphs. ``semantic``: outputs with a value graph only by value, the others at random.
``auto``: whichever of the two loses less. ``uniform``: the same share at all inputs, whatever the graphs say."""

MODES: tuple[Mode, ...] = ("auto", "random", "semantic", "uniform", "off")


@dataclass(frozen=True)
class Latency:
    """Of an output: the mean of the tuples delivered since the last observation or so, and that of the newest one."""

    recent_s: float
    newest_s: float


@dataclass(frozen=True)
class Observation:
    """How things stand at a time.

    ``offered_per_s`` is what came in on each stream since the last observation, before any drop, tuples that were
    turned away included. ``profiles`` say what a tuple costs at each box, the share of a call's cost included; a box
    that no tuple has reached may be missing. ``capacity`` is how many seconds of box work get done in a second in
    which the engine is busy; no headroom is taken off. ``busy`` is the share of the time since the last observation
    in which it was. ``waiting_s`` is the work that waits before each reader, with all that it makes downstream; what
    waits at inputs is in it. ``latency`` has the outputs that delivered something. ``pressed`` are streams whose
    senders were held back or turned away for want of room.
    """

    now_us: int
    offered_per_s: Mapping[str, float]
    profiles: Mapping[str, BoxProfile]
    capacity: float
    busy: float
    waiting_s: Mapping[Consumer, float] = field(default_factory=dict)
    latency: Mapping[str, Latency] = field(default_factory=dict)
    pressed: frozenset[str] = frozenset()

    @cached_property
    def backlog_s(self) -> float:
        """All work that waits."""
        return sum(self.waiting_s.values())


@dataclass(frozen=True)
class Verdict:
    """Whether more comes than can be done, however much of it is dropped already.

    ``demand`` is the work that all offered tuples would make, in cores, smoothed and corrected by what was seen to get
    done; ``excess`` is how much of it is beyond the usable capacity. ``scale`` is that correction: work that takes as
    long as the profiles say has 1. ``why`` is a sentence for people.
    """

    overloaded: bool
    demand: float
    excess: float
    scale: float
    why: str


@dataclass(frozen=True)
class Dropping:
    """A drop at a place.

    Without ``where`` the share ``keep`` of the tuples stays. With it, tuples for which the condition holds go, all but
    the share ``spared`` of them, taken at random; the others stay.
    """

    place: Place
    reason: Literal["random", "semantic"]
    outputs: tuple[str, ...]
    keep: float = 1.0
    where: str | None = None
    spared: float = 0.0

    @property
    def seed(self) -> int:
        """Each drop has its own: behind one with the same seed the unlucky tuples are gone already."""
        return seed_of(self.place, self.reason)


@dataclass(frozen=True)
class ThinnedBox:
    """An aggregate that is told that it has less to go by.

    ``windows``: it keeps the share ``keep`` of its windows whole and drops the tuples of the others at its entrance.
    ``tuples``: of its tuples only the share ``keep`` still comes, chosen at random upstream, and counts and sums are to
    be scaled. ``place`` is its entrance.
    """

    box: str
    place: Place
    reason: Literal["windows", "tuples"]
    keep: float
    outputs: tuple[str, ...]
    max_gap: int = MAX_GAP

    @property
    def rule(self) -> Rule:
        """What its kernel is to obey."""
        if self.reason == "tuples":
            return Weighted(self.keep)
        return WholeWindows(self.keep, seed_of(self.place, self.reason), self.max_gap)


@dataclass(frozen=True)
class Directions:
    """Everything that is to be dropped from now on; what was said before no longer holds.

    ``kept`` is the share of the load that is left, ``delivered`` the share of its tuples that each output should get.
    Empty directions mean that nothing is dropped.
    """

    drops: tuple[Dropping, ...] = ()
    boxes: tuple[ThinnedBox, ...] = ()
    kept: float = 1.0
    delivered: Mapping[str, float] = field(default_factory=dict)
    why: str = ""

    @property
    def empty(self) -> bool:
        return not self.drops and not self.boxes


def seed_of(place: Place, reason: str) -> int:
    """The same in every process, so that recovery drops the same tuples again."""
    return zlib.crc32(repr((*place.arc, place.reader, reason)).encode())
