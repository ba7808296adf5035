"""QoS of inner arcs, and what becomes of their tuples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aurora as au
from aurora.model.qos import Graph
from aurora.model.typed import Producer, TypedNetwork
from aurora.qos.inner import Flow, shifted, summed

TIGHT = au.QoS(latency=[("0s", 1), ("1s", 1), ("2s", 0)], loss=[(100, 1), (50, 0)])
LOOSE = au.QoS(latency=[("0s", 1), ("4s", 1), ("5s", 0)], value={"on": "x", "graph": [(0, 0), (9, 1)]})


def typed() -> TypedNetwork:
    """s → clean → routes.small → tight, s → clean → routes.out → big → loose; and clean is an output as well."""
    net = au.Network("n")
    clean = net.stream("s", x="int").filter("clean", "x > 0")
    routes = clean.filter("routes", routes={"small": "x < 10"}, otherwise="rest")
    net.output("tight", routes["small"], qos=TIGHT)
    net.output("loose", routes["rest"].filter("big", "x > 100"), qos=LOOSE)
    net.output("all", clean)
    return au.Engine(net, processor="local").typecheck()


GRAPHS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 10)), min_size=2, max_size=6, unique_by=lambda p: p[0])


def graph(points: list[tuple[int, int]]) -> Graph:
    return Graph(tuple((float(x), u / 10) for x, u in sorted(points)))


@given(GRAPHS, st.floats(0, 25), st.floats(0, 30))
def test_a_shifted_graph_has_the_utility_at_the_age_that_a_tuple_will_have(
    points: list[tuple[int, int]], delay_s: float, age_s: float
) -> None:
    found = shifted(graph(points), delay_s).utility(age_s)
    assert found == pytest.approx(graph(points).utility(age_s + delay_s), abs=1e-6)


@given(st.lists(GRAPHS, min_size=1, max_size=4), st.floats(-1, 30))
def test_a_sum_of_graphs_has_the_sum_of_their_utilities(several: list[list[tuple[int, int]]], x: float) -> None:
    graphs = [graph(points) for points in several]
    total = summed(graphs)
    assert total is not None
    assert total.utility(x) == pytest.approx(sum(part.utility(x) for part in graphs))


def test_there_is_no_sum_of_nothing() -> None:
    assert summed([]) is None


def test_an_arc_has_the_graphs_of_the_outputs_it_feeds() -> None:
    network = typed()
    flow = Flow(network)
    cost_s = np.array([{"clean": 0.5, "routes": 0.25, "big": 2.0}[name] for name in network.order])
    stream = flow.qos(Producer("s"), cost_s)
    assert stream.delay_s == {"tight": 0.75, "loose": 2.75, "all": 0.5}
    assert stream.latency is not None
    assert stream.latency.utility(0) == 2
    assert stream.latency.utility(0.75) == pytest.approx(0.5 + 1)
    assert stream.loss == TIGHT.loss
    assert stream.value == {"loose": LOOSE.value}
    last = flow.qos(Producer("big"), cost_s)
    assert (last.latency, last.loss, last.delay_s) == (LOOSE.latency, None, {"loose": 0.0})
    assert flow.qos(Producer("routes", "small"), cost_s).latency == TIGHT.latency


def test_a_value_graph_ends_where_columns_change() -> None:
    net = au.Network("n")
    arc = net.stream("s", x="int").map("m", compute={"x": "x + 1"})
    net.output("o", arc.filter("f", "x > 0"), qos=LOOSE)
    flow = Flow(au.Engine(net, processor="local").typecheck())
    assert flow.qos(Producer("m"), np.zeros(2)).value == {"o": LOOSE.value}
    assert flow.qos(Producer("s"), np.zeros(2)).value == {}


def test_shares_follow_selectivities_and_ports() -> None:
    network = typed()
    selectivity = np.array([{"clean": 0.5, "routes": 0.8, "big": 0.1}[name] for name in network.order])
    ports = {Producer("routes", "small"): 0.25, Producer("routes", "rest"): 0.75}
    found = Flow(network).shares(Producer("s"), selectivity, lambda arc: ports.get(arc, 1.0))
    assert found == pytest.approx({"all": 0.5, "tight": 0.5 * 0.8 * 0.25, "loose": 0.5 * 0.8 * 0.75 * 0.1})
    assert Flow(network).shares(Producer("big"), selectivity, lambda _: 1.0) == {"loose": 1.0}


def test_what_comes_by_two_ways_counts_twice() -> None:
    net = au.Network("n")
    s = net.stream("s", x="int")
    net.output("o", s.filter("a", "x > 0").union("u", s.filter("b", "x < 5")))
    network = au.Engine(net, processor="local").typecheck()
    selectivity = np.array([{"a": 0.5, "b": 0.25, "u": 1.0}[name] for name in network.order])
    flow = Flow(network)
    assert flow.shares(Producer("s"), selectivity, lambda _: 1.0) == {"o": 0.75}
    assert flow.qos(Producer("s"), np.ones(3)).delay_s == {"o": 3.0}
