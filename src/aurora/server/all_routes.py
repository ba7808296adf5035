"""The list of everything that can be asked over HTTP and WebSocket."""

from __future__ import annotations

from aurora.server.http_control import CONTROL
from aurora.server.http_debug import DEBUG
from aurora.server.http_documents import DOCUMENTS
from aurora.server.http_history import HISTORY
from aurora.server.http_palette import PALETTE
from aurora.server.http_picture import PICTURE
from aurora.server.http_sources import SOURCES
from aurora.server.http_tuples import TUPLES
from aurora.server.websocket import LIVE

ROUTES = (*CONTROL, *DEBUG, *DOCUMENTS, *HISTORY, *PALETTE, *PICTURE, *SOURCES, *TUPLES)

OPEN = {
    "/": "the page to draw, run and watch networks with a browser; no token needed, what it asks for needs one",
    "/health/live": "200 as long as the server answers at all; no token needed",
    "/health/ready": "200 if it takes tuples, 503 while it stops or if a network has failed; no token needed",
    "/metrics": "metrics as text for Prometheus; the read token, if there are tokens",
    "/api/v1/openapi.json": "this interface as an OpenAPI document; no token needed",
    "/api/v1/docs": "the same as a page; no token needed",
}

__all__ = ["LIVE", "OPEN", "ROUTES"]
