"""What the engine asks of a source and of a sink, and what is done with a source's frames on their way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeAlias

import polars as pl

from aurora.errors import StateError

SinkPosition: TypeAlias = int
"""How far a sink has written: bytes, of its file or of what it has staged. A sink can be resumed from there."""


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

    def position(self, *, durable: bool = False) -> SinkPosition:
        """How far the sink has written; all of it is with the operating system, and if ``durable`` on the disk."""

    def suspend(self) -> None:
        """Stops in the middle: leaves what is there for a later run to continue. A close after it does nothing."""

    def close(self) -> None:
        """Finishes the file; without it a Parquet or Arrow file cannot be read."""


class LazySink:
    """A sink that is opened when the first tuple comes, so that nothing is there if none does."""

    def __init__(self, opened: Callable[[], Sink]) -> None:
        self._open = opened
        self._sink: Sink | None = None

    def write(self, frame: pl.DataFrame) -> None:
        self._sink = self._sink or self._open()
        self._sink.write(frame)

    def position(self, *, durable: bool = False) -> SinkPosition:
        return 0 if self._sink is None else self._sink.position(durable=durable)

    def suspend(self) -> None:
        if self._sink is not None:
            self._sink.suspend()

    def close(self) -> None:
        if self._sink is not None:
            self._sink.close()


class LiveSink:
    """Base of sinks that hand tuples on to somebody who looks at once; a later run does not take them back."""

    def position(self, *, durable: bool = False) -> SinkPosition:
        return 0

    def suspend(self) -> None:
        """Nothing is left for a later run."""

    def close(self) -> None:
        """Nothing is open."""


def after(frames: Iterable[pl.DataFrame], skip: int, name: str, *, unread: int = 0) -> Iterator[pl.DataFrame]:
    """What follows the first ``skip`` tuples, of which ``unread`` are not among the frames.

    An input that has fewer is not the one that was read before.

    >>> [frame["x"].to_list() for frame in after([pl.DataFrame({"x": [1, 2, 3]})], 2, "a.csv")]
    [[3]]
    """
    left = skip - unread
    for frame in frames:
        if left < frame.height:
            yield frame.slice(left) if left else frame
        left = max(0, left - frame.height)
    if left:
        raise StateError(
            f"cannot continue reading {name}: {skip} tuples had been read of it, and now it has only {skip - left}; "
            f"put the file back as it was, or start anew with an empty state folder"
        )


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
