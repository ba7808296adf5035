"""What the engine asks of a source and of a sink, and the cutting of a source's frames into batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

import polars as pl


class Source(Protocol):
    """Tuples of one stream, in order, typed exactly as the stream's schema."""

    def batches(self, size: int) -> Iterator[pl.DataFrame]:
        """Frames of ``size`` tuples; the last may be shorter, and so may those of a pipe that runs slowly."""

    def fraction(self) -> float | None:
        """The share of the input that has been read, or None where nobody can know."""

    def close(self) -> None: ...


class Sink(Protocol):
    """Takes the tuples of one output, in order."""

    def write(self, frame: pl.DataFrame) -> None: ...

    def close(self) -> None:
        """Finishes the file; without it a Parquet or Arrow file cannot be read."""


def cut(frames: Iterable[pl.DataFrame], size: int, *, eager: bool) -> Iterator[pl.DataFrame]:
    """The same tuples in frames of ``size``. An eager cut does not wait for more to fill a frame.

    >>> frames = [pl.DataFrame({"x": [1, 2, 3]}), pl.DataFrame({"x": [4]})]
    >>> [frame["x"].to_list() for frame in cut(frames, 2, eager=False)]
    [[1, 2], [3, 4]]
    """
    held: list[pl.DataFrame] = []
    count = 0
    for frame in frames:
        held.append(frame)
        count += frame.height
        if count < size and not eager:
            continue
        whole = pl.concat(held) if len(held) > 1 else frame
        end = count if eager else count - count % size
        for start in range(0, end, size):
            yield whole.slice(start, min(size, end - start))
        held = [whole.slice(end)] if end < count else []
        count -= end
    if count:
        yield pl.concat(held)
