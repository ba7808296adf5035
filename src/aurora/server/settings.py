"""What a server is told when it starts: how its engines run, and how much one client may ask of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from aurora.connectors.frames import Table
from aurora.engine.room import DEFAULT_DISK, DEFAULT_MEMORY, WhenFull
from aurora.engine.workplace import DEFAULT_MASTER, ProcessorName
from aurora.shedding.observation import Mode


@dataclass(frozen=True)
class EngineSettings:
    """How every network is run; the meanings are those of ``Engine``. ``state`` has a folder for each network."""

    processor: ProcessorName = "spark"
    master: str = DEFAULT_MASTER
    clock: str | None = None
    scheduler: str | None = None
    workers: int = 1
    headroom: float = 0.9
    memory: str | int = DEFAULT_MEMORY
    disk: str | int = DEFAULT_DISK
    when_full: WhenFull = "block"
    shedding: Mode = "auto"
    state: str | None = None
    statics: Mapping[str, Mapping[str, Table]] = field(default_factory=dict)
    """By network, then by connection point."""
    files: Path | None = None
    """Where sources and sinks of documents that came from clients may use files; nowhere if there is none."""


@dataclass(frozen=True)
class Limits:
    """What one client, or all of them together, may take."""

    body_bytes: int = 32 << 20
    """The largest body of a request; a larger one is refused before it is read."""
    connections: int = 2_000
    """Open at the same time, over HTTP and WebSocket."""
    sockets: int = 500
    """WebSockets among them."""
    request_s: float = 30.0
    """A request whose body comes more slowly than this is refused."""
    backlog_bytes: int = 64 << 20
    """How much of an output waits while nobody takes it; beyond that the oldest goes."""
    subscriber_bytes: int = 8 << 20
    """How much waits for one reader; what happens beyond that is the reader's choice."""
    patience_s: float = 30.0
    """How long a reader for whom producers are held up may take nothing before it is let go."""
    dequeued_tuples: int = 100_000
    """The most that one dequeue over HTTP hands out."""
    subscribers: int = 500
    """Readers of all arcs of one network."""
