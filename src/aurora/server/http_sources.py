"""Routes that turn the rate of sources which make their tuples up."""

from __future__ import annotations

from typing import Any

from aurora.connectors.live.rates import span
from aurora.errors import InputError
from aurora.server.hosted import unknown
from aurora.server.routes import Call, Parameter, Route


def rates(call: Call) -> Any:
    found = call.host.hosted(call.path["network"]).rates()
    least, most = span(found)
    return {"least": least, "most": most, "sources": [rate.to_plain() for rate in found]}


def set_rates(call: Call) -> Any:
    call.host.hosted(call.path["network"]).set_factor(_factor(call))
    return rates(call)


def rate(call: Call) -> Any:
    source, found = call.path["source"], call.host.hosted(call.path["network"]).rates()
    for one in found:
        if one.source == source:
            return one.to_plain()
    raise unknown("source whose rate can be changed", source, [one.source for one in found])


def set_rate(call: Call) -> Any:
    call.host.hosted(call.path["network"]).set_factor(_factor(call), call.path["source"])
    return rate(call)


def _factor(call: Call) -> float:
    factor: float | None = call.query["factor"]
    if factor is None:
        raise InputError("the request says no factor; add one, such as ?factor=10")
    return factor


_N = "/api/v1/networks/{network}"
_ONE = "`{source, stream, factor, tuples_per_s}`"
_ALL = f"`{{least, most, sources: [...]}}`: from where to where it makes sense to turn it, and of each source {_ONE}"
_TIMES = (Parameter("factor", float, "So many times the declared rate, from 0.01 to 100000; needed."),)

SOURCES = (
    Route("GET", f"{_N}/rates", "read", "How fast generators make tuples", rates, answer=_ALL),
    Route(
        "PUT",
        f"{_N}/rates",
        "full",
        "Have all generators make so many times the tuples that they declare",
        set_rates,
        _TIMES,
        answer=_ALL,
        refusals=(409,),
    ),
    Route("GET", f"{_N}/sources/{{source}}/rate", "read", "How fast a generator makes tuples", rate, answer=_ONE),
    Route(
        "PUT",
        f"{_N}/sources/{{source}}/rate",
        "full",
        "Have a generator make so many times the tuples that it declares",
        set_rate,
        _TIMES,
        answer=_ONE,
        refusals=(409,),
    ),
)
