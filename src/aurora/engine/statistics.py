"""What a run reports: per box, per input and per output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aurora.engine.latencies import Latencies
from aurora.model.train import Ints, Train
from aurora.processors.plan import BoxCost

_OF_DROPS = ("shed", "estimated", "error")
"""What is counted of a box only where tuples may be dropped; a run over files drops none."""


@dataclass
class OutputStatistics:
    tuples: int = 0
    latencies: Latencies = field(default_factory=Latencies)

    def to_dict(self) -> dict[str, Any]:
        quantiles = {"p50": self.latencies.quantile(0.5), "p99": self.latencies.quantile(0.99)}
        return {"tuples": self.tuples, "latency_s": quantiles}


@dataclass
class InputStatistics:
    tuples: int = 0
    rejected: int = 0


@dataclass
class RunStatistics:
    """Everything that ``--stats`` writes. ``latency_s`` is measured on the clock that drives the run."""

    processor: str
    train: int
    boxes: dict[str, BoxCost]
    inputs: dict[str, InputStatistics]
    outputs: dict[str, OutputStatistics]
    wall_s: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "processor": self.processor,
            "train": self.train,
            "wall_s": self.wall_s,
            "inputs": _dicts(self.inputs),
            "boxes": {
                name: {key: value for key, value in box.items() if key not in _OF_DROPS}
                for name, box in _dicts(self.boxes).items()
            },
            "outputs": {name: output.to_dict() for name, output in self.outputs.items()},
        }

    def note_delivery(self, output: str, latencies_us: Ints, tuples: int, train: Train, now_us: int) -> None:
        """Tuples of an output were delivered, with a latency each or one for all."""
        delivered = self.outputs[output]
        delivered.tuples += tuples
        delivered.latencies.note(latencies_us, tuples)

    def to_commit(self) -> dict[str, Any]:
        """Everything counted so far, for a later run to go on counting."""
        latencies = {name: output.latencies.to_list() for name, output in self.outputs.items()}
        return {**self.to_dict(), "boxes": _dicts(self.boxes), "latencies": latencies}

    def restore(self, committed: Mapping[str, Any]) -> None:
        """Goes on from what ``to_commit`` gave, maybe of another network: what that did not have starts at nothing."""
        self.wall_s = committed["wall_s"]
        for name in self.boxes.keys() & committed["boxes"].keys():
            self.boxes[name].add(BoxCost(**committed["boxes"][name]))
        for name in self.inputs.keys() & committed["inputs"].keys():
            self.inputs[name].tuples = committed["inputs"][name]["tuples"]
        for name in self.outputs.keys() & committed["outputs"].keys():
            self.outputs[name].tuples = committed["outputs"][name]["tuples"]
            self.outputs[name].latencies.load(committed["latencies"][name])


def _dicts(parts: Mapping[str, BoxCost] | Mapping[str, InputStatistics]) -> dict[str, Any]:
    # They are flat; asdict would look for more, which takes long where there are many.
    return {name: dict(vars(part)) for name, part in parts.items()}
