"""Quality of service of an output: how useful it is against delay, share delivered and values produced.

Each graph is piecewise linear between its points, and level before the first and after the last.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from aurora.errors import NetworkError, Report
from aurora.model.naming import shown, suggestion
from aurora.model.quantities import Duration

_LARGEST = 1e9
"""Beyond it a delay would not be exact to the microsecond."""

Points = Sequence[tuple[Any, float] | list[Any]]


@dataclass(frozen=True)
class Graph:
    """Points (x, utility) with rising x.

    >>> Graph(((0.0, 1.0), (2.0, 1.0), (5.0, 0.0))).utility(3.5)
    0.5
    """

    points: tuple[tuple[float, float], ...]

    def utility(self, x: float) -> float:
        """The utility at ``x``: seconds of delay, percent delivered, or a value, as the graph's axis has it."""
        at = bisect_right(self.points, x, key=lambda point: point[0])
        if at == 0:
            return self.points[0][1]
        if at == len(self.points):
            return self.points[-1][1]
        (x0, u0), (x1, u1) = self.points[at - 1], self.points[at]
        return u0 + (u1 - u0) * (x - x0) / (x1 - x0)


@dataclass(frozen=True)
class ValueGraph:
    """How useful an output tuple is, by the value in its column ``on``."""

    on: str
    graph: Graph

    def utility(self, x: float) -> float:
        return self.graph.utility(x)


@dataclass(frozen=True, init=False)
class QoS:
    """What an output is worth. A graph that is not given does not matter to the output.

    ``latency`` runs over the delay (``"2s"``, or a number of seconds), ``loss`` over the percentage of tuples
    delivered, from 100 downwards, ``value`` is ``{"on": column, "graph": points}``. A bad graph raises NetworkError.

    >>> QoS(latency=[("0s", 1), ("2s", 1), ("5s", 0)]).latency.utility(2.75)
    0.75
    """

    latency: Graph | None
    loss: Graph | None
    value: ValueGraph | None

    def __init__(
        self,
        latency: Points | Graph | None = None,
        loss: Points | Graph | None = None,
        value: Mapping[str, Any] | ValueGraph | None = None,
    ) -> None:
        report = Report("qos")
        object.__setattr__(self, "latency", _latency(latency, report.at("latency")))
        object.__setattr__(self, "loss", _loss(loss, report.at("loss")))
        object.__setattr__(self, "value", _value(value, report.at("value")))
        if report.problems:
            raise NetworkError(report.problems)

    @classmethod
    def read(cls, data: Any, report: Report) -> QoS | None:
        """The QoS that a document writes, or None when it is wrong; what is wrong goes to ``report``."""
        if isinstance(data, QoS):
            return data
        if not isinstance(data, Mapping):
            report.add("not-a-mapping", f"qos is {shown(data)}", "write the graphs as latency:, loss: and value:")
            return None
        graphs = ("latency", "loss", "value")
        before = len(report.problems)
        for key in data:
            if key not in graphs:
                hint = suggestion(key, graphs, "remove it")
                report.at(key).add("unknown-parameter", f"qos has no graph {shown(key)}", hint, choices=graphs)
        try:
            qos = cls(**{key: data[key] for key in graphs if key in data})
        except NetworkError as error:
            report.take(error.problems)
            return None
        return qos if len(report.problems) == before else None

    def to_plain(self) -> dict[str, Any]:
        """The form in which a document writes it; ``read`` reads it back."""
        plain: dict[str, Any] = {}
        if self.latency is not None:
            plain["latency"] = [[str(Duration(round(x * 1e6))), _number(u)] for x, u in self.latency.points]
        if self.loss is not None:
            plain["loss"] = _plain(self.loss)[::-1]
        if self.value is not None:
            plain["value"] = {"on": self.value.on, "graph": _plain(self.value.graph)}
        return plain


def _number(x: float) -> int | float:
    return int(x) if x.is_integer() else x


def _plain(graph: Graph) -> list[list[int | float]]:
    return [[_number(x), _number(u)] for x, u in graph.points]


_WAY_OUT = {
    "seconds of delay": "write points such as [[0s, 1], [2s, 1], [5s, 0]]",
    "percent delivered": "write points such as [[100, 1], [50, 0]]",
    "value": "write points such as [[0, 0.1], [100, 1]]",
}


def _x(value: Any, axis: str) -> float | None:
    if axis == "seconds of delay" and isinstance(value, Duration | str):
        try:
            value = (Duration.parse(value) if isinstance(value, str) else value).us / 1e6
        except (ValueError, OverflowError):
            return None
    x = _finite(value)
    return round(x * 1e6) / 1e6 if x is not None and axis == "seconds of delay" else x


def _finite(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        x = float(value)
    except OverflowError:
        return None
    return x + 0.0 if math.isfinite(x) and abs(x) <= _LARGEST else None


def _points(data: Any, axis: str, report: Report) -> list[tuple[float, float]] | None:
    """The points in the order they are written, or None when some cannot be read."""
    if isinstance(data, Graph):
        return list(data.points)
    if isinstance(data, str) or not isinstance(data, Sequence) or len(data) < 2:
        report.add("bad-qos-graph", f"{shown(data)} is not a list of at least two points", _WAY_OUT[axis])
        return None
    points: list[tuple[float, float]] = []
    for index, point in enumerate(data):
        here = report.at(index)
        if isinstance(point, str) or not isinstance(point, Sequence) or len(point) != 2:
            here.add("bad-qos-graph", f"{shown(point)} is not a point [{axis}, utility]", _WAY_OUT[axis])
            continue
        x, utility = _x(point[0], axis), _finite(point[1])
        if x is None:
            here.add("bad-qos-graph", f"{shown(point[0])} does not measure {axis}", _WAY_OUT[axis])
        if utility is None or not 0 <= utility <= 1:
            here.add("bad-qos-graph", f"utility {shown(point[1])} is not between 0 and 1", "give a number from 0 to 1")
        elif x is not None:
            points.append((x, utility))
    return points if len(points) == len(data) else None


def _check_steps(points: list[tuple[float, float]], axis: str, report: Report, *, down: bool, worse: str) -> None:
    """Reports points that do not go on along the axis; and if something gets ``worse``, utilities that rise."""
    for index, ((x0, u0), (x1, u1)) in enumerate(pairwise(points), start=1):
        if (x1 >= x0) if down else (x1 <= x0):
            way_out = f"write the points with {'falling' if down else 'growing'} first numbers"
            report.at(index).add("bad-qos-graph", f"{axis} goes from {x0:g} to {x1:g}", way_out)
        if worse and u1 > u0:
            found = f"utility rises from {u0:g} to {u1:g} with {worse}"
            report.at(index).add("bad-qos-graph", found, "let utility fall or stay level")


def _latency(data: Any, report: Report) -> Graph | None:
    axis = "seconds of delay"
    if data is None or (points := _points(data, axis, report)) is None:
        return None
    if points[0][0] < 0:
        report.at(0).add("bad-qos-graph", f"a delay of {points[0][0]:g}s is negative", "let the graph start at 0s")
    if points[0][1] != 1:
        report.at(0).add("bad-qos-graph", f"the graph starts at utility {points[0][1]:g}", "let it start at utility 1")
    _check_steps(points, axis, report, down=False, worse="more delay")
    return Graph(tuple(points))


def _loss(data: Any, report: Report) -> Graph | None:
    """Documents write it from 100 percent downwards; the graph itself has rising x like the others."""
    axis = "percent delivered"
    if data is None or (points := _points(data, axis, report)) is None:
        return None
    if isinstance(data, Graph):
        points.reverse()
    if points[0] != (100, 1):
        found = f"the graph starts at {points[0][0]:g} percent with utility {points[0][1]:g}"
        report.at(0).add("bad-qos-graph", found, "let the first point be [100, 1]: all tuples, full utility")
    for index, (x, _) in enumerate(points):
        if not 0 <= x <= 100:
            report.at(index).add("bad-qos-graph", f"{x:g} is not a percentage", "give a number from 0 to 100")
    _check_steps(points, axis, report, down=True, worse="fewer tuples")
    return Graph(tuple(reversed(points)))


def _value(data: Any, report: Report) -> ValueGraph | None:
    if data is None or isinstance(data, ValueGraph):
        return data
    example = "write {on: column, graph: [[0, 0.1], [100, 1]]}"
    if not isinstance(data, Mapping):
        report.add("not-a-mapping", f"value is {shown(data)}", example)
        return None
    for key in data:
        if key not in ("on", "graph"):
            hint = suggestion(key, ("on", "graph"), "remove it")
            report.at(key).add("unknown-parameter", f"a value graph has no {shown(key)}", hint, choices=("on", "graph"))
    missing = [key for key in ("on", "graph") if key not in data]
    for key in missing:
        report.add("missing-parameter", f"the value graph has no {key!r}", example)
    if missing:
        return None
    if not isinstance(data["on"], str):
        report.at("on").add("bad-value", f"{shown(data['on'])} is not the name of a column", example)
        return None
    points = _points(data["graph"], "value", report.at("graph"))
    if points is None:
        return None
    _check_steps(points, "value", report.at("graph"), down=False, worse="")
    return ValueGraph(data["on"], Graph(tuple(points)))
