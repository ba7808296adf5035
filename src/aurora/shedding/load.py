"""How much work a network makes at given rates, and whether the machine can do it, told before it runs.

Rates go with the arrows: what enters a box, times its selectivity, leaves it. A box that takes r tuples per second at
c seconds each has the load r·c, in seconds of work per second, which is cores. All loads together are ``min_cap``, the
least capacity with which no queue grows for ever.

Work goes against the arrows: the *coefficient* of an arc is the work that one tuple on it makes downstream, at the
boxes that read it and, by their selectivity, behind them.

A box that cannot keep up would pass on only what it gets done. What stands behind it would then seem to need less than
it does, so rates here are those of a network that keeps up; which boxes cannot is told by ``crowded``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from aurora.errors import InputError, did_you_mean
from aurora.model.typed import Producer, TypedNetwork

_ROUNDING = 1e-9
"""What a sum of doubles may be off, as a share of the whole: a load that just fits does fit."""


@dataclass(frozen=True)
class BoxProfile:
    """What a box costs: seconds for a tuple that it takes, and how many tuples come out of each port for it."""

    cost_s: float
    selectivity: Mapping[str, float]


@dataclass(frozen=True)
class ArcLoad:
    """``coefficient_s`` is the work that one tuple on the arc makes downstream."""

    rate_per_s: float
    coefficient_s: float


@dataclass(frozen=True)
class BoxLoad:
    """``load`` is in seconds of work per second; ``by_input`` says how much of it each stream makes."""

    rate_per_s: float
    cost_s: float
    load: float
    by_input: Mapping[str, float]

    @property
    def most_per_s(self) -> float:
        """The rate that one worker could take if it did nothing else."""
        return 1 / self.cost_s if self.cost_s else math.inf


@dataclass(frozen=True)
class Limit:
    """Boxes whose load together may not exceed what there is for them."""

    boxes: tuple[str, ...]
    load: float
    most: float

    @property
    def kept(self) -> bool:
        return self.load <= self.most * (1 + _ROUNDING)


@dataclass(frozen=True)
class LoadAnalysis:
    """What a network needs at given rates. ``places`` are the boxes that only one worker can run at a time."""

    rates_per_s: Mapping[str, float]
    arcs: Mapping[Producer, ArcLoad]
    boxes: Mapping[str, BoxLoad]
    cores: float
    headroom: float
    places: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def min_cap(self) -> float:
        """The least capacity, in cores, with which no queue grows for ever."""
        return math.fsum(box.load for box in self.boxes.values())

    @property
    def usable(self) -> float:
        """The capacity that may be used if the headroom is to be left."""
        return self.cores * self.headroom

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """All boxes share the cores; those of one place share one core."""
        shared = Limit(tuple(self.boxes), self.min_cap, self.usable)
        single = (
            Limit(place, math.fsum(self.boxes[name].load for name in place), self.headroom) for place in self.places
        )
        return (shared, *single)

    @property
    def crowded(self) -> tuple[Limit, ...]:
        """The places that are too busy however many cores there are, the worst first."""
        return tuple(sorted((limit for limit in self.limits[1:] if not limit.kept), key=lambda limit: -limit.load))

    @property
    def fits(self) -> bool:
        return all(limit.kept for limit in self.limits)

    @property
    def short_by(self) -> float:
        """How many cores are missing; 0 if the machine is large enough."""
        return 0.0 if self.limits[0].kept else self.min_cap - self.usable

    @property
    def bottleneck(self) -> str | None:
        """The box with the greatest load; None where there is no load."""
        busiest = max(self.boxes.items(), key=lambda entry: entry[1].load, default=None)
        return None if busiest is None or busiest[1].load == 0 else busiest[0]

    def input_load(self, stream: str) -> float:
        """The load that a stream makes in the whole network."""
        return self.rates_per_s[stream] * self.arcs[Producer(stream)].coefficient_s


def analyse_load(
    typed: TypedNetwork,
    profiles: Mapping[str, BoxProfile],
    rates_per_s: Mapping[str, float],
    *,
    cores: float = 1.0,
    headroom: float = 1.0,
    places: Iterable[Iterable[str]] | None = None,
) -> LoadAnalysis:
    """The rate, load and coefficient of everything. Raises InputError where something is not known.

    ``headroom`` is the share of the machine that may be used. ``places`` are groups of boxes that one worker runs at a
    time; without it every box is one, as on the local processor.

    >>> import aurora as au
    >>> net = au.Network("demo")
    >>> dear = net.stream("ticks", price="double").filter("dear", "price > 50")
    >>> _ = net.output("answers", dear.map("rounded", extend={"price": "round(price)"}))
    >>> costs = {"dear": BoxProfile(1e-4, {"out": 0.5}), "rounded": BoxProfile(2e-4, {"out": 1.0})}
    >>> found = analyse_load(au.typecheck(net), costs, {"ticks": 5000.0}, cores=2, headroom=0.8)
    >>> f"{found.arcs[Producer('ticks')].coefficient_s:.4f} {found.min_cap:.2f} {found.fits} {found.bottleneck}"
    '0.0002 1.00 True dear'
    """
    rates = _checked_rates(typed, rates_per_s)
    if not (cores > 0 and math.isfinite(cores)):
        raise InputError(f"{cores:g} cores are not possible; give a number above 0")
    if not 0 < headroom <= 1:
        raise InputError(f"a headroom of {headroom:g} is not possible; give the share to use, above 0 and up to 1")
    flows, boxes = _rates(typed, profiles, rates)
    coefficients = load_coefficients(typed, profiles)
    arcs = {arc: ArcLoad(math.fsum(flow.values()), coefficients[arc]) for arc, flow in flows.items()}
    groups = ((name,) for name in typed.order) if places is None else (tuple(place) for place in places)
    return LoadAnalysis(rates, arcs, boxes, cores, headroom, tuple(place for place in groups if place))


def load_coefficients(typed: TypedNetwork, profiles: Mapping[str, BoxProfile]) -> dict[Producer, float]:
    """The work in seconds that one tuple on each arc makes downstream. A box without profile counts as free."""
    found: dict[Producer, float] = {}

    def at(arc: Producer) -> float:
        return math.fsum(taken[box] for box, _ in typed.consumers(arc))

    taken: dict[str, float] = {}
    for name in reversed(typed.order):
        ports = [Producer(name, port) for port in typed.network.boxes[name].output_ports()]
        found |= {arc: at(arc) for arc in ports}
        profile = profiles.get(name)
        behind = 0.0 if profile is None else math.fsum(profile.selectivity.get(p.port, 0.0) * found[p] for p in ports)
        taken[name] = (0.0 if profile is None else profile.cost_s) + behind
    found |= {Producer(stream): at(Producer(stream)) for stream in typed.network.streams}
    return found


Flow = dict[str, float]
"""A rate, by the stream that it goes back to."""


def _rates(
    typed: TypedNetwork, profiles: Mapping[str, BoxProfile], rates: Mapping[str, float]
) -> tuple[dict[Producer, Flow], dict[str, BoxLoad]]:
    flows: dict[Producer, Flow] = {Producer(stream): {stream: rate} for stream, rate in rates.items()}
    boxes: dict[str, BoxLoad] = {}
    unknown: list[str] = []
    for name in typed.order:
        taken: Flow = {}
        for arc in typed.inputs[name]:
            # Static data is there from the start: it has no rate.
            for stream, rate in flows.get(arc, {}).items():
                taken[stream] = taken.get(stream, 0.0) + rate
        profile = profiles.get(name)
        rate = math.fsum(taken.values())
        if profile is None:
            if rate:
                unknown.append(name)
            profile = BoxProfile(0.0, {})
        by_input = {stream: part * profile.cost_s for stream, part in taken.items()}
        boxes[name] = BoxLoad(rate, profile.cost_s, rate * profile.cost_s, by_input)
        for port in typed.network.boxes[name].output_ports():
            share = profile.selectivity.get(port, 0.0)
            flows[Producer(name, port)] = {stream: part * share for stream, part in taken.items()}
    if unknown:
        raise InputError(
            f"what a tuple costs is not known of {_named('box', unknown)}; measure a run in which tuples reach "
            f"{'it' if len(unknown) == 1 else 'them'}"
        )
    return flows, boxes


def _checked_rates(typed: TypedNetwork, given: Mapping[str, float]) -> dict[str, float]:
    """A rate for every stream, in the order of declaration. A stream that no box reads makes no work."""
    streams = list(typed.network.streams)
    for name, rate in given.items():
        if name not in streams:
            hint = did_you_mean(name, streams)
            raise InputError(
                f"a rate is given for {name!r}, but the network has no such stream; it has "
                f"{', '.join(streams) or 'none'}" + (f"; {hint}" if hint else "")
            )
        if not (math.isfinite(rate) and rate >= 0):
            raise InputError(f"the rate of {name} is {rate:g}; give tuples per second, 0 or more")
    missing = [name for name in streams if name not in given and typed.consumers(name)]
    if missing:
        raise InputError(f"no rate is given for {_named('stream', missing)}; give the tuples per second of every input")
    return {name: float(given.get(name, 0.0)) for name in streams}


def _named(what: str, names: list[str]) -> str:
    plural = {"box": "boxes", "stream": "streams"}
    return f"the {what} {names[0]}" if len(names) == 1 else f"the {plural[what]} {', '.join(names)}"
