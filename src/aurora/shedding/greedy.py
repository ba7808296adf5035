"""Which outputs get how much less when the load is too high: the greedy walk on their loss graphs.

The walk starts where every output gets all of its tuples. A move lowers some outputs together, those below one place,
to a bend of one of their graphs: outputs that share an expensive box save its work only if all of them give way. Each
time the move is made that loses the least utility for the load it saves, which is the flattest stretch of a graph where
all outputs cost the same. A graph that falls and then goes on level is crossed in one move, by its slope as a whole.

The last move is made only so far that the load fits. How far differs from move to move, so all that could be the last
are tried, and so is to lower all outputs alike from the start; the best is taken. Hence a plan is never worse
than dropping the same share at all inputs. If there is room left then, outputs are raised again.

An output whose graph forbids loss is never shed, and neither is one that the caller names. An output **without** a loss
graph counts as if its utility were the share delivered: nobody said that loss does not hurt it, and nobody forbade it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aurora.model.qos import Graph
from aurora.model.typed import Consumer
from aurora.qos.curve import Curve
from aurora.shedding.load import LoadAnalysis
from aurora.shedding.places import Place, Places
from aurora.shedding.thinning import DROP_COST_S, Drop, Floats, Thinned, Thinning

Ints = NDArray[np.int64]

PROPORTIONAL = Graph(((0.0, 0.0), (100.0, 1.0)))
"""The loss graph of an output that has none."""

FORBIDDEN_AT = 99.0
"""A graph that has fallen to 0 at so many percent forbids loss: dropping could make no use of so little tolerance."""

BACKLOG_S = 1.0
"""From so many seconds of waiting work on, a drop stands at the backlog and not upstream of it."""

_HALVINGS = 24
"""A level is found to this power of a half."""

_QUICK_HALVINGS = 10
_QUICK_OPTIONS = 3
"""So many of the best plans are looked at more closely."""

_REFILLS = 3
_ENOUGH_ROOM = 1e-6
_ROUNDING = 1e-9


def forbids_loss(graph: Graph | None) -> bool:
    """Whether an output with this loss graph is useless as soon as anything is missing.

    >>> forbids_loss(Graph(((99.9, 0.0), (100.0, 1.0)))), forbids_loss(Graph(((90.0, 0.0), (100.0, 1.0))))
    (True, False)
    """
    return graph is not None and graph.utility(FORBIDDEN_AT) == 0


@dataclass(frozen=True)
class Move:
    """Outputs that were lowered together, and what it did."""

    outputs: tuple[str, ...]
    loss: float
    gain: float

    @property
    def loss_per_gain(self) -> float:
        return self.loss / self.gain


@dataclass(frozen=True)
class Plan:
    """What to drop for a load of at most ``capacity``, in cores, and what comes of it by the model.

    ``delivered`` is the share of its tuples that each output gets, ``utility`` the sum over their loss graphs. Where
    not even the most that may be dropped is enough, ``fits`` is False and the plan drops that.
    """

    capacity: float
    load_before: float
    load: float
    fits: bool
    drops: tuple[Drop, ...]
    delivered: Mapping[str, float]
    utility: float


@dataclass(frozen=True)
class _Group:
    """Outputs that one place thins. At output i the share kept there is raised to ``powers[i]``; 0 where not below."""

    powers: tuple[int, ...]

    def level(self, wanted: Floats) -> float:
        """The greatest share that is kept at the place."""
        return max(_root(float(wanted[i]), power) for i, power in enumerate(self.powers) if power)


def _root(share: float, power: int) -> float:
    return share if power == 1 else math.pow(share, 1 / power)


def _lowered(wanted: Floats, powers: Ints, levels: Floats) -> Floats:
    """Rows with the outputs that have a power lowered to the row's level, as far as they are above it."""
    return np.minimum(wanted, np.where(powers > 0, _powers(powers, levels), 1.0))


def _risen(wanted: Floats, powers: Ints, levels: Floats) -> Floats:
    """Rows with the outputs that have a power raised to the row's level, as far as they are below it."""
    return np.maximum(wanted, np.where(powers > 0, _powers(powers, levels), 0.0))


def _powers(powers: Ints, levels: Floats) -> Floats:
    """Products, since a power may be rounded in one row otherwise than in the next."""
    raised = np.repeat(levels[:, None], powers.shape[-1], axis=1)
    for power in range(2, int(powers.max(initial=1)) + 1):
        raised = np.where(powers >= power, raised * levels[:, None], raised)
    return raised


@dataclass(frozen=True)
class _Stop:
    """Where the walk stands after a move."""

    wanted: Floats
    load: float
    utility: float


class Model(Protocol):
    """What a planner asks about loads: see ``Thinning``.

    Beside the network's outputs, ``outputs`` may name others that stand below no place and can be lowered each by
    itself: other ways to take tuples from an output.
    """

    outputs: tuple[str, ...]
    places: Places

    def evaluate(self, wanted: Floats) -> Thinned: ...

    def exactly(self, wanted: Floats) -> Thinned: ...

    def drops(self, wanted: Floats) -> list[tuple[Drop, ...]]: ...


Worth: TypeAlias = Callable[[Floats], Floats]
"""The utility of all outputs together, for rows of the shares they get."""


class Planner:
    """The walk of one network at one load. ``protected`` are outputs not to be shed whatever their graphs say.

    Without ``worth`` the utility is the sum over the loss graphs; with it the graphs only say where it bends. A quick
    planner is less exact, and gives room back only in the best of the plans that it tries.
    """

    def __init__(
        self,
        model: Model,
        graphs: Mapping[str, Graph | None],
        protected: Collection[str] = (),
        worth: Worth | None = None,
        *,
        quick: bool = False,
    ) -> None:
        self._model = model
        self._quick = quick
        self._halvings = _QUICK_HALVINGS if quick else _HALVINGS
        self._worth = self._by_loss if worth is None else worth
        names = model.outputs
        self._graphs = [graphs.get(name) or PROPORTIONAL for name in names]
        self._curves = [Curve(graph) for graph in self._graphs]
        self.protected = frozenset(n for n in names if n in protected or forbids_loss(graphs.get(n)))
        self._everything = _everything(model.places, names, self.protected)
        self._groups = _groups(model.places, names, self.protected, self._everything)
        self.moves, self._stops = self._walk()
        self.load_before = self._stops[0].load
        lowest = self._lowest()
        self.least_load = min(self._stops[-1].load, lowest.load)
        self._last = lowest if lowest.load < self._stops[-1].load else self._stops[-1]

    def plan(self, capacity: float) -> Plan:
        """The plan for one capacity, in cores."""
        return self.plans([capacity])[0]

    def plans(self, capacities: Sequence[float]) -> list[Plan]:
        """Plans for many capacities at once; each is what ``plan`` gives for it."""
        given = np.array(capacities, np.float64)
        allowed = given * (1 + _ROUNDING)
        wanted = np.where((allowed >= self.load_before)[:, None], self._stops[0].wanted, self._last.wanted)
        between = np.flatnonzero((allowed < self.load_before) & (allowed >= self.least_load))
        if len(between):
            loads = np.array([stop.load for stop in self._stops])
            # The load falls from stop to stop.
            passed = np.searchsorted(-loads, -allowed[between])
            wanted[between] = self._finished(passed, given[between])
        load, delivered = self._model.exactly(wanted)
        utility = self._worth(delivered)
        drops = self._model.drops(wanted)
        return [
            Plan(
                capacity,
                self.load_before,
                float(load[i]),
                bool(load[i] <= allowed[i]),
                drops[i],
                dict(zip(self._model.outputs, delivered[i].tolist(), strict=True)),
                float(utility[i]),
            )
            for i, capacity in enumerate(given.tolist())
        ]

    def _evaluate(self, wanted: Floats) -> tuple[Floats, Floats, Floats]:
        load, delivered = self._model.evaluate(wanted)
        return load, delivered, self._worth(delivered)

    def _by_loss(self, delivered: Floats) -> Floats:
        utility = np.zeros(len(delivered))
        for i, curve in enumerate(self._curves):
            utility = utility + curve.utility(100.0 * delivered[:, i])
        return utility

    def _walk(self) -> tuple[tuple[Move, ...], list[_Stop]]:
        wanted = np.ones(len(self._model.outputs))
        load, _, utility = self._evaluate(wanted[None, :])
        stops = [_Stop(wanted, float(load[0]), float(utility[0]))]
        moves: list[Move] = []
        while True:
            chosen = self._next(stops[-1])
            if chosen is None:
                return tuple(moves), stops
            move, stop = chosen
            moves.append(move)
            stops.append(stop)

    def _next(self, here: _Stop) -> tuple[Move, _Stop] | None:
        """The move that loses least for what it gains; of equal ones the one that gains most."""
        levels = [self._bends(group, group.level(here.wanted)) for group in self._groups]
        groups = [group for group, bends in zip(self._groups, levels, strict=True) for _ in bends]
        if not groups:
            return None
        powers = np.array([group.powers for group in groups])
        wanted = _lowered(here.wanted, powers, np.concatenate(levels))
        load, _, utility = self._evaluate(wanted)
        gain = here.load - load
        loss = np.maximum(here.utility - utility, 0.0)
        loss[loss < _ROUNDING] = 0.0
        useful = gain > _ROUNDING * here.load
        if not useful.any():
            return None
        ratio = np.where(useful, loss / np.where(useful, gain, 1.0), np.inf)
        least = ratio.min()
        equal = ratio <= least * (1 + _ROUNDING)
        best = int(np.argmax(np.where(equal, gain, -np.inf)))
        moved = tuple(np.array(self._model.outputs)[wanted[best] < here.wanted].tolist())
        stop = _Stop(wanted[best], float(load[best]), float(utility[best]))
        return Move(moved, float(loss[best]), float(gain[best])), stop

    def _bends(self, group: _Group, below: float) -> Floats:
        """The levels at which a graph of the group bends, and 0."""
        found = {0.0}
        for curve, power in zip(self._curves, group.powers, strict=True):
            if power:
                found |= {_root(x / 100.0, power) for x in curve.critical.tolist()}
        return np.array(sorted(level for level in found if level < below * (1 - _ROUNDING)), np.float64)

    def _lowest(self) -> _Stop:
        """Everything gone that may go. The walk mostly ends there too."""
        wanted = np.ones(len(self._model.outputs))
        if self._everything is not None:
            wanted = np.where(np.array(self._everything.powers) > 0, 0.0, wanted)
        load, _, utility = self._evaluate(wanted[None, :])
        return _Stop(wanted, float(load[0]), float(utility[0]))

    def _finished(self, passed: Ints, capacities: Floats) -> Floats:
        """For each capacity, the best of all last moves from the stop before ``passed``, which does not fit yet."""
        count = len(capacities)
        stops = np.array([stop.wanted for stop in (*self._stops, self._last)])
        moves = [(group, stops[passed - 1]) for group in self._groups]
        if self._everything is not None:
            moves.append((self._everything, np.tile(stops[0], (count, 1))))
        powers = np.repeat([group.powers for group, _ in moves], count, axis=0)
        most = np.tile(capacities, len(moves))
        partial = self._fitted(np.concatenate([wanted for _, wanted in moves]), powers, most)
        options = np.concatenate([partial, stops[passed], np.tile(stops[-1], (count, 1))])
        every = np.tile(capacities, len(moves) + 2)
        if self._quick and len(moves) + 2 > _QUICK_OPTIONS:
            load, _, utility = self._evaluate(options)
            worth = np.where(load <= every * (1 + _ROUNDING), utility, -np.inf).reshape(-1, count)
            best = np.argsort(-worth, axis=0, kind="stable")[:_QUICK_OPTIONS]
            options = options.reshape(-1, count, options.shape[1])[best, np.arange(count)].reshape(-1, options.shape[1])
            every = np.tile(capacities, _QUICK_OPTIONS)
        options = self._refilled(options, every)
        load, _, utility = self._evaluate(options)
        worth = np.where(load <= every * (1 + _ROUNDING), utility, -np.inf).reshape(-1, count)
        # What a sum of doubles may be off must not decide.
        best = np.argmax(worth >= worth.max(axis=0) - _ROUNDING, axis=0)
        chosen: Floats = options.reshape(-1, count, options.shape[1])[best, np.arange(count)]
        return chosen

    def _refilled(self, wanted: Floats, capacities: Floats) -> Floats:
        """Gives back what was taken too early, where a later move made room for it.

        An output may have fallen to a level stretch of its graph, on which all that it still gets is for nothing. It
        gets the least of the stretch, and the others what is then free.
        """
        rows = self._settled(wanted)
        self._raise_best(rows, np.arange(len(rows)), capacities, wholly=True)
        for _ in range(_REFILLS):
            room = np.flatnonzero(self._model.evaluate(rows).load < capacities * (1 - _ENOUGH_ROOM))
            if not len(room) or not self._raise_best(rows, room, capacities, wholly=False):
                break
        better = self._evaluate(rows)[2] > self._evaluate(wanted)[2] + _ROUNDING
        return np.where(better[:, None], rows, wanted)

    def _raise_best(self, rows: Floats, at: Ints, capacities: Floats, *, wholly: bool) -> bool:
        """Raises, in some of the rows, the group that is worth most; False if nothing became better.

        ``wholly``: to all of its tuples or not at all. This is quick, and finds what costs nothing.
        """
        groups, count = len(self._groups), len(at)
        if not groups:
            return False
        powers = np.repeat([group.powers for group in self._groups], count, axis=0)
        before, most = np.tile(rows[at], (groups, 1)), np.tile(capacities[at], groups)
        raised = _risen(before, powers, np.ones(len(before))) if wholly else self._raised(before, powers, most)
        load, _, utility = self._evaluate(raised)
        worth = np.where(load <= most, utility, -np.inf).reshape(groups, count)
        best = np.argmax(worth >= worth.max(axis=0) - _ROUNDING, axis=0)
        better = worth[best, np.arange(count)] > self._evaluate(rows[at])[2] + _ROUNDING
        rows[at[better]] = raised.reshape(groups, count, -1)[best, np.arange(count)][better]
        return bool(better.any())

    def _settled(self, wanted: Floats) -> Floats:
        """Outputs on a level stretch of their graph, lowered to its end."""
        rows = wanted.copy()
        for i, (name, graph) in enumerate(zip(self._model.outputs, self._graphs, strict=True)):
            if name not in self.protected:
                points = ((0.0, graph.utility(0.0)), *graph.points)
                for (x0, u0), (x1, u1) in reversed(list(pairwise(points))):
                    level = u0 == u1 and x0 < x1
                    rows[:, i] = np.where(
                        level & (100 * rows[:, i] > x0) & (100 * rows[:, i] <= x1), x0 / 100, rows[:, i]
                    )
        return rows

    def _raised(self, wanted: Floats, powers: Ints, capacities: Floats) -> Floats:
        """Rows raised as far as their load fits; they fit as they are."""
        fits = np.zeros(len(wanted))
        exceeds = np.ones(len(wanted))
        for level in (exceeds, *[None] * self._halvings):
            middle = (fits + exceeds) / 2 if level is None else level
            enough = self._model.evaluate(_risen(wanted, powers, middle)).load <= capacities
            fits = np.where(enough, middle, fits)
            exceeds = np.where(enough, exceeds, middle)
        return _risen(wanted, powers, fits)

    def _fitted(self, wanted: Floats, powers: Ints, capacities: Floats) -> Floats:
        """Rows lowered just so far that their load fits; to nothing where that is not enough."""
        fits = np.zeros(len(wanted))
        exceeds = np.ones(len(wanted))
        for _ in range(self._halvings):
            middle = (fits + exceeds) / 2
            enough = self._model.evaluate(_lowered(wanted, powers, middle)).load <= capacities
            fits = np.where(enough, middle, fits)
            exceeds = np.where(enough, exceeds, middle)
        return _lowered(wanted, powers, fits)


def plan_drops(
    places: Places,
    found: LoadAnalysis,
    graphs: Mapping[str, Graph | None],
    *,
    protected: Collection[str] = (),
    waiting_s: Mapping[Consumer, float] | None = None,
    backlog_s: float = BACKLOG_S,
    drop_cost_s: float = DROP_COST_S,
) -> Plan:
    """A plan from scratch, for the capacity that the analysis says may be used.

    Where work of ``backlog_s`` or more waits before a box, the drop stands there and not further upstream, as long as
    the load can be made to fit that way.
    """

    def plan(closed: Collection[Place]) -> Plan:
        model = Thinning(places, found, drop_cost_s=drop_cost_s, closed=closed)
        return Planner(model, graphs, protected).plan(found.usable)

    at_backlog = places.above_backlog(waiting_s or {}, backlog_s)
    planned = plan(at_backlog)
    return planned if planned.fits or not at_backlog else plan(())


def _everything(places: Places, names: Sequence[str], protected: Collection[str]) -> _Group | None:
    """All outputs that may be shed, thinned as if the same share went at every input."""
    powers = dict.fromkeys(names, 0)
    for place in places:
        for output, power in places.outputs(place).items():
            if output not in protected:
                powers[output] = max(powers[output], power)
    return _Group(tuple(powers.values())) if any(powers.values()) else None


def _groups(
    places: Places, names: Sequence[str], protected: Collection[str], everything: _Group | None
) -> tuple[_Group, ...]:
    """The sets of outputs that can be thinned together at some place, and all of them."""
    found: dict[_Group, None] = {}
    for place in places:
        below = places.outputs(place)
        if below and not places.is_vital(place) and not any(output in protected for output in below):
            found[_Group(tuple(below.get(name, 0) for name in names))] = None
    if everything is not None:
        found[everything] = None
    for name in names:
        if name not in places.typed.outputs:
            found[_Group(tuple(int(name == other) for other in names))] = None
    return tuple(found)
