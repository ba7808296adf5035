"""Files as sources and sinks, chosen by their extension; ``-`` is standard input or output, as CSV."""

from __future__ import annotations

import os
from pathlib import Path

from aurora.connectors.bytes_in import STANDARD
from aurora.connectors.bytes_out import BytesOut, CompressedFile, GrowingFile, StandardOutput
from aurora.connectors.rejected import OnReject
from aurora.connectors.source import Sink, SinkPosition, Source
from aurora.connectors.staging import StagedGzip
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


def open_source(
    path: str | os.PathLike[str], schema: Schema, *, stream: str, on_reject: OnReject, skip: int = 0
) -> Source:
    """The tuples of a file, without the first ``skip``, which an earlier run took.

    What is wrong with the file as a whole is an InputError here, before any tuple is read. Rows among the skipped ones
    that are no tuples are handed to ``on_reject`` again.
    """
    path = os.fspath(path)
    chosen = file_format(path)
    if chosen == "csv":
        from aurora.connectors.csv_files import CsvSource

        return CsvSource(path, schema, stream=stream, on_reject=on_reject, skip=skip)
    if chosen == "json":
        from aurora.connectors.json_lines import JsonSource

        return JsonSource(path, schema, stream=stream, on_reject=on_reject, skip=skip)
    from aurora.connectors.columnar import ColumnarSource

    return ColumnarSource(path, schema, stream=stream, on_reject=on_reject, skip=skip)


def open_sink(
    path: str | os.PathLike[str],
    schema: Schema,
    *,
    resume: SinkPosition | None = None,
    staging: Path | None = None,
) -> Sink:
    """A file to write tuples to, made anew, or cut to the position ``resume`` and continued.

    ``staging`` is a folder for formats that cannot be continued once they are written (``staging.py``); the others
    leave it alone. Give it from the start where a sink is to be resumed.
    """
    path = os.fspath(path)
    chosen = file_format(path)
    if path == STANDARD and (resume is not None or staging is not None):
        raise InputError(
            "a run that can be continued after a crash cannot write to standard output (-), "
            "because what was written there cannot be taken back; name a file"
        )
    if chosen != "columnar":
        return _text_sink(path, chosen, schema, resume, staging)
    from aurora.connectors.columnar_out import ColumnarSink, StagedColumnarSink, StreamSink

    if path.lower().endswith(".arrows"):
        return StreamSink(path, schema, resume)
    if staging is not None:
        return StagedColumnarSink(path, schema, staging, resume)
    _refuse_to_resume(path, resume)
    return ColumnarSink(path, schema)


def _text_sink(path: str, chosen: str, schema: Schema, resume: SinkPosition | None, staging: Path | None) -> Sink:
    from aurora.connectors.converters.csv import csv_header
    from aurora.connectors.csv_files import CsvSink
    from aurora.connectors.json_lines import JsonSink

    head = csv_header(schema) if chosen == "csv" else b""
    out = _bytes_out(path, head, resume, staging)
    return CsvSink(out, schema) if chosen == "csv" else JsonSink(out, schema)


def _bytes_out(path: str, head: bytes, resume: SinkPosition | None, staging: Path | None) -> BytesOut:
    if path == STANDARD:
        return StandardOutput(head)
    if not path.lower().endswith(".gz"):
        return GrowingFile(path, head, resume)
    if staging is not None:
        return StagedGzip(path, staging, head, resume)
    _refuse_to_resume(path, resume)
    return CompressedFile(path, head)


def _refuse_to_resume(path: str, resume: SinkPosition | None) -> None:
    if resume is not None:
        raise InputError(
            f"{path} cannot be continued in place, because its format ends with a footer; give the staging folder "
            f"that the run before used, or write .csv, .jsonl or .arrows"
        )
