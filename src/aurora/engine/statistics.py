"""What a run reports: per box, per input and per output."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from aurora.processors.plan import BoxCost

_GROWTH = math.log(1.01)
_SMALLEST_S = 1e-6


class Latencies:
    """A histogram of latencies with buckets that grow by one percent, so that quantiles are that exact."""

    def __init__(self) -> None:
        self._counts = np.zeros(0, np.int64)

    def note(self, latencies_s: npt.NDArray[np.float64]) -> None:
        buckets = np.maximum(np.log(np.maximum(latencies_s, _SMALLEST_S) / _SMALLEST_S) / _GROWTH, 0).astype(np.int64)
        counts = np.bincount(buckets, minlength=len(self._counts))
        counts[: len(self._counts)] += self._counts
        self._counts = counts

    def quantile(self, q: float) -> float | None:
        """Seconds that the given share of tuples stayed below; None if there was no tuple."""
        total = int(self._counts.sum())
        if not total:
            return None
        bucket = int(np.searchsorted(np.cumsum(self._counts), q * total))
        return 0.0 if bucket == 0 else _SMALLEST_S * math.exp((bucket + 0.5) * _GROWTH)


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
            "boxes": _dicts(self.boxes),
            "outputs": {name: output.to_dict() for name, output in self.outputs.items()},
        }


def _dicts(parts: Mapping[str, BoxCost] | Mapping[str, InputStatistics]) -> dict[str, Any]:
    return {name: asdict(part) for name, part in parts.items()}
