"""What a run reports: per box, per input and per output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from aurora.processors.plan import BoxCost

_SHIFT = 45
_FIRST = int(np.array([1.0]).view(np.int64)[0]) >> _SHIFT


class Latencies:
    """A histogram of latencies. The leading bits of a number are its bucket, so that quantiles are exact to 1%."""

    def __init__(self) -> None:
        self._counts = np.zeros(0, np.int64)

    def note(self, latencies_us: npt.NDArray[np.int64], tuples: int) -> None:
        """Notes a latency per tuple, or one for all of them."""
        if len(latencies_us) == 1:
            bucket = (int(np.float64(max(int(latencies_us[0]), 1)).view(np.int64)) >> _SHIFT) - _FIRST
            if bucket < len(self._counts):
                self._counts[bucket] += tuples
                return
        if len(latencies_us) and latencies_us.min() == latencies_us.max():
            latencies_us = latencies_us[:1]
        weight = tuples if len(latencies_us) == 1 else 1
        buckets = (np.maximum(latencies_us, 1).astype(np.float64).view(np.int64) >> _SHIFT) - _FIRST
        counts = np.bincount(buckets, minlength=len(self._counts)) * weight
        counts[: len(self._counts)] += self._counts
        self._counts = counts

    def to_list(self) -> list[int]:
        return [int(count) for count in self._counts]

    def load(self, counts: Sequence[int]) -> None:
        self._counts = np.array(counts, np.int64)

    def quantile(self, q: float) -> float | None:
        """Seconds that the given share of tuples stayed below; None if there was no tuple."""
        total = int(self._counts.sum())
        if not total:
            return None
        bucket = int(np.searchsorted(np.cumsum(self._counts), q * total))
        middle = np.array([(bucket + _FIRST << _SHIFT) + (1 << _SHIFT - 1)]).view(np.float64)[0]
        return 0.0 if bucket == 0 else float(middle) / 1e6


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

    def to_commit(self) -> dict[str, Any]:
        """Everything counted so far, for a later run to go on counting."""
        latencies = {name: output.latencies.to_list() for name, output in self.outputs.items()}
        return {**self.to_dict(), "latencies": latencies}

    def restore(self, committed: Mapping[str, Any]) -> None:
        """Goes on from what ``to_commit`` gave."""
        self.wall_s = committed["wall_s"]
        for name, box in self.boxes.items():
            box.add(BoxCost(**committed["boxes"][name]))
        for name, entry in self.inputs.items():
            entry.tuples = committed["inputs"][name]["tuples"]
        for name, output in self.outputs.items():
            output.tuples = committed["outputs"][name]["tuples"]
            output.latencies.load(committed["latencies"][name])


def _dicts(parts: Mapping[str, BoxCost] | Mapping[str, InputStatistics]) -> dict[str, Any]:
    return {name: asdict(part) for name, part in parts.items()}
