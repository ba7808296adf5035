"""Aggregates under overload: the rules that their kernels obey, and which windows a rule keeps.

Tuples that are dropped before an aggregate at random make its answers wrong. There are two ways out, and the author of
the network chooses with ``shed``. **Whole windows** go: ``WholeWindows`` says which, the aggregate itself drops the
tuples that none of the others needs, and what it still puts out is exact. Or **tuples** go, anywhere upstream and at
random: ``Weighted`` tells the aggregate how many of them came through, and it estimates counts and sums from those.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.model.box import Box
from aurora.model.quantities import Duration, Quantity, Tuples
from aurora.model.train import Ints
from aurora.model.window import Window

Bools = npt.NDArray[np.bool_]

MAX_GAP = 10
"""So many windows in a row may be missing where the author does not say."""
_RUN = 8
"""Sliding windows go in runs of so many times the windows that a tuple is in, where the gap allows it: of a run of R
windows, R less that number plus 1 advances' worth of tuples are in no other window."""
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class WholeWindows:
    """About ``keep`` of the windows come out, the others do not; never are more than ``max_gap`` in a row missing.

    Which ones follows from the seed and the window's number alone. With a smaller share the same windows go, and some
    more; one in ``max_gap`` + 1 stays at any share. So however often the share changes, the gap is never longer.
    """

    keep: float
    seed: int = 0
    max_gap: int = MAX_GAP

    def __post_init__(self) -> None:
        _check_share(self.keep, least=0.0)
        if self.max_gap < 1:
            raise ValueError(f"a gap of {self.max_gap} windows leaves nothing to drop; give 1 or more")

    def kept(self, windows: Ints, overlap: int) -> Bools:
        """Which of the windows with these numbers stay, where a tuple is in ``overlap`` windows."""
        stretch = self.max_gap + 1
        number, place = np.divmod(windows + self.seed % stretch, stretch)
        unit = number * self._units(overlap) + (place - 1) // self._run(overlap)
        # Multiples of the golden ratio: wherever one looks, they are spread evenly.
        spread = unit.astype(np.uint64) * _GOLDEN + np.uint64(self.seed * 0xD1342543DE82EF95 % 2**64)
        chance = (spread >> np.uint64(11)).astype(np.float64) * 2.0**-53
        kept: Bools = (place == 0) | (chance >= (1.0 - self.keep) * stretch / self.max_gap)
        return kept

    def _units(self, overlap: int) -> int:
        """How many runs that go or stay together there are between two windows that always stay."""
        return self.max_gap if overlap == 1 else max(1, self.max_gap // (_RUN * overlap))

    def _run(self, overlap: int) -> int:
        return math.ceil(self.max_gap / self._units(overlap))

    @property
    def share_of_windows(self) -> float:
        """The share that comes out: ``keep``, or what the gap asks for."""
        return max(self.keep, 1.0 / (self.max_gap + 1))

    def share_of_tuples(self, overlap: int) -> float:
        """The share of the tuples that some window needs which comes out: what is left of the aggregate's work.

        >>> rule = WholeWindows(0.5, max_gap=20)
        >>> [round(rule.share_of_tuples(overlap), 2) for overlap in (1, 2, 6, 30)]
        [0.5, 0.52, 0.62, 1.0]
        """
        windows = np.arange(256 * (self.max_gap + 1))
        needed = np.convolve(self.kept(windows, overlap), np.ones(overlap), mode="valid") > 0.5
        return float(needed.mean())


@dataclass(frozen=True)
class Weighted:
    """Of the tuples, ``keep`` have come through random drops upstream: each stands for 1 / ``keep``."""

    keep: float

    def __post_init__(self) -> None:
        _check_share(self.keep, least=1e-9)

    @property
    def weight(self) -> float:
        return 1.0 / self.keep


Rule = WholeWindows | Weighted


def rule_frame(rule: Rule | None, *, weighed: bool) -> pl.DataFrame:
    """A rule as a frame, for a snapshot, and whether aggregates are estimates."""
    whole = isinstance(rule, WholeWindows)
    columns = {
        "keep": [None if rule is None else rule.keep],
        "seed": [rule.seed if isinstance(rule, WholeWindows) else None],
        "max_gap": [rule.max_gap if isinstance(rule, WholeWindows) else None],
        "whole": [whole],
        "weighed": [weighed],
    }
    types = {"keep": pl.Float64, "seed": pl.Int64, "max_gap": pl.Int64, "whole": pl.Boolean, "weighed": pl.Boolean}
    return pl.DataFrame(columns, schema=types)


def rule_of(frame: pl.DataFrame) -> Rule | None:
    keep, seed, max_gap, whole, _ = frame.row(0)
    if keep is None:
        return None
    return WholeWindows(keep, seed, max_gap) if whole else Weighted(keep)


ShedForm = Literal["windows", "tuples", "closed"]


def shed_form(box: Box) -> ShedForm | None:
    """What may go before a box when there is too much.

    ``windows``: nothing at random before it, nor further upstream on the way to it; it obeys ``WholeWindows``.
    ``tuples``: tuples at random; then it is to be told ``Weighted``, with the product of the shares kept on the way.
    ``closed``: nothing, because its answers are about all tuples there ever were, and would be wrong for good.
    None: it is no aggregate, and tuples may go as before any other box.
    """
    if box.kind == "latch":
        return "closed"
    return getattr(box, "shed", None)


def max_gap_of(box: Box) -> int:
    """How many windows in a row an aggregate may leave out."""
    gap: int | None = getattr(box, "max_gap", None)
    return MAX_GAP if gap is None else gap


def entrance_s(box: Box) -> float:
    """About what a tuple still costs an aggregate that drops it, in seconds.

    With slack in time that is a look at its window. Otherwise its group must be found first, since order and lateness
    are a matter of each group; and tuple windows count it.
    """
    window, slack = getattr(box, "window", None), getattr(box, "slack", None)
    if window is None or not window.value_based:
        return 9e-8
    return 4.5e-8 if isinstance(slack, Tuples) else 1.5e-8


def overlap_of(window: Window) -> int:
    """How many windows a tuple is in, at most.

    >>> overlap_of(Window(size="60s", advance="10s")), overlap_of(Window(size=5)), overlap_of(Window(size=5, advance=9))
    (6, 1, 1)
    """
    return max(1, math.ceil(_plain(window.size) / _plain(window.step)))


def _plain(quantity: Quantity) -> float:
    return quantity.n if isinstance(quantity, Tuples) else quantity.us if isinstance(quantity, Duration) else quantity


def _check_share(keep: float, *, least: float) -> None:
    if not least <= keep <= 1.0:
        raise ValueError(f"a share of {keep} was to be kept; give one from {least:g} to 1")
