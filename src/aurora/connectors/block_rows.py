"""Blocks that others have written, as rows that whoever runs the boxes reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import polars as pl

from aurora.connectors.row_groups import cut_at
from aurora.storage.blocks import Block, read_block


@dataclass(frozen=True)
class BlockRows:
    """The rows of some blocks, one block after the other; at least one row."""

    blocks: tuple[Block, ...]

    def __len__(self) -> int:
        return sum(block.rows for block in self.blocks)

    def read(self, start: int, stop: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
        frames = [frame if columns is None else frame.select(columns) for frame in self._cuts(start, stop)]
        return frames[0] if len(frames) == 1 else pl.concat(frames)

    def pieces(self, start: int, stop: int, rows: int) -> Iterator[tuple[int, int]]:
        """These rows in pieces of about so many, cut where blocks end."""
        return cut_at([0, *accumulate(block.rows for block in self.blocks)], start, stop, rows)

    def column(self, name: str, start: int, stop: int) -> pl.Series:
        return pl.concat([frame.get_column(name) for frame in self._cuts(start, stop)])

    def _cuts(self, start: int, stop: int) -> Iterator[pl.DataFrame]:
        at = 0
        for block in self.blocks:
            first, last = max(start - at, 0), min(stop - at, block.rows)
            if first < last:
                yield read_block(block)[first:last]
            at += block.rows
