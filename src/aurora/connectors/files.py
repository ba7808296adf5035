"""Files as sources and sinks, chosen by their extension; ``-`` is standard input or output, as CSV."""

from __future__ import annotations

import os
from pathlib import Path

from aurora.connectors.bytes_in import STANDARD
from aurora.connectors.rejected import OnReject
from aurora.connectors.source import Sink, Source
from aurora.errors import InputError, did_you_mean
from aurora.model.schema import Schema

_FORMATS = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".jsonl": "json",
    ".jsonl.gz": "json",
    ".ndjson": "json",
    ".ndjson.gz": "json",
    ".parquet": "columnar",
    ".arrow": "columnar",
    ".arrows": "columnar",
    ".feather": "columnar",
}


def file_format(path: str) -> str:
    """``csv``, ``json`` or ``columnar``; raises InputError for an extension nobody knows.

    >>> file_format("ticks.csv.gz"), file_format("-")
    ('csv', 'csv')
    """
    if path == STANDARD:
        return "csv"
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    ending = "".join(suffixes[-2:]) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])
    if ending in _FORMATS:
        return _FORMATS[ending]
    hint = did_you_mean(ending, _FORMATS)
    raise InputError(
        f"{path} has {f'the extension {ending}' if ending else 'no extension'}, which names no format; "
        f"use one of {', '.join(_FORMATS)}, or - for CSV on standard input or output" + (f"; {hint}" if hint else "")
    )


def open_source(path: str | os.PathLike[str], schema: Schema, *, stream: str, on_reject: OnReject) -> Source:
    """The tuples of a file. What is wrong with the file as a whole is an InputError here, before any tuple is read."""
    path = os.fspath(path)
    chosen = file_format(path)
    if chosen == "csv":
        from aurora.connectors.csv_files import CsvSource

        return CsvSource(path, schema, stream=stream, on_reject=on_reject)
    if chosen == "json":
        from aurora.connectors.json_lines import JsonSource

        return JsonSource(path, schema, stream=stream, on_reject=on_reject)
    from aurora.connectors.columnar import ColumnarSource

    return ColumnarSource(path, schema, stream=stream, on_reject=on_reject)


def open_sink(path: str | os.PathLike[str], schema: Schema) -> Sink:
    """A file to write tuples to, made anew."""
    path = os.fspath(path)
    chosen = file_format(path)
    if chosen == "csv":
        from aurora.connectors.csv_files import CsvSink

        return CsvSink(path, schema)
    if chosen == "json":
        from aurora.connectors.json_lines import JsonSink

        return JsonSink(path, schema)
    from aurora.connectors.columnar import ColumnarSink

    return ColumnarSink(path, schema)
