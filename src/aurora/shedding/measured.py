"""What boxes cost, from what a run measured.

A run counts the tuples that came out of a box, not those of each port. But what came out of a port is what the boxes
behind it took, or what an output delivered; so the counts of arcs follow from each other, one at a time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aurora.errors import InputError
from aurora.model.typed import Producer, TypedNetwork
from aurora.shedding.load import BoxProfile

SHORT_TRAINS = 200.0
"""Below it what a call costs, whatever it carries, is most of what a tuple seems to cost."""


@dataclass(frozen=True)
class Measured:
    """Profiles of the boxes that tuples reached; ``notes`` say what to be careful with."""

    boxes: Mapping[str, BoxProfile]
    notes: tuple[str, ...] = ()


def measured(typed: TypedNetwork, statistics: Mapping[str, Any], *, origin: str = "the statistics") -> Measured:
    """Profiles from the statistics of a run, as ``aurora run --stats`` writes them. ``origin`` is for messages.

    ``inputs`` and ``outputs`` may be missing; then less is known of boxes with several ports.
    """
    entries = _entries(statistics, "boxes", origin)
    missing = [name for name in typed.order if name not in entries]
    if missing:
        raise InputError(
            f"{origin} has no costs of {', '.join(missing)}; it has those of {', '.join(entries) or 'no box'}. "
            "Measure this network: aurora run NETWORK --stats FILE"
        )
    boxes = {name: _Counts.read(name, entries[name], origin) for name in typed.order}
    outside = {
        **_tuples({Producer(name): name for name in typed.network.streams}, "inputs", statistics, origin),
        **_tuples({arc: name for name, arc in typed.outputs.items()}, "outputs", statistics, origin),
    }
    arcs = _Arcs(typed, boxes, outside)
    arcs.solve()
    profiles = {
        name: BoxProfile(
            counts.cost_s / counts.tuples_in,
            {port: arcs.tuples[Producer(name, port)] / counts.tuples_in for port in _ports(typed, name)},
        )
        for name, counts in boxes.items()
        if counts.tuples_in
    }
    return Measured(profiles, tuple(_notes(boxes, arcs.assumed)))


@dataclass(frozen=True)
class _Counts:
    tuples_in: float
    tuples_out: float
    cost_s: float
    calls: float

    @classmethod
    def read(cls, name: str, entry: object, origin: str) -> _Counts:
        if not isinstance(entry, Mapping):
            raise InputError(f"{origin}: box {name} is {entry!r}; it should have tuples_in, tuples_out and cost_s")
        counts = {"calls": 0, **entry}
        keys = ("tuples_in", "tuples_out", "cost_s", "calls")
        return cls(**{key: _number(counts.get(key), f"{origin}: {key} of box {name}") for key in keys})


class _Arcs:
    """How many tuples went over each arc."""

    def __init__(self, typed: TypedNetwork, boxes: Mapping[str, _Counts], known: Mapping[Producer, float]) -> None:
        self.tuples = dict(known)
        self.assumed: list[str] = []
        self._boxes = boxes
        self._ports = {name: [Producer(name, port) for port in _ports(typed, name)] for name in boxes}
        self._sums: list[tuple[Counter[Producer], float]] = []
        for name, counts in boxes.items():
            live = zip(typed.inputs[name], typed.input_types(name), strict=True)
            self._sums.append((Counter(arc for arc, kind in live if not kind.static), counts.tuples_in))
            self._sums.append((Counter(self._ports[name]), counts.tuples_out))

    def solve(self) -> None:
        self._follow()
        for name, ports in self._ports.items():
            unknown = [port for port in ports if port not in self.tuples]
            if unknown:
                left = self._boxes[name].tuples_out - sum(self.tuples.get(port, 0.0) for port in ports)
                self.tuples |= dict.fromkeys(unknown, max(0.0, left) / len(unknown))
                if left > 0:
                    self.assumed.append(name)
                self._follow()

    def _follow(self) -> None:
        """Whatever is the only unknown of a sum is known by it."""
        found = True
        while found:
            found, waiting = False, []
            for arcs, total in self._sums:
                unknown = [arc for arc in arcs if arc not in self.tuples]
                if len(unknown) > 1:
                    waiting.append((arcs, total))
                elif unknown:
                    known = sum(self.tuples[arc] * times for arc, times in arcs.items() if arc not in unknown)
                    self.tuples[unknown[0]] = max(0.0, total - known) / arcs[unknown[0]]
                    found = True
            self._sums = waiting


def _ports(typed: TypedNetwork, name: str) -> tuple[str, ...]:
    return typed.network.boxes[name].output_ports()


def _notes(boxes: Mapping[str, _Counts], assumed: Sequence[str]) -> list[str]:
    notes = [
        f"how the tuples of {name} divide among its ports was not measured; they are taken to be as many at each "
        "whose number is unknown"
        for name in assumed
    ]
    calls, taken = sum(box.calls for box in boxes.values()), sum(box.tuples_in for box in boxes.values())
    if calls and taken / calls < SHORT_TRAINS:
        notes.append(
            f"costs were measured with {taken / calls:.0f} tuples in a call on average, where most of the cost is the "
            "call's; longer trains are cheaper, so measure with more tuples"
        )
    return notes


def _entries(statistics: Mapping[str, Any], section: str, origin: str) -> Mapping[str, Any]:
    found = statistics.get(section) if isinstance(statistics, Mapping) else None
    if not isinstance(found, Mapping):
        raise InputError(f"{origin} has no {section}; give a file that aurora run --stats FILE wrote")
    return found


def _tuples(
    arcs: Mapping[Producer, str], section: str, statistics: Mapping[str, Any], origin: str
) -> dict[Producer, float]:
    entries = statistics.get(section)
    if not isinstance(entries, Mapping):
        return {}
    return {
        arc: _number(entries[name].get("tuples"), f"{origin}: tuples of {section[:-1]} {name}")
        for arc, name in arcs.items()
        if isinstance(entries.get(name), Mapping)
    }


def _number(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and value >= 0):
        found = "missing" if value is None else repr(value)
        raise InputError(f"{what} is {found}; give a file that aurora run --stats FILE wrote")
    return float(value)
