"""``spark.read`` and ``spark.readStream`` with the format ``aurora``: outputs that were published as logs of blocks.

An offset is a number of tuples. Spark keeps it in the query's checkpoint, and a block never changes; so a query that
is started again reads on with the tuple after the last that it had.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from aurora.connectors.block_log import BlockLog
from aurora.connectors.spark_types import spark_schema
from aurora.errors import InputError

FORMAT = "aurora"
TUPLES = "tuples"
LIMIT = "maxTuplesPerTrigger"
_BATCH_ROWS = 100_000


@dataclass(frozen=True)
class LogRows(InputPartition):
    """Rows of one block: what one task reads."""

    block: str
    start: int
    stop: int


class AuroraDataSource(DataSource):
    """The option ``path`` is the log's address. ``maxTuplesPerTrigger`` bounds the micro-batches of a stream."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        self._path = options.get("path", "")
        self._limit = options.get(LIMIT)
        if not self._path:
            raise InputError(f'the format {FORMAT} needs the address of a log: .option("path", ADDRESS)')
        if self._limit is not None and not (self._limit.isdecimal() and int(self._limit)):
            raise InputError(f"{LIMIT} is {self._limit!r}; give a whole number above 0")

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        return spark_schema(BlockLog(self._path).schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        return _Reader(self._path, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802  (PySpark's name)
        return _StreamReader(self._path, schema, None if self._limit is None else int(self._limit))


class _Blocks:
    """What batch and stream readers share."""

    def __init__(self, path: str, schema: StructType) -> None:
        self._path = path
        self._schema = schema

    def _between(self, start: int, end: int) -> list[LogRows]:
        blocks = [block for block in BlockLog(self._path).blocks() if block.first < end and block.end > start]
        if (blocks[-1].end if blocks else start) < end:
            raise InputError(f"the log {self._path} ends before tuple {end}; it was there: put the log back as it was")
        return [LogRows(b.name, max(start - b.first, 0), min(end - b.first, b.rows)) for b in blocks]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if not isinstance(partition, LogRows):
            return  # Spark makes up a partition where there is none
        table = BlockLog(self._path).read(partition.block, partition.start, partition.stop)
        wanted: pa.Schema = to_arrow_schema(self._schema, timezone="UTC")
        yield from table.select(wanted.names).cast(wanted).to_batches(_BATCH_ROWS)


class _Reader(_Blocks, DataSourceReader):
    def partitions(self) -> Sequence[InputPartition]:
        return self._between(0, BlockLog(self._path).length)


class _StreamReader(_Blocks, DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, path: str, schema: StructType, limit: int | None) -> None:
        super().__init__(path, schema)
        self._limit = limit
        self._target: int | None = None

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._target = BlockLog(self._path).length

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return {TUPLES: 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadAllAvailable() if self._limit is None else ReadMaxRows(self._limit)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        length = BlockLog(self._path).length if self._target is None else self._target
        if isinstance(limit, ReadMaxRows):
            length = min(length, start[TUPLES] + limit.max_rows)
        return {TUPLES: max(length, start[TUPLES])}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        return self._between(start[TUPLES], end[TUPLES])


def register(session: SparkSession) -> None:
    """Lets the session read the format."""
    session.dataSource.register(AuroraDataSource)
