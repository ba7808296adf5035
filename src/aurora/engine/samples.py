"""One moment of an engine, for those who keep a history: arrays instead of a reading of every metric.

It is taken every second while the engine's lock is held, so nothing that every box has is worked out box by box.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aurora.engine.box_costs import Floats
from aurora.engine.latencies import Latencies
from aurora.model.typed import Consumer, Producer, TypedNetwork
from aurora.processors.poison import runs_user_code
from aurora.qos.monitor import Utility


class InputSample(NamedTuple):
    rate_per_s: float
    shed: int


class OutputSample(NamedTuple):
    """``tuples``, ``lost`` and ``latencies`` count since the run began; what happened lately is a difference."""

    rate_per_s: float
    latency_s: float | None
    tuples: int
    lost: float
    latencies: Latencies
    utility: Utility


@dataclass(frozen=True)
class Sample:
    """Arrays are by box number or, with ``arc_``, by the order of ``typed.arcs``. As long as ``typed`` is the same
    object the network is, too. ``busy`` is the time per second that boxes and what serves them take. ``shed`` counts
    tuples dropped anywhere by reason, ``rejected`` those on which the operator's code failed by box."""

    now_us: int
    typed: TypedNetwork
    load: Floats
    tuple_cost_s: Floats
    selectivity: Floats
    queue_tuples: Floats
    age_s: Floats
    arc_rate_per_s: Floats
    arc_queue_tuples: Floats
    inputs: Mapping[str, InputSample]
    outputs: Mapping[str, OutputSample]
    busy: float
    capacity: float
    memory_bytes: int
    disk_bytes: int
    shed: Mapping[str, int]
    rejected: Mapping[str, int]


class Arrangement:
    """Where each thing stands in the arrays of a sample."""

    def __init__(self, typed: TypedNetwork) -> None:
        self.typed = typed
        self.arcs = [typed.arcs.producer(arc) for arc in typed.arcs]
        self._boxes = {name: number for number, name in enumerate(typed.order)}
        self._places = {arc: place for place, arc in enumerate(self.arcs)}
        only = [
            (place, self._boxes[arc.name])
            for place, arc in enumerate(self.arcs)
            if arc.name in self._boxes and len(typed.network.boxes[arc.name].output_ports()) == 1
        ]
        self.only_arcs = np.array([place for place, _ in only], np.intp)
        """Arcs of boxes that have no other: what the box makes is what they carry."""
        self.only_boxes = np.array([box for _, box in only], np.intp)
        """These boxes."""
        self.users = [name for name in typed.order if runs_user_code(typed.network.boxes[name])]
        """Boxes that run the operator's code."""
        alone = set(self.only_arcs.tolist())
        self.other_arcs = [(place, arc) for place, arc in enumerate(self.arcs) if place not in alone]

    def box(self, reader: Consumer) -> int:
        return self._boxes[reader.box]

    def arc_before(self, reader: Consumer) -> int:
        return self._places[self.typed.inputs[reader.box][reader.port]]

    def arc(self, arc: Producer) -> int:
        return self._places[arc]
