"""Where the row groups of a Parquet file and the record batches of an Arrow file start, known without reading them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

ARROW_FILE = b"ARROW1"
"""What an Arrow file starts with. A stream, which may have the same extension, does not."""


def parquet_starts(metadata: pq.FileMetaData) -> list[int]:
    """The first row of each row group, from 0, and at the end the number of rows."""
    return [0, *accumulate(metadata.row_group(group).num_rows for group in range(metadata.num_row_groups))]


def arrow_starts(path: str) -> list[int]:
    """The same for the record batches of an Arrow file. The footer does not say, but the batches do."""
    reader = mapped_reader(path, [0])
    return [0, *accumulate(reader.get_batch(place).num_rows for place in range(reader.num_record_batches))]


def mapped_reader(path: str, fields: Sequence[int]) -> ipc.RecordBatchFileReader:
    """An Arrow file mapped into memory, whose batches have at least these fields.

    Batches of a plain file are views of it, and nothing is read before somebody looks. To choose fields would make
    Arrow copy them, so that is done for compressed files only.
    """
    mapped = pa.memory_map(path)
    reader = ipc.open_file(mapped)
    if reader.num_record_batches == 0:
        return reader
    mapped.seek(0)
    whole = mapped.read_buffer()
    buffers = [buffer for column in reader.get_batch(0).columns for buffer in column.buffers() if buffer is not None]
    if all(whole.address <= buffer.address <= whole.address + whole.size for buffer in buffers):
        return reader
    return ipc.open_file(mapped, options=ipc.IpcReadOptions(included_fields=list(fields), use_threads=False))


def cut_at(starts: Sequence[int], start: int, stop: int, rows: int) -> Iterator[tuple[int, int]]:
    """Rows in pieces of about so many: some row groups together, or a part of one that is long.

    >>> list(cut_at([0, 40, 80, 120, 500], 10, 450, 100))
    [(10, 120), (120, 220), (220, 320), (320, 450)]
    """
    most = rows * 3 // 2
    ends = [*starts[bisect_right(starts, start) : bisect_left(starts, stop)], stop]
    for last, end in pairwise([start, *ends]):
        if end - start > most and last > start:
            yield start, last
            start = last
        while end - start > most:
            yield start, start + rows
            start += rows
    yield start, stop
