"""Who may do what: a token for everything, one for looking only, and none at all where only this machine can ask."""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from aurora.errors import InputError

Access = Literal["read", "full"]
SHORTEST_TOKEN = 16
_PROTOCOL = "bearer."


@dataclass(frozen=True)
class Tokens:
    """Without tokens everybody may do everything; ``check_address`` sees to it that this is on loopback only."""

    full: str | None = None
    read: str | None = None

    def __post_init__(self) -> None:
        for name, token in (("--token", self.full), ("--read-token", self.read)):
            if token is not None and (len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable()):
                raise InputError(
                    f"{name} is too short, or not plain ASCII; give {SHORTEST_TOKEN} characters or more, such as "
                    "those of: openssl rand -hex 32"
                )
        if self.full is not None and self.full == self.read:
            raise InputError("--token and --read-token are the same; give two that differ")
        if self.read is not None and self.full is None:
            raise InputError("there is a --read-token but no --token, so nobody could do more than look; give both")

    @property
    def required(self) -> bool:
        return self.full is not None

    def access(self, authorization: str | None) -> Access | None:
        """What the value of an ``Authorization`` header allows; None if it is no good."""
        if not self.required:
            return "full"
        kind, _, token = (authorization or "").partition(" ")
        return self._of(token.strip()) if kind.lower() == "bearer" else None

    def access_by_protocols(self, protocols: list[str]) -> Access | None:
        """For WebSockets from a browser, which cannot set headers: the protocol ``bearer.TOKEN``."""
        for protocol in protocols:
            if protocol.startswith(_PROTOCOL):
                return self._of(protocol.removeprefix(_PROTOCOL))
        return None

    def _of(self, token: str) -> Access | None:
        given = token.encode("utf-8", "surrogateescape")
        # Both are always compared, so that the time tells nothing.
        full = secrets.compare_digest(given, (self.full or "").encode()) and self.full is not None
        read = secrets.compare_digest(given, (self.read or "").encode()) and self.read is not None
        return "full" if full else "read" if read else None


def allows(granted: Access, needed: Access) -> bool:
    return granted == "full" or needed == "read"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_address(host: str, tokens: Tokens) -> None:
    if not is_loopback(host) and not tokens.required:
        raise InputError(
            f"--host {host} can be reached from other machines, and there is no token; give --token (or AURORA_TOKEN), "
            "or leave out --host to listen on this machine only"
        )


def foreign_page(origin: str | None, host: str | None, *, tokens: bool) -> str:
    """Why a request must come from a page of another site in this machine's browser; empty if it need not.

    A page may send requests to a server on loopback. Browsers then say where it comes from, or, if its name was made
    to point here, ask for that name.
    """
    named = urlsplit(f"//{host}").hostname if host else None
    if origin is not None and urlsplit(origin).netloc.lower() != (host or "").lower():
        return f"the request comes from a page of {origin}; only pages of this server may send any"
    if not tokens and named is not None and not is_loopback(named):
        return f"the request is for {named}, but this server is for this machine only; ask for 127.0.0.1 or localhost"
    return ""
