"""QoS graphs: what they say, what they refuse, and that they are written as they were read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.errors import NetworkError, Report
from aurora.model.qos import Graph, QoS


def _problems(**graphs: Any) -> list[tuple[str, tuple[str | int, ...]]]:
    report = Report("output o")
    assert QoS.read(graphs, report) is None
    return [(problem.id, problem.path) for problem in report.problems]


def test_utility_is_linear_between_points_and_level_outside() -> None:
    latency = QoS(latency=[("0s", 1), ("2s", 1), ("5s", 0)]).latency
    assert latency is not None
    assert [latency.utility(x) for x in (-1, 0, 1, 2, 3.5, 5, 60)] == [1, 1, 1, 1, 0.5, 0, 0]


def test_loss_is_written_from_100_downwards() -> None:
    loss = QoS(loss=[[100, 1], [50, 0.5], [0, 0]]).loss
    assert loss is not None
    assert [loss.utility(x) for x in (100, 75, 50, 25, 0)] == [1, 0.75, 0.5, 0.25, 0]
    assert QoS(loss=loss).loss == loss


def test_a_value_graph_may_rise_and_fall() -> None:
    value = QoS(value={"on": "price", "graph": [[0, 0.1], [90, 0.2], [100, 0]]}).value
    assert value is not None
    assert (value.on, value.utility(95)) == ("price", pytest.approx(0.1))


def test_plain_numbers_of_a_latency_graph_are_seconds() -> None:
    assert QoS(latency=[(0, 1), (0.25, 0)]) == QoS(latency=[("0s", 1), ("250ms", 0)])


@pytest.mark.parametrize(
    ("graphs", "problems"),
    [
        ({"latency": [[0, 0.5], [2, 0]]}, [("bad-qos-graph", ("latency", 0))]),
        ({"latency": [[-1, 1], [2, 0]]}, [("bad-qos-graph", ("latency", 0))]),
        ({"latency": [[0, 1], [2, 0.3], [3, 0.4]]}, [("bad-qos-graph", ("latency", 2))]),
        ({"latency": [[0, 1], [2, 0.5], [2, 0]]}, [("bad-qos-graph", ("latency", 2))]),
        ({"latency": [[0, 1], [2, 1.5]]}, [("bad-qos-graph", ("latency", 1))]),
        ({"latency": [[0, 1], ["soon", -1]]}, [("bad-qos-graph", ("latency", 1))] * 2),
        ({"latency": [[0, 1], [True, 0]]}, [("bad-qos-graph", ("latency", 1))]),
        ({"latency": [[0, 1]]}, [("bad-qos-graph", ("latency",))]),
        ({"latency": "fast"}, [("bad-qos-graph", ("latency",))]),
        ({"latency": [[0, 1], 5]}, [("bad-qos-graph", ("latency", 1))]),
        ({"latency": [[0, 1], [float("nan"), 0]]}, [("bad-qos-graph", ("latency", 1))]),
        ({"latency": [[0, 1], [10**400, 0]]}, [("bad-qos-graph", ("latency", 1))]),
        ({"latency": [[0, 1], ["9" * 400 + "s", 0]]}, [("bad-qos-graph", ("latency", 1))]),
        ({"loss": [[90, 1], [50, 0]]}, [("bad-qos-graph", ("loss", 0))]),
        ({"loss": [[100, 0.9], [50, 0]]}, [("bad-qos-graph", ("loss", 0))]),
        ({"loss": [[100, 1], [-5, 0]]}, [("bad-qos-graph", ("loss", 1))]),
        ({"loss": [[100, 1], [50, 0.5], [60, 0]]}, [("bad-qos-graph", ("loss", 2))]),
        ({"loss": [[100, 1], [50, 0.5], [40, 0.6]]}, [("bad-qos-graph", ("loss", 2))]),
        ({"value": {"on": "price", "graph": [[5, 1], [4, 0]]}}, [("bad-qos-graph", ("value", "graph", 1))]),
        ({"value": {"on": "price"}}, [("missing-parameter", ("value",))]),
        ({"value": {"on": 3, "graph": [[0, 1], [1, 0]]}}, [("bad-value", ("value", "on"))]),
        (
            {"value": {"on": "price", "graph": [[0, 1], [1, 0]], "by": 1}},
            [("unknown-parameter", ("value", "by"))],
        ),
        ({"value": [[0, 1], [1, 0]]}, [("not-a-mapping", ("value",))]),
        ({"latncy": [[0, 1], [2, 0]]}, [("unknown-parameter", ("latncy",))]),
        ({"latency": [[0, 0.5], [2, 0]], "loss": 5}, [("bad-qos-graph", ("latency", 0)), ("bad-qos-graph", ("loss",))]),
    ],
)
def test_a_bad_graph_is_refused(graphs: dict[str, Any], problems: list[tuple[str, tuple[str | int, ...]]]) -> None:
    assert _problems(**graphs) == problems


def test_the_constructor_raises_what_a_document_reports() -> None:
    with pytest.raises(NetworkError) as caught:
        QoS(latency=[("0s", 0.5), ("2s", 0.7)])
    assert [problem.id for problem in caught.value.problems] == ["bad-qos-graph"] * 2


def test_a_document_that_gives_no_mapping_is_refused() -> None:
    report = Report("output o")
    assert QoS.read([1, 2], report) is None
    assert [problem.id for problem in report.problems] == ["not-a-mapping"]


_UTILITY = st.floats(0, 1)


@st.composite
def qos(draw: st.DrawFn) -> QoS:
    """A legal QoS with any of its graphs."""
    graphs: dict[str, Any] = {}
    if draw(st.booleans()):
        delays = sorted(draw(st.sets(st.integers(0, 10**9), min_size=2, max_size=5)))
        falling = [1.0, *sorted(draw(st.lists(_UTILITY, min_size=4, max_size=4)), reverse=True)]
        graphs["latency"] = [(us / 1e6, u) for us, u in zip(delays, falling, strict=False)]
    if draw(st.booleans()):
        shares = sorted(draw(st.sets(st.floats(0, 99), min_size=1, max_size=4)), reverse=True)
        falling = [1.0, *sorted(draw(st.lists(_UTILITY, min_size=4, max_size=4)), reverse=True)]
        graphs["loss"] = list(zip([100.0, *shares], falling, strict=False))
    if draw(st.booleans()):
        values = sorted(draw(st.sets(st.floats(-1e6, 1e6), min_size=2, max_size=4)))
        graphs["value"] = {"on": "price", "graph": [(x, draw(_UTILITY)) for x in values]}
    return QoS(**graphs)


@given(qos())
def test_what_is_written_reads_back_equal(written: QoS) -> None:
    report = Report()
    assert QoS.read(written.to_plain(), report) == written
    assert not report.problems


@given(st.sets(st.integers(-1000, 1000), min_size=2, max_size=6), st.floats(-2000, 2000), st.data())
def test_utility_never_leaves_the_range_of_its_neighbours(xs: set[int], x: float, data: st.DataObject) -> None:
    graph = Graph(tuple((float(at), data.draw(_UTILITY)) for at in sorted(xs)))
    utilities = [u for _, u in graph.points]
    assert min(utilities) - 1e-12 <= graph.utility(x) <= max(utilities) + 1e-12
