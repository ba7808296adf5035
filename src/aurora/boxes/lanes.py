"""Tuple windows with gaps: the tuples of a group that follow each other without one missing are a lane.

Windows of tuples are numbered by how many tuples of their group came before. When whole windows are dropped, tuples
that no other window needs are only counted. A window that comes out has all its tuples, so it lies in one lane, and the
windows of a lane can be made as if it were a group. When the next lane begins, those of the lane before are out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from aurora.boxes.groups import grown
from aurora.boxes.segments import position_in_segment, stable_order, starts_of
from aurora.model.train import Ints


@dataclass(frozen=True)
class Laid:
    """Rows in lanes. A group's number is that of the lane it was in before; new lanes are numbered on from there.

    ``starts`` has the number of the first tuple of each new lane, ``owners`` the group of every lane, ``newest`` the
    lane that each group is in now.
    """

    lanes: Ints
    starts: Ints
    owners: Ints
    newest: Ints


class Lanes:
    """How many tuples of each group have been seen, and up to which one the last that was taken went."""

    def __init__(self, seen: Ints) -> None:
        self.seen = seen
        self._reached = seen.copy()

    @property
    def whole(self) -> bool:
        """Whether every group's last tuple was taken, so that the next one follows without a gap."""
        return bool((self.seen == self._reached).all())

    def numbers(self, codes: Ints) -> Ints:
        """Counts rows of these groups: the number of each in its group."""
        groups = int(codes.max(initial=-1)) + 1
        self.seen, self._reached = grown(self.seen, groups, 0), grown(self._reached, groups, 0)
        order = stable_order(codes)
        numbers = np.empty(len(codes), np.int64)
        numbers[order] = position_in_segment(starts_of(codes[order]), len(codes))
        numbers += self.seen[codes]
        self.seen = self.seen + np.bincount(codes, minlength=len(self.seen))
        return numbers

    def lay(self, codes: Ints, numbers: Ints, groups: int) -> Laid:
        """Takes those of the rows that are needed."""
        order = stable_order(codes)
        laid_codes, laid_numbers = codes[order], numbers[order]
        starts = starts_of(laid_codes)
        follows = np.concatenate(([0], laid_numbers[:-1] + 1)) if len(codes) else numbers
        follows[starts] = self._reached[laid_codes[starts]]
        begins = laid_numbers != follows
        begun = np.cumsum(begins)
        before = np.repeat(begun[starts] - begins[starts], np.diff(starts, append=len(codes)))
        lanes = np.empty(len(codes), np.int64)
        lanes[order] = np.where(begun > before, groups + begun - 1, laid_codes)
        owners = laid_codes[begins]
        newest = np.arange(groups)
        newest[owners] = groups + np.arange(len(owners))
        ends = np.append(starts[1:], len(codes)) - 1 if len(codes) else starts
        self._reached[laid_codes[starts]] = laid_numbers[ends] + 1
        return Laid(lanes, laid_numbers[begins], np.concatenate((np.arange(groups), owners)), newest)

    def state(self) -> pl.DataFrame:
        return pl.DataFrame({"seen": self.seen, "reached": self._reached})

    @classmethod
    def from_state(cls, state: pl.DataFrame) -> Lanes:
        lanes = cls(state.get_column("seen").to_numpy().copy())
        lanes._reached = state.get_column("reached").to_numpy().copy()
        return lanes
