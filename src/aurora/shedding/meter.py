"""What observations say together: how much work is asked for, and how far profiles are from the truth.

Profiles say what the offered tuples would cost; how busy the engine was says what those it took did cost. Both are
rates of work, so their quotient corrects the profiles. It matters: costs are measured on what drops let through, and
selectivities behind a drop by value are not those before it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import fsum
from statistics import median_low

from aurora.model.typed import Producer, TypedNetwork
from aurora.shedding.load import load_coefficients
from aurora.shedding.observation import Observation

WINDOW_S = 1.0
"""How far back anything is looked at."""

_REFRESH_US = 1_000_000
"""Coefficients change slowly; to derive them from profiles is most of what a note costs."""

_FEWEST = 3
"""One or two observations may have caught the same burst."""

_LEAST_DONE = 0.05
"""With less work than this share of the capacity, nothing is learnt about costs."""

_TELLING = 0.75
"""With less than this share, not that they are higher: while there is time left trains are short, and a tuple bears
more of what a call costs. That ends when more comes."""

_MEMORY_S = 2.0
_SAME = 0.1
_NOISIEST = 0.4
"""How far back a smooth mean reaches, and by which shares values differ at least and at most for noise."""

_FARTHEST = 8.0
"""By which factor profiles may be wrong at most. Beyond it something else is."""


@dataclass(frozen=True)
class _Sample:
    """What was seen between two observations. Work is by profiles but for ``done_s``; the work that was taken lies
    between ``least_s`` and ``most_s``.
    """

    now_us: int
    length_s: float
    offered_s: float
    least_s: float
    most_s: float
    done_s: float
    backlog_s: float


class Meter:
    """Keeps the observations of the last second or so; a longer pause leaves only the newest."""

    def __init__(self, typed: TypedNetwork) -> None:
        self._typed = typed
        self._samples: deque[_Sample] = deque()
        self._coefficients: dict[str, float] = {}
        self._refreshed_us: int | None = None
        self._before: Observation | None = None
        self.scale = 1.0

    def note(self, seen: Observation, kept: float) -> None:
        """``kept`` is the share of the load that the drops in force left since the last observation."""
        if self._refreshed_us is None or seen.now_us - self._refreshed_us >= _REFRESH_US:
            found = load_coefficients(self._typed, seen.profiles)
            self._coefficients = {name: found[Producer(name)] for name in self._typed.network.streams}
            self._refreshed_us = seen.now_us
        before, self._before = self._before, seen
        if before is None or seen.now_us <= before.now_us:
            return
        length_s = (seen.now_us - before.now_us) / 1e6
        offered_s = length_s * self.load(seen)
        # Of what waits nobody knows whether it has passed the drops already, or will be thinned when it is taken.
        grown_s = seen.backlog_s - before.backlog_s
        least_s, most_s = sorted((kept * (offered_s - grown_s), kept * offered_s - grown_s))
        done_s = length_s * seen.busy * seen.capacity
        self._samples.append(_Sample(seen.now_us, length_s, offered_s, least_s, most_s, done_s, seen.backlog_s))
        while len(self._samples) > 1 and seen.now_us - self._samples[1].now_us >= 1e6 * WINDOW_S:
            self._samples.popleft()
        self._learn(seen.capacity)

    def load(self, seen: Observation) -> float:
        """The work that the offered tuples would make in a second, by profiles."""
        return fsum(rate * self._coefficients.get(name, 0.0) for name, rate in seen.offered_per_s.items())

    def demand(self, over_s: float) -> float:
        """The work that was asked for in a second, in the mean over some time, corrected; 0 asks for the newest."""
        samples = self._last(over_s) if over_s else [*self._samples][-1:]
        length_s = fsum(sample.length_s for sample in samples)
        return self.scale * fsum(sample.offered_s for sample in samples) / length_s if length_s else 0.0

    def exceeding(self, over_s: float, capacity: float) -> float:
        """For which share of some time more was asked for than that; 0 unless it still is."""
        samples = self._last(over_s)
        above_s = [sample.length_s for sample in samples if self.scale * sample.offered_s > capacity * sample.length_s]
        newest = samples[:1]
        if not newest or self.scale * newest[0].offered_s <= capacity * newest[0].length_s:
            return 0.0
        return fsum(above_s) / fsum(sample.length_s for sample in samples)

    def _last(self, over_s: float) -> list[_Sample]:
        """The newest first."""
        found: list[_Sample] = []
        length_s = 0.0
        for sample in reversed(self._samples):
            found.append(sample)
            length_s += sample.length_s
            if length_s >= over_s * 0.99 and len(found) >= _FEWEST:
                break
        return found

    def covers(self, over_s: float) -> bool:
        """Whether there are observations enough to speak of this time."""
        return len(self._samples) >= _FEWEST and fsum(sample.length_s for sample in self._samples) >= over_s * 0.99

    def growth(self, over_s: float) -> float:
        """How much work per second has been added to what waits, corrected."""
        if not self._samples:
            return 0.0
        last = self._samples[-1]
        for sample in reversed(self._samples):
            if last.now_us - sample.now_us >= over_s * 0.99e6:
                return self.scale * (last.backlog_s - sample.backlog_s) * 1e6 / (last.now_us - sample.now_us)
        return 0.0

    def _learn(self, capacity: float) -> None:
        """Goes to the middle one of what the samples say: in a pause all seems dear, but a pause is one sample."""
        lows, highs = [], []
        for sample in self._samples:
            all_s = capacity * sample.length_s
            if min(sample.most_s, sample.done_s) > _LEAST_DONE * all_s:
                low = sample.done_s / sample.most_s
                lows.append(low if sample.done_s >= _TELLING * all_s else min(low, self.scale))
                highs.append(sample.done_s / sample.least_s if sample.least_s > 0 else _FARTHEST)
        if lows:
            within = min(max(self.scale, median_low(lows)), median_low(highs))
            self.scale = min(max(within, 1 / _FARTHEST), _FARTHEST)


class Smooth:
    """A mean over some seconds that lets go of the past when the present is clearly different.

    What differs by no more than values have differed lately, or by some percent, is noise.
    """

    def __init__(self) -> None:
        self._mean: float | None = None
        self._spread = 0.0
        self._at_us = 0

    def next(self, now_us: int, recent: float, newest: float) -> float:
        """``recent`` is a mean over a short time, ``newest`` the latest value in it."""
        if self._mean is None:
            self._mean, self._at_us = recent, now_us
        passed_s = max(0.0, (now_us - self._at_us) / 1e6)
        self._at_us = now_us
        weight = min(1.0, passed_s / _MEMORY_S)
        # From the recent mean, not from the long one: what has moved away from that for good is no noise.
        self._spread += weight * (abs(newest - recent) - self._spread)
        noise = min(max(_SAME * self._mean, self._spread), _NOISIEST * self._mean)
        if abs(recent - self._mean) > noise:
            self._mean = recent
        else:
            self._mean += weight * (recent - self._mean)
        return self._mean
