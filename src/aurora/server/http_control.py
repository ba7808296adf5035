"""Routes that start, stop, change and describe networks."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, NamedTuple

from aurora.connectors.converters.registry import converter_names
from aurora.errors import InputError
from aurora.server.hosted import Hosted
from aurora.server.routes import Answer, Call, Parameter, Route

DOCUMENT = (
    "A network document as YAML or JSON; or JSON of the form "
    '`{"document": ..., "why": "...", "author": "..."}`, where the document is text or an object.'
)
_STAGE = "`{name, stage, why}`; the stage is running, paused, stopped or failed"
_DRAIN = Parameter("drain", bool, "First take everything that is enqueued.", True)


class Given(NamedTuple):
    document: str
    why: str
    author: str


def given_document(call: Call) -> Given:
    """The document in a body, with who brings it and why where these are told."""
    try:
        text = call.body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"the body is not UTF-8: {error}; send the document as UTF-8") from error
    if not text.strip():
        raise InputError("the body is empty; send a network document, as YAML or JSON")
    if call.media != "application/json":
        return Given(text, "", "")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the body is no JSON: {error}; send JSON, or YAML as application/yaml") from error
    if not isinstance(value, dict) or "document" not in value:
        return Given(text, "", "")
    document, why, author = (value.get(key, "") for key in ("document", "why", "author"))
    if not isinstance(why, str) or not isinstance(author, str):
        raise InputError("why and author must be text")
    return Given(document if isinstance(document, str) else json.dumps(document), why, author)


def _brief(hosted: Hosted) -> dict[str, Any]:
    return {"name": hosted.name, "stage": hosted.stage, "why": hosted.why}


def server(call: Call) -> Any:
    return {
        "version": call.server.version,
        "processor": call.host.settings.processor,
        "flight": call.server.flight_url,
        "formats": converter_names(),
        "access": call.access,
        "catalog": call.host.catalog is not None,
        "networks": networks(call),
    }


def networks(call: Call) -> Any:
    return [_brief(call.host.hosted(name)) for name in call.host.names()]


def add(call: Call) -> Any:
    given = given_document(call)
    hosted = call.host.add(given.document, start=call.query["start"], why=given.why, author=given.author)
    return Answer(hosted.describe(), 201)


def describe(call: Call) -> Any:
    return call.host.describe(call.path["network"])


def modify(call: Call) -> Any:
    given = given_document(call)
    return call.host.modify_network(
        call.path["network"], given.document, why=given.why, author=given.author, revision=call.query["revision"]
    )


def remove(call: Call) -> Any:
    call.host.remove(call.path["network"], drain=call.query["drain"])
    return {"name": call.path["network"], "removed": True}


def document(call: Call) -> Any:
    return Answer(call.host.hosted(call.path["network"]).network.to_yaml(), media="application/yaml")


def _action(act: Callable[[Call], None]) -> Callable[[Call], Any]:
    def handler(call: Call) -> Any:
        act(call)
        return _brief(call.host.hosted(call.path["network"]))

    return handler


def stats(call: Call) -> Any:
    return call.host.get_perf_stats(call.path["network"]).to_dict()


def connectors(call: Call) -> Any:
    return call.host.hosted(call.path["network"]).connectors()


def decisions(call: Call) -> Any:
    return call.host.hosted(call.path["network"]).engine.decisions()


def entities(call: Call) -> Any:
    return call.host.list_entities(call.query["network"], call.query["kind"])


def typecheck(call: Call) -> Any:
    return call.host.typecheck(given_document(call).document)


def find(call: Call) -> Any:
    catalog = _catalog(call)
    query = dict(call.query)
    return [asdict(found) for found in catalog.find(query.pop("text") or "", **query)]


def versions(call: Call) -> Any:
    return [asdict(version) for version in _catalog(call).versions(call.path["network"])]


def _catalog(call: Call) -> Any:
    if call.host.catalog is None:
        raise InputError("this server has no catalog; start it with --catalog FILE")
    return call.host.catalog


def shutdown(call: Call) -> Any:
    call.server.ask_to_stop(drain=call.query["drain"])
    return Answer({"stopping": True}, 202)


_N = "/api/v1/networks/{network}"

CONTROL = (
    Route("GET", "/api/v1/server", "read", "What this server is", server, answer="version, networks, Flight's address"),
    Route("GET", "/api/v1/networks", "read", "List the networks", networks, answer=f"a list of {_STAGE}"),
    Route(
        "POST",
        "/api/v1/networks",
        "full",
        "Host a new network, and start it",
        add,
        (Parameter("start", bool, "Start it at once.", True),),
        DOCUMENT,
        "as for describe",
        status=201,
        refusals=(409, 422),
    ),
    Route(
        "GET",
        _N,
        "read",
        "Describe a network",
        describe,
        answer="the document and its revision, stage, columns, what waits",
    ),
    Route(
        "PUT",
        _N,
        "full",
        "Change a network while it runs: all of it, or nothing (modify_network)",
        modify,
        (Parameter("revision", str, "Only if the network is still of this revision, as `describe` tells it."),),
        DOCUMENT,
        answer="what was changed",
        refusals=(409, 422),
    ),
    Route("DELETE", _N, "full", "Stop a network, and host it no more", remove, (_DRAIN,), answer="`{name, removed}`"),
    Route("GET", f"{_N}/document", "read", "The network's document", document, answer="YAML"),
    Route(
        "POST",
        f"{_N}/start",
        "full",
        "Start a network that was stopped or has failed",
        _action(lambda call: call.host.start(call.path["network"])),
        answer=_STAGE,
        refusals=(409,),
    ),
    Route(
        "POST",
        f"{_N}/stop",
        "full",
        "Stop a network; with a state folder it can go on later",
        _action(lambda call: call.host.stop(call.path["network"], drain=call.query["drain"])),
        (_DRAIN,),
        answer=_STAGE,
    ),
    *(
        Route("POST", f"{_N}/{name}", "full", summary, _action(act), answer=_STAGE, refusals=(409,))
        for name, summary, act in (
            ("pause", "Let nothing run until resume", lambda call: call.host.pause(call.path["network"])),
            ("resume", "Go on after pause", lambda call: call.host.resume(call.path["network"])),
            (
                "drain",
                "Wait until all that is enqueued has gone through",
                lambda call: call.host.drain(call.path["network"]),
            ),
            ("flush", "End the input: close open windows", lambda call: call.host.flush(call.path["network"])),
        )
    ),
    Route("GET", f"{_N}/stats", "read", "Statistics as they are now (get_perf_stats)", stats, answer="all metrics"),
    Route(
        "GET",
        f"{_N}/connectors",
        "read",
        "How the sources and sinks are doing",
        connectors,
        answer="a list of `{name, role, kind, stream, state, last_error, tuples, ...}`",
    ),
    Route("GET", f"{_N}/decisions", "read", "Why what ran lately was chosen", decisions, answer="a list of sentences"),
    Route(
        "GET",
        f"{_N}/versions",
        "read",
        "All versions of a network in the catalog, refused ones too",
        versions,
        answer="a list of versions",
    ),
    Route(
        "GET",
        "/api/v1/entities",
        "read",
        "List streams, boxes, outputs, superboxes and connection points (list_entities)",
        entities,
        (
            Parameter("network", str, "Of this network only."),
            Parameter("kind", str, "A kind of box, or box, stream, output, superbox, connection_point."),
        ),
        answer="a list of `{network, section, name, kind, description, tags, arcs}`",
    ),
    Route(
        "POST",
        "/api/v1/typecheck",
        "read",
        "Check a document without running it",
        typecheck,
        body=DOCUMENT,
        answer="`{valid, problems, arcs}`",
    ),
    Route(
        "GET",
        "/api/v1/find",
        "read",
        "Find elements in the catalog",
        find,
        (
            Parameter("text", str, "Words that the element has, or their beginnings."),
            Parameter("tag", str, "It has this tag."),
            Parameter("kind", str, "It is of this kind."),
            Parameter("network", str, "It is in this network."),
            Parameter("column", str, "It carries this column."),
        ),
        answer="a list of `{network, section, element, kind, description, tags}`",
    ),
    Route(
        "POST",
        "/api/v1/shutdown",
        "full",
        "Stop all networks and the server",
        shutdown,
        (_DRAIN,),
        answer="`{stopping}`",
        status=202,
    ),
)
