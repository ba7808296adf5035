"""Requests to a server as JSON over one connection that is kept open, with the standard library."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from aurora.errors import AuroraError, InputError, NetworkError, Place, Problem, StateError

_DEFAULT_PORTS = {"http": 80, "https": 443}


class HttpConnection:
    """One server. Threads may share it; their requests go one after the other."""

    def __init__(self, url: str, token: str | None, ca: str | None, timeout_s: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
            raise InputError(f"{url!r} is no address of a server; give one such as http://127.0.0.1:8642")
        self.url = url.rstrip("/")
        self.host = parts.hostname
        self.secure = parts.scheme == "https"
        self._port = parts.port or _DEFAULT_PORTS[parts.scheme]
        self._base = parts.path.rstrip("/")
        self._headers = {"accept": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
        self._context = ssl.create_default_context(cafile=ca) if self.secure else None
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._connection: http.client.HTTPConnection | None = None

    def ask(self, method: str, *path: str, body: Any = None, query: Mapping[str, Any] | None = None) -> Any:
        """The answer to a request; a refusal is raised with its reasons."""
        target = self._base + "".join(f"/{quote(part, safe='')}" for part in path)
        given = {name: value for name, value in (query or {}).items() if value is not None}
        if given:
            target += f"?{urlencode(given)}"
        headers = dict(self._headers)
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["content-type"] = "application/json"
        with self._lock:
            status, content = self._send(method, target, data, headers)
        answer = _json(content)
        if status >= 400:
            raise _refusal(status, answer, f"{method} {self.url}{target}")
        return answer

    def _send(self, method: str, target: str, data: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        kept = self._connection is not None
        try:
            return self._exchange(method, target, data, headers)
        except (OSError, http.client.HTTPException) as error:
            self._drop()
            # A server may close a connection that was quiet for long; what only reads can be asked again.
            closed = isinstance(error, http.client.RemoteDisconnected | ConnectionResetError | BrokenPipeError)
            if not (kept and closed and method == "GET"):
                raise self._unreachable(error) from error
        try:
            return self._exchange(method, target, data, headers)
        except (OSError, http.client.HTTPException) as error:
            self._drop()
            raise self._unreachable(error) from error

    def _exchange(self, method: str, target: str, data: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        if self._connection is None:
            self._connection = self._connected()
        self._connection.request(method, target, body=data, headers=headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.will_close:
            self._drop()
        return response.status, content

    def _connected(self) -> http.client.HTTPConnection:
        if self._context is not None:
            return http.client.HTTPSConnection(self.host, self._port, timeout=self._timeout_s, context=self._context)
        return http.client.HTTPConnection(self.host, self._port, timeout=self._timeout_s)

    def _unreachable(self, error: Exception) -> StateError:
        return StateError(
            f"the server at {self.url} does not answer: {str(error) or type(error).__name__}; "
            "see whether it runs (aurora serve) and whether this is its address"
        )

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def close(self) -> None:
        with self._lock:
            self._drop()


def _json(content: bytes) -> Any:
    try:
        return json.loads(content) if content else None
    except ValueError:
        return content.decode(errors="replace")


def _refusal(status: int, answer: Any, asked: str) -> AuroraError:
    if not isinstance(answer, dict) or "error" not in answer:
        return StateError(f"{asked} was answered with {status}: {answer or 'nothing'}; is this an Aurora server?")
    problems = [_problem(entry) for entry in answer.get("problems") or () if isinstance(entry, dict)]
    if problems:
        return NetworkError(problems)
    said = str(answer["error"])
    way_out = answer.get("way_out")
    text = f"{said}; {way_out}" if way_out else said
    return StateError(text) if status == 409 or status >= 500 else InputError(text)


def _problem(entry: Mapping[str, Any]) -> Problem:
    place = entry.get("place")
    place = place if isinstance(place, dict) else {}
    return Problem(
        str(entry.get("id", "refused")),
        str(entry.get("found", "")),
        str(entry.get("way_out", "")),
        str(entry.get("element", "")),
        tuple(entry.get("path") or ()),
        Place(place.get("file"), entry.get("line", place.get("line"))),
        tuple(entry.get("choices") or ()),
        "warning" if entry.get("severity") == "warning" else "error",
        (span[0], span[1]) if isinstance(span := entry.get("span"), list) and len(span) == 2 else None,
    )
