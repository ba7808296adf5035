"""Everything a server consists of, started and stopped in order: host, catalog, Flight, HTTP."""

from __future__ import annotations

import logging
import socket
import ssl
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import uvicorn

from aurora.catalog import Catalog
from aurora.errors import AuroraError, InputError, StateError
from aurora.model.network import Network
from aurora.server.app import Server, make_app
from aurora.server.auth import Tokens, check_address
from aurora.server.catalog_watch import CatalogWatch
from aurora.server.heads import PatientProtocol, PatientServer
from aurora.server.history_keeper import HistoryKeeper
from aurora.server.host import Host
from aurora.server.settings import EngineSettings, Limits

if TYPE_CHECKING:
    from aurora.server.flight import FlightServer

_LOG = logging.getLogger("aurora.server")
DEFAULT_PORT = 8642
DEFAULT_FLIGHT_PORT = 8643
_START_S = 10.0
_GRACE_S = 5


@dataclass(frozen=True)
class Addresses:
    """Where a server listens. Port 0 takes a free one; without a Flight port there is no Flight."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    flight_port: int | None = DEFAULT_FLIGHT_PORT
    tls_cert: Path | None = None
    tls_key: Path | None = None

    def __post_init__(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise InputError("a certificate needs its key; give both --tls-cert and --tls-key")

    def tls(self) -> tuple[bytes, bytes] | None:
        """Certificate and key; InputError if they cannot be used together."""
        if self.tls_cert is None or self.tls_key is None:
            return None
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.tls_cert, self.tls_key)
            return self.tls_cert.read_bytes(), self.tls_key.read_bytes()
        except OSError as error:  # ssl.SSLError is one
            raise InputError(
                f"{self.tls_cert} and {self.tls_key} are no certificate and its key: {error}; give both as PEM"
            ) from error


class Service:
    """A server from ``start`` to ``close``; ``url`` and ``flight_url`` say where it is. ``asked`` is set when a client
    wants it to end."""

    def __init__(
        self,
        networks: Sequence[Network | str] = (),
        *,
        settings: EngineSettings | None = None,
        limits: Limits | None = None,
        tokens: Tokens | None = None,
        addresses: Addresses | None = None,
        catalog: str | Path | None = None,
    ) -> None:
        self._networks = networks
        self._tokens = tokens or Tokens()
        self._addresses = addresses or Addresses()
        check_address(self._addresses.host, self._tokens)
        self._tls = self._addresses.tls()
        self._settings = settings or EngineSettings()
        self._limits = limits or Limits()
        self._catalog_file = catalog
        self._stack = ExitStack()
        self._uvicorn: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None
        self.asked = threading.Event()
        self.drain = True
        self.url = ""
        self.flight: FlightServer | None = None

    @property
    def flight_url(self) -> str | None:
        return None if self.flight is None else str(self.flight.location)

    def start(self) -> None:
        """Comes back when it answers; whatever was begun is undone if something fails."""
        listener = _listen(self._addresses.host, self._addresses.port)
        self._stack.callback(listener.close)
        try:
            catalog = None
            if self._catalog_file is not None:
                catalog = Catalog.open(self._catalog_file)
                self._stack.callback(catalog.close)
            self.host = Host(settings=self._settings, limits=self._limits, catalog=catalog)
            self._stack.callback(lambda: self.host.close(drain=self.drain))
            keeper = HistoryKeeper(self.host)
            self._stack.callback(keeper.close)
            self._host_all(catalog)
            keeper.start()
            self._start_flight()
            self._start_http(listener)
        except BaseException:
            self.drain = False
            self._stack.close()
            raise

    def _host_all(self, catalog: Catalog | None) -> None:
        for network in self._networks:
            self.host.add(network, own=True, why="aurora serve")
        if catalog is None:
            return
        for name in catalog.networks():
            if name not in self.host.names():
                current = catalog.current(name)
                if current is not None:
                    try:
                        self.host.take_in(current.read())
                    except AuroraError as error:
                        # The others can run; this one shows up in the log, and can be mended in the catalog.
                        _LOG.error("the network %s of the catalog cannot run: %s", name, error)
        watch = CatalogWatch(self.host, catalog)
        watch.start()
        self._stack.callback(watch.close)

    def _start_flight(self) -> None:
        if self._addresses.flight_port is None:
            return
        from aurora.server.flight import FlightServer

        self.flight = FlightServer(
            self.host,
            address=self._addresses.host,
            port=self._addresses.flight_port,
            tokens=self._tokens,
            tls=self._tls,
        )
        self._stack.callback(self.flight.close)

    def _start_http(self, listener: socket.socket) -> None:
        self.server = Server(self.host, self._tokens, flight_url=self.flight_url, stop=self._ask)
        config = uvicorn.Config(
            make_app(self.server),
            http=PatientProtocol,
            ws="websockets-sansio",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=self._limits.connections,
            ws_max_size=64 << 10,
            ws_max_queue=8,
            ws_per_message_deflate=False,
            h11_max_incomplete_event_size=32 << 10,
            timeout_graceful_shutdown=_GRACE_S,
            ssl_certfile=self._addresses.tls_cert,
            ssl_keyfile=self._addresses.tls_key,
        )
        self._uvicorn = server = PatientServer(config)
        self._thread = threading.Thread(target=server.run, args=([listener],), name="aurora-http", daemon=True)
        self._thread.start()
        self._stack.callback(self._stop_http)
        for _ in range(int(_START_S / 0.01)):
            if server.started or not self._thread.is_alive():
                break
            self._thread.join(0.01)
        if not server.started:
            raise StateError("the HTTP server did not start; the log says why")
        scheme = "http" if self._tls is None else "https"
        host = self._addresses.host
        self.url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"

    def _ask(self, drain: bool) -> None:
        self.drain = drain
        self.asked.set()

    def close(self, *, drain: bool | None = None) -> None:
        """Networks first, so that who reads gets all answers and hears why they end; then those who listen."""
        if drain is not None:
            self.drain = drain
        if self._uvicorn is not None:
            self.server.stopping = True
            self.host.close(drain=self.drain)
        self._stack.close()

    def _stop_http(self) -> None:
        assert self._uvicorn is not None
        assert self._thread is not None
        self.server.end_sockets()
        self._uvicorn.should_exit = True
        self._thread.join(_GRACE_S + 5)

    def __enter__(self) -> Service:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(drain=kind is None)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family, backlog=1024)
    except OSError as error:
        raise InputError(f"cannot listen on {host}:{port}: {error.strerror or error}; choose another --port") from error
