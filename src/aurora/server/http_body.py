"""Bodies of requests, read within limits of size and time."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request

from aurora.server.settings import Limits


class Refused(Exception):  # noqa: N818  (it is an answer, not a failure)
    """The request is answered with this status and text."""

    def __init__(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.headers = headers or {}


async def read_body(request: Request, limits: Limits) -> bytes:
    """The whole body. A body that declares itself too long is not even begun."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refused(415, "a compressed body is not taken, since its length cannot be known; send it as it is")
    too_long = f"the body is longer than {limits.body_bytes:,} bytes; send it in pieces"
    declared = request.headers.get("content-length", "0")
    if not (declared.isascii() and declared.isdigit()) or int(declared) > limits.body_bytes:
        raise Refused(413, too_long, {"connection": "close"})
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(limits.request_s):
            async for part in request.stream():
                size += len(part)
                if size > limits.body_bytes:
                    raise Refused(413, too_long, {"connection": "close"})
                parts.append(part)
    except TimeoutError:
        slow = f"the body was not there after {limits.request_s:g} s; send it faster, or in smaller pieces"
        raise Refused(408, slow, {"connection": "close"}) from None
    except ClientDisconnect:
        raise Refused(400, "the connection was closed before the body was there") from None
    return b"".join(parts)
