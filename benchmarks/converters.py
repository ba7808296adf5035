"""Converters against what their formats allow at best, over the same bytes, in one run.

    python -m benchmarks.converters [--quick]

Ticks are encoded, and the bytes fed to the decoder in pieces, as they come from a file (1 MiB) or a socket (64 KiB).
Beside it the whole is parsed in one go to the same frame: JSON lines and CSV by Polars, Arrow by pyarrow, fixed-width
records by NumPy. The ratio is the peer's time divided by ours; the goal is at least 0.5 in pieces of 1 MiB. XML and
Avro, which go record by record, are shown beside Python's own parsers of them, which make no frame.
"""

from __future__ import annotations

import argparse
import io
import time
import xml.etree.ElementTree
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import fastavro
import numpy as np
import polars as pl
import pyarrow.ipc as ipc
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from aurora.connectors.converters.base import Converter
from aurora.connectors.converters.registry import converter
from aurora.model.schema import Schema
from benchmarks.ticks import ticks

GOAL = 0.5
PIECES = {"1 MiB": 1 << 20, "64 KiB": 64 << 10}
SCHEMA = Schema.of(ticker="string", price="double", volume="int", ts="timestamp")
RECORD = np.dtype([("ticker", "S4"), ("price", ">f8"), ("volume", ">i8"), ("ts", ">i8")])
STAMP = pl.Datetime("us", "UTC")
REPEATS = 5

Peer = Callable[[bytes], object]


@dataclass(frozen=True)
class Case:
    name: str
    format: str
    peer: Peer
    options: dict[str, Any] = field(default_factory=dict)
    goal: float | None = GOAL


def json_peer(data: bytes) -> pl.DataFrame:
    plain = {"ticker": pl.String, "price": pl.Float64, "volume": pl.Int64, "ts": pl.String}
    return stamped(pl.read_ndjson(data, schema=plain))


def array_peer(data: bytes) -> pl.DataFrame:
    return stamped(pl.read_json(data))


def csv_peer(data: bytes) -> pl.DataFrame:
    return stamped(pl.read_csv(data, schema_overrides={"ts": pl.String}))


def stamped(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("ts").str.to_datetime("%Y-%m-%dT%H:%M:%S%.fZ", time_unit="us", time_zone="UTC"))


def binary_peer(data: bytes) -> pl.DataFrame:
    records = np.frombuffer(data, RECORD)
    return pl.DataFrame(
        {
            "ticker": pl.Series(records["ticker"]).cast(pl.String),
            "price": records["price"].astype("=f8"),
            "volume": records["volume"].astype("=i8"),
            "ts": pl.Series(records["ts"].astype("=i8")).cast(STAMP),
        }
    )


def arrow_peer(data: bytes) -> pl.DataFrame:
    return pl.DataFrame(ipc.open_stream(data).read_all())


def xml_peer(data: bytes) -> int:
    return sum(1 for _ in xml.etree.ElementTree.iterparse(io.BytesIO(data)))


def avro_peer(data: bytes) -> int:
    return sum(1 for _ in fastavro.reader(io.BytesIO(data)))


CASES = (
    Case("JSON lines", "json", json_peer),
    Case("JSON array", "json", array_peer, {"form": "array"}, None),
    Case("CSV", "csv", csv_peer),
    Case(
        "fixed width, big-endian",
        "binary",
        binary_peer,
        {"byte_order": "big", "fields": {"ticker": "S4", "price": "f8", "volume": "i8", "ts": "i8"}},
    ),
    Case("Arrow stream", "arrow", arrow_peer, {}, None),
    Case("XML", "xml", xml_peer, {"record": "ticks/tick"}, None),
    Case("Avro file", "avro", avro_peer, {}, None),
)


def decoded(chosen: Converter, data: bytes, piece: int) -> int:
    """How many tuples come out."""
    decoder = chosen.decoder()
    count = sum(decoder.feed(data[at : at + piece]).frame.height for at in range(0, len(data), piece))
    return count + decoder.finish().frame.height


def best_s(work: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        began_s = time.perf_counter()
        work()
        times.append(time.perf_counter() - began_s)
    return min(times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a tenth of the data")
    count = 50_000 if parser.parse_args().quick else 500_000
    frame = ticks(count).select(list(SCHEMA))
    table = Table(title=f"Converters, {count:,} ticks", box=SIMPLE_HEAD)
    for heading in ("format", "MB", "decode, million tuples/s", *PIECES, "encode, million tuples/s"):
        table.add_column(heading, justify="left" if heading == "format" else "right")
    missed = []
    for case in CASES:
        rows = frame if case.goal is not None or case.format == "arrow" else frame.head(count // 5)
        chosen = converter(case.format, SCHEMA, case.options)
        encoder = chosen.encoder()
        pieces = [encoder.encode(piece).data for piece in rows.iter_slices(10_000)]
        data = b"".join([encoder.header(), *pieces, encoder.footer()])
        assert decoded(chosen, data, 1 << 20) == rows.height
        peer_s = best_s(lambda case=case, data=data: case.peer(data), REPEATS)  # type: ignore[misc]
        ours_s = [
            best_s(lambda chosen=chosen, data=data, size=size: decoded(chosen, data, size), REPEATS)  # type: ignore[misc]
            for size in PIECES.values()
        ]
        encode_s = best_s(lambda chosen=chosen, rows=rows: chosen.encode(rows), 3)  # type: ignore[misc]
        ratios = [peer_s / one for one in ours_s]
        if case.goal is not None and ratios[0] < case.goal:
            missed.append(case.name)
        table.add_row(
            case.name,
            f"{len(data) / 1e6:.0f}",
            f"{rows.height / ours_s[0] / 1e6:.2f}",
            *(f"{ratio:.2f}" for ratio in ratios),
            f"{rows.height / encode_s / 1e6:.2f}",
        )
    Console().print(table)
    print(f"goal: at least {GOAL} for JSON lines, CSV and fixed width; " + (f"missed: {missed}" if missed else "met"))
    return bool(missed)


if __name__ == "__main__":
    raise SystemExit(main())
