"""Routes for tuples, for those who do without Flight. Bytes are decoded by converters, and by nothing else."""

from __future__ import annotations

from typing import Any

from aurora.connectors.converters.base import Converter, Decoded
from aurora.connectors.converters.registry import converter
from aurora.errors import InputError
from aurora.model.schema import Schema
from aurora.server.routes import Answer, Call, Parameter, Route

MEDIA = {
    "application/json": "json",
    "application/x-ndjson": "jsonl",
    "text/csv": "csv",
    "application/vnd.apache.arrow.stream": "arrow",
}
FORMATS = tuple(MEDIA.values())
_TYPES = {name: media for media, name in MEDIA.items()}
_TOLD = 20


class RejectedTuplesError(InputError):
    """Some of the tuples in a body are none; ``reasons`` has the first of them."""

    def __init__(self, text: str, reasons: list[dict[str, Any]]) -> None:
        super().__init__(text)
        self.reasons = reasons


def converter_of(format: str, schema: Schema) -> Converter:
    """JSON is an array, or a single object; lines of it are a format of their own."""
    if format == "json":
        return converter("json", schema, {"form": "array"})
    return converter("json" if format == "jsonl" else format, schema)


def decoded_body(call: Call, arc: str, schema: Schema) -> Decoded:
    """The tuples in a body, which are for an arc."""
    format = call.query["format"] or MEDIA.get(call.media)
    if format is None:
        raise InputError(
            f"a body of type {call.media or 'nothing'!r} cannot be read; send {', '.join(MEDIA)}, or give the format"
        )
    decoded = converter_of(format, schema).decode(call.body)
    if decoded.rejected and call.query["rejects"] == "refuse":
        reasons = told(decoded)["reasons"]
        raise RejectedTuplesError(
            f"{len(decoded.rejected)} of the tuples do not fit {arc}, so none was taken: {reasons[0]['reason']}; "
            "mend them, or give rejects=skip to have the others taken",
            reasons,
        )
    return decoded


def told(decoded: Decoded) -> dict[str, Any]:
    """How many are no tuples, and of the first ones why."""
    reasons = [{"place": one.place, "reason": one.reason, "text": one.text} for one in decoded.rejected[:_TOLD]]
    return {"rejected": len(decoded.rejected), "reasons": reasons}


def enqueue(call: Call) -> Any:
    network, stream = call.path["network"], call.path["stream"]
    decoded = decoded_body(call, stream, call.host.stream_schema(network, stream))
    return {"tuples": call.host.enqueue(network, stream, decoded.frame), **told(decoded)}


def push(call: Call) -> Any:
    received = call.host.receive(call.path["network"], call.path["source"], call.body)
    reasons = [{"place": one.place, "reason": one.reason, "text": one.text} for one in received.rejected[:_TOLD]]
    return {"tuples": received.tuples, "rejected": len(received.rejected), "reasons": reasons}


def dequeue(call: Call) -> Any:
    network, output = call.path["network"], call.path["output"]
    limit = call.host.limits.dequeued_tuples
    frame = call.host.dequeue(
        network,
        output,
        most=min(call.query["most"] or limit, limit),
        wait_s=call.query["wait_s"],
        drain=call.query["drain"],
    )
    format = call.query["format"]
    encoded = converter_of(format, call.host.arc_schema(network, output)).encode(frame)
    return Answer(encoded.data, media=_TYPES[format])


TUPLES = (
    Route(
        "POST",
        "/api/v1/networks/{network}/streams/{stream}",
        "full",
        "Enqueue tuples",
        enqueue,
        (
            Parameter("format", str, "What the body is; else its Content-Type says so.", choices=FORMATS),
            Parameter(
                "rejects",
                str,
                "What to do if some are no tuples of the stream: take none at all, or the others.",
                "refuse",
                ("refuse", "skip"),
            ),
        ),
        "Tuples: a JSON array of objects, lines of JSON objects, CSV with a header, or an Arrow stream.",
        "`{tuples, rejected, reasons}`",
        lane="tuples",
        refusals=(409, 422, 503),
    ),
    Route(
        "POST",
        "/api/v1/networks/{network}/sources/{source}",
        "full",
        "Push a message to a source of the kind http that the network declares",
        push,
        body="Bytes in the format that the source declares.",
        answer="`{tuples, rejected, reasons}`; what is rejected is told, and the rest is taken",
        lane="tuples",
        refusals=(409, 503),
    ),
    Route(
        "POST",
        "/api/v1/networks/{network}/outputs/{output}/dequeue",
        "full",
        "Take what waits at an output; it is handed out once",
        dequeue,
        (
            Parameter("most", int, "At most so many tuples.", least=1),
            Parameter("wait_s", float, "If nothing waits, wait so long for something.", 0.0, least=0, most=30),
            Parameter("drain", bool, "First wait until all that was enqueued has gone through.", False),
            Parameter("format", str, "What comes back.", "json", FORMATS),
        ),
        answer="tuples in the format",
        lane="answers",
        refusals=(409, 503),
    ),
)
