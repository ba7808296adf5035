"""Which windows of a box come out while rules come and go.

A window that has got tuples, or has missed some, stays under the rule under which it was opened. So every rule has,
for each group, the number of the first window it is for. Rules are forgotten when their windows are closed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from aurora.boxes.grid import NEVER
from aurora.boxes.groups import grown
from aurora.boxes.thinned import Bools, WholeWindows
from aurora.model.train import Ints

_MOST_RULES = 16
_SPARSE = 4
"""Windows that are spread over more than so many times the rows are looked at one by one, not through a table."""


@dataclass(frozen=True)
class _Term:
    """The windows from ``first`` on, by group, until the next term's; None as a rule keeps all."""

    rule: WholeWindows | None
    first: Ints

    def first_of(self, codes: Ints) -> Ints:
        return grown(self.first, int(codes.max(initial=-1)) + 1, NEVER)[codes]

    def kept(self, windows: Ints, overlap: int) -> Bools:
        return np.ones(len(windows), bool) if self.rule is None else self.rule.kept(windows, overlap)


class Selection:
    """``overlap`` is the number of windows that a tuple is in.

    With ``shared`` all groups come to their windows together, so that they need not be told apart. With ``spread``
    every group counts its windows by itself. Then groups that have few windows each would all lose the same ones, so
    every group is shifted by a number of its own.
    """

    def __init__(self, overlap: int, *, shared: bool, spread: bool) -> None:
        self._overlap = overlap
        self.shared = shared
        self._spread = spread
        self._shifts = np.empty(0, np.int64)
        self._terms = [_Term(None, np.empty(0, np.int64))]

    @property
    def idle(self) -> bool:
        """Whether all windows are kept."""
        return len(self._terms) == 1 and self._terms[0].rule is None

    def change(self, rule: WholeWindows | None, opened: Ints) -> None:
        """Another rule for the windows beyond the last one of each group that tuples may have been in."""
        if rule == self._terms[-1].rule:
            return
        self._terms.append(_Term(rule, opened + 1))
        self._tidy(np.full(len(opened), NEVER))
        while len(self._terms) > _MOST_RULES and self._merge():
            pass

    def _merge(self) -> bool:
        """The oldest two terms as one, with the smaller share: what it keeps, both have kept."""
        one, two = self._terms[:2]
        if one.rule is None or two.rule is None:
            self._terms[:2] = [replace(one, rule=one.rule or two.rule)]
        elif replace(one.rule, keep=two.rule.keep) == two.rule:
            self._terms[:2] = [replace(one, rule=replace(two.rule, keep=min(one.rule.keep, two.rule.keep)))]
        else:
            return False
        return True

    def close(self, closed: Ints) -> None:
        """The windows up to these, by group, will not be asked about again."""
        if len(self._terms) > 1:
            self._tidy(closed)

    def _tidy(self, closed: Ints) -> None:
        """Forgets terms that have no windows any more."""
        terms = self._terms[-1:]
        for term, following in zip(self._terms[-2::-1], self._terms[:0:-1], strict=True):
            groups = len(following.first)
            over = np.maximum(grown(term.first, groups, NEVER)[:groups], grown(closed, groups, NEVER)[:groups] + 1)
            if bool((following.first > over).any()):
                terms.insert(0, term)
        self._terms = [replace(terms[0], first=np.empty(0, np.int64)), *terms[1:]]

    @property
    def alike(self) -> bool:
        """Whether the same windows are kept in all groups."""
        return self.shared or (len(self._terms) == 1 and not self._spread)

    def place(self, keys: pl.DataFrame) -> None:
        """Shifts groups that have come since; ``keys`` has the values of all groups."""
        if self._spread and keys.height > len(self._shifts):
            new = keys.slice(len(self._shifts)).hash_rows(seed=1)
            self._shifts = np.concatenate((self._shifts, (new.to_numpy() >> np.uint64(52)).astype(np.int64)))

    def _shifted(self, windows: Ints, codes: Ints) -> Ints:
        return windows + self._shifts[codes] if len(self._shifts) else windows

    def kept(self, windows: Ints, codes: Ints) -> Bools:
        """Which windows of these groups come out."""
        if self.shared:
            codes = np.zeros(len(codes), np.int64)
        shifted = self._shifted(windows, codes)
        kept = np.empty(len(windows), bool)
        left = np.arange(len(windows))
        for number in range(len(self._terms) - 1, -1, -1):
            term = self._terms[number]
            inside = left[windows[left] >= term.first_of(codes[left])] if number else left
            kept[inside] = term.kept(shifted[inside], self._overlap)
            if len(inside) == len(left):
                break
            left = left[windows[left] < term.first_of(codes[left])]
        return kept

    def needed(self, first: Ints, last: Ints, codes: Ints) -> Bools:
        """Which tuples are in a window that comes out, given the first and the last window of each.

        Tuples that are in no window at all are none that a rule drops.
        """
        found = first > last
        if not len(first):
            return found
        if self.shared:
            codes = np.zeros(len(codes), np.int64)
        shift = self._shifted(np.zeros(len(first), np.int64), codes)
        start = int((first + shift).min())
        width = int((last + shift).max()) - start + 1
        if width > _SPARSE * len(first) + 4_096:
            return found | self._needed_singly(first, last, codes)
        end = last
        for number in range(len(self._terms) - 1, -1, -1):
            term = self._terms[number]
            begin = np.maximum(first, term.first_of(codes)) if number else first
            # How many of the first windows are kept: of those from one to another, as many as the counts differ by.
            tally = np.concatenate(([0], np.cumsum(term.kept(np.arange(start, start + width), self._overlap))))
            there = begin <= end
            shifted = shift - start
            found |= there & (tally[np.where(there, end + 1 + shifted, 0)] > tally[np.where(there, begin + shifted, 0)])
            end = np.minimum(end, begin - 1)
            if not bool((first <= end).any()):
                break
        return found

    def _needed_singly(self, first: Ints, last: Ints, codes: Ints) -> Bools:
        found = np.zeros(len(first), bool)
        for step in range(int((last - first).max()) + 1):
            window = np.minimum(first + step, last)
            found |= self.kept(window, codes)
        return found

    def state(self) -> dict[str, pl.DataFrame]:
        rules = [term.rule for term in self._terms]
        terms = {
            "keep": [None if rule is None else rule.keep for rule in rules],
            "seed": [None if rule is None else rule.seed for rule in rules],
            "max_gap": [None if rule is None else rule.max_gap for rule in rules],
            "first": [term.first.tolist() for term in self._terms],
        }
        types: dict[str, pl.DataType | type[pl.DataType]] = {
            "keep": pl.Float64,
            "seed": pl.Int64,
            "max_gap": pl.Int64,
            "first": pl.List(pl.Int64),
        }
        return {"terms": pl.DataFrame(terms, schema=types), "shifts": pl.DataFrame({"shift": self._shifts})}

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        self._terms = [
            _Term(None if keep is None else WholeWindows(keep, seed, max_gap), np.array(first, np.int64))
            for keep, seed, max_gap, first in state["terms"].iter_rows()
        ]
        self._shifts = state["shifts"].get_column("shift").to_numpy().copy()
