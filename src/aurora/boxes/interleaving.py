"""Two streams interleaved: in which order rows come, and which row of two completes a pair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aurora.boxes.order import Rows, merged_places
from aurora.model.train import CLOCK, ORDER, Ints

_SPARSE = 8


class Interleaving:
    """The new rows of two sides in arc order, each behind the rows of its side that came before.

    A side's rows are numbered from its oldest on: first ``old`` rows, then the new ones. ``order`` and ``clock`` are
    those of the new rows, by place.
    """

    def __init__(self, sides: Sequence[Rows], old: Sequence[int]) -> None:
        one, other = sides
        self._old = old
        self.places, self.order, self.clock = _by_table(one, other) or merged_places(one, other)
        self._row = np.empty(len(self.order), np.int64)
        self._is_left = np.zeros(len(self.order), np.int64)
        for place, before in zip(self.places, old, strict=True):
            self._row[place] = np.arange(before, before + len(place))
        self._is_left[self.places[0]] = 1
        # A pair is noted as one number, the place of the row that completed it and the number of the other one.
        self._bits = max(before + len(place) for place, before in zip(self.places, old, strict=True)).bit_length()

    def ranks(self, sides: Sequence[Rows]) -> tuple[Ints, Ints, Ints]:
        """The side of each new row and its place on that side's arc, by place here, as ranks."""
        on_arc = np.empty(len(self.order), np.int64)
        for place, rows in zip(self.places, sides, strict=True):
            on_arc[place] = rows.places
        return 1 - self._is_left, on_arc, np.zeros(len(on_arc), np.int64)

    def with_old(self, side: int, new: Ints, partner: Ints) -> Ints:
        """Notes pairs of new rows, counted from the first new one, with rows that were there before."""
        return (self.places[side].take(new) << self._bits) | partner

    def of_fronts(self, first: Sequence[int], left: Ints, right: Ints) -> Ints:
        """Notes pairs of rows counted from the numbers ``first``. Pairs of two old rows are noted as negative."""
        at = []
        for side, rows in enumerate((left, right)):
            known = np.full(self._old[side] - first[side], -1)
            places = np.concatenate((known, self.places[side])) if len(known) else self.places[side]
            at.append(places.take(rows))
        left, right = left + first[0], right + first[1]
        # A choice at random is slow by condition and fast by arithmetic.
        partner = left + (at[0] > at[1]) * (right - left)
        return (np.maximum(*at) << self._bits) | partner

    def ordered(self, notes: Ints) -> tuple[Ints, Ints, Ints]:
        """The pairs in the order in which they come out: rows of the left side, of the right, and completing places."""
        notes = np.sort(notes)
        notes = notes[np.searchsorted(notes, 0) :]
        at = notes >> self._bits
        partner = notes & ((1 << self._bits) - 1)
        own = self._row.take(at)
        change = self._is_left.take(at) * (own - partner)
        return partner + change, own - change, at


def _by_table(one: Rows, other: Rows) -> tuple[tuple[Ints, Ints], Ints, Ints] | None:
    """What ``merged_places`` gives, for numbers that lie close together and occur once; else None."""
    orders = one.hidden(ORDER), other.hidden(ORDER)
    size = len(one) + len(other)
    ends = [end for own in orders if len(own) for end in (int(own[0]), int(own[-1]))]
    if not ends or max(ends) - min(ends) >= _SPARSE * size:
        return None
    low = min(ends)
    offsets = [own - low for own in orders]
    taken = np.zeros(max(ends) - low + 1, bool)
    for own in offsets:
        taken[own] = True
    order = np.flatnonzero(taken)
    if len(order) < size:
        return None
    table = np.empty(len(taken), np.int64)
    table[order] = np.arange(size)
    places = table.take(offsets[0]), table.take(offsets[1])
    clock = np.empty(size, np.int64)
    for place, side in zip(places, (one, other), strict=True):
        clock[place] = side.hidden(CLOCK)
    return places, order + low, clock
