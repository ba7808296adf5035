"""Routes that tell what a network did lately, what happened to it, and why its boxes run or do not."""

from __future__ import annotations

from typing import Any

from aurora.errors import InputError
from aurora.server.history import KEPT
from aurora.server.hosted import Hosted, unknown
from aurora.server.routes import Call, Parameter, Route
from aurora.storage.tiers import parse_bytes

MOST_AT_ONCE = 100
"""Elements whose series one answer has, if none is named."""
_ONE_SUPERBOX = (
    "On Spark all boxes run as one superbox on every train, since they hang together: there is nothing to choose, and "
    "no box waits for another."
)

_SECONDS = Parameter("seconds", float, "So far back.", 3600.0, least=1, most=3600)


def history(call: Call) -> Any:
    hosted = call.host.hosted(call.path["network"])
    of, name = call.query["of"], call.query["name"]
    known = hosted.history.names(of)
    if of == "network":
        names = [""] if known else None
    elif name is not None:
        if name not in known and name not in _elements(hosted, of):
            raise unknown(of, name, sorted({*known, *_elements(hosted, of)}))
        names = [name] if name in known else []
    else:
        if len(known) > MOST_AT_ONCE:
            raise InputError(f"there are {len(known)} of {of}; give the name of one")
        names = None
    found = hosted.history.read(of, names, call.query["seconds"], call.server.clock.now_us())
    if of == "network":
        found["budget"] = _budget(hosted)
    return found | {"units": {kept.name: kept.unit for kept in KEPT[of]}}


def _elements(hosted: Hosted, of: str) -> list[str]:
    """What is there just now, of which there may be no sample yet."""
    typed = hosted.typed
    by_sort = {"input": typed.network.streams, "box": typed.order, "arc": typed.arcs, "output": typed.outputs}
    return list(by_sort[of])


def _budget(hosted: Hosted) -> dict[str, Any]:
    settings = hosted.settings
    return {
        "memory_bytes": _bytes(settings.memory),
        "disk_bytes": _bytes(settings.disk),
        "workers": settings.workers,
        "headroom": settings.headroom,
    }


def _bytes(size: str | int) -> int:
    return size if isinstance(size, int) else parse_bytes(size)


def events(call: Call) -> Any:
    hosted = call.host.hosted(call.path["network"])
    return [event.to_dict() for event in hosted.events.last(call.query["seconds"])]


def scheduling(call: Call) -> Any:
    hosted = call.host.hosted(call.path["network"])
    only = call.query["box"]
    if only is not None and only not in hosted.typed.order:
        raise unknown("box", only, list(hosted.typed.order))
    if hosted.stage not in ("running", "paused"):
        return {"policy": None, "note": f"The network does not run: {hosted.why}.", "boxes": {}}
    explained = hosted.engine.scheduling()
    latest = hosted.history.latest
    loads: dict[str, float] = {}
    if latest is not None:
        loads = dict(zip(latest.typed.order, latest.load.tolist(), strict=True))
    total = sum(loads.values())
    boxes = {
        name: {
            **(explained[name].to_dict() if name in explained else {"state": "superbox", "why": _ONE_SUPERBOX}),
            "load": loads.get(name, 0.0),
            "share": loads.get(name, 0.0) / total if total else 0.0,
        }
        for name in hosted.typed.order
        if only in (None, name)
    }
    return {
        "policy": (hosted.settings.scheduler or "qos") if explained else None,
        "note": "" if explained or not hosted.typed.order else _ONE_SUPERBOX,
        "boxes": boxes,
    }


_N = "/api/v1/networks/{network}"
_META = ", ".join(f"of `{of}`: {', '.join(kept.name for kept in metrics)}" for of, metrics in KEPT.items())

HISTORY = (
    Route(
        "GET",
        f"{_N}/history",
        "read",
        "What was measured lately: every second of the last 5 minutes, every 10 seconds of the last hour",
        history,
        (
            Parameter("of", str, "Of the whole network, or of elements of a sort.", "network", tuple(KEPT)),
            Parameter("name", str, f"Of this element only; needed where there are more than {MOST_AT_ONCE}."),
            _SECONDS,
        ),
        answer="`{of, step_s, times, series: {NAME: {METRIC: [...]}}, units}`, times in seconds since 1970, null where "
        f"nothing is known; the network's name is empty, and it has a `budget`; {_META}",
    ),
    Route(
        "GET",
        f"{_N}/events",
        "read",
        "What happened lately: started, modified, drops began, a source failed, and so on",
        events,
        (_SECONDS,),
        answer="a list of `{at_us, kind, text, of, name}`, the latest last",
    ),
    Route(
        "GET",
        f"{_N}/scheduling",
        "read",
        "Of every box its share of the load, and why it runs just now or does not",
        scheduling,
        (Parameter("box", str, "Of this box only."),),
        answer="`{policy, note, boxes: {NAME: {state, why, ready, queued, utility_per_s, slack_s, expected_latency_s, "
        "behind, last_ran_s, load, share}}}`; where all boxes run as one superbox the note says so; while the "
        "network does not run there are none",
    ),
)
