"""How a route is declared: once, for the server that answers, the OpenAPI document and the reference page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from aurora.errors import InputError, did_you_mean
from aurora.server.auth import Access
from aurora.server.host import Host

Lane = Literal["control", "tuples", "answers", "health"]
"""Requests of each lane have threads of their own, so that nobody who waits for room holds up who wants to look, and
nobody who waits for answers those who bring tuples."""


@dataclass(frozen=True)
class Parameter:
    """One of the query. ``choices``, ``least`` and ``most`` limit what it may be."""

    name: str
    type: type
    meaning: str
    default: Any = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None

    def read(self, text: str) -> Any:
        try:
            value = _boolean(text) if self.type is bool else self.type(text)
        except ValueError as error:
            raise InputError(f"{self.name}={text[:100]} is no {_TYPES[self.type]}; give one") from error
        if self.choices and value not in self.choices:
            raise InputError(f"{self.name}={text[:100]} is not known; give one of {', '.join(self.choices)}")
        too_small = self.least is not None and not value >= self.least
        if too_small or (self.most is not None and not value <= self.most):
            upper = "" if self.most is None else f" and {self.most:g} at the most"
            raise InputError(f"{self.name}={text[:100]} is out of bounds; give {self.least or 0:g} or more{upper}")
        return value

    def schema(self) -> dict[str, Any]:
        """As OpenAPI writes it."""
        limits = {"enum": list(self.choices) or None, "minimum": self.least, "maximum": self.most}
        limits["default"] = self.default
        return {"type": _TYPES[self.type]} | {name: value for name, value in limits.items() if value is not None}


_TYPES: Mapping[type, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


def _boolean(text: str) -> bool:
    if text.lower() in ("true", "1", "yes"):
        return True
    if text.lower() in ("false", "0", "no"):
        return False
    raise ValueError(text)


@dataclass(frozen=True)
class Call:
    """A request whose names and parameters have been read."""

    host: Host
    server: Any
    path: Mapping[str, str]
    query: Mapping[str, Any]
    body: bytes
    media: str
    access: Access


@dataclass(frozen=True)
class Answer:
    """What is sent back: plain values as JSON, text, or bytes of a media type."""

    value: Any = None
    status: int = 200
    media: str = "application/json"


@dataclass(frozen=True)
class Route:
    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: str
    access: Access
    summary: str
    handler: Callable[[Call], Any]
    parameters: tuple[Parameter, ...] = ()
    body: str = ""
    """What is expected in the body; empty if nothing is."""
    answer: str = ""
    """What comes back."""
    status: int = 200
    lane: Lane = "control"
    refusals: tuple[int, ...] = field(default=())

    def read_query(self, given: Mapping[str, str]) -> dict[str, Any]:
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if name not in known:
                hint = did_you_mean(name, known)
                there = f"this request has {', '.join(known)}" if known else "this request has none"
                raise InputError(f"there is no parameter {name[:100]!r}; {there}" + (f"; {hint}" if hint else ""))
        return {
            name: parameter.read(given[name]) if name in given else parameter.default
            for name, parameter in known.items()
        }


@dataclass(frozen=True)
class LiveRoute:
    """A WebSocket. The handler is looked up by ``name`` where sockets are served."""

    name: Literal["statistics", "tap", "debug"]
    path: str
    summary: str
    parameters: tuple[Parameter, ...]
    answer: str
