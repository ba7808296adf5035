"""A server on paper: tuples are a fluid, queues are numbers, and time is counted in small steps.

Queues stand at the inputs. What leaves them passes the drops in force and makes the work that is left; or,
``at_entry``, what enters them does, and what waits already stays as it is. The shedder sees what a real engine would
see of it: what was offered, how busy it was, what waits, how late outputs are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import polars as pl

from aurora.boxes.drop import Condition
from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.model.typed import Consumer, Producer, TypedNetwork
from aurora.qos.curve import Curve
from aurora.shedding.greedy import PROPORTIONAL
from aurora.shedding.load import BoxProfile, load_coefficients
from aurora.shedding.observation import Directions, Latency, Mode, Observation
from aurora.shedding.places import Place
from aurora.shedding.shedder import Shedder
from tests.unit.shedding.networks import Case, flowing

STEP_S = 0.02

Load = Callable[[float], float]
"""How many times the capacity is offered, by the time in seconds."""


@dataclass(frozen=True)
class World:
    """A network with true costs. At 1.0 times the capacity, ``rates`` come and the server can just do it."""

    typed: TypedNetwork
    profiles: Mapping[str, BoxProfile]
    rates: Mapping[str, float]
    values: pl.DataFrame
    capacity: float = 0.8

    @classmethod
    def of(cls, net: Network, costs: Mapping[str, float], rates: Mapping[str, float], seed: int = 1) -> World:
        """Costs are scaled so that the rates just keep the server busy. All columns have values from 0 to 100."""
        typed = typecheck(net)
        ports = {name: net.boxes[name].output_ports() for name in costs}
        profiles = {name: BoxProfile(cost_s, dict.fromkeys(ports[name], 1.0)) for name, cost_s in costs.items()}
        found = load_coefficients(typed, profiles)
        load = sum(rate * found[Producer(name)] for name, rate in rates.items())
        scaled = {
            name: replace(profile, cost_s=profile.cost_s * cls.capacity / load) for name, profile in profiles.items()
        }
        drawn = np.random.default_rng(seed).uniform(0, 100, 4000)
        return cls(typed, scaled, rates, pl.DataFrame({"x": drawn}))


@dataclass
class Trace:
    """What happened, with a row for each observation."""

    times_s: list[float] = field(default_factory=list)
    overloaded: list[bool] = field(default_factory=list)
    kept: list[float] = field(default_factory=list)
    waiting_s: list[float] = field(default_factory=list)
    utility: list[float] = field(default_factory=list)
    delivered: list[Mapping[str, float]] = field(default_factory=list)
    directions: list[Directions] = field(default_factory=list)

    def first_overload_s(self) -> float | None:
        return next((t for t, yes in zip(self.times_s, self.overloaded, strict=True) if yes), None)

    def turns(self, since_s: float = 0.0) -> int:
        """How often what is kept fell after it had risen, or rose after it had fallen."""
        kept = [share for t, share in zip(self.times_s, self.kept, strict=True) if t >= since_s]
        moves = [b - a for a, b in pairwise(kept) if abs(b - a) > 1e-9]
        return sum((a > 0) != (b > 0) for a, b in pairwise(moves))

    def mean_utility(self, since_s: float, until_s: float) -> float:
        return float(np.mean([u for t, u in zip(self.times_s, self.utility, strict=True) if since_s <= t < until_s]))


class Server:
    def __init__(
        self,
        world: World,
        mode: Mode = "auto",
        *,
        cost_error: float = 1.0,
        every_s: float = 0.2,
        noise: float = 0.0,
        seed: int = 7,
        at_entry: bool = False,
        by_calls: float = 0.0,
    ) -> None:
        """``by_calls`` is the share of its free time that it spends on calls: with few tuples trains are short."""
        self._world = world
        self.shedder = Shedder(world.typed, mode=mode)
        self._every = round(every_s / STEP_S)
        self._noise = noise
        self._at_entry = at_entry
        self._by_calls = by_calls
        self._random = np.random.default_rng(seed)
        self._queues = dict.fromkeys(world.rates, 0.0)
        self._told = {
            name: replace(profile, cost_s=profile.cost_s * cost_error) for name, profile in world.profiles.items()
        }
        self._step = 0
        self._wind = 1.0
        self._stalled = 0
        self.trace = Trace()
        coefficients = load_coefficients(world.typed, self._told)
        self._reader_work = {
            reader: self._told[reader.box].cost_s
            + sum(
                share * coefficients[Producer(reader.box, port)]
                for port, share in self._told[reader.box].selectivity.items()
            )
            for name in world.rates
            for reader in world.typed.consumers(name)
        }
        self._obey(Directions())
        self._whole_work_s = dict(self._work_s)

    def stall(self, seconds: float) -> None:
        """The server does nothing for a while, and is not asked how it is."""
        self._stalled = round(seconds / STEP_S)

    def run(self, seconds: float, load: Load) -> Trace:
        offered = dict.fromkeys(self._queues, 0.0)
        busy, steps = 0.0, 0
        for _ in range(round(seconds / STEP_S)):
            factor = load(self._step * STEP_S) * self._gust()
            for name, rate in self._world.rates.items():
                left = self._work_s[name] / self._whole_work_s[name] if self._at_entry else 1.0
                self._queues[name] += rate * factor * left * STEP_S
                offered[name] += rate * factor * STEP_S
            busy += self._serve()
            steps += 1
            self._step += 1
            if steps >= self._every and not self._stalled:
                self._observe({name: n / (steps * STEP_S) for name, n in offered.items()}, busy / steps)
                offered, busy, steps = dict.fromkeys(offered, 0.0), 0.0, 0
        return self.trace

    def _gust(self) -> float:
        """Noise that lasts for a tenth of a second at a time; 1 in the mean."""
        if self._step % round(0.1 / STEP_S) == 0:
            self._wind = max(0.0, 1 + self._noise * self._random.uniform(-1.7, 1.7))
        return self._wind

    def _serve(self) -> float:
        if self._stalled:
            self._stalled -= 1
            return 1.0
        work = self._waiting_work()
        done = min(1.0, self._world.capacity * STEP_S / work) if work > 0 else 1.0
        self._queues = {name: n * (1 - done) for name, n in self._queues.items()}
        return min(1.0, work / (self._world.capacity * STEP_S))

    def _waiting_work(self) -> float:
        work_s = self._whole_work_s if self._at_entry else self._work_s
        return sum(n * work_s[name] for name, n in self._queues.items())

    def _observe(self, offered_per_s: Mapping[str, float], busy: float) -> None:
        world, typed = self._world, self._world.typed
        late_s = self._waiting_work() / world.capacity
        waiting: dict[Consumer, float] = {}
        for name, n in self._queues.items():
            for reader in typed.consumers(name):
                waiting[reader] = n * self._reader_work[reader]
        seems_busy = busy + self._by_calls * (1 - busy)
        dearer = seems_busy / busy if busy > 0 else 1.0
        seen = Observation(
            round((self._step + 1) * STEP_S * 1e6),
            offered_per_s,
            {name: replace(told, cost_s=told.cost_s * dearer) for name, told in self._told.items()},
            world.capacity,
            seems_busy,
            waiting,
            {name: Latency(late_s, late_s) for name in typed.outputs},
        )
        for name in typed.outputs:
            self._note_values(name)
        directions = self.shedder.observe(seen)
        if directions is not None:
            self._obey(directions)
            self.trace.directions.append(directions)
        assert self.shedder.verdict is not None
        trace = self.trace
        trace.times_s.append(self._step * STEP_S)
        trace.overloaded.append(self.shedder.verdict.overloaded)
        trace.kept.append(self.shedder.directions.kept)
        trace.waiting_s.append(late_s)
        trace.delivered.append(dict(self._delivered))
        trace.utility.append(self._utility(late_s))

    def _obey(self, directions: Directions) -> None:
        """What drops leave of the work of a tuple of each stream, and of every output."""
        world = self._world
        rates: dict[Place, float] = {}
        left = {name: np.ones(len(world.values), bool) for name in world.typed.outputs}
        for drop in directions.drops:
            gone = 1 - drop.keep
            if drop.where is not None:
                met, _ = Condition(drop.where, world.typed.arcs[drop.place.arc])(world.values)
                spared = np.random.default_rng(drop.seed).random(len(met)) < drop.spared
                gone = float((met & ~spared).mean())
                for output in drop.outputs:
                    left[output] &= ~met | spared
            rates[drop.place] = 1 - (1 - rates.get(drop.place, 0.0)) * (1 - gone)
        for box in directions.boxes:
            if box.reason == "windows":
                rates[box.place] = 1 - box.keep
        self._came = {name: world.values["x"].filter(pl.Series(stays)) for name, stays in left.items()}
        self._work_s = {}
        for name in world.rates:
            only = {other: float(other == name) for other in world.rates}
            self._work_s[name] = flowing(self._case(only), rates)[0]
        self._delivered = flowing(self._case(world.rates), rates)[1]
        self._worths = {name: self._worth(name) for name in world.typed.outputs}

    def _case(self, rates: Mapping[str, float]) -> Case:
        return Case(self._world.typed, self._world.profiles, rates, {}, 0.0)

    def _note_values(self, output: str) -> None:
        qos = self._world.typed.network.outputs[output].qos
        if qos is not None and qos.value is not None:
            came = self._came[output]
            self.shedder.note_values(output, came.sample(min(400, len(came)), seed=self._step))

    def _worth(self, output: str) -> float:
        """What an output is worth by loss and value, each as the monitor has it."""
        qos = self._world.typed.network.outputs[output].qos
        if qos is None:
            return self._delivered[output]
        worth = (qos.loss or PROPORTIONAL).utility(100 * self._delivered[output])
        if qos.value is not None:
            came = self._came[output]
            worth *= float(Curve(qos.value.graph).utility(came.to_numpy()).mean()) if len(came) else 0.0
        return worth

    def _utility(self, late_s: float) -> float:
        """The sum over all outputs."""
        total = 0.0
        for name, output in self._world.typed.network.outputs.items():
            graph = None if output.qos is None else output.qos.latency
            total += self._worths[name] * (1.0 if graph is None else graph.utility(late_s))
        return total
