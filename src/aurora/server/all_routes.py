"""The list of everything that can be asked over HTTP and WebSocket."""

from __future__ import annotations

from aurora.server.http_control import CONTROL
from aurora.server.http_tuples import TUPLES
from aurora.server.websocket import LIVE

ROUTES = (*CONTROL, *TUPLES)

OPEN = {
    "/health/live": "200 as long as the server answers at all; no token needed",
    "/health/ready": "200 if it takes tuples, 503 while it stops or if a network has failed; no token needed",
    "/metrics": "metrics as text for Prometheus; the read token, if there are tokens",
    "/api/v1/openapi.json": "this interface as an OpenAPI document; no token needed",
    "/api/v1/docs": "the same as a page; no token needed",
}

__all__ = ["LIVE", "OPEN", "ROUTES"]
