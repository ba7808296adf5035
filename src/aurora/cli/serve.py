"""``aurora serve``: networks that others talk to, until the process is told to end."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import cast, get_args

from aurora.cli.failure import say
from aurora.cli.functions import import_all
from aurora.engine.room import DEFAULT_DISK, DEFAULT_MEMORY, WhenFull
from aurora.engine.workplace import DEFAULT_MASTER, ProcessorName
from aurora.errors import InputError
from aurora.model.document import load
from aurora.model.network import Network
from aurora.scheduler.settings import POLICIES
from aurora.server.auth import Tokens
from aurora.server.service import Addresses, Service
from aurora.server.settings import EngineSettings, Limits
from aurora.shedding.observation import Mode
from aurora.storage.tiers import parse_bytes

_TWICE = 130


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    networks: tuple[Path, ...]
    catalog: Path | None
    host: str
    port: int
    flight_port: int | None
    token: str | None
    read_token: str | None
    tls_cert: Path | None
    tls_key: Path | None
    processor: str
    master: str | None
    clock: str
    scheduler: str | None
    workers: int
    headroom: float
    memory: str | None
    disk: str | None
    when_full: str
    shedding: str
    state: str | None
    files: Path | None
    max_body: str
    functions: tuple[str, ...]
    open_page: bool
    quiet: bool


def serve(request: Request) -> int:
    """Serves until SIGTERM or Ctrl-C, or until a client asks for the end; then drains. Asked twice, it ends at once."""
    if not request.networks and request.catalog is None and not request.open_page:
        raise InputError(
            "there is nothing to serve; name a network document, or a catalog with --catalog, or draw one with --open"
        )
    service = Service(
        _networks(request),
        settings=_settings(request),
        limits=Limits(body_bytes=parse_bytes(request.max_body)),
        tokens=Tokens(request.token or None, request.read_token or None),
        addresses=Addresses(request.host, request.port, request.flight_port, request.tls_cert, request.tls_key),
        catalog=request.catalog,
    )
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("aurora").setLevel(logging.ERROR if request.quiet else logging.INFO)
    end_on_signals(service.asked)
    service.start()
    try:
        say(f"serving {', '.join(service.host.names()) or 'no networks yet'} on {service.url}")
        if service.flight_url is not None:
            say(f"Flight on {service.flight_url}")
        _tell_of_page(service, open_it=request.open_page)
        # Python runs signal handlers between two waits.
        while not service.asked.wait(3600):
            pass
        say("stopping: taking what is enqueued" if service.drain else "stopping")
    finally:
        service.close()
    say("stopped")
    return 0


def _tell_of_page(service: Service, *, open_it: bool) -> None:
    if not service.server.page.built:
        say("there is no page, since it has not been built; way out: make page")
        return
    # What listens everywhere is opened on this machine.
    address = f"{service.url}/".replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
    say(f"page at {address}")
    if open_it and not webbrowser.open(address):
        say("no browser could be opened; open the page's address in one")


def _networks(request: Request) -> list[Network]:
    import aurora.boxes  # noqa: F401  (puts the kinds of box on their list)

    import_all(request.functions)
    # What is wrong with a document is told with its file and line before anything is started.
    return [load(path) for path in request.networks]


def _settings(request: Request) -> EngineSettings:
    return EngineSettings(
        processor=cast(ProcessorName, one_of("--processor", request.processor, get_args(ProcessorName))),
        master=request.master or DEFAULT_MASTER,
        clock=None if request.clock == "wall" else request.clock,
        scheduler=None if request.scheduler is None else one_of("--scheduler", request.scheduler, tuple(POLICIES)),
        workers=request.workers,
        headroom=request.headroom,
        memory=request.memory or DEFAULT_MEMORY,
        disk=request.disk or DEFAULT_DISK,
        when_full=cast(WhenFull, one_of("--when-full", request.when_full, get_args(WhenFull))),
        shedding=cast(Mode, one_of("--shedding", request.shedding, get_args(Mode))),
        state=request.state,
        files=request.files,
    )


def one_of(option: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise InputError(f"{option} {value} is not known; use one of {', '.join(choices)}")
    return value


def end_on_signals(asked: threading.Event) -> None:
    """The first signal asks for a clean end, a second one does not wait for it."""
    if threading.current_thread() is not threading.main_thread():
        return

    def ask(number: int, frame: FrameType | None) -> None:
        if asked.is_set():
            print("stopped at once; what was under way is lost", file=sys.stderr, flush=True)
            os._exit(_TWICE)
        asked.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask)
