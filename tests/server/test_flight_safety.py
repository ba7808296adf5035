"""Batches that unpack to more than there is, or that lie about it, against ``aurora serve`` as a process."""

from __future__ import annotations

import os
import re
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import flight

from tests.server.http_serving import DOCUMENT

SCHEMA = pa.schema([("ticker", pa.large_string()), ("price", pa.float64())])
ARROW_BYTES = 64 << 20


class Running:
    def __init__(self, process: subprocess.Popen[str], location: str) -> None:
        self.process = process
        self.location = location
        self.port = int(location.rpartition(":")[2])

    @property
    def most_bytes(self) -> int:
        """The most memory that the process has had so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1]) << 10


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    document = tmp_path_factory.mktemp("flight") / "demo.yaml"
    document.write_text(DOCUMENT)
    options = ["serve", str(document), "--port", "0", "--flight-port", "0", "--processor", "local"]
    command = [sys.executable, "-m", "aurora_command", *options]
    environment = {**os.environ, "AURORA_ARROW_MEMORY": str(ARROW_BYTES)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            location = next(line.split()[-1] for line in process.stderr if line.startswith("Flight on"))
            yield Running(process, location)
        finally:
            process.kill()


def _batch(rows: int) -> pa.RecordBatch:
    """Zeros and NULLs, of which any number takes up next to nothing once compressed."""
    return pa.record_batch([pa.nulls(rows, pa.large_string()), pa.array(np.zeros(rows))], schema=SCHEMA)


def _put(location: str, batch: pa.RecordBatch, compression: str | None = None) -> None:
    options = flight.FlightCallOptions(write_options=pa.ipc.IpcWriteOptions(compression=compression))
    with flight.FlightClient(location) as client:
        writer, _ = client.do_put(flight.FlightDescriptor.for_path("demo", "ticks"), SCHEMA, options)
        with writer:
            writer.write_batch(batch)


def _refused(location: str, batch: pa.RecordBatch, compression: str) -> str:
    with pytest.raises(flight.FlightServerError) as caught:
        _put(location, batch, compression)
    text = str(caught.value)
    assert "Traceback" not in text
    assert ".py" not in text
    return text


@pytest.mark.parametrize("compression", ["zstd", "lz4"])
def test_a_batch_that_unpacks_to_more_than_there_is_takes_nothing(server: Running, compression: str) -> None:
    before = server.most_bytes
    bomb = _batch(20_000_000)
    assert bomb.nbytes > 4 * ARROW_BYTES
    assert "more memory than there is for it" in _refused(server.location, bomb, compression)
    assert server.most_bytes < before + ARROW_BYTES
    _put(server.location, _batch(10))
    assert server.process.poll() is None


def test_what_fits_is_refused_by_its_size_unpacked(server: Running) -> None:
    batch = _batch(2_500_000)
    assert 32 << 20 < batch.nbytes < ARROW_BYTES
    assert "bytes came, and 33,554,432 are allowed" in _refused(server.location, batch, "zstd")


@pytest.mark.parametrize("declared", [1 << 62, 1 << 40, ARROW_BYTES // 2, -5])
def test_lengths_that_are_not_true_are_found_out(server: Running, declared: int) -> None:
    rows = 12_345
    true, false = struct.pack("<q", 8 * rows), struct.pack("<q", declared)
    with _changing(server.port, true, false) as location:
        _refused(location, _batch(rows), "zstd")
    _put(server.location, _batch(10))
    assert server.process.poll() is None


@contextmanager
def _changing(port: int, before: bytes, after: bytes) -> Iterator[str]:
    """A way to the server on which some bytes become others."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        ends = [listener]

        def carry(source: socket.socket, target: socket.socket, *, change: bool) -> None:
            with suppress(OSError):
                while data := source.recv(1 << 20):
                    target.sendall(data.replace(before, after) if change else data)

        def accept() -> None:
            with suppress(OSError):
                client = stack.enter_context(listener.accept()[0])
                server = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
                ends.extend((client, server))
                back = threading.Thread(target=carry, args=(server, client), kwargs={"change": False})
                back.start()
                carry(client, server, change=True)
                back.join()

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield f"grpc://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            for end in ends:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            thread.join()


def test_the_limit_is_not_handed_on_and_can_be_chosen() -> None:
    """What the server starts, Spark's workers for one, has memory of its own."""
    code = (
        "import os, sys; sys.argv = ['aurora', 'serve']; import aurora_command as command; command.bound_arrow();"
        "import pyarrow as pa; print(sorted(set(command._SETTINGS) & set(os.environ)));"
        "print(pa.allocate_buffer(BYTES).size)"
    )

    def said(limit: str, n_bytes: int) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "AURORA_ARROW_MEMORY": limit}
        command = [sys.executable, "-c", code.replace("BYTES", str(n_bytes))]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)

    assert said(str(64 << 20), 1 << 20).stdout == f"[]\n{1 << 20}\n"
    assert "ArrowMemoryError" in said(str(64 << 20), 100 << 20).stderr
    assert said("0", 100 << 20).stdout == f"[]\n{100 << 20}\n"
    assert said("much", 1).returncode == 1
