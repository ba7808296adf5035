"""Reads a file or a text whole, and keeps what was rejected."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import polars as pl

from aurora.connectors.files import open_source
from aurora.connectors.rejected import Rejected
from aurora.model.schema import Schema


def read(path: Path, schema: Schema, size: int = 1000) -> tuple[pl.DataFrame, list[Rejected]]:
    rejected: list[Rejected] = []
    source = open_source(path, schema, stream="s", on_reject=rejected.append)
    with closing(source):
        frames = list(source.batches(size))
    assert all(frame.schema == schema.to_polars() for frame in frames)
    assert all(0 < frame.height <= size for frame in frames)
    return pl.concat([pl.DataFrame(schema=schema.to_polars()), *frames]), rejected


def read_text(folder: Path, name: str, text: str | bytes, schema: Schema) -> tuple[pl.DataFrame, list[Rejected]]:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(path, schema)
