"""What happened to a network in the last hour, each with its time and a sentence for people.

What is done to a network is noted by whoever does it. What happens by itself (drops that begin and end, sources that
fail) is found out by looking about every second and comparing.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from aurora.clock import Clock
from aurora.connectors.live.state import Status

Kind = Literal[
    "started", "stopped", "paused", "resumed", "modified", "failed", "shedding", "connector", "rejected", "breakpoint"
]
KEPT_US = 3_600_000_000
MOST = 2_000
_GONE_US = 10_000_000
"""A drop that is away for less is still there: plans come and go while the shedder finds its way."""
_LASTS_US = 2_000_000
"""One that is there for less is a passing thought of the shedder's, and not told."""
_ROOM_US = 3_000_000
_MOVED = 0.25
_LONGEST = 80
"""Letters of a condition that are told."""
_SELDOM_US = 30_000_000
"""That a drop lets more or less through is told when it has changed so much, and not more often than this."""


@dataclass(frozen=True)
class Event:
    """``of`` and ``name`` say what it is about, where that is a single thing: an arc, a box, a source."""

    at_us: int
    kind: Kind
    text: str
    of: str = ""
    name: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class Events:
    """The latest events. Any thread may note one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._noted: deque[Event] = deque(maxlen=MOST)

    def note(self, kind: Kind, text: str, of: str = "", name: str = "", *, at_us: int | None = None) -> None:
        with self._lock:
            self._noted.append(Event(self._clock.now_us() if at_us is None else at_us, kind, text, of, name))

    def last(self, seconds: float) -> list[Event]:
        """Those of the last seconds, at most of an hour, in the order of time."""
        with self._lock:
            from_us = self._clock.now_us() - min(seconds * 1e6, KEPT_US)
            while self._noted and self._noted[0].at_us < self._clock.now_us() - KEPT_US:
                self._noted.popleft()
            found = [event for event in self._noted if event.at_us >= from_us]
        return sorted(found, key=lambda event: event.at_us)


@dataclass
class _Drop:
    """Drops at one place: when they were first and last there, how many tuples were dropped before and since, and how
    they were last told of, if they were."""

    since_us: int
    seen_us: int
    shed_before: int
    shed: int
    how: _How
    told_us: int | None = None


class _How(NamedTuple):
    """The share that stays, None where only conditions decide; which conditions; and whether whole windows go."""

    keep: float | None
    where: str
    windows: bool

    def differs(self, other: _How) -> bool:
        if self.keep is None or other.keep is None:
            return (self.keep is None) != (other.keep is None) or bool(self.where) != bool(other.where)
        return abs(self.keep - other.keep) >= _MOVED

    def __str__(self) -> str:
        what = "windows" if self.windows else "tuples"
        said = [] if self.keep is None else [f"{100 * self.keep:.0f}% of the {what} stay"]
        return ", and ".join([*said, *([f"those with {self.where} go"] if self.where else [])])


@dataclass
class Noticing:
    """Finds out what happens by itself, from one look to the next. Everything is handed in."""

    events: Events
    _drops: dict[str, _Drop] = field(default_factory=dict)
    _connectors: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    _rejected: dict[str, int] = field(default_factory=dict)
    _turned_away: int | None = None
    _full_us: int | None = None
    _turned_away_before: int = 0

    def stage(self, before: str, now: str, why: str) -> None:
        if now == "failed" and before != "failed":
            self.events.note("failed", why)

    def drops(self, drops: Iterable[Mapping[str, Any]], now_us: int) -> None:
        """What the load shedder drops just now, as ``Engine.drops`` has it."""
        places: dict[str, list[Mapping[str, Any]]] = {}
        for drop in drops:
            if drop["reason"] != "tuples":  # what an aggregate is told of drops upstream
                places.setdefault(str(drop["place"]), []).append(drop)
        for place, there in places.items():
            self._there(place, _together(there), sum(int(drop["shed"]) for drop in there), now_us)
        for place, known in list(self._drops.items()):
            if now_us - known.seen_us >= _GONE_US:
                del self._drops[place]
                if known.told_us is not None:
                    took, lost = (known.seen_us - known.since_us) / 1e6, known.shed - known.shed_before
                    said = f"Drops end at {place}, after {took:.0f} s; {lost:,} tuples were dropped"
                    self._tell(place, said, known.seen_us)

    def _there(self, place: str, how: _How, shed: int, now_us: int) -> None:
        known = self._drops.get(place)
        if known is None:
            self._drops[place] = _Drop(now_us, now_us, shed, shed, how)
            return
        known.seen_us, known.shed = now_us, max(shed, known.shed)
        if known.told_us is None:
            if now_us - known.since_us < _LASTS_US:
                return
            self._tell(place, f"Drops begin at {place}: {how}", known.since_us)
        elif not how.differs(known.how) or now_us - known.told_us < _SELDOM_US:
            return
        else:
            self._tell(place, f"Drops at {place}: now {how}", now_us)
        known.told_us, known.how = now_us, how

    def _tell(self, place: str, said: str, at_us: int) -> None:
        self.events.note("shedding", said, "arc", place.partition(" before ")[0], at_us=at_us)

    def turned_away(self, tuples: int, now_us: int) -> None:
        """How many tuples there was no room for so far."""
        before, self._turned_away = self._turned_away, tuples
        grown = before is not None and tuples > before
        if grown and self._full_us is None:
            self._turned_away_before = before or 0
            self.events.note("shedding", "No room for more tuples: what comes in is turned away", at_us=now_us)
        if grown:
            self._full_us = now_us
        elif self._full_us is not None and now_us - self._full_us >= _ROOM_US:
            lost = tuples - self._turned_away_before
            self.events.note("shedding", f"There is room again; {lost:,} tuples were turned away", at_us=self._full_us)
            self._full_us = None

    def rejected(self, boxes: Mapping[str, int]) -> None:
        """On how many tuples the code of the operator failed so far, by box."""
        for name, tuples in boxes.items():
            before, self._rejected[name] = self._rejected.get(name), tuples
            if tuples and not before:
                said = f"The code in {name} fails on tuples; they are rejected"
                self.events.note("rejected", said, "box", name)

    def connectors(self, statuses: Iterable[Status]) -> None:
        for status in statuses:
            key = (status.role, status.name)
            before, retries = self._connectors.get(key, ("starting", 0))
            self._connectors[key] = (status.state, status.retries)
            what = f"{status.role.capitalize()} {status.name}"
            said = ""
            if status.state == "failed" and before != "failed":
                said = f"{what} failed: {status.last_error}"
            elif status.state == "retrying" and before != "retrying":
                said = f"{what} tries again: {status.last_error}"
            elif status.state == "connected" and before in ("retrying", "failed"):
                said = f"{what} works again"
            elif status.state == "connected" and status.retries > retries:
                said = f"{what} had to try again: {status.last_error}"
            elif status.state == "ended" and before != "ended":
                said = f"{what} has nothing more"
            if said:
                self.events.note("connector", said, status.role, status.name)


def _together(drops: Iterable[Mapping[str, Any]]) -> _How:
    """Several drops at one place as one."""
    shares = [(float(drop["keep"]), drop["reason"] == "windows") for drop in drops if drop.get("where") is None]
    where = " or ".join(_short(str(drop["where"])) for drop in drops if drop.get("where") is not None)
    keep, windows = min(shares, default=(None, False))
    return _How(keep, where, windows)


def _short(condition: str) -> str:
    """With numbers that people can read, and no longer than they would."""
    short = re.sub(r"\d+\.\d{4,}", lambda found: f"{float(found[0]):.4g}", condition.replace('"', ""))
    return short if len(short) <= _LONGEST else f"{short[:_LONGEST].rpartition(' ')[0]} …"
