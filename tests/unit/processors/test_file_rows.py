"""Rows that stay in their file until a worker reads them: whoever reads how much, the same tuples come out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from aurora.model.check import typecheck
from aurora.model.document import loads
from aurora.model.train import Progress
from aurora.model.typed import Producer
from aurora.processors.plan import Execution, FileRows
from aurora.processors.steps.processor import InlineRunner, StepProcessor
from aurora.storage.blocks import BlockStore

NETWORK = """
aurora: 1
network: straight
streams: {s: {schema: {k: string, x: int}}}
boxes:
  big: {kind: filter, in: s, where: x > 3}
  runs: {kind: latch, in: s, group_by: k, compute: {n: count(*)}}
outputs: {all: {from: s}, big: {from: big}, runs: {from: runs}}
"""
KEYS = ["a", "b", "a", "c", "b", "a", "d"]


@dataclass(frozen=True)
class File:
    def read(self, start: int, stop: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
        frame = pl.DataFrame({"k": KEYS[start:stop], "x": np.arange(start, stop)})
        return frame if columns is None else frame.select(columns)

    def pieces(self, start: int, stop: int, rows: int) -> list[tuple[int, int]]:
        return [(start, stop)]


@pytest.mark.parametrize("most_readers", [0, 4])
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_outputs_of_a_stream_in_a_file(parts: int, most_readers: int, tmp_path: Path) -> None:
    """One output comes straight from the stream: nobody has a box for it."""
    typed = typecheck(loads(NETWORK))
    blocks = BlockStore(None, str(tmp_path), 0)
    processor = StepProcessor(typed, InlineRunner(parts), blocks, str(tmp_path), most_readers=most_readers)
    outputs: dict[str, list[tuple[object, ...]]] = {name: [] for name in typed.outputs}
    for start, stop in ((0, 4), (4, 7)):
        rows = FileRows(File(), start, stop, start, 0)
        word = Progress(stop - 1, 0, start, np.zeros(stop - start, np.int64), end=stop == len(KEYS))
        (result,) = processor.run([Execution(tuple(typed.order), {Producer("s"): rows}, word)])
        for name, producer in typed.outputs.items():
            if producer in result.trains:
                outputs[name] += result.trains[producer].visible.rows()
    assert outputs["all"] == list(zip(KEYS, range(7), strict=True))
    assert outputs["big"] == [("b", 4), ("a", 5), ("d", 6)]
    assert outputs["runs"] == [("a", 1), ("b", 1), ("a", 2), ("c", 1), ("b", 2), ("a", 3), ("d", 1)]
