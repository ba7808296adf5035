"""Aurora as a server against what its parts can do alone, in one run.

    python -m benchmarks.server [--quick] [--only flight,producers,json]

- ``flight``: batches of 10,000 tuples are put, go through one filter, and are got by a live reader, beside a bare
  Flight server in Python that hands the batches of a put to a get. Rounds alternate; the ratio is that of the medians.
- ``producers``: 200 clients, each with a connection of its own, send batches of 10 tuples for a minute, each when the
  last was confirmed. Every tuple must come out once, in its producer's order.
- ``json``: lines of JSON over TCP into a network, beside Polars and pyarrow, which parse the same bytes alone. Rounds
  alternate here too.

Servers run in processes of their own. Exits with 1 if a goal is not met.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.json
from pyarrow import flight
from rich.console import Console

from aurora.connectors.converters.registry import converter
from aurora.model.schema import Schema
from benchmarks.converters import json_peer
from benchmarks.server_sides import KEPT, SCHEMA, TICKS
from benchmarks.ticks import ticks

ROWS = 10_000
PRODUCERS = 200
SMALL = 10
GOAL = 0.5
ECHO = b"echo"
RESULTS = Path(__file__).parent / "results"


@contextmanager
def side(*arguments: str) -> Iterator[tuple[int, Any]]:
    """The port of a server in a process of its own, and its further output."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.server_sides", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline()), process.stdout
    finally:
        process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def connected(port: int) -> Any:
    """A client whose connection nobody shares."""
    return flight.FlightClient(f"grpc://127.0.0.1:{port}", generic_options=[("grpc.use_local_subchannel_pool", 1)])


# Flight


def batch() -> pa.RecordBatch:
    random = np.random.default_rng(1)
    names = pa.array([f"sensor-{at % 50}" for at in range(ROWS)], pa.large_string())
    columns = [pa.array(np.arange(ROWS)), pa.array(random.integers(0, 100, ROWS)), pa.array(random.random(ROWS)), names]
    return pa.record_batch(columns, schema=SCHEMA)


def passed_on(port: int, ticket: bytes, sent: pa.RecordBatch, batches: int, expected: int) -> float:
    """Seconds from the first batch that is put to the last that is got."""
    with connected(port) as putting, connected(port) as getting:

        def put() -> None:
            writer, _ = putting.do_put(flight.FlightDescriptor.for_path("bench", "rows"), SCHEMA)
            with writer:
                for _ in range(batches):
                    writer.write_batch(sent)

        reader = getting.do_get(flight.Ticket(ticket))
        producer = threading.Thread(target=put)
        began_s = time.perf_counter()
        producer.start()
        got = 0
        while got < expected:
            got += reader.read_chunk().data.num_rows
        took_s = time.perf_counter() - began_s
        producer.join()
        if ticket == ECHO:
            reader.read_all()
        else:
            reader.cancel()
    if got != expected:
        raise SystemExit(f"{got:,} tuples came out, and {expected:,} were expected")
    return took_s


def flight_case(quick: bool, console: Console) -> dict[str, Any]:
    sent = batch()
    batches, rounds = (200, 3) if quick else (700, 15)
    kept = int((sent["x"].to_numpy() < KEPT).sum())
    live = json.dumps({"network": "bench", "output": "kept", "when_behind": "hold"}).encode()
    cases = {"echo": (ECHO, ROWS), "aurora": (live, kept)}
    rates: dict[str, list[float]] = {name: [] for name in cases}
    with side("echo") as (echo, _), side("aurora") as (aurora, _):
        ports = {"echo": echo, "aurora": aurora}
        for name, (ticket, rows) in cases.items():
            passed_on(ports[name], ticket, sent, batches // 10, rows * (batches // 10))
        for _ in range(rounds):
            for name, (ticket, rows) in cases.items():
                took_s = passed_on(ports[name], ticket, sent, batches, rows * batches)
                rates[name].append(batches * ROWS / took_s)
    middle = {name: median(found) for name, found in rates.items()}
    ratio = middle["aurora"] / middle["echo"]
    console.print(
        f"flight     {middle['aurora'] / 1e6:.1f} M tuples/s through a filter, {middle['echo'] / 1e6:.1f} M/s by "
        f"a bare echo: ratio {ratio:.2f} (goal {GOAL:g})",
        highlight=False,
    )
    return {
        "tuples_per_s": middle["aurora"],
        "echo_tuples_per_s": middle["echo"],
        "ratio": ratio,
        "rounds": rates,
        "holds": ratio >= GOAL,
    }


# Producers


def producers_case(quick: bool, console: Console) -> dict[str, Any]:
    seconds = 10.0 if quick else 60.0
    schema = pa.schema([("producer", pa.int64()), ("n", pa.int64())])
    sent = [0] * PRODUCERS
    errors: list[str] = []
    waits: list[list[float]] = [[] for _ in range(PRODUCERS)]
    begin = threading.Barrier(PRODUCERS + 1)

    def produce(port: int, own: int) -> None:
        try:
            with connected(port) as client:
                writer, answers = client.do_put(flight.FlightDescriptor.for_path("bench", "numbers"), schema)
                begin.wait(60)
                end_s = time.perf_counter() + seconds
                number = 0
                while (now_s := time.perf_counter()) < end_s:
                    columns = [np.full(SMALL, own), np.arange(number, number + SMALL)]
                    writer.write_with_metadata(pa.record_batch(columns, schema=schema), b"?")
                    number += SMALL
                    taken = json.loads(answers.read().to_pybytes())["taken"]
                    if taken != number:
                        errors.append(f"producer {own} sent {number}, and {taken} were taken")
                    waits[own].append(time.perf_counter() - now_s)
                writer.close()
                sent[own] = number
        except Exception as error:
            errors.append(f"producer {own}: {error}")
            begin.abort()

    frames: list[pl.DataFrame] = []
    with side("aurora") as (port, _), connected(port) as getting:
        ticket = {"network": "bench", "output": "all", "when_behind": "hold"}
        reader = getting.do_get(flight.Ticket(json.dumps(ticket)))
        threads = [threading.Thread(target=produce, args=(port, own)) for own in range(PRODUCERS)]
        reading = threading.Thread(target=_read, args=(reader, frames), daemon=True)
        reading.start()
        for thread in threads:
            thread.start()
        begin.wait(60)
        for thread in threads:
            thread.join()
        total = sum(sent)
        until_s = time.perf_counter() + 20
        while sum(frame.height for frame in list(frames)) < total and time.perf_counter() < until_s:
            time.sleep(0.05)
        reader.cancel()
        reading.join(5)
    wrong = out_of_place(
        pl.concat(frames) if frames else pl.DataFrame(schema={"producer": pl.Int64, "n": pl.Int64}), sent
    )
    taken_s = np.sort(np.concatenate([np.array(own) for own in waits]))
    p50_ms, p99_ms = (float(taken_s[int(len(taken_s) * share)] * 1e3) for share in (0.5, 0.99))
    console.print(
        f"producers  {PRODUCERS} for {seconds:.0f} s: {total:,} tuples in {total // SMALL:,} batches "
        f"({total / SMALL / seconds:,.0f}/s), {wrong} producers with lost or misplaced tuples, {len(errors)} errors; "
        f"confirmed in {p50_ms:.0f} ms (p99 {p99_ms:.0f} ms)",
        highlight=False,
    )
    for error in errors[:5]:
        console.print(f"  {error}", highlight=False)
    return {
        "producers": PRODUCERS,
        "seconds": seconds,
        "tuples": total,
        "batches_per_s": total / SMALL / seconds,
        "confirmed_p50_ms": p50_ms,
        "confirmed_p99_ms": p99_ms,
        "wrong": wrong,
        "errors": len(errors),
        "holds": not wrong and not errors,
    }


def _read(reader: Any, frames: list[pl.DataFrame]) -> None:
    try:
        for chunk in reader:
            frames.append(pl.DataFrame(chunk.data))
    except flight.FlightCancelledError:
        pass


def out_of_place(found: pl.DataFrame, sent: list[int]) -> int:
    """How many producers' numbers are not exactly those that they sent, in order."""
    by_producer = {key[0]: frame["n"].to_numpy() for key, frame in found.group_by("producer", maintain_order=True)}
    nothing = np.empty(0, dtype=np.int64)
    return sum(not np.array_equal(by_producer.get(own, nothing), np.arange(count)) for own, count in enumerate(sent))


# JSON lines


def json_case(quick: bool, console: Console) -> dict[str, Any]:
    count = 200_000 if quick else 1_000_000
    frame = ticks(count).select(list(TICKS))
    data = converter("json", Schema.of(**TICKS)).encode(frame).data
    rounds = 3 if quick else 9
    with side("json", str(count)) as (port, said):

        def feed() -> None:
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(data)
            if said.readline().strip() != "done":
                raise SystemExit("the server has ended before all tuples came out")

        works = (feed, lambda: json_peer(data), lambda: pyarrow.json.read_json(io.BytesIO(data)))
        took_s = [[_seconds(work) for work in works] for _ in range(rounds + 1)][1:]
    aurora_s, polars_s, arrow_s = (median(some) for some in zip(*took_s, strict=True))
    ratio = min(polars_s, arrow_s) / aurora_s
    rates = [count / one_s / 1e6 for one_s in (aurora_s, polars_s, arrow_s)]
    console.print(
        f"json       {rates[0]:.2f} M lines/s over TCP through a filter; polars parses {rates[1]:.2f} M/s, pyarrow "
        f"{rates[2]:.2f} M/s: ratio {ratio:.2f} to the faster (goal {GOAL:g})",
        highlight=False,
    )
    return {
        "lines_per_s": count / aurora_s,
        "polars_lines_per_s": count / polars_s,
        "pyarrow_lines_per_s": count / arrow_s,
        "ratio": ratio,
        "ratio_to_polars": polars_s / aurora_s,
        "ratio_to_pyarrow": arrow_s / aurora_s,
        "holds": ratio >= GOAL,
    }


def _seconds(work: Callable[[], object]) -> float:
    began_s = time.perf_counter()
    work()
    return time.perf_counter() - began_s


CASES = {"flight": flight_case, "producers": producers_case, "json": json_case}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, and no result is written")
    parser.add_argument("--only", default=",".join(CASES), help="some of " + ", ".join(CASES))
    options = parser.parse_args()
    console = Console()
    found = {name: CASES[name](options.quick, console) for name in options.only.split(",")}
    if not options.quick:
        file = RESULTS / "server.json"
        known = json.loads(file.read_text()) if file.exists() and set(found) != set(CASES) else {}
        machine = {"cores": os.cpu_count(), "python": platform.python_version(), "pyarrow": pa.__version__}
        file.write_text(json.dumps({**known, **machine, **found}, indent=2) + "\n")
    sys.exit(0 if all(case["holds"] for case in found.values()) else 1)


if __name__ == "__main__":
    main()
