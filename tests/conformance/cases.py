"""The form of a conformance case, and how the engine and the oracle are held to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import yaml

from aurora.testing import run_rows
from oracle import reference

TRAINS = (1, 2, 7, 100, None)
START = datetime(2024, 1, 1, tzinfo=UTC)
"""A multiple of every window size in use, so that windows in seconds start at ``at(0)``."""


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def seconds(amount: float) -> timedelta:
    return timedelta(seconds=amount)


@dataclass(frozen=True)
class Case:
    """A network over streams whose first column ``at`` is the clock, given in seconds.

    ``boxes`` is YAML. ``rows`` holds for each stream its tuples. ``expected`` holds for each output, named as
    the arc it is drawn from, the tuples in order; ``columns`` their names where the case is about names.
    """

    name: str
    streams: Mapping[str, Mapping[str, str]]
    boxes: str
    rows: Mapping[str, Sequence[tuple[Any, ...]]]
    expected: Mapping[str, Sequence[tuple[Any, ...]]]
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    late: Mapping[str, int] = field(default_factory=dict)
    at_end: Literal["flush", "hold"] = "hold"

    def __str__(self) -> str:
        return self.name.replace(" ", "-")

    def document(self) -> dict[str, Any]:
        return {
            "aurora": 1,
            "network": "conformance",
            "streams": {name: {"schema": {"at": "timestamp", **columns}} for name, columns in self.streams.items()},
            "boxes": yaml.safe_load(self.boxes),
            "outputs": {_output(arc): {"from": arc} for arc in self.expected},
        }

    def inputs(self) -> dict[str, list[dict[str, Any]]]:
        return {
            stream: [dict(zip(("at", *columns), (at(row[0]), *row[1:]), strict=True)) for row in self.rows[stream]]
            for stream, columns in self.streams.items()
        }


def one(*rows: tuple[Any, ...]) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of the one stream ``s``."""
    return {"s": list(rows)}


def check_engine(case: Case, train: int | None, **how: Any) -> None:
    result = run_rows(
        case.document(),
        case.inputs(),
        clock="at",
        train=train,
        at_end=case.at_end,
        **how,
    )
    for arc, expected in case.expected.items():
        frame = result.outputs[_output(arc)]
        assert frame.rows() == list(expected)
        if arc in case.columns:
            assert frame.columns == list(case.columns[arc])
    for box, late in case.late.items():
        assert result.late.get(box, 0) == late


def check_restored(case: Case, train: int) -> None:
    """The case holds also when all kernels are replaced by restored ones, after whichever train."""
    trains = -(-sum(len(rows) for rows in case.rows.values()) // train)
    for number in range(1, trains + 1):
        check_engine(case, train, snapshot_at=number)


def check_oracle(case: Case) -> None:
    result = reference.run(case.document(), case.inputs(), clock="at", at_end=case.at_end)
    for arc, expected in case.expected.items():
        rows = result.outputs[_output(arc)]
        assert [tuple(row.values()) for row in rows] == list(expected)
        if arc in case.columns and rows:
            assert list(rows[0]) == list(case.columns[arc])
    for box, late in case.late.items():
        assert result.late[box] == late


def _output(arc: str) -> str:
    return "of_" + arc.replace(".", "_")
