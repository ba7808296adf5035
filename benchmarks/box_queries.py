"""The five queries as networks, and how each is run on in-memory trains through the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import polars as pl
from polars.testing import assert_frame_equal

from aurora.connectors.frames import FrameSource
from aurora.connectors.source import LiveSink
from aurora.engine import Run, RunStatistics
from aurora.model import loads, typecheck
from aurora.model.typed import TypedNetwork
from benchmarks import ticks

SCHEMA = "{schema: {ticker: string, price: double, volume: int, ts: timestamp}}"


def _document(boxes: str, streams: str = f"ticks: {SCHEMA}") -> str:
    return (
        f"aurora: 1\nnetwork: bench\nstreams: {{{streams}}}\nboxes:\n{boxes}\noutputs: {{answer: {{from: answer}}}}\n"
    )


def windowed(size: str) -> str:
    """Q3 with windows of this size."""
    return _document(
        "  answer: {kind: aggregate, in: ticks, group_by: [ticker], order_by: ts, slack: 200ms, "
        f"window: {{size: {size}, advance: 10s}}, compute: {{mean: avg(price)}}}}"
    )


@dataclass(frozen=True)
class Query:
    """A query three ways: its network, its answer in Polars, and its name for people."""

    name: str
    title: str
    document: str
    polars: Callable[..., pl.DataFrame]
    keys: tuple[str, ...]
    clock: str | None = None
    inputs: Callable[[pl.DataFrame], dict[str, pl.DataFrame]] = field(default=lambda data: {"ticks": data})

    @cached_property
    def typed(self) -> TypedNetwork:
        return typecheck(loads(self.document, format="yaml"))


def _two_streams(data: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Even and odd positions of the first two fifths."""
    part = data.head(data.height * 2 // 5)
    return {"left": part.gather_every(2), "right": part.gather_every(2, 1)}


QUERIES = [
    Query(
        "Q1",
        "filter and map",
        _document(
            "  dear: {kind: filter, in: ticks, where: price > 50}\n"
            "  answer: {kind: map, in: dear, extend: {notional: price * volume}}"
        ),
        ticks.q1,
        keys=(),
    ),
    Query(
        "Q2",
        "tumbling 1 s",
        _document(
            "  answer: {kind: aggregate, in: ticks, group_by: [ticker], order_by: ts, slack: 200ms, "
            "window: {size: 1s}, compute: {n: count(*), mean: avg(price), top: max(price)}}"
        ),
        ticks.q2,
        keys=("ticker", "ts"),
    ),
    Query("Q3", "60 s every 10 s", windowed("60s"), ticks.q3, keys=("ticker", "ts")),
    Query(
        "Q4",
        "consecutive pairs",
        _document(
            "  answer: {kind: aggregate, in: ticks, group_by: [ticker], order_by: arrival, "
            "window: {size: 2 tuples, advance: 1 tuple}, "
            "compute: {gap: delta(ts), wide: delta(ts) > interval '100' millisecond}}"
        ),
        ticks.q4,
        keys=(),
    ),
    Query(
        "Q5",
        "band join",
        _document(
            "  answer: {kind: join, in: [left, right], on: left.ticker = right.ticker, within: 50ms, "
            "left_order_by: ts, right_order_by: ts, slack: 200ms, compute: {ticker: left.ticker, "
            "left_price: left.price, left_ts: left.ts, right_price: right.price, right_ts: right.ts}}",
            streams=f"left: {SCHEMA}, right: {SCHEMA}",
        ),
        ticks.q5,
        keys=("ticker", "left_ts", "right_ts", "left_price", "right_price"),
        clock="ts",
        inputs=_two_streams,
    ),
]


class MemorySource:
    """A frame, given out in slices that share its memory."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def batches(self, size: int) -> Iterator[pl.DataFrame]:
        for start in range(0, self._frame.height, size):
            yield self._frame.slice(start, size)

    def fraction(self) -> float | None:
        return None

    def close(self) -> None:
        pass


class GeneratedSource:
    """Ticks that are made when they are asked for, so that nothing but the engine's own state can grow."""

    MADE_AT_ONCE = 250_000

    def __init__(self, count: int, every: int, offset: int) -> None:
        self._count = count
        self._every = every
        self._offset = offset

    def batches(self, size: int) -> Iterator[pl.DataFrame]:
        for first in range(0, self._count, self.MADE_AT_ONCE):
            made = ticks.ticks(self.MADE_AT_ONCE, first=first).gather_every(self._every, self._offset)
            for start in range(0, made.height, size):
                yield made.slice(start, size)

    def fraction(self) -> float | None:
        return None

    def close(self) -> None:
        pass


class MemorySink(LiveSink):
    """Keeps the answer, or only counts it."""

    def __init__(self, *, keep: bool = True) -> None:
        self._keep = keep
        self._frames: list[pl.DataFrame] = []
        self.tuples = 0

    def write(self, frame: pl.DataFrame) -> None:
        self.tuples += frame.height
        if self._keep:
            self._frames.append(frame)

    def frame(self) -> pl.DataFrame:
        return pl.concat(self._frames)


def run(query: Query, inputs: Mapping[str, pl.DataFrame], train: int, sink: MemorySink) -> None:
    """The query through the engine, from memory to memory."""
    sources = {name: FrameSource(frame, query.typed.arcs[name].schema) for name, frame in inputs.items()}
    Run(query.typed, sources, {"answer": sink}, train=train, clock=query.clock).to_end()


def resident_memory(name: str, count: int) -> list[float]:
    """Resident memory in MiB after each hundredth of a run over ``count`` generated ticks; no answer is kept."""
    query = next(query for query in QUERIES if query.name == name)
    streams = list(query.typed.network.streams)
    sources = {stream: GeneratedSource(count, len(streams), number) for number, stream in enumerate(streams)}
    samples: list[float] = []

    def after_train(statistics: RunStatistics) -> None:
        done = sum(part.tuples for part in statistics.inputs.values()) / count
        if done * 100 >= len(samples) + 1:
            samples.append(_resident_mib())

    sink = MemorySink(keep=False)
    Run(query.typed, sources, {"answer": sink}, train=10_000, clock=query.clock).to_end(on_epoch=after_train)
    return samples


def _resident_mib() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return float("nan")


def run_polars(query: Query, inputs: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    return query.polars(*inputs.values())


def difference(query: Query, ours: pl.DataFrame, theirs: pl.DataFrame) -> str:
    """What differs between two answers, or an empty string. Without keys, order counts; sums may round otherwise."""
    ours = ours.select(theirs.columns)
    if query.keys:
        ours, theirs = ours.sort(query.keys), theirs.sort(query.keys)
    try:
        assert_frame_equal(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)
    except AssertionError as error:
        return str(error).partition("\n")[0]
    return ""
