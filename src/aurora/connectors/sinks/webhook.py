"""Tuples as the bodies of POST requests. Redirects are not followed: the address is the one that the document names."""

from __future__ import annotations

import http.client
import select
import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit

import polars as pl

from aurora.connectors.converters.base import Converter
from aurora.connectors.live.failures import UndeliverableError, secret
from aurora.connectors.live.state import Meter
from aurora.model.sink_kinds import WebhookSink as Declared

_TYPES = {"json": "application/x-ndjson", "csv": "text/csv", "xml": "application/xml"}
_WORTH_ANOTHER_TRY = {408, 425, 429}
_SHOWN_BYTES = 200


class WebhookSink:
    def __init__(self, declared: Declared, converter: Converter, environment: Mapping[str, str], meter: Meter) -> None:
        self.batch = declared.batch
        self.attempts: int | None = declared.attempts
        self._url = urlsplit(declared.url)
        self._timeout_s = declared.timeout.seconds
        self._converter = converter
        self._meter = meter
        self._headers = {"Content-Type": _TYPES.get(declared.format or "", "application/octet-stream")}
        if declared.format == "json" and declared.options.get("form") == "array":
            self._headers["Content-Type"] = "application/json"
        self._headers |= declared.headers
        self._headers |= {name: secret(variable, environment) or "" for name, variable in declared.headers_env.items()}
        self._connection: http.client.HTTPConnection | None = None

    def open(self) -> None:
        """Made ready; the connection itself is made by the first request, and kept."""
        host = self._url.hostname or ""
        if self._url.scheme == "https":
            context = ssl.create_default_context()
            self._connection = http.client.HTTPSConnection(
                host, self._url.port, timeout=self._timeout_s, context=context
            )
        else:
            self._connection = http.client.HTTPConnection(host, self._url.port, timeout=self._timeout_s)

    def send(self, frame: pl.DataFrame) -> int:
        assert self._connection is not None
        encoded = self._converter.encode(frame)
        self._meter.add(rejected=len(encoded.rejected))
        self._drop_stale()
        path = (self._url.path or "/") + (f"?{self._url.query}" if self._url.query else "")
        self._connection.request("POST", path, body=encoded.data, headers=self._headers)
        answer = self._connection.getresponse()
        said = answer.read(_SHOWN_BYTES)
        if answer.isclosed() is False:
            self._connection.close()
        if 200 <= answer.status < 300:
            return len(encoded.data)
        told = f"{self._url.hostname} answered {answer.status} {answer.reason}: {said.decode('utf-8', 'replace')}"
        if answer.status < 500 and answer.status not in _WORTH_ANOTHER_TRY:
            raise UndeliverableError(told)
        raise ConnectionError(told)

    def _drop_stale(self) -> None:
        """A connection that the other side has closed meanwhile is not worth a failed attempt."""
        assert self._connection is not None
        if self._connection.sock is not None and select.select([self._connection.sock], [], [], 0)[0]:
            self._connection.close()

    def idle(self) -> None:
        """Nothing to do."""

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
