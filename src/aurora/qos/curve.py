"""A QoS graph as a curve: its utility, what is lost by going on along it, and how far it is to where it bends."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aurora.model.qos import Graph

Floats = NDArray[np.float64]

_SAME_SLOPE = 1e-9


class Curve:
    """Looks many places up at once.

    ``critical`` has the places where the slope changes, rising. ``losses`` has the loss of utility per unit of x on
    the stretches between them: ``losses[i]`` is that of the stretch which ends before ``critical[i]``, the last one
    goes on for ever. Outside the graph's points the curve is level.

    >>> curve = Curve(Graph(((0.0, 1.0), (2.0, 1.0), (5.0, 0.0))))
    >>> curve.critical.tolist(), curve.losses.round(2).tolist()
    ([2.0, 5.0], [0.0, 0.33, 0.0])
    >>> curve.utility([1.0, 3.5, 9.0]).tolist()
    [1.0, 0.5, 0.0]
    >>> curve.gradient([1.0, 2.0, 5.0]).round(2).tolist(), curve.slack([0.5, 2.0, 5.0]).tolist()
    ([0.0, 0.33, 0.0], [1.5, 3.0, inf])
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        points = np.asarray(graph.points, np.float64).reshape(-1, 2)
        self._x, self._u = points[:, 0], points[:, 1]
        falls = np.concatenate(([0.0], -np.diff(self._u) / np.diff(self._x), [0.0]))
        bends = np.abs(np.diff(falls)) > _SAME_SLOPE
        self.critical: Floats = self._x[bends]
        self.losses: Floats = falls[np.concatenate(([True], bends))]

    def utility(self, x: ArrayLike) -> Floats:
        """The utility at each place."""
        return np.interp(np.asarray(x, np.float64), self._x, self._u)

    def gradient(self, x: ArrayLike) -> Floats:
        """The utility lost per unit of x just behind each place; positive where the curve falls."""
        found: Floats = self.losses[np.searchsorted(self.critical, np.asarray(x, np.float64), side="right")]
        return found

    def slack(self, x: ArrayLike) -> Floats:
        """How far it is from each place to the next critical point; infinite behind the last."""
        places = np.asarray(x, np.float64)
        found: Floats = self._next[np.searchsorted(self.critical, places, side="right")] - places
        return found

    @cached_property
    def _next(self) -> Floats:
        return np.append(self.critical, np.inf)
