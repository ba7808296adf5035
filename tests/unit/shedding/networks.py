"""Random networks with costs and loss graphs, and an engine on paper that lets rates flow through drops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hypothesis import strategies as st

from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.model.qos import Graph
from aurora.model.typed import Consumer, Producer, TypedNetwork
from aurora.shedding.greedy import PROPORTIONAL, Planner
from aurora.shedding.load import BoxProfile, LoadAnalysis, analyse_load
from aurora.shedding.places import Place, Places
from aurora.shedding.thinning import Thinning

FORBIDDEN = Graph(((99.9, 0.0), (100.0, 1.0)))


@dataclass(frozen=True)
class Case:
    typed: TypedNetwork
    profiles: Mapping[str, BoxProfile]
    rates: Mapping[str, float]
    graphs: Mapping[str, Graph | None]
    drop_cost_s: float

    @property
    def found(self) -> LoadAnalysis:
        return analyse_load(self.typed, self.profiles, self.rates)

    def planner(self, protected: Iterable[str] = ()) -> Planner:
        model = Thinning(Places(self.typed), self.found, drop_cost_s=self.drop_cost_s)
        return Planner(model, self.graphs, frozenset(protected))

    def utility(self, delivered: Mapping[str, float]) -> float:
        return sum((self.graphs[name] or PROPORTIONAL).utility(100 * share) for name, share in delivered.items())


@st.composite
def loss_graphs(draw: st.DrawFn) -> Graph:
    """Two to five points from (100, 1) down; falling in any shape, with tolerance."""
    xs = sorted(draw(st.sets(st.integers(0, 95), min_size=1, max_size=4)))
    us = sorted(draw(st.lists(st.integers(0, 10), min_size=len(xs), max_size=len(xs))))
    return Graph((*((float(x), u / 10) for x, u in zip(xs, us, strict=True)), (100.0, 1.0)))


@st.composite
def cases(draw: st.DrawFn, *, forbidding: bool = True, dead_ends: bool = True) -> Case:
    """One or two streams, up to seven boxes: chains, splits, routes, unions, diamonds."""
    net = Network("random")
    arcs = [net.stream(name, x="int") for name in ("s", "r")[: draw(st.integers(1, 2))]]
    free = list(arcs)
    profiles = {}
    for number in range(draw(st.integers(1, 7))):
        name = f"b{number}"
        read = draw(st.sampled_from(arcs))
        kind = draw(st.sampled_from(["map", "filter", "routes", "union"]))
        if kind == "map":
            made = [read.map(name, compute={"x": "x + 1"})]
        elif kind == "filter":
            made = [read.filter(name, "x > 0")]
        elif kind == "routes":
            box = read.filter(name, routes={"low": "x < 5"}, otherwise="high")
            made = [box["low"], box["high"]]
        else:
            read = None
            both = draw(st.lists(st.sampled_from(arcs), min_size=2, max_size=2, unique_by=id)) if len(arcs) > 1 else []
            if not both:
                continue
            made = [both[0].union(name, both[1])]
            free = [arc for arc in free if arc not in both]
        free = [arc for arc in free if arc is not read] + made
        arcs += made
        ports = ["low", "high"] if len(made) == 2 else ["out"]
        shares = {port: draw(st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0])) for port in ports}
        profiles[name] = BoxProfile(draw(st.sampled_from([0.0, 1e-6, 1e-5, 1e-4, 1e-3])), shares)
    wanted = [arc for arc in free if not dead_ends or draw(st.integers(0, 9)) > 0]
    wanted += draw(st.lists(st.sampled_from(arcs), max_size=2))
    if not wanted:
        wanted = [arcs[-1]]
    graphs: dict[str, Graph | None] = {}
    for number, arc in enumerate(wanted):
        net.output(f"o{number}", arc)
        kinds = [st.none(), loss_graphs(), loss_graphs()] + ([st.just(FORBIDDEN)] if forbidding else [])
        graphs[f"o{number}"] = draw(st.one_of(kinds))
    rates = {name: draw(st.sampled_from([10.0, 1000.0, 5000.0])) for name in net.streams}
    return Case(typecheck(net), profiles, rates, graphs, draw(st.sampled_from([0.0, 1e-7, 2e-6])))


def flowing(case: Case, drops: Mapping[Place, float]) -> tuple[float, dict[str, float]]:
    """The load, and the share that each output gets with drops at these places. An output that got nothing has none."""
    typed = case.typed

    def flow(dropping: Mapping[Place, float]) -> tuple[float, dict[Producer, float]]:
        rates: dict[Producer, float] = {}
        load = 0.0

        def put(arc: Producer, rate: float) -> None:
            nonlocal load
            if Place(arc) in dropping:
                load += rate * case.drop_cost_s
            rates[arc] = rate * (1 - dropping.get(Place(arc), 0.0))

        for stream, rate in case.rates.items():
            put(Producer(stream), rate)
        for name in typed.order:
            came = 0.0
            for port, arc in enumerate(typed.inputs[name]):
                place = Place(arc, Consumer(name, port))
                if place in dropping:
                    load += rates[arc] * case.drop_cost_s
                came += rates[arc] * (1 - dropping.get(place, 0.0))
            load += came * case.profiles[name].cost_s
            for port_name, share in case.profiles[name].selectivity.items():
                put(Producer(name, port_name), came * share)
        return load, rates

    _, before = flow({})
    load, after = flow(drops)
    shares = {name: after[arc] / before[arc] for name, arc in typed.outputs.items() if before[arc]}
    return load, shares
