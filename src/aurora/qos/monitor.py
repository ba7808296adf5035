"""The QoS monitor: what the outputs have been worth lately, by their graphs.

Every delivered tuple has a utility by its delay, and by its value if the output has a value graph; what is lost on the
way shows in the share of tuples delivered. An output's utility on each graph is the mean over its tuples. Its overall
utility is their **product**: each graph says which part of the worth is left, so that nothing is left where one of them
gives 0, and to do better on any of them shows. (The least of them would hide the others.)

What is noted is gathered in slots, and kept only by slot: a note costs a few additions, and memory does not grow.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp2

import numpy as np
import polars as pl

from aurora.model.qos import Graph, QoS
from aurora.model.train import Ints
from aurora.qos.curve import Curve
from aurora.qos.sampling import spread
from aurora.qos.smoothing import HALF_LIFE_S

WINDOWS_S = (1, 10, 60)
SLOTS = 20
"""A window is so many slots, the last of them not full yet: it covers its length but for at most a twentieth."""


@dataclass(frozen=True)
class Utility:
    """From 0 to 1 by each graph; None where the output has no such graph, or nothing was noted."""

    latency: float | None = None
    loss: float | None = None
    value: float | None = None

    @property
    def overall(self) -> float | None:
        """The product of those there are."""
        product: float | None = None
        for part in (self.latency, self.loss, self.value):
            if part is not None:
                product = part if product is None else product * part
        return product

    def to_dict(self) -> dict[str, float | None]:
        return {"overall": self.overall, "latency": self.latency, "loss": self.loss, "value": self.value}


class _Window:
    """A ring of slots, each with the sums of what was noted in its time."""

    def __init__(self, length_s: float) -> None:
        self.slot_us = max(round(length_s * 1e6) // SLOTS, 1)
        self._sums = np.zeros((SLOTS, len(_NOTHING)))
        self._slots = np.full(SLOTS, np.iinfo(np.int64).min)

    def add(self, sums: Sequence[float], at_us: int) -> None:
        slot = at_us // self.slot_us
        place = slot % SLOTS
        if self._slots[place] != slot:
            self._slots[place] = slot
            self._sums[place] = sums
        else:
            self._sums[place] += sums

    def sums(self, now_us: int) -> list[float]:
        recent = self._slots > now_us // self.slot_us - SLOTS
        summed: list[float] = self._sums[recent].sum(axis=0).tolist()
        return summed


_NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0)
"""Tuples delivered and the sum of their utilities by delay; tuples lost; tuples with a value and the sum by it."""


class _ByLatency:
    """The mean utility of tuples. Mostly all of them are early enough for the most there is, which is quick to see."""

    def __init__(self, graph: Graph) -> None:
        self._curve = Curve(graph)
        self._best = graph.points[0][1]
        self._early_us = 1e6 * max(x for x, utility in graph.points if utility == self._best)
        self._bends_us = [1e6 * x for x, _ in graph.points]

    def mean(self, latencies_us: Ints | int) -> float:
        if isinstance(latencies_us, int) or len(latencies_us) == 1:
            one_us = latencies_us if isinstance(latencies_us, int) else int(latencies_us[0])
            return self._best if one_us <= self._early_us else self._curve.graph.utility(one_us / 1e6)
        looked_at = spread(latencies_us)
        latest_us = int(looked_at.max())
        if latest_us <= self._early_us:
            return self._best
        if bisect(self._bends_us, int(looked_at.min())) == bisect(self._bends_us, latest_us):
            # Between two bends the graph is straight, and the mean utility is that of the mean.
            return self._curve.graph.utility(int(looked_at.sum()) / len(looked_at) / 1e6)
        return float(self._curve.utility(looked_at / 1e6).mean())


class _Output:
    def __init__(self, qos: QoS, windows_s: Sequence[float], half_life_s: float, slot_us: int) -> None:
        self.latency = None if qos.latency is None else _ByLatency(qos.latency)
        self.loss = None if qos.loss is None else Curve(qos.loss)
        self.value = None if qos.value is None else Curve(qos.value.graph)
        self.windows = {length_s: _Window(length_s) for length_s in windows_s}
        self._slot_us = slot_us
        self._tick = -1e-6 / half_life_s
        self._slot = 0
        self._pending = list(_NOTHING)
        self._smoothed = list(_NOTHING)
        self._whole = list(_NOTHING)

    def pending(self, now_us: int) -> list[float]:
        """The sums of the slot that is open now. What was gathered in an earlier one is put where it belongs."""
        slot = now_us // self._slot_us
        if slot > self._slot:
            kept = exp2((slot - self._slot) * self._slot_us * self._tick)
            if any(self._pending):
                for window in self.windows.values():
                    window.add(self._pending, self._slot * self._slot_us)
                self._whole = [a + b for a, b in zip(self._whole, self._pending, strict=True)]
            self._smoothed = [(a + b) * kept for a, b in zip(self._smoothed, self._pending, strict=True)]
            self._pending = list(_NOTHING)
            self._slot = slot
        return self._pending

    def utility(self, sums: Sequence[float]) -> Utility:
        tuples, by_latency, lost, valued, by_value = sums
        return Utility(
            latency=by_latency / tuples if self.latency is not None and tuples else None,
            loss=self.loss.graph.utility(100 * tuples / (tuples + lost))
            if self.loss is not None and tuples + lost
            else None,
            value=by_value / valued if self.value is not None and valued else None,
        )

    def live(self, now_us: int) -> Utility:
        pending = self.pending(now_us)
        return self.utility([a + b for a, b in zip(self._smoothed, pending, strict=True)])

    def over(self, window: _Window, now_us: int) -> Utility:
        pending = self.pending(now_us)
        return self.utility([a + b for a, b in zip(window.sums(now_us), pending, strict=True)])

    def whole(self) -> Utility:
        return self.utility([a + b for a, b in zip(self._whole, self._pending, strict=True)])


class QoSMonitor:
    """Measured utility of every output: live (smoothed), over the last seconds, and since the start.

    Time must not go back; a note that comes with an earlier time counts as of now.

    >>> monitor = QoSMonitor({"alarms": QoS(latency=[("0s", 1), ("1s", 1), ("3s", 0)], loss=[(100, 1), (50, 0)])})
    >>> monitor.note("alarms", 2_000_000, 90, None, now_us=0)
    >>> monitor.note_loss("alarms", 10, now_us=0)
    >>> monitor.over("alarms", 10, now_us=0)
    Utility(latency=0.5, loss=0.8, value=None)
    >>> monitor.over("alarms", 10, now_us=10_000_000).overall is None
    True
    """

    def __init__(
        self,
        outputs: Mapping[str, QoS | None],
        *,
        half_life_s: float = HALF_LIFE_S,
        windows_s: Sequence[float] = WINDOWS_S,
    ) -> None:
        self.windows_s = tuple(windows_s)
        slot_us = _Window(min(windows_s)).slot_us
        self._outputs = {
            name: _Output(qos, windows_s, half_life_s, slot_us)
            for name, qos in outputs.items()
            if qos is not None and (qos.latency or qos.loss or qos.value)
        }

    def take_over(self, old: QoSMonitor, outputs: Iterable[str]) -> None:
        """Goes on from what another has noted of outputs, whose graphs are the same."""
        self._outputs |= {name: old._outputs[name] for name in outputs if name in old._outputs}

    def note(self, output: str, latencies_us: Ints | int, tuples: int, values: pl.Series | None, now_us: int) -> None:
        """An output delivered tuples: with a latency each, or one for all, and what they have in the value's column."""
        noted = self._outputs.get(output)
        if noted is None or not tuples:
            return
        sums = noted.pending(now_us)
        sums[0] += tuples
        if noted.latency is not None:
            sums[1] += tuples * noted.latency.mean(latencies_us)
        if noted.value is not None and values is not None:
            of_each = noted.value.utility(spread(values.to_numpy()))
            mean = float(of_each.mean())
            share = 1.0
            if mean != mean:
                # NULL and NaN stand nowhere on the graph's axis; such tuples have no utility by value.
                known = of_each[~np.isnan(of_each)]
                share = len(known) / len(of_each)
                mean = float(known.mean()) if share else 0.0
            sums[3] += tuples * share
            sums[4] += tuples * share * mean

    def note_loss(self, output: str, tuples: float, now_us: int) -> None:
        """So many tuples that the output would have had were dropped on their way to it."""
        noted = self._outputs.get(output)
        if noted is not None:
            noted.pending(now_us)[2] += tuples

    def live(self, output: str, now_us: int) -> Utility:
        """Smoothed over the last seconds; it keeps its last value while nothing is delivered."""
        noted = self._outputs.get(output)
        return Utility() if noted is None else noted.live(now_us)

    def over(self, output: str, window_s: float, now_us: int) -> Utility:
        """Over one of the windows that the monitor was made with, up to now."""
        noted = self._outputs.get(output)
        return Utility() if noted is None else noted.over(noted.windows[window_s], now_us)

    def whole(self, output: str) -> Utility:
        """Since the start."""
        noted = self._outputs.get(output)
        return Utility() if noted is None else noted.whole()

    def read(self, output: str, now_us: int) -> dict[str, Utility]:
        """All of them: ``live``, each window as ``10s``, and ``run``."""
        windows = {f"{window_s:g}s": self.over(output, window_s, now_us) for window_s in self.windows_s}
        return {"live": self.live(output, now_us), **windows, "run": self.whole(output)}
