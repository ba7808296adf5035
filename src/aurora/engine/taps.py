"""Who looks at arcs while a network runs, and what of them they see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from aurora.engine.delivery import Tap
from aurora.engine.outlets import Callback
from aurora.engine.run import Run
from aurora.model.schema import Schema
from aurora.model.train import Train
from aurora.model.typed import Producer, TypedNetwork


@runtime_checkable
class Lean(Protocol):
    """A processor that leaves columns out which no output needs. Arcs that are ``carried`` have them, if they can."""

    carried: frozenset[Producer]

    def carried_columns(self, arc: Producer) -> Schema:
        """The columns that an arc has from now on; nothing may run meanwhile."""


@dataclass(frozen=True)
class Shown:
    """A callback of somebody's, which gets the columns that people know."""

    callback: Callback

    def __call__(self, train: Train) -> None:
        self.callback(train.visible)


def tap(running: Run, arc: Producer, look: Tap) -> Schema:
    """Shows what is put on an arc from now on; the columns that there are to be seen. Nothing may run meanwhile."""
    processor, typed = running.processor, running.typed
    columns = typed.arcs[arc].schema
    if isinstance(processor, Lean) and _is_made(typed, arc):
        processor.carried |= {arc}
        columns = processor.carried_columns(arc)
    running.delivery.tap(arc, look)
    return columns


def untap(running: Run, arc: Producer, look: Tap) -> None:
    """It is shown nothing more; any thread may say so."""
    running.delivery.untap(arc, look)
    if isinstance(running.processor, Lean) and arc not in running.delivery.taps:
        running.processor.carried -= {arc}


def follow(running: Run) -> None:
    """A run has taken over from another: what was looked at is looked at on."""
    if isinstance(running.processor, Lean):
        running.processor.carried = frozenset(arc for arc in running.delivery.taps if _is_made(running.typed, arc))


def _is_made(typed: TypedNetwork, arc: Producer) -> bool:
    """Whether a box puts tuples on it; what enters is seen as it came."""
    return arc.name in typed.inputs
