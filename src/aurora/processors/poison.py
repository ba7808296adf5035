"""Tuples on which the operator's code or an expression fails: found one by one, set apart; the run goes on without."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.errors import UserCodeError
from aurora.expressions import registry
from aurora.model.box import Box, Kernel
from aurora.model.schema import Schema
from aurora.model.train import ORDER, Emission, Ints, Progress, Train, rows_at

REJECTED = Schema.of(box="string", number="int", reason="string", tuple="string")
"""The columns of the stream of rejected tuples."""

EVALUATION_FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""What Polars raises where an expression meets a value that it was not built for. A panic is no Exception."""

_FAILURES = (UserCodeError, *EVALUATION_FAILURES)
_SAMPLE = 3


@dataclass(frozen=True)
class RejectedTuple:
    """A tuple that a box could not take: its number, why, and its columns as JSON."""

    box: str
    number: int
    reason: str
    text: str


def runs_user_code(box: Box) -> bool:
    """Whether the operator's code runs on single tuples: by the box itself, or by a function in an expression."""
    if box.runs_user_code():
        return True
    words = set(re.findall(r"[a-z_]\w*", box.model_dump_json().lower()))
    return not words.isdisjoint([*registry.FUNCTIONS, *registry.AGGREGATES])


def given(kernel: Kernel, trains: Mapping[int, Train], progress: Progress) -> list[Emission]:
    """One step of a box: its trains, then word of progress."""
    emissions = [kernel.process(port, train) for port, train in trains.items()]
    if progress.end:
        # What upstream boxes flushed is taken in like any train before the box itself is flushed.
        emissions.append(kernel.advance(replace(progress, end=False)))
    emissions.append(kernel.advance(progress))
    return emissions


def without_poison(
    box: str, make: Callable[[], Kernel], trains: Mapping[int, Train], progress: Progress
) -> tuple[dict[int, Train], list[RejectedTuple]]:
    """The trains without the tuples on which a fresh kernel fails even if it gets nothing else."""
    clean: dict[int, Train] = {}
    rejected: list[RejectedTuple] = []
    for port, train in trains.items():
        reasons: dict[int, str] = {}
        _search(make, port, train, np.arange(len(train)), progress, reasons)
        rejected += [_rejected(box, train, row, reason) for row, reason in sorted(reasons.items())]
        fine = np.ones(len(train), bool)
        fine[list(reasons)] = False
        clean[port] = train if fine.all() else _some(train, fine)
    return clean, rejected


def _search(
    make: Callable[[], Kernel], port: int, train: Train, rows: Ints, progress: Progress, reasons: dict[int, str]
) -> None:
    """Halves the rows until those are alone that fail."""
    if not len(rows):
        return
    chosen = np.zeros(len(train), bool)
    chosen[rows] = True
    try:
        given(make(), {port: _some(train, chosen)}, progress)
    except _FAILURES as error:
        if len(rows) == 1:
            reasons[int(rows[0])] = _first_line(error)
            return
        for half in np.array_split(rows, 2):
            _search(make, port, train, half, progress, reasons)


def _some(train: Train, chosen: npt.NDArray[np.bool_]) -> Train:
    rows = np.flatnonzero(chosen)
    part = None if train.part is None else replace(train.part, places=train.part.places[rows])
    return replace(train, frame=rows_at(train.frame, rows), part=part)


def _rejected(box: str, train: Train, row: int, reason: str) -> RejectedTuple:
    number = -1 if train.arrival_us is not None else int(train.hidden(ORDER)[row]) >> 1
    text = json.dumps(train.visible.row(row, named=True), default=str, ensure_ascii=False)
    return RejectedTuple(box, number, reason, text)


def _first_line(error: BaseException) -> str:
    reason = str(error).partition("\n")[0]
    return reason if isinstance(error, UserCodeError) else f"an expression could not be evaluated: {reason}"


def sample(trains: Mapping[int, Train]) -> str:
    """A few of the tuples that a box was given, for people who look for what is special about them."""
    rows = [json.dumps(row, default=str, ensure_ascii=False) for t in trains.values() for row in _heads(t)]
    return "; the first tuples it was given: " + ", ".join(rows[:_SAMPLE]) if rows else ""


def _heads(train: Train) -> list[dict[str, object]]:
    return train.visible.head(_SAMPLE).to_dicts()
