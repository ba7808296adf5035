"""Files out: one that grows, or many that take turns."""

from __future__ import annotations

import os
import re
from pathlib import Path

import polars as pl

from aurora.clock import Clock
from aurora.connectors.bytes_out import GrowingFile
from aurora.connectors.converters.base import Converter
from aurora.connectors.files import open_sink
from aurora.connectors.live.failures import HopelessError
from aurora.connectors.source import Sink, SinkPosition
from aurora.errors import InputError, StateError
from aurora.model.schema import Schema
from aurora.model.sink_kinds import Rotation

_LINES = (".csv", ".jsonl", ".ndjson")


class ConvertedSink:
    """A file in a format that the document names. Tuples that the format has no room for are left out."""

    def __init__(self, path: str, converter: Converter) -> None:
        self._encoder = converter.encoder()
        self._file = GrowingFile(path, self._encoder.header())
        self.suspend = self._file.suspend
        self.position = self._file.position

    def write(self, frame: pl.DataFrame) -> None:
        self._file.write(self._encoder.encode(frame).data)

    def close(self) -> None:
        if not self._file.closed:
            self._file.write(self._encoder.footer())
            self._file.close()


class FileSink:
    """``converter`` is None where the extension says the format.

    While a file is written its name begins with a dot, if it takes turns with others: whoever looks for finished ones
    finds no half ones. Without rotation the file has its name from the start, so that people can follow it.
    """

    batch = 100_000
    attempts: int | None = None

    def __init__(
        self, path: Path, schema: Schema, converter: Converter | None, rotation: Rotation | None, clock: Clock
    ) -> None:
        self._path = path
        self._schema = schema
        self._converter = converter
        self._rotation = rotation
        self._clock = clock
        self._sink: Sink | None = None
        self._finished: Path | None = None
        self._begun_us = 0

    def open(self) -> None:
        """A folder that is missing is made; a file appears with its first tuple, and a plain one at once."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if self._rotation is None:
            self._begin_plain()

    def send(self, frame: pl.DataFrame) -> int:
        if self._sink is None:
            self._finished = next_name(self._path)
            self._begin(self._finished.with_name(f".{self._finished.name}"))
        sink = self._writing
        before = sink.position()
        sink.write(frame)
        written = sink.position() - before
        self._turn_over(sink.position())
        # A columnar file holds rows back until a group is full; they are counted as they stand in memory.
        return written or int(frame.estimated_size())

    def idle(self) -> None:
        if self._sink is not None:
            self._turn_over(self._sink.position())

    def close(self) -> None:
        if self._sink is None:
            return
        sink, self._sink = self._sink, None
        sink.close()
        if self._finished is not None:
            os.replace(self._finished.with_name(f".{self._finished.name}"), self._finished)
            self._finished = None

    def _begin_plain(self) -> None:
        """What is there already is never overwritten: lines are added to it, other formats get a file beside it."""
        try:
            length = self._path.stat().st_size
        except FileNotFoundError:
            length = 0
        if not length:
            self._begin(self._path)
        elif self._converter is None and self._path.name.lower().endswith(_LINES):
            self._begin(self._path, length)
        else:
            self._begin(next_name(self._path))

    @property
    def _writing(self) -> Sink:
        assert self._sink is not None
        return self._sink

    def _begin(self, path: Path, resume: SinkPosition | None = None) -> None:
        self._begun_us = self._clock.now_us()
        try:
            if self._converter is not None:
                self._sink = ConvertedSink(str(path), self._converter)
            else:
                self._sink = open_sink(path, self._schema, resume=resume)
        except (InputError, StateError) as error:
            raise HopelessError(str(error)) from error

    def _turn_over(self, position: SinkPosition) -> None:
        rotation = self._rotation
        if rotation is None:
            return
        long = rotation.size is not None and position >= rotation.size
        old = rotation.age is not None and self._clock.now_us() - self._begun_us >= rotation.age.us
        if long or old:
            self.close()


def next_name(path: Path) -> Path:
    """The path with a number behind those of all files that are there.

    >>> next_name(Path("no-such-folder/alarms.parquet")).name
    'alarms-000001.parquet'
    """
    stem, dot, ending = path.name.partition(".")
    pattern = re.compile(rf"\.?{re.escape(stem)}-(\d+){re.escape(dot + ending)}")
    there = [pattern.fullmatch(name) for name in (os.listdir(path.parent) if path.parent.exists() else [])]
    latest = max((int(match[1]) for match in there if match is not None), default=0)
    return path.with_name(f"{stem}-{latest + 1:06}{dot}{ending}")
