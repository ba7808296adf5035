"""Routes to look for a mistake in a network: break-points, steps, and tuples made by hand."""

from __future__ import annotations

import json
from typing import Any

from aurora.errors import InputError
from aurora.server.debugging import Debugging
from aurora.server.hosted import Hosted, UnknownNameError, unknown
from aurora.server.http_tuples import FORMATS, decoded_body, told
from aurora.server.routes import Answer, Call, Parameter, Route

_MOST_ROWS = 1_000


def _hosted(call: Call) -> Hosted:
    return call.host.hosted(call.path["network"])


def _debugging(call: Call) -> Debugging:
    return _hosted(call).debugging


def _given(call: Call, **kinds: type) -> dict[str, Any]:
    """The fields of a JSON object; those that are not there are None."""
    try:
        value = json.loads(call.body or b"{}")
    except (ValueError, RecursionError) as error:
        raise InputError(f"the body is no JSON: {error}; send an object with {', '.join(kinds)}") from error
    if not isinstance(value, dict):
        raise InputError(f"the body is no object; send one with {', '.join(kinds)}")
    for name, field in value.items():
        if name not in kinds:
            raise InputError(f"there is no field {str(name)[:100]!r}; this request has {', '.join(kinds)}")
        wanted = kinds[name]
        if field is not None and (not isinstance(field, wanted) or (wanted is int and isinstance(field, bool))):
            raise InputError(f"{name} is {str(field)[:100]!r}; give {_WORDS[wanted]}")
    return {name: value.get(name) for name in kinds}


_WORDS = {str: "text", int: "a whole number", bool: "true or false"}


def _number(call: Call) -> int:
    text = call.path["number"]
    known = [str(one["number"]) for one in _debugging(call).breakpoints()]
    if text not in known:
        raise UnknownNameError(f"there is no break-point {text[:100]!r}; there is {', '.join(known) or 'none'}")
    return int(text)


def _check_arc(call: Call, arc: str) -> None:
    arcs = _hosted(call).typed.arcs
    if arc not in arcs:
        raise unknown("arc", arc, list(arcs))


def debug_state(call: Call) -> Any:
    return _debugging(call).state()


def breakpoints(call: Call) -> Any:
    return _debugging(call).breakpoints()


def add_breakpoint(call: Call) -> Any:
    given = _given(call, arc=str, condition=str, enabled=bool)
    if given["arc"] is None:
        raise InputError("no arc is named; give the field arc")
    _check_arc(call, given["arc"])
    condition = (given["condition"] or "").strip() or None
    return Answer(_debugging(call).add(given["arc"], condition, enabled=given["enabled"] is not False), 201)


def enable_breakpoint(call: Call) -> Any:
    enabled = _given(call, enabled=bool)["enabled"]
    if enabled is None:
        raise InputError("the body does not say whether it is enabled; give the field enabled")
    return _debugging(call).enable(_number(call), enabled=enabled)


def remove_breakpoint(call: Call) -> Any:
    number = _number(call)
    _debugging(call).remove(number)
    return {"number": number, "removed": True}


def step(call: Call) -> Any:
    given = _given(call, box=str, tuples=int)
    hosted = _hosted(call)
    if given["box"] is not None and given["box"] not in hosted.typed.order:
        raise unknown("box", given["box"], list(hosted.typed.order))
    return hosted.debugging.step(given["box"], given["tuples"], call.query["rows"])


def inject(call: Call) -> Any:
    arc = call.query["arc"]
    if arc is None:
        raise InputError("no arc is named; give the parameter arc")
    _check_arc(call, arc)
    hosted = _hosted(call)
    decoded = decoded_body(call, arc, hosted.typed.arcs[arc].schema)
    return {"tuples": hosted.inject(arc, decoded.frame), **told(decoded)}


_D = "/api/v1/networks/{network}/debug"
_BREAKPOINT = "`{number, arc, condition, enabled, hits, tuples, fault}`"
_SEEN = "`{arc, tuples, first}`"

DEBUG = (
    Route(
        "GET",
        f"{_D}/state",
        "read",
        "Whether a network is paused, for which tuples, and what the last step did",
        debug_state,
        answer="`{stage, breakpoints, hits, step}`; a hit is `{breakpoint, arc, condition, at_us, count, tuples, "
        "numbers}`",
    ),
    Route("GET", f"{_D}/breakpoints", "read", "List the break-points", breakpoints, answer=f"a list of {_BREAKPOINT}"),
    Route(
        "POST",
        f"{_D}/breakpoints",
        "full",
        "Pause the network when a tuple on an arc fulfils a condition",
        add_breakpoint,
        body='`{"arc": "late", "condition": "delay > 60"}`; without a condition every tuple does. With `"enabled": '
        "false` it pauses nothing yet.",
        answer=_BREAKPOINT,
        status=201,
        refusals=(409, 422),
    ),
    Route(
        "PUT",
        f"{_D}/breakpoints/{{number}}",
        "full",
        "Enable or disable a break-point",
        enable_breakpoint,
        body='`{"enabled": true}`',
        answer=_BREAKPOINT,
        refusals=(409,),
    ),
    Route(
        "DELETE",
        f"{_D}/breakpoints/{{number}}",
        "full",
        "Remove a break-point",
        remove_breakpoint,
        answer="`{number, removed}`",
        refusals=(409,),
    ),
    Route(
        "POST",
        f"{_D}/step",
        "full",
        "Let a paused network do one step",
        step,
        (Parameter("rows", int, "So many tuples of every arc are shown.", 20, least=0, most=_MOST_ROWS),),
        body='`{}` for the next superbox, `{"tuples": 1}` for one tuple of the box that the scheduler chooses, '
        '`{"box": "late"}` for a train of a box, or both. On Spark all boxes run as one.',
        answer="`{number, worked, whole, entered, boxes, hits}`; a box is `{box, taken, made, cost_s, late, rejected, "
        f"state}}`, and what it took and made are lists of {_SEEN}",
        refusals=(409,),
    ),
    Route(
        "POST",
        f"{_D}/inject",
        "full",
        "Put tuples made by hand on an arc: a stream or, on the local processor, any",
        inject,
        (
            Parameter("arc", str, "The arc."),
            Parameter("format", str, "What the body is; else its Content-Type says so.", choices=FORMATS),
            Parameter(
                "rejects",
                str,
                "What to do if some are no tuples of the arc: take none at all, or the others.",
                "refuse",
                ("refuse", "skip"),
            ),
        ),
        "Tuples, as for a stream.",
        "`{tuples, rejected, reasons}`",
        lane="tuples",
        refusals=(409, 422, 503),
    ),
)
