"""Files that are read once, followed through rotation and cutting, or replayed at their pace."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from aurora.clock import ManualClock
from aurora.connectors.converters.registry import converter
from aurora.connectors.live.failures import HopelessError
from aurora.connectors.live.inlet import Inlet
from aurora.connectors.sources.files import ConvertedFile, Tail, WholeFile
from aurora.connectors.sources.replay import ReplaySource
from aurora.model.schema import Schema
from aurora.model.source_kinds import ReplaySource as DeclaredReplay
from tests.unit.connectors.live.stand_ins import CountedHalt, Recorder, inlet

SCHEMA = Schema.of(x="int")
JSON = converter("json", SCHEMA)


def _lines(*numbers: int) -> bytes:
    return b"".join(json.dumps({"x": number}).encode() + b"\n" for number in numbers)


def _append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def _tailed(path: Path, events: list[Callable[[], None]], **given: bool) -> tuple[list[int], Inlet]:
    """What is read of a file while these things happen to it, one at each look that finds nothing."""
    clock, target = ManualClock(), Recorder()

    def happen(wait: int) -> None:
        if wait <= len(events):
            events[wait - 1]()

    way = inlet(target, CountedHalt(clock, len(events) + 3, happen), clock)
    Tail(path, JSON, 0.2, **given).run(way)
    return [int(str(row[0])) for row in target.rows], way


def test_a_growing_file_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(_lines(1, 2) + b'{"x":')
    read, way = _tailed(path, [lambda: _append(path, b" 3}\n"), lambda: _append(path, b"no\n" + _lines(4))])
    assert read == [1, 2, 3, 4]
    assert (way.meter.status().rejected, way.meter.rejections[0].text) == (1, "no")
    assert way.meter.status().bytes == path.stat().st_size


def test_it_may_begin_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(_lines(1, 2))
    assert _tailed(path, [lambda: _append(path, _lines(3))], from_end=True)[0] == [3]


def test_rotation_loses_nothing(tmp_path: Path) -> None:
    path, old = tmp_path / "a.jsonl", tmp_path / "a.jsonl.1"
    path.write_bytes(_lines(1))

    def rotate() -> None:
        _append(path, _lines(2) + b'{"x": 3}')  # the last line is not even complete
        os.rename(path, old)
        path.write_bytes(_lines(4))

    assert _tailed(path, [rotate, lambda: _append(path, _lines(5))])[0] == [1, 2, 3, 4, 5]


def test_a_file_that_is_away_for_a_while_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(_lines(1))
    events: list[Callable[[], None]] = [path.unlink, lambda: None, lambda: _append(path, _lines(2))]
    assert _tailed(path, events)[0] == [1, 2]


def test_a_file_that_was_cut_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(_lines(1, 2, 3))
    assert _tailed(path, [lambda: os.truncate(path, 0), lambda: _append(path, _lines(4))])[0] == [1, 2, 3, 4]


def test_a_file_that_is_not_there_yet_is_a_failure_that_passes(tmp_path: Path) -> None:
    clock = ManualClock()
    with pytest.raises(FileNotFoundError):
        Tail(tmp_path / "none", JSON, 0.2).run(inlet(Recorder(), CountedHalt(clock, 1), clock))
    with pytest.raises(FileNotFoundError):
        WholeFile(tmp_path / "none.csv", SCHEMA).run(inlet(Recorder(), CountedHalt(clock, 1), clock))


def test_a_whole_file_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x\n1\noops\n2\n")
    for source in (WholeFile(path, SCHEMA), ConvertedFile(path, converter("csv", SCHEMA))):
        clock, target = ManualClock(), Recorder()
        way = inlet(target, CountedHalt(clock, 1), clock)
        source.run(way)
        assert target.rows == [(1,), (2,)]
        assert (way.meter.status().rejected, way.meter.status().bytes) == (1, path.stat().st_size)


def test_a_file_of_something_else_is_not_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("y\n1\n")
    clock = ManualClock()
    for source in (WholeFile(path, SCHEMA), ConvertedFile(path, converter("csv", SCHEMA))):
        with pytest.raises(HopelessError, match="x"):
            source.run(inlet(Recorder(), CountedHalt(clock, 1), clock))


def _replayed(path: Path, waits: int, speed: float, *, repeat: bool = False) -> list[tuple[float, int]]:
    """When each tuple came, in seconds."""
    clock = ManualClock(7_000_000)
    came: list[tuple[float, int]] = []

    class Noting(Recorder):
        def enqueue(self, stream: str, table: object) -> None:
            seconds = clock.now_us() / 1e6 - 7
            came.extend((round(seconds, 3), int(row[1])) for row in table.rows())  # type: ignore[attr-defined]

    declared = DeclaredReplay(name="it", into="s", path=str(path), time="t", speed=speed, repeat=repeat)
    source = ReplaySource(declared, path, Schema.of(t="double", x="int"))
    source.run(inlet(Noting(), CountedHalt(clock, waits), clock))
    return came


def test_a_recording_keeps_its_pace(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("t,x\n100,1\n100.5,2\n100.25,3\n102,4\n,5\n103,6\n")
    once = [(0.0, 1), (0.5, 2), (0.5, 3), (2.0, 4), (2.0, 5), (3.0, 6)]
    assert _replayed(path, 1000, 1) == once
    assert _replayed(path, 1000, 10) == [(round(at / 10, 3), x) for at, x in once]


def test_a_recording_can_begin_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("t,x\n5,1\n6,2\n")
    came = _replayed(path, 35, 1, repeat=True)
    assert came == [(0.0, 1), (1.0, 2), (1.0, 1), (2.0, 2), (2.0, 1), (3.0, 2), (3.0, 1)]


@pytest.mark.parametrize("kind", ["extension", "format", "replay"])
def test_a_file_on_which_a_library_panics_has_failed_and_does_not_begin_again(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(_lines(1, 2))

    def panic(*_given: object) -> None:
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr(Recorder, "enqueue", panic)
    clock = ManualClock()
    declared = DeclaredReplay(name="it", into="s", path=str(path), time="x")
    source = {
        "extension": WholeFile(path, SCHEMA),
        "format": ConvertedFile(path, JSON),
        "replay": ReplaySource(declared, path, SCHEMA),
    }[kind]
    with pytest.raises(HopelessError, match="cannot be read any further: index out of bounds"):
        source.run(inlet(Recorder(), CountedHalt(clock, 10), clock))
