"""``aurora demo``: the feed-alarms case study, live, with the page.

With somebody at the terminal it runs until Ctrl-C. Otherwise it ends by itself, and turns the rate by itself too.
"""

from __future__ import annotations

import os
import sys
import time
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast, get_args

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from aurora.cli.demo_document import demo_document
from aurora.cli.demo_play import Play
from aurora.cli.demo_screen import line, outputs_table, what_was_shed
from aurora.cli.failure import say
from aurora.cli.serve import end_on_signals, one_of
from aurora.connectors.live.rates import check_factor, span
from aurora.engine.workplace import DEFAULT_MASTER, ProcessorName
from aurora.errors import InputError, StateError
from aurora.server.hosted import Hosted
from aurora.server.service import DEFAULT_PORT, Addresses, Service
from aurora.server.settings import EngineSettings

NETWORK = "feed-alarms"
_UNATTENDED_S = 60.0
_LOOK_S = 1.0
_LINE_EVERY_S = 5.0
_WAITING_BYTES = 48 << 20
"""More than half a million ticks. With more room more of them would wait under overload, and alarms with them."""


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line. ``port`` None takes the usual one, or a free one if that is taken."""

    processor: str
    master: str | None
    rate: float | None
    seconds: float | None
    port: int | None
    open_page: bool


def demonstrate(request: Request) -> int:
    if request.rate is not None:
        check_factor(request.rate)
    processor = one_of("--processor", request.processor, get_args(ProcessorName))
    settings = EngineSettings(
        processor=cast(ProcessorName, processor),
        master=request.master or DEFAULT_MASTER,
        memory=_WAITING_BYTES,
        disk=0,
    )
    attended = sys.stdin.isatty()
    seconds = request.seconds if attended or request.seconds is not None else _UNATTENDED_S
    if processor == "spark":
        say("starting Spark ...")
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="aurora-demo-"))
        service = _started(request, settings, Path(folder))
        stack.callback(service.close, drain=False)
        end_on_signals(service.asked)
        hosted = service.host.add(demo_document(), why="aurora demo")
        _tell(service, open_it=request.open_page, attended=attended)
        if request.rate is not None:
            hosted.set_factor(request.rate)
        by_itself = not attended and request.rate is None
        _watch(service, hosted, seconds, by_itself=by_itself)
        stats = hosted.stats()
        Console().print(outputs_table(stats))
        print(what_was_shed(stats))
        if hosted.stage == "failed":
            raise StateError(f"the network has failed: {hosted.why}")
    return 0


def _started(request: Request, settings: EngineSettings, folder: Path) -> Service:
    """A server with a catalog of its own, so that what is drawn and changed there has versions."""
    ports = [DEFAULT_PORT, 0] if request.port is None else [request.port]
    for port in ports:
        addresses = Addresses(port=port, flight_port=None)
        service = Service(settings=settings, addresses=addresses, catalog=folder / "catalog.db")
        try:
            service.start()
        except InputError:
            if port == ports[-1]:
                raise
        else:
            break
    return service


def _tell(service: Service, *, open_it: bool, attended: bool) -> None:
    if not service.server.page.built:
        say("there is no page, since it has not been built; way out: make page")
        return
    address = f"{service.url}/?tour#{NETWORK}"
    opened = open_it and _has_display() and webbrowser.open(address)
    say(f"page at {address}" + ("" if opened else "; open it in a browser"))
    if attended:
        say("Ctrl-C ends it")


def _has_display() -> bool:
    """Without one a browser would be opened in the terminal, if at all."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _watch(service: Service, hosted: Hosted, seconds: float | None, *, by_itself: bool) -> None:
    """Shows how it goes, until the time is over or somebody asks for the end."""
    play = Play(seconds, span(hosted.rates())[1]) if by_itself and seconds is not None else None
    began_s = time.monotonic()
    with _shown(hosted) as show:
        while not service.asked.wait(_LOOK_S) and hosted.stage != "failed":
            elapsed_s = time.monotonic() - began_s
            show(elapsed_s)
            if seconds is not None and elapsed_s >= seconds:
                return
            if play is not None and hosted.rates():
                now = _factor(hosted)
                factor = play.factor(elapsed_s, now, shedding=bool(hosted.engine.describe()["drops"]))
                if factor != now:
                    hosted.set_factor(factor)


@contextmanager
def _shown(hosted: Hosted) -> Iterator[_Show]:
    """On a terminal a table that is drawn anew, elsewhere a line now and then."""
    if not sys.stdout.isatty():
        yield _Show(hosted, None)
        return
    with Live(console=Console(), refresh_per_second=4, transient=True) as live:
        yield _Show(hosted, live)


class _Show:
    def __init__(self, hosted: Hosted, live: Live | None) -> None:
        self._hosted = hosted
        self._live = live
        self._told_s = -_LINE_EVERY_S

    def __call__(self, elapsed_s: float) -> None:
        stats = self._hosted.stats()
        text = line(stats, elapsed_s, _factor(self._hosted))
        if self._live is not None:
            self._live.update(Group(outputs_table(stats), Text(text)))
        elif elapsed_s - self._told_s >= _LINE_EVERY_S:
            self._told_s = elapsed_s
            print(text, flush=True)


def _factor(hosted: Hosted) -> float:
    """All of the sources have the same, unless somebody turned one alone."""
    return max((rate.factor for rate in hosted.rates()), default=1.0)
