"""Who may call: every Flight call brings its token in the header ``authorization``, and so many run at a time."""

from __future__ import annotations

import threading
from typing import Any

from pyarrow import flight

from aurora.server.auth import Tokens

ACCESS = "access"
"""The name under which a call finds its ``Admitted``."""
_CHANGES = (flight.FlightMethod.DO_PUT, flight.FlightMethod.DO_EXCHANGE, flight.FlightMethod.DO_ACTION)


class Access(flight.ServerMiddlewareFactory):  # type: ignore[misc]
    """Refuses calls before anything they carry is read: those without a good token, and those that are too many."""

    def __init__(self, tokens: Tokens, most_calls: int) -> None:
        self._tokens = tokens
        self._most_calls = most_calls
        self._calls = 0
        self._lock = threading.Lock()
        self.closing = False

    @property
    def calls(self) -> int:
        """That run just now."""
        return self._calls

    def start_call(self, info: Any, headers: Any) -> Admitted:
        if self.closing:
            raise flight.FlightUnavailableError("the server is shutting down; connect again later")
        full = self._full(headers)
        if not full and info.method in _CHANGES:
            raise flight.FlightUnauthorizedError("this token may only read; use a full one to put tuples in")
        with self._lock:
            if self._calls >= self._most_calls:
                raise flight.FlightUnavailableError(
                    f"{self._most_calls} calls are open already; close some, or try again later"
                )
            self._calls += 1
        return Admitted(self, full)

    def _full(self, headers: Any) -> bool:
        given = headers.get("authorization") or [None]
        access = self._tokens.access(given[0])
        if access is None:
            what = "the token is not known here" if given[0] else "there is no token"
            raise flight.FlightUnauthenticatedError(f"{what}; send the header authorization: Bearer TOKEN")
        return access == "full"

    def done(self) -> None:
        with self._lock:
            self._calls -= 1


class Admitted(flight.ServerMiddleware):  # type: ignore[misc]
    """One call that may go on; ``full`` is whether it may change anything."""

    def __init__(self, access: Access, full: bool) -> None:
        self._access = access
        self.full = full

    def call_completed(self, exception: Any) -> None:
        self._access.done()
