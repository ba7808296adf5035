"""``connect`` and what it gives: a server's networks, to be started, changed, fed, read and looked at."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import polars as pl

from aurora.client.http import HttpConnection
from aurora.connectors.frames import Table
from aurora.errors import AuroraError, InputError, StateError
from aurora.model.network import Network

if TYPE_CHECKING:
    from aurora.client.tuples import Reading, TupleConnection

WhenBehind = Literal["drop", "disconnect", "hold"]
_API = ("api", "v1")


def connect(
    url: str,
    *,
    token: str | None = None,
    network: str | None = None,
    ca: str | Path | None = None,
    timeout_s: float = 60.0,
) -> Client:
    """A client of the server at ``url``, such as ``http://127.0.0.1:8642``; use it in a with statement, or close it.

    ``token`` is what the server wants to see; without it the environment's AURORA_TOKEN is sent. ``network`` is the one
    that calls are about which name none; a server's only network needs no name. ``ca`` is a file of certificates to
    trust for https. No answer but to tuples is waited for longer than ``timeout_s``.
    """
    return Client(url, token or os.environ.get("AURORA_TOKEN") or None, network, ca, timeout_s)


class Client:
    """A server; ``connect`` makes it. Threads may share it."""

    def __init__(
        self, url: str, token: str | None, network: str | None, ca: str | Path | None, timeout_s: float
    ) -> None:
        self._token = token
        self._network = network
        self._only: str | None = None
        self._ca = None if ca is None else Path(ca)
        self._http = HttpConnection(url, token, None if ca is None else str(ca), timeout_s)
        try:
            self._server = self._ask("GET", "server")
        except BaseException:
            self._http.close()
            raise

    # Networks

    def start(self, network: Network | Path | str) -> dict[str, Any]:
        """Hosts and starts a network: one made here, a document's text, or a document's file. What it is is described.

        A network's name starts it again where it was stopped or has failed.
        """
        self._only = None
        if isinstance(network, str) and "\n" not in network and "{" not in network:
            return self._answer("POST", "networks", network, "start")
        return self._answer("POST", "networks", body={"document": _document(network)})

    def shutdown(self, network: str | None = None, *, drain: bool = True) -> None:
        """Stops a network, which can be started again; without a name all of them, and the server.

        First everything that is enqueued is taken, unless ``drain`` is False.
        """
        query = {"drain": str(drain).lower()}
        if network is None:
            self._ask("POST", "shutdown", query=query)
        else:
            self._ask("POST", "networks", network, "stop", query=query)

    def remove(self, network: str, *, drain: bool = True) -> None:
        """Stops a network, and has the server host it no more."""
        self._only = None
        self._ask("DELETE", "networks", network, query={"drain": str(drain).lower()})

    def modify_network(
        self, network: Network | Path | str, *, why: str = "", author: str = "", revision: str | None = None
    ) -> dict[str, Any]:
        """Puts a changed network in the place of the running one of its name: all of it, or nothing.

        NetworkError has all reasons why it cannot be. What was changed is told. With a ``revision``, as ``describe``
        has it, a StateError if somebody else has changed the network since.
        """
        document = _document(network)
        name = network.name if isinstance(network, Network) else _name_of(document)
        body = {"document": document, "why": why, "author": author}
        return self._answer("PUT", "networks", name, body=body, query={"revision": revision})

    def typecheck(self, network: Network | Path | str) -> dict[str, Any]:
        """Whether a network is ``valid``, its ``problems``, and the columns of its ``arcs``; nothing is started."""
        return self._answer("POST", "typecheck", body={"document": _document(network)})

    # Tuples

    def enqueue(self, stream: str, table: Table, *, network: str | None = None, confirm: bool = True) -> None:
        """Adds tuples to an input: Arrow, Polars, pandas, or a list of dicts. Where there is no room it waits.

        It comes back when the server has taken them. Without ``confirm`` it comes back when they are on their way;
        ``confirm``, ``dequeue`` and ``close`` then tell if they did not arrive.
        """
        self._tuples.enqueue(self._named(network), stream, table, confirm=confirm)

    def confirm(self, *, network: str | None = None) -> None:
        """Comes back when the server has taken everything that this client has enqueued."""
        self._tuples.confirm(self._named(network))

    def dequeue(self, output: str, *, network: str | None = None) -> Iterator[pl.DataFrame]:
        """What has come out on an output, and what comes of everything that was enqueued; then it stops.

        It is handed out once. While somebody subscribes to the output, nothing waits there.
        """
        name = self._named(network)
        self._tuples.confirm(name)
        return iter(self._tuples.get({"network": name, "output": output, "follow": False}))

    def subscribe(
        self,
        output: str,
        *,
        network: str | None = None,
        take: bool = True,
        when_behind: WhenBehind = "disconnect",
        limit_bytes: int | None = None,
    ) -> Reading:
        """A live stream of an output or of any arc, from now on; iteration gives frames until it is closed.

        The first who takes gets what waits at the output. Without ``take``, or with a token that may only look, it
        looks on: what it sees still waits for others.

        A reader that is ``limit_bytes`` behind gets an error (``disconnect``), misses the oldest tuples and can see how
        many (``drop``), or has whoever enqueues wait for it (``hold``).
        """
        wanted = {"network": self._named(network), "output": output, "take": take}
        return self._tuples.get({**wanted, "when_behind": when_behind, "limit_bytes": limit_bytes})

    # What it knows

    def networks(self) -> list[dict[str, Any]]:
        """The name and stage of every network, and why it does not run where it does not."""
        found: list[dict[str, Any]] = self._ask("GET", "networks")
        return found

    def list_entities(self, *, network: str | None = None, kind: str | None = None) -> list[dict[str, Any]]:
        """Every stream, box, output, superbox and connection point: of one network or all, of one kind or any."""
        found: list[dict[str, Any]] = self._ask("GET", "entities", query={"network": network, "kind": kind})
        return found

    def describe(self, network: str | None = None) -> dict[str, Any]:
        """The network's document, its stage, the columns of every arc, and what waits."""
        return self._answer("GET", "networks", self._named(network))

    def get_perf_stats(self, network: str | None = None) -> dict[str, Any]:
        """What every input, box, arc and output of a network has done so far, and does lately."""
        return self._answer("GET", "networks", self._named(network), "stats")

    def stats(self) -> dict[str, dict[str, Any]]:
        """The same of all networks that run, by name."""
        running = [entry["name"] for entry in self.networks() if entry["stage"] in ("running", "paused")]
        return {name: self.get_perf_stats(name) for name in running}

    # Its life

    def close(self) -> None:
        """Ends the connection. Tuples on their way are waited for, and it is an error if they do not arrive."""
        try:
            if "_tuples" in self.__dict__:
                self._tuples.close()
        finally:
            self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except AuroraError:
            if kind is None:
                raise

    # Inside

    def _ask(self, method: str, *path: str, body: Any = None, query: dict[str, Any] | None = None) -> Any:
        return self._http.ask(method, *_API, *path, body=body, query=query)

    def _answer(self, method: str, *path: str, body: Any = None, query: dict[str, Any] | None = None) -> dict[str, Any]:
        answer: dict[str, Any] = self._ask(method, *path, body=body, query=query)
        return answer

    @cached_property
    def _tuples(self) -> TupleConnection:
        from aurora.client.tuples import TupleConnection

        said = self._server.get("flight")
        if not said:
            raise StateError(f"the server at {self._http.url} does not offer Flight, which tuples are sent over")
        # What the server listens on may have another name here; its port has not.
        parts = urlsplit(said)
        host = f"[{self._http.host}]" if ":" in self._http.host else self._http.host
        ca = None if self._ca is None else self._ca.read_bytes()
        return TupleConnection(f"{parts.scheme}://{host}:{parts.port}", self._token, ca)

    def _named(self, network: str | None) -> str:
        name = network or self._network or self._only
        if name is None:
            names = [entry["name"] for entry in self.networks()]
            if len(names) != 1:
                raise InputError(f"the server has the networks {', '.join(names) or 'none'}; say which with network=")
            name = self._only = names[0]
        return name


def _document(network: Network | Path | str) -> str:
    if isinstance(network, Network):
        return json.dumps(network.to_document())
    if isinstance(network, Path):
        try:
            return network.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot read {network}: {error}; give a network's document") from error
    return network


def _name_of(document: str) -> str:
    import yaml

    try:
        value = yaml.safe_load(document)
    except yaml.YAMLError:
        value = None
    name = value.get("network") if isinstance(value, dict) else None
    if not isinstance(name, str):
        raise InputError("the document does not say which network it is; write network: NAME in it")
    return name
