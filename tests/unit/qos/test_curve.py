"""Curves against their graphs, place by place."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.model.qos import Graph
from aurora.qos.curve import Curve
from tests.unit.scheduler.simulated import graphs

PLACES = st.lists(st.integers(-10, 6_000).map(lambda x: x / 1e3), min_size=1)


@given(graphs(), PLACES)
def test_utility_is_that_of_the_graph(graph: Graph, places: list[float]) -> None:
    assert Curve(graph).utility(places) == pytest.approx([graph.utility(x) for x in places])


@given(graphs(), PLACES)
def test_the_gradient_is_the_loss_just_behind_a_place(graph: Graph, places: list[float]) -> None:
    step = 1e-5
    expected = [(graph.utility(x) - graph.utility(x + step)) / step for x in places]
    assert Curve(graph).gradient(places) == pytest.approx(expected, abs=1e-6)


@given(graphs(), PLACES)
def test_slack_ends_where_the_gradient_changes(graph: Graph, places: list[float]) -> None:
    curve = Curve(graph)
    for x, slack in zip(places, curve.slack(places).tolist(), strict=True):
        assert slack > 0
        if math.isinf(slack):
            assert curve.gradient(x) == 0
            assert not (curve.critical > x).any()
        else:
            before, at, after = curve.gradient([x, x + 0.999 * slack, x + 1.001 * slack])
            assert before == at
            assert at != after


def test_a_point_on_a_straight_line_is_not_critical() -> None:
    curve = Curve(Graph(((0.0, 1.0), (1.0, 0.75), (2.0, 0.5), (4.0, 0.0))))
    assert curve.critical.tolist() == [0.0, 4.0]
    assert curve.losses.tolist() == [0.0, 0.25, 0.0]


def test_a_level_graph_has_no_critical_point() -> None:
    curve = Curve(Graph(((0.0, 1.0), (3.0, 1.0))))
    assert not len(curve.critical)
    assert curve.gradient([0.0, 9.0]).tolist() == [0, 0]
    assert np.isinf(curve.slack(1.0))
