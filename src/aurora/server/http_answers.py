"""Answers: plain values as JSON, and every refusal with a reason."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from aurora.errors import AuroraError, ExpressionError, InputError, NetworkError, StateError
from aurora.server.host import UnknownNameError, problems
from aurora.server.http_body import Refused
from aurora.server.http_tuples import RejectedTuplesError
from aurora.server.routes import Answer

_LOG = logging.getLogger("aurora.server")


def plain_json(value: Any) -> bytes:
    """JSON has no NaN and no infinity; they become null."""
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, default=str).encode("utf-8", "replace")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return value


def answered(value: Any, status: int) -> Response:
    answer = value if isinstance(value, Answer) else Answer(value, status)
    if isinstance(answer.value, bytes | str):
        return Response(answer.value, answer.status, media_type=answer.media)
    return Response(plain_json(answer.value), answer.status, media_type=answer.media)


def refusal(
    status: int, text: str, found: list[dict[str, Any]] | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    body = plain_json({"error": text, "problems": found or []})
    return Response(body, status, headers=headers, media_type="application/json")


def failed(error: Exception) -> Response:
    """The answer to a request that raised. What was not foreseen is logged, and not told."""
    if isinstance(error, Refused):
        return refusal(error.status, str(error), headers=error.headers)
    if isinstance(error, UnknownNameError):
        return refusal(404, str(error))
    if isinstance(error, NetworkError | ExpressionError):
        what = "network" if isinstance(error, NetworkError) else "expression"
        return refusal(422, f"the {what} is not valid; the problems say why", problems(error.problems))
    if isinstance(error, RejectedTuplesError):
        found = [
            {"id": "rejected-tuple", "found": f"{one['reason']}: {one['text']}", "way_out": "mend the tuple", **one}
            for one in error.reasons
        ]
        return refusal(422, str(error), found)
    if isinstance(error, InputError):
        return refusal(400, str(error))
    if isinstance(error, StateError):
        return refusal(409, str(error))
    if isinstance(error, AuroraError):
        return refusal(500, str(error))
    _LOG.error("a request failed", exc_info=error)
    return refusal(500, "the server failed at this request; its log says why")
