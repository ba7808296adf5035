"""The ticks as Parquet files that both sides read: Spark's file source, and Aurora's tasks."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

FILE_ROWS = 250_000
"""A micro-batch is a number of whole files, so it can be any multiple of this."""

ROW_GROUP_ROWS = 125_000

_FIRST_FILE_S = 1_700_000_000


@dataclass(frozen=True)
class Inputs:
    """A folder of files per stream; every file but a stream's last has ``file_rows`` rows."""

    ticks: Path
    left: Path
    right: Path
    file_rows: int

    def streams(self, name: str) -> dict[str, Path]:
        """The streams that a query reads."""
        return {"left": self.left, "right": self.right} if name.startswith("Q5") else {"ticks": self.ticks}


def write_inputs(folder: Path, data: pl.DataFrame, file_rows: int = FILE_ROWS) -> Inputs:
    """All ticks; and for the join the even and the odd positions of their first two fifths.

    Spark takes files by their times, and files of one millisecond in any order. So each gets a time of its own.
    """
    part = data.head(data.height * 2 // 5)
    frames = {"ticks": data, "left": part.gather_every(2), "right": part.gather_every(2, 1)}
    for name, frame in frames.items():
        (folder / name).mkdir(parents=True)
        for number, start in enumerate(range(0, frame.height, file_rows)):
            path = folder / name / f"part-{number:05}.parquet"
            table = frame.slice(start, file_rows).to_arrow(compat_level=pl.CompatLevel.oldest())
            pq.write_table(table, path, row_group_size=ROW_GROUP_ROWS)
            os.utime(path, (_FIRST_FILE_S + number, _FIRST_FILE_S + number))
    return Inputs(folder / "ticks", folder / "left", folder / "right", file_rows)
