"""Which arcs can be looked at while a network runs, and who looks at them."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from aurora.engine.delivery import Tap
from aurora.engine.run import Run
from aurora.errors import StateError
from aurora.model.typed import Producer, TypedNetwork


@runtime_checkable
class Secluded(Protocol):
    """A processor that shows only some arcs: those that are ``leaving`` segments, of which ``shown`` are wanted."""

    leaving: frozenset[Producer]
    shown: set[Producer]


def check(running: Run, typed: TypedNetwork, arc: Producer) -> None:
    """StateError where what is put on an arc stays on the workers."""
    processor = running.processor
    if isinstance(processor, Secluded) and arc.name not in typed.network.streams and arc not in processor.leaving:
        seen = sorted({*map(str, processor.leaving), *typed.network.streams})
        raise StateError(
            f"{arc} is inside a segment, and on Spark stays where its boxes run; look at one of the arcs that leave "
            f"theirs ({', '.join(seen)}), or declare an output on it"
        )


def tap(running: Run, arc: Producer, callback: Tap) -> None:
    """Shows what is put on an arc from now on."""
    if isinstance(running.processor, Secluded):
        running.processor.shown |= {arc} & running.processor.leaving
    running.delivery.tap(arc, callback)


def untap(running: Run, arc: Producer, callback: Tap) -> None:
    """The callback is called no more."""
    running.delivery.untap(arc, callback)
    if isinstance(running.processor, Secluded) and arc not in running.delivery.taps:
        running.processor.shown.discard(arc)


def follow(running: Run) -> None:
    """A run has taken over from another: of what was looked at, what can still be seen is."""
    if isinstance(running.processor, Secluded):
        running.processor.shown |= running.delivery.taps.keys() & running.processor.leaving
