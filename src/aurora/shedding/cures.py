"""What would make a network fit: more cores, cheaper boxes, or fewer tuples. Each by itself, as small as will do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from aurora.shedding.load import Limit, LoadAnalysis

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Cures:
    """Ways out of an overload. A way that by itself cannot be enough is None, or left out.

    ``cores`` is how many cores would do with the same headroom. ``cheaper`` says by which factor a box would have to
    become cheaper, ``all_cheaper`` by which all boxes would. ``shed`` says which share of one stream's tuples would
    have to go, ``shed_all`` which share of every stream's. ``growth`` is by what factor all rates may change until the
    machine is just full: below 1 in an overload.
    """

    cores: int | None
    all_cheaper: float
    cheaper: Mapping[str, float]
    shed_all: float
    shed: Mapping[str, float]
    growth: float


def cures(found: LoadAnalysis) -> Cures:
    """The ways out; for a network that fits, how little it could do with."""
    broken = [limit for limit in found.limits if not limit.kept]
    worst = max((limit.load / limit.most for limit in found.limits), default=0.0)
    cores = None if found.crowded else max(1, math.ceil(found.min_cap / found.headroom * (1 - _ROUNDING)))
    cheaper = {name: factor for name in found.boxes if (factor := _cheaper(found, name, broken)) is not None}
    shed = {stream: share for stream in found.rates_per_s if (share := _shed(found, stream, broken)) is not None}
    return Cures(
        cores=cores,
        all_cheaper=max(1.0, worst) if broken else 1.0,
        cheaper=dict(sorted(cheaper.items(), key=lambda entry: entry[1])),
        shed_all=1 - 1 / worst if broken else 0.0,
        shed=dict(sorted(shed.items(), key=lambda entry: entry[1])),
        growth=math.inf if worst == 0 else 1 / worst,
    )


def _cheaper(found: LoadAnalysis, name: str, broken: list[Limit]) -> float | None:
    """By which factor this box alone would have to become cheaper; None if that cannot be enough, or is not needed."""
    load = found.boxes[name].load
    factors = []
    for limit in broken:
        left = limit.most - (limit.load - load)
        if name not in limit.boxes or left <= limit.most * _ROUNDING:
            return None
        factors.append(load / left)
    return max(factors, default=None)


def _shed(found: LoadAnalysis, stream: str, broken: list[Limit]) -> float | None:
    """Which share of this stream alone would have to go; None if all of it would not be enough, or none needs to."""
    shares = []
    for limit in broken:
        made = math.fsum(found.boxes[name].by_input.get(stream, 0.0) for name in limit.boxes)
        if made * (1 + _ROUNDING) < limit.load - limit.most:
            return None
        shares.append(min(1.0, (limit.load - limit.most) / made))
    return max(shares, default=None)
