"""A histogram of latencies."""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp

import numpy as np

from aurora.model.train import Ints

_SHIFT = 45
_PER_OCTAVE = 1 << 52 - _SHIFT
_FIRST = int(np.array([1.0]).view(np.int64)[0]) >> _SHIFT

_APART = 16
"""Where runs of the same latency have at least so many tuples on average, it is quicker to look for them."""


class Latencies:
    """A histogram of latencies. The leading bits of a number are its bucket, so that quantiles are exact to 1%.

    >>> latencies = Latencies()
    >>> latencies.note(1_000, 99)
    >>> latencies.note(2_000_000, 1)
    >>> round(latencies.quantile(0.5), 5), round(latencies.quantile(0.999), 1), latencies.tuples
    (0.001, 2.0, 100)
    """

    def __init__(self) -> None:
        self._counts = np.zeros(0, np.int64)
        self._sum_us = 0.0

    def note(self, latencies_us: Ints | int, tuples: int) -> None:
        """Notes a latency per tuple, or one for all of them."""
        if not isinstance(latencies_us, int):
            if len(latencies_us) != 1:
                self._note_each(latencies_us)
                return
            latencies_us = int(latencies_us[0])
        self._sum_us += latencies_us * tuples
        self._add(_bucket(latencies_us), tuples)

    def _note_each(self, latencies_us: Ints) -> None:
        """Tuples that came together have the same latency, and are noted together."""
        if not len(latencies_us):
            return
        ends = np.flatnonzero(latencies_us[1:] != latencies_us[:-1])
        if len(ends) < len(latencies_us) // _APART:
            counts = np.diff(ends, prepend=-1, append=len(latencies_us) - 1)
            self._note_counted(latencies_us[np.append(ends, -1)], counts)
        else:
            self._note_counted(latencies_us, None)

    def _note_counted(self, latencies_us: Ints, counts: Ints | None) -> None:
        """Each so often, or once."""
        self._sum_us += float(latencies_us.sum() if counts is None else latencies_us @ counts)
        least_us = int(latencies_us.min())
        first, last = _bucket(least_us), _bucket(int(latencies_us.max()))
        if first == last:
            self._add(first, len(latencies_us) if counts is None else int(counts.sum()))
            return
        above = latencies_us if least_us > 0 else np.maximum(latencies_us, 1)
        buckets = above.astype(np.float64).view(np.int64)
        buckets >>= _SHIFT
        buckets -= _FIRST + first
        self._grow(last)
        found = np.bincount(buckets, counts, minlength=last + 1 - first)
        self._counts[first : last + 1] += found.astype(np.int64, copy=False)

    def _add(self, bucket: int, tuples: int) -> None:
        if bucket >= len(self._counts):
            self._grow(bucket)
        self._counts[bucket] += tuples

    def _grow(self, bucket: int) -> None:
        if bucket >= len(self._counts):
            self._counts = np.append(self._counts, np.zeros(bucket + 1 - len(self._counts), np.int64))

    @property
    def tuples(self) -> int:
        return int(self._counts.sum())

    @property
    def sum_s(self) -> float:
        return self._sum_us / 1e6

    def copy(self) -> Latencies:
        copied = Latencies()
        copied._counts, copied._sum_us = self._counts.copy(), self._sum_us
        return copied

    def since(self, earlier: Latencies) -> Latencies:
        """Those that have been noted since an earlier copy was made; all of them if it is of another run."""
        before = earlier._counts
        grown = self._counts.copy()
        if len(before) > len(grown) or (grown[: len(before)] < before).any():
            return self.copy()
        grown[: len(before)] -= before
        noted = Latencies()
        noted._counts, noted._sum_us = grown, self._sum_us - earlier._sum_us
        return noted

    def to_list(self) -> list[int]:
        return [int(count) for count in self._counts]

    def load(self, counts: Sequence[int]) -> None:
        """Takes over what ``to_list`` gave; the sum is then exact to 1% as well."""
        self._counts = np.array(counts, np.int64)
        self._sum_us = float(sum(count * _middle_us(bucket) for bucket, count in enumerate(counts) if count))

    def quantile(self, q: float) -> float | None:
        """Seconds that the given share of tuples stayed below; None if there was no tuple."""
        return self.quantiles((q,))[0]

    def quantiles(self, shares: Sequence[float]) -> list[float | None]:
        """Several at once, for the work of one."""
        cumulated = np.cumsum(self._counts)
        total = int(cumulated[-1]) if len(cumulated) else 0
        if not total:
            return [None] * len(shares)
        return [_middle_us(int(np.searchsorted(cumulated, q * total))) / 1e6 for q in shares]

    def mean(self) -> float | None:
        """Seconds; None if there was no tuple."""
        total = self.tuples
        return self.sum_s / total if total else None

    def up_to(self, bounds_s: Sequence[float]) -> list[int]:
        """How many tuples had at most each of these latencies, to within 1% of the bound."""
        cumulated = np.concatenate(([0], np.cumsum(self._counts)))
        return [int(cumulated[min(_bucket(round(bound_s * 1e6)) + 1, len(self._counts))]) for bound_s in bounds_s]


def _bucket(latency_us: int) -> int:
    """The same as by the bits; for a single number this is quicker than to ask NumPy for them."""
    mantissa, exponent = frexp(max(latency_us, 1))
    return (exponent - 1) * _PER_OCTAVE + int((2 * mantissa - 1) * _PER_OCTAVE)


def _middle_us(bucket: int) -> float:
    """In microseconds. The first bucket has what took no time."""
    middle = np.array([(bucket + _FIRST << _SHIFT) + (1 << _SHIFT - 1)]).view(np.float64)[0]
    return 0.0 if bucket == 0 else float(middle)
