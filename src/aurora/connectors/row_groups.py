"""Where the row groups of a Parquet file and the record batches of an Arrow file start, known without reading them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

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
