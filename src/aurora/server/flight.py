"""Tuples over Arrow Flight: put into an input, get from an output or any arc, each as a stream of record batches.

A put names its input by the path ``[network, stream]``. A get brings a ticket (``flight_tickets``): its own, or the one
that ``GetFlightInfo`` of the path ``[network, arc]`` hands out.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import pyarrow as pa
from pyarrow import flight

from aurora.errors import AuroraError, InputError, StateError
from aurora.model.schema import Schema
from aurora.server.auth import Tokens
from aurora.server.fanout import Subscription
from aurora.server.flight_access import ACCESS, Access, Admitted
from aurora.server.flight_connections import check_free, shut_down
from aurora.server.flight_frames import arrow_batches, arrow_schema, misfits, taker
from aurora.server.flight_tickets import Wanted
from aurora.server.host import Host
from aurora.server.hosted import Hosted, unknown

_LOG = logging.getLogger("aurora.server")
_LOOK_S = 0.25
"""How often a stream on which nothing comes out looks whether its reader is still there."""


class FlightServer(flight.FlightServerBase):  # type: ignore[misc]
    """Serves from the moment it is made until ``close``. Port 0 takes a free one, and ``location`` says which.

    ``tokens`` says who may call; without it everybody may. ``tls`` is a certificate and its key, as PEM.
    """

    def __init__(
        self,
        host: Host,
        *,
        address: str = "127.0.0.1",
        port: int = 0,
        tokens: Tokens | None = None,
        tls: tuple[bytes, bytes] | None = None,
    ) -> None:
        self._host = host
        self._access = Access(tokens or Tokens(), host.limits.connections)
        self._closed = False
        scheme = "grpc" if tls is None else "grpc+tls"
        shown = f"[{address}]" if ":" in address else address
        check_free(address, port)
        try:
            super().__init__(
                f"{scheme}://{shown}:{port}",
                tls_certificates=None if tls is None else [flight.CertKeyPair(*tls)],
                middleware={ACCESS: self._access},
            )
        except (pa.ArrowException, flight.FlightError) as error:
            raise InputError(f"cannot listen on {shown}:{port} for Flight: {error}; choose another port") from error
        self.location = f"{scheme}://{shown}:{self.port}"

    @property
    def calls(self) -> int:
        """That run just now."""
        return self._access.calls

    def close(self, grace_s: float = 5.0) -> None:
        """Takes no more calls, waits so long for those that run to end by themselves, and cuts off the others."""
        if not self._closed:
            self._closed = self._access.closing = True
            shut_down(self, grace_s)

    def __enter__(self) -> FlightServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Tuples in

    def do_put(self, context: Any, descriptor: Any, reader: Any, writer: Any) -> None:
        """Takes batches until the client ends the stream. It reads on only when the engine had room for the last.

        After a batch that comes with metadata, whatever it is, the client is told how many tuples have been taken.
        """
        with _refusing():
            network, stream = _path(descriptor)
            schema = self._host.stream_schema(network, stream)
            reasons = misfits(reader.schema, schema)
            if reasons:
                raise InputError(
                    f"the columns do not fit the stream {stream} of {network}: {'; '.join(reasons)}; "
                    f"the stream has {_columns(schema)}"
                )
        take = taker(reader.schema, schema)
        taken = 0
        for chunk in _incoming(reader):
            with _refusing(f"; {taken:,} tuples of this put have been taken"):
                if chunk.data is not None and chunk.data.num_rows:
                    self._check_size(chunk.data)
                    taken += self._host.enqueue(network, stream, take(chunk.data))
            if chunk.app_metadata is not None:
                writer.write(json.dumps({"taken": taken}).encode())

    def _check_size(self, batch: pa.RecordBatch) -> None:
        limit = self._host.limits.body_bytes
        size = batch.get_total_buffer_size()
        if size > limit:
            raise InputError(f"a batch of {size:,} bytes came, and {limit:,} are allowed; send smaller ones")

    # Tuples out

    def do_get(self, context: Any, ticket: Any) -> Any:
        """A live stream, or with ``follow`` false in the ticket what waits at an output.

        A token that may only look sees what comes out from now on, and takes it from nobody.
        """
        with _refusing():
            wanted = Wanted.parse(ticket.ticket)
            schema = arrow_schema(self._host.arc_schema(wanted.network, wanted.output))
            if not wanted.follow:
                _check_full(context, "what is dequeued is gone for others")
                return flight.GeneratorStream(schema, self._waiting(wanted, schema))
            if wanted.when_behind == "hold":
                self._check_hold(context, wanted)
            limits = self._host.limits
            subscription = self._host.subscribe(
                wanted.network,
                wanted.output,
                when_behind=wanted.when_behind,
                consume=wanted.take and _full(context),
                limit_bytes=min(wanted.limit_bytes or limits.subscriber_bytes, limits.backlog_bytes),
            )
        # Of an arc inside the network on Spark it may be fewer columns than the arc has.
        schema = arrow_schema(subscription.schema)
        stream = _live(context, subscription, schema)
        next(stream)
        return flight.GeneratorStream(schema, stream)

    def _waiting(self, wanted: Wanted, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """What came of everything that was enqueued before the call, and nobody has taken."""
        drain = True
        while True:
            with _refusing():
                frame = self._host.dequeue(wanted.network, wanted.output, drain=drain)
            if not frame.height:
                return
            yield from arrow_batches(frame, schema)
            drain = False

    def _check_hold(self, context: Any, wanted: Wanted) -> None:
        _check_full(context, "with hold as when_behind a reader holds others up")
        if wanted.output not in self._host.describe(wanted.network)["outputs"]:
            raise InputError(
                f"{wanted.output} is an arc inside the network, where nobody can be held up; "
                "use drop or disconnect as when_behind, or declare an output on it"
            )

    # What there is

    def list_flights(self, context: Any, criteria: bytes) -> Iterator[Any]:
        """Everything that can be put to or got from; ``criteria`` may name one network."""
        with _refusing():
            only = criteria.decode(errors="replace")
            for hosted in [self._host.hosted(only)] if only else list(self._host):
                for arc, kind in _arcs(hosted).items():
                    yield _info(hosted, arc, kind)

    def get_flight_info(self, context: Any, descriptor: Any) -> Any:
        with _refusing():
            network, arc = _path(descriptor)
            hosted = self._host.hosted(network)
            arcs = _arcs(hosted)
            if arc not in arcs:
                raise unknown("stream, output or arc", arc, list(arcs))
            return _info(hosted, arc, arcs[arc])

    def get_schema(self, context: Any, descriptor: Any) -> Any:
        with _refusing():
            network, arc = _path(descriptor)
            return flight.SchemaResult(arrow_schema(self._host.arc_schema(network, arc)))


def _full(context: Any) -> bool:
    admitted: Admitted = context.get_middleware(ACCESS)
    return admitted.full


def _check_full(context: Any, because: str) -> None:
    if not _full(context):
        raise flight.FlightUnauthorizedError(f"this token may only look, and {because}; use a full token")


def _incoming(reader: Any) -> Iterator[Any]:
    """What comes of a put. The library unpacks it; how much it may take for that is bound (``aurora_command``)."""
    try:
        yield from reader
    except pa.ArrowMemoryError as error:
        raise flight.FlightServerError("a batch takes more memory than there is for it; send smaller ones") from error
    except pa.ArrowInvalid as error:
        raise flight.FlightServerError(f"a batch cannot be read: {error}; send it again as Arrow writes it") from error


def _live(context: Any, subscription: Subscription, schema: pa.Schema) -> Iterator[Any]:
    """Begins with nothing: a generator that has begun closes the subscription even if nobody ever reads from it."""
    missed = 0
    try:
        yield None
        while not context.is_cancelled():
            frame = subscription.take(_LOOK_S)
            if subscription.dropped > missed:
                missed = subscription.dropped
                empty = pa.RecordBatch.from_pylist([], schema=schema)
                yield empty, json.dumps({"missed": missed}).encode()
            if frame is not None:
                yield from arrow_batches(frame, schema)
            elif subscription.ended:
                break
        if subscription.reason.startswith("the reader "):
            raise flight.FlightUnavailableError(subscription.reason)
    finally:
        subscription.close()


def _arcs(hosted: Hosted) -> dict[str, str]:
    """What can be read, by name, and what it is."""
    described = hosted.describe()
    arcs = dict.fromkeys(described["arcs"], "arc") | dict.fromkeys(described["streams"], "stream")
    return arcs | dict.fromkeys(described["outputs"], "output")


def _info(hosted: Hosted, arc: str, kind: str) -> Any:
    ticket = flight.Ticket(Wanted(hosted.name, arc).to_bytes())
    # An endpoint without an address is this server, whatever it is called where the client is.
    return flight.FlightInfo(
        arrow_schema(hosted.arc_schema(arc)),
        flight.FlightDescriptor.for_path(hosted.name, arc),
        [flight.FlightEndpoint(ticket, [])],
        app_metadata=json.dumps({"kind": kind}).encode(),
    )


def _path(descriptor: Any) -> tuple[str, str]:
    found = [part.decode(errors="replace") for part in descriptor.path or ()]
    if len(found) != 2:
        raise InputError(f"the descriptor's path is {found}; give two names, [network, stream] or [network, output]")
    return found[0], found[1]


def _columns(schema: Schema) -> str:
    return ", ".join(f"{name}: {kind}" for name, kind in schema.items())


@contextmanager
def _refusing(so_far: str = "") -> Iterator[None]:
    """Errors as the client gets them: the reason and the way out, and nothing from inside the server."""
    try:
        yield
    except (flight.FlightError, GeneratorExit):
        raise
    except StateError as error:
        raise flight.FlightUnavailableError(f"{error}{so_far}") from error
    except AuroraError as error:
        raise flight.FlightServerError(f"{error}{so_far}") from error
    except Exception as error:
        _LOG.exception("a Flight call failed")
        raise flight.FlightInternalError(f"the server failed at this call; its log says how{so_far}") from error
