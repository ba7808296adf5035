"""Tuples to and from a server over Arrow Flight: one connection, and one put that stays open for every input."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any

import polars as pl
import pyarrow as pa
from pyarrow import flight

from aurora.connectors.frames import Table, table_frame
from aurora.errors import AuroraError, InputError, StateError
from aurora.model.schema import Schema
from aurora.model.types import of_polars

_BATCH_BYTES = 8 << 20
"""Larger tables go in several batches: a server refuses batches that are too large, and reads on only after each."""


class TupleConnection:
    """The Flight side of a server. Threads may share it."""

    def __init__(self, location: str, token: str | None, ca: bytes | None) -> None:
        self._client = flight.FlightClient(location, **({} if ca is None else {"tls_root_certs": ca}))
        headers = [] if token is None else [(b"authorization", f"Bearer {token}".encode())]
        self._options = flight.FlightCallOptions(headers=headers)
        self._puts: dict[tuple[str, str], Put] = {}
        self._lock = threading.Lock()

    def enqueue(self, network: str, stream: str, table: Table, *, confirm: bool) -> None:
        """Sends a table; with ``confirm`` it waits until the server says that it has taken everything so far."""
        put = self._put(network, stream)
        try:
            put.send(table, confirm=confirm)
        except BaseException:
            if put.ended:
                self._forget(put)
            raise

    def confirm(self, network: str) -> None:
        """Waits until everything that was sent to a network has been taken."""
        with self._lock:
            mine = [put for (name, _), put in self._puts.items() if name == network]
        for put in mine:
            try:
                put.confirm()
            except BaseException:
                self._forget(put)
                raise

    def _put(self, network: str, stream: str) -> Put:
        with self._lock:
            put = self._puts.get((network, stream))
            if put is None:
                put = self._puts[network, stream] = Put(self._client, self._options, network, stream)
            return put

    def _forget(self, put: Put) -> None:
        with self._lock:
            for key in [key for key, other in self._puts.items() if other is put]:
                del self._puts[key]

    def get(self, wanted: Mapping[str, Any]) -> Reading:
        ticket = flight.Ticket(json.dumps({name: value for name, value in wanted.items() if value is not None}))
        with told():
            return Reading(self._client.do_get(ticket, self._options))

    def close(self) -> None:
        """Ends all puts. What the server did not take is an error."""
        with self._lock:
            puts, self._puts = list(self._puts.values()), {}
        failures: list[AuroraError] = []
        for put in puts:
            try:
                put.close()
            except AuroraError as error:
                failures.append(error)
        self._client.close()
        if failures:
            raise failures[0]


class Put:
    """An open put into one input. Tables are brought into the stream's columns here, so that errors come at once."""

    def __init__(self, client: Any, options: Any, network: str, stream: str) -> None:
        descriptor = flight.FlightDescriptor.for_path(network, stream)
        self._stream = stream
        self._lock = threading.Lock()
        self._sent = 0
        self._taken = 0
        self.ended = False
        with told():
            arrow = client.get_flight_info(descriptor, options).schema
            self._empty = pa.RecordBatch.from_pylist([], schema=arrow)
            frame = pl.DataFrame(self._empty)
            self._schema = Schema({name: of_polars(dtype) for name, dtype in frame.schema.items()})
            self._writer, self._answers = client.do_put(descriptor, arrow, options)

    def send(self, table: Table, *, confirm: bool) -> None:
        try:
            frame = table_frame(table, self._schema)
        except InputError as error:
            raise InputError(f"cannot enqueue to {self._stream}: {error}") from error
        with self._lock, self._ending():
            *before, last = _batches(frame) or [self._empty]
            for batch in before:
                self._writer.write_batch(batch)
            self._sent += frame.height
            if confirm:
                self._confirm(last)
            else:
                self._writer.write_batch(last)

    def confirm(self) -> None:
        with self._lock, self._ending():
            if self._taken < self._sent:
                self._confirm(self._empty)

    def _confirm(self, last: pa.RecordBatch) -> None:
        """A batch with metadata asks; the answer comes when it and everything before it has been taken."""
        self._writer.write_with_metadata(last, b"confirm")
        answer = self._answers.read()
        if answer is None:
            # The server has ended the put; closing says why.
            self._writer.close()
            raise StateError(f"the server ended the put to {self._stream}; enqueue again")
        self._taken = json.loads(answer.to_pybytes())["taken"]

    def close(self) -> None:
        if self.ended:
            return
        with self._lock, self._ending():
            if self._taken < self._sent:
                self._confirm(self._empty)
            # All has been taken. A server that is gone by now has nothing of ours.
            with suppress(flight.FlightUnavailableError):
                self._writer.close()

    @contextmanager
    def _ending(self) -> Iterator[None]:
        if self.ended:
            raise StateError(f"the put to {self._stream} has ended; enqueue again")
        try:
            with told():
                yield
        except BaseException:
            self.ended = True
            # It may hold what the server never read, which is what the error is about.
            with suppress(pa.ArrowException, flight.FlightError):
                self._writer.close()
            raise


class Reading:
    """Frames of an output or an arc as they come, until it is closed, here or by the server.

    ``missed`` counts the tuples that this reader was too slow for.
    """

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self._closed = False
        self.missed = 0

    def __iter__(self) -> Iterator[pl.DataFrame]:
        while not self._closed:
            try:
                with told():
                    chunk = self._reader.read_chunk()
            except StopIteration:
                return
            except AuroraError:
                if self._closed:
                    return
                raise
            if chunk.app_metadata is not None:
                self.missed = json.loads(chunk.app_metadata.to_pybytes()).get("missed", self.missed)
            if chunk.data is not None and chunk.data.num_rows:
                yield pl.DataFrame(chunk.data)

    def close(self) -> None:
        """From any thread."""
        self._closed = True
        self._reader.cancel()

    def __enter__(self) -> Reading:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _batches(frame: pl.DataFrame) -> list[pa.RecordBatch]:
    size = int(frame.estimated_size())
    if size <= _BATCH_BYTES:
        return frame.to_arrow().to_batches()  # type: ignore[no-any-return]
    rows = max(1, frame.height * _BATCH_BYTES // size)
    return frame.to_arrow().to_batches(max_chunksize=rows)  # type: ignore[no-any-return]


@contextmanager
def told() -> Iterator[None]:
    """Errors of the wire as Aurora's own, with what the server said and nothing else."""
    try:
        yield
    except (flight.FlightServerError, flight.FlightUnauthenticatedError, flight.FlightUnauthorizedError) as error:
        raise InputError(_said(error)) from error
    except (flight.FlightError, pa.ArrowException, OSError) as error:
        raise StateError(_said(error)) from error


def _said(error: Exception) -> str:
    text = str(error).partition(". gRPC client debug context:")[0].partition(". Detail: ")[0]
    _, lost, rest = text.partition("with message: ")
    return f"the connection to the server was lost: {rest}; connect again" if lost else text
