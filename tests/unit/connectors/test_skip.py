"""Sources that leave out the first tuples, as after a crash."""

from __future__ import annotations

import gzip
import json
from contextlib import closing
from pathlib import Path
from unittest import mock

import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

from aurora.connectors import bytes_in
from aurora.connectors.files import open_source
from aurora.connectors.rejected import Rejected
from aurora.errors import StateError
from aurora.model.schema import Schema
from unit.connectors.reading import read

SCHEMA = Schema.of(n="int", s="string")
BAD = 2**63 + 5
NUMBERS = [0, 1, BAD, 3, BAD, BAD, 6, 7, 8, BAD]
GROUP_ROWS = 3


def make(folder: Path, name: str, numbers: list[int]) -> Path:
    """A file in which the numbers above 63 bits are no tuples."""
    path = folder / name
    kind = pa.uint64() if max(numbers, default=0) == BAD else pa.int64()
    texts = [f"t{n}" for n in range(len(numbers))]
    table = pa.table({"n": pa.array(numbers, kind), "s": pa.array(texts)})
    if name.endswith(".parquet"):
        pq.write_table(table, path, row_group_size=GROUP_ROWS)
    elif name.endswith(".arrows"):
        with ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=GROUP_ROWS)
    elif name.endswith((".arrow", ".feather")):
        options = ipc.IpcWriteOptions(compression="lz4" if name.endswith(".feather") else None)
        with ipc.new_file(path, table.schema, options=options) as writer:
            writer.write_table(table, max_chunksize=GROUP_ROWS)
    else:
        rows = zip(numbers, texts, strict=True)
        lines = [json.dumps({"n": n, "s": s}) if "jsonl" in name else f"{n},{s}" for n, s in rows]
        data = "".join(f"{line}\n" for line in ([] if "jsonl" in name else ["n,s"]) + lines).encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def skipped(path: Path, skip: int, size: int = 2) -> tuple[pl.DataFrame, list[Rejected], float | None]:
    rejected: list[Rejected] = []
    with closing(open_source(path, SCHEMA, stream="s", on_reject=rejected.append, skip=skip)) as source:
        frames = list(source.batches(size))
        share = source.fraction()
    assert all(frame.height == size for frame in frames[:-1])
    return pl.concat([pl.DataFrame(schema=SCHEMA.to_polars()), *frames]), rejected, share


@pytest.mark.parametrize("numbers", [NUMBERS, list(range(10)), []])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.jsonl", "a.parquet", "a.arrow", "a.arrows", "a.feather"])
def test_every_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, numbers: list[int]) -> None:
    monkeypatch.setattr(bytes_in, "BLOCK_BYTES", 40)
    path = make(tmp_path, name, numbers)
    whole, rejected = read(path, SCHEMA)
    _, _, share_at_end = skipped(path, 0)
    assert whole.height + len(rejected) == len(numbers)
    for skip in range(whole.height + 1):
        rest, rejected_again, share = skipped(path, skip)
        assert rest.equals(whole.slice(skip))
        assert rejected_again == rejected
        assert share == share_at_end
    with pytest.raises(StateError, match=rf"{whole.height + 1} tuples had been read .* now it has only {whole.height}"):
        skipped(path, whole.height + 1)


def test_row_groups_are_passed_over_unread(tmp_path: Path) -> None:
    path = make(tmp_path, "a.parquet", list(range(10)))
    data = bytearray(path.read_bytes())
    column = pq.read_metadata(path).row_group(1).column(0)
    start = column.dictionary_page_offset or column.data_page_offset
    data[start : start + column.total_compressed_size] = bytes(column.total_compressed_size)
    path.write_bytes(data)
    rest, _, share = skipped(path, 7)
    assert rest["n"].to_list() == [7, 8, 9]
    assert share == 1.0
    with pytest.raises(Exception, match=r"check that the file is whole"):
        skipped(path, 5)


def test_record_batches_are_passed_over_unread(tmp_path: Path) -> None:
    path = make(tmp_path, "a.arrow", list(range(10)))
    with closing(open_source(path, SCHEMA, stream="s", on_reject=print, skip=7)) as source:
        assert source.fraction() == 0.6
        genuine = source._reader  # type: ignore[attr-defined]
        reader = mock.Mock(spec=genuine, wraps=genuine, num_record_batches=genuine.num_record_batches)
        with mock.patch.object(source, "_reader", reader):
            assert [frame["n"].to_list() for frame in source.batches(5)] == [[7, 8, 9]]
        assert [call.args for call in reader.get_batch.call_args_list] == [(2,), (3,)]


def test_the_share_goes_on_where_it_was(tmp_path: Path) -> None:
    path = make(tmp_path, "a.parquet", list(range(10)))
    with closing(open_source(path, SCHEMA, stream="s", on_reject=print, skip=6)) as source:
        assert source.fraction() == 0.6
        list(source.batches(1))
        assert source.fraction() == 1.0
