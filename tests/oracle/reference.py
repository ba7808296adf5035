"""The oracle: a network document and rows in, the rows of every output out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from oracle.network import Answer, Simulation, merge
from oracle.values import Row


def run(
    document: Mapping[str, Any],
    inputs: Mapping[str, Sequence[Row]],
    *,
    clock: str,
    at_end: Literal["flush", "hold"] = "flush",
) -> Answer:
    """Runs the network of ``document`` over ``inputs``; ``clock`` names the column that drives time."""
    ordered = {stream: inputs.get(stream, []) for stream in document["streams"]}
    return Simulation(document).run(merge(ordered, clock), flush=at_end == "flush")
