"""Any streaming DataFrame as an input: Spark's tasks write its rows as blocks, and the driver takes the blocks.

The driver sees descriptors only. The blocks of a batch stand in the order of Spark's partitions, and every batch is
taken once: a batch that Spark does again, because it did not come to know that it had been done, is recognised by its
number.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import polars as pl
import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.udf import UserDefinedFunction
from pyspark.util import PythonEvalType

from aurora.connectors.block_rows import BlockRows
from aurora.connectors.frames import table_frame
from aurora.connectors.spark_types import check_fits
from aurora.errors import AuroraError, InputError
from aurora.model.schema import Schema
from aurora.storage.blocks import Block, write_block

BLOCK_ROWS = 1_000_000
"""A partition with more rows becomes several blocks, so that a task never holds more."""

_DESCRIPTOR = "partition int, number int, folder string, name string, rows long, bytes long"
_FIELDS = pa.schema(
    [
        ("partition", pa.int32()),
        ("number", pa.int32()),
        ("folder", pa.string()),
        ("name", pa.string()),
        ("rows", pa.int64()),
        ("bytes", pa.int64()),
    ]
)


@dataclass(frozen=True)
class _Write:
    """What a task does with its partition's rows."""

    folders: tuple[str, ...]
    label: str
    schema: Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        partition = context.partitionId()
        for number, frame in enumerate(self._frames(batches)):
            block = write_block(self.folders, f"{self.label}-{partition}-{number}", frame)
            row = {"partition": partition, "number": number, "folder": block.folder, "name": block.name}
            yield pa.RecordBatch.from_pylist([{**row, "rows": block.rows, "bytes": block.bytes}], schema=_FIELDS)

    def _frames(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pl.DataFrame]:
        held: list[pl.DataFrame] = []
        count = 0
        for batch in batches:
            if not batch.num_rows:
                continue
            held.append(table_frame(batch, self.schema))
            count += batch.num_rows
            if count >= BLOCK_ROWS:
                yield pl.concat(held)
                held, count = [], 0
        if held:
            yield pl.concat(held)


def written_blocks(frame: DataFrame, schema: Schema, folders: tuple[str, ...], label: str) -> list[Block]:
    """Has Spark write a DataFrame's rows; its blocks by partition and by place in it."""
    rows = _map_in_arrow(frame.select(*schema), _Write(folders, label, schema)).collect()
    rows.sort(key=lambda row: (row["partition"], row["number"]))
    return [Block(row["folder"], row["name"], row["rows"], row["bytes"]) for row in rows]


def _map_in_arrow(frame: DataFrame, task: _Write) -> DataFrame:
    """What ``DataFrame.mapInArrow`` does; that insists on pandas, which nobody uses here."""
    # A plain function, because Spark asks for its name.
    called = UserDefinedFunction(
        lambda batches: task(batches), returnType=_DESCRIPTOR, evalType=PythonEvalType.SQL_MAP_ARROW_ITER_UDF
    )
    column = called(*(frame[name] for name in frame.columns))
    return DataFrame(frame._jdf.mapInArrow(column._jc, False, None), frame.sparkSession)


class Taker(Protocol):
    """Who takes batches. Spark numbers them for each query, which is one as long as it keeps its checkpoint."""

    def taken(self, query: str) -> int:
        """The number of the last batch that was taken of a query; -1 before the first."""

    def folders(self) -> tuple[str, ...]:
        """Where blocks go."""

    def take(self, query: str, batch: int, rows: BlockRows | None) -> None:
        """Takes a batch and its number at once; None if it is empty."""


class Feed:
    """A streaming DataFrame that feeds a stream. It runs while ``process_available`` does.

    ``checkpoint`` is where Spark notes how far it has read; without it that is forgotten when the feed is stopped.
    """

    def __init__(self, stream: str, frame: DataFrame, schema: Schema, taker: Taker, checkpoint: str | None) -> None:
        if not frame.isStreaming:
            raise InputError(
                f"the DataFrame for the stream {stream} is not a stream: make it with readStream, or hand over what "
                f'it holds with enqueue("{stream}", frame.toArrow())'
            )
        check_fits(frame.schema, schema, stream)
        self.stream = stream
        self._frame = frame
        self._schema = schema
        self._taker = taker
        self._temporary = None if checkpoint is not None else tempfile.mkdtemp(prefix="aurora-feed-")
        self._checkpoint = checkpoint or self._temporary
        self._rows = 0
        self._error: Exception | None = None
        self._stopped = False

    def process_available(self) -> int:
        """Takes everything that the DataFrame's sources have by now; returns how many tuples that were."""
        if self._stopped:
            raise InputError(f"the feed of {self.stream} has been stopped; make another with engine.feed")
        self._rows, self._error = 0, None
        writer = self._frame.writeStream.foreachBatch(self._take).trigger(availableNow=True)
        query = writer.option("checkpointLocation", self._checkpoint).start()
        try:
            query.awaitTermination()
        except StreamingQueryException as error:
            if self._error is not None:
                raise self._error from None
            reason = str(error).partition("\n")[0]
            raise AuroraError(f"the DataFrame that feeds {self.stream} failed: {reason}") from error
        finally:
            query.stop()
        return self._rows

    def _take(self, frame: DataFrame, batch: int) -> None:
        try:
            query = frame.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId") or ""
            if batch <= self._taker.taken(query):
                return
            blocks = written_blocks(frame, self._schema, self._taker.folders(), f"feed-{self.stream}-{batch}")
            self._taker.take(query, batch, BlockRows(tuple(blocks)) if blocks else None)
            self._rows += sum(block.rows for block in blocks)
        except Exception as error:
            self._error = error
            raise

    def stop(self) -> None:
        """Ends the feed; what it has taken stays."""
        self._stopped = True
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
