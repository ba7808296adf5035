"""The choice of format, cutting into batches, standard input and output, rejected files."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import polars as pl
import pytest

from aurora.connectors import bytes_in
from aurora.connectors.files import open_sink, open_source
from aurora.connectors.rejected import Rejected, RejectedWriter
from aurora.connectors.source import cut
from aurora.errors import InputError
from aurora.model.schema import Schema

N = Schema.of(n="int")


@pytest.mark.parametrize("name", ["a.cvs", "a", "a.txt.gz"])
def test_an_extension_that_names_no_format(name: str) -> None:
    with pytest.raises(InputError, match=r"use one of \.csv"):
        open_source(name, N, stream="s", on_reject=print)


def test_a_sink_in_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot write .*No such file"):
        open_sink(tmp_path / "no" / "a.csv", N)


def test_batches_have_the_asked_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bytes_in, "BLOCK_BYTES", 50)
    (tmp_path / "a.csv").write_text("n\n" + "".join(f"{n}\n" for n in range(100)))
    source = open_source(tmp_path / "a.csv", N, stream="s", on_reject=print)
    heights = []
    shares = []
    for batch in source.batches(30):
        heights.append(batch.height)
        shares.append(source.fraction() or 0.0)
    source.close()
    assert heights == [30, 30, 30, 10]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_an_eager_cut_does_not_wait() -> None:
    frames = [pl.DataFrame({"x": [1, 2, 3]}), pl.DataFrame({"x": [4]})]
    assert [f["x"].to_list() for f in cut(frames, 2, eager=True)] == [[1, 2], [3], [4]]


def test_standard_input_and_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"n\n1\n2\n"))))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    source = open_source("-", N, stream="s", on_reject=print)
    assert source.fraction() is None
    sink = open_sink("-", N)
    for batch in source.batches(10):
        sink.write(batch)
    sink.close()
    written = sys.stdout.buffer
    assert isinstance(written, io.BytesIO)
    assert written.getvalue() == b"n\n1\n2\n"


def test_memory_stays_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only as much of a file is read as the batches taken so far need."""
    monkeypatch.setattr(bytes_in, "BLOCK_BYTES", 1000)
    for name in ("a.csv", "a.jsonl"):
        line = "{}\n" if name.endswith("csv") else '{{"n":{}}}\n'
        (tmp_path / name).write_text("n\n" * name.endswith("csv") + "".join(line.format(n) for n in range(10_000)))
        source = open_source(tmp_path / name, N, stream="s", on_reject=print)
        next(source.batches(10))
        share = source.fraction()
        source.close()
        assert share is not None
        assert share < 0.1


def test_rejected_rows_beside_the_output(tmp_path: Path) -> None:
    (tmp_path / "b.rejected.jsonl").write_text("from an earlier run")
    writer = RejectedWriter(("a", "b"), folder=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1, "the run may yet be refused"
    writer.begin()
    assert list(tmp_path.iterdir()) == []
    writer(Rejected("a", 3, "why", 'te"xt'))
    writer.close()
    assert [p.name for p in tmp_path.iterdir()] == ["a.rejected.jsonl"]
    row = {"stream": "a", "line": 3, "reason": "why", "text": 'te"xt'}
    assert json.loads((tmp_path / "a.rejected.jsonl").read_text()) == row
    assert writer.counts == {"a": 1, "b": 0}


def test_rejected_rows_in_one_file(tmp_path: Path) -> None:
    """Stream by stream, whatever was read first."""
    writer = RejectedWriter(("a", "b"), file=tmp_path / "r.jsonl")
    writer.begin()
    for stream, line in (("b", 1), ("b", 2), ("a", 3), ("b", 4), ("a", 5), ("a", 6)):
        writer(Rejected(stream, line, "", "é" * line))
    writer.close(durable=True)
    rows = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert [(row["stream"], row["line"]) for row in rows] == [
        ("a", 3),
        ("a", 5),
        ("a", 6),
        ("b", 1),
        ("b", 2),
        ("b", 4),
    ]
    assert all(row["text"] == "é" * row["line"] for row in rows)
    assert [path.name for path in tmp_path.iterdir()] == ["r.jsonl"]


def test_rejected_rows_that_are_complete_stay(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text("all of them")
    writer = RejectedWriter(("a", "b"), file=tmp_path / "r.jsonl")
    writer.begin({"a": 7})
    writer(Rejected("b", 1, "", ""))
    writer.close()
    assert (tmp_path / "r.jsonl").read_text() == "all of them"
    assert writer.counts == {"a": 7, "b": 1}
