"""Columns of streams that nothing asks for are left out: workers do not read them, and nobody carries them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy

from aurora.boxes.python import Python
from aurora.errors import NetworkError
from aurora.model.box import Box
from aurora.model.check import typecheck
from aurora.model.schema import Schema
from aurora.model.typed import Producer, TypedNetwork
from aurora.processors.poison import runs_user_code


def pruned(typed: TypedNetwork, shown: Collection[Producer] = ()) -> TypedNetwork:
    """The network over streams that lack the columns without which its outputs, and the arcs ``shown``, are the same.

    Whether a box can do without a column its declaration tells by deriving its outputs. The operator's code cannot be
    asked, and tuples that it rejects are shown whole.
    """
    if any(_is_opaque(box) for box in typed.network.boxes.values()):
        return typed
    for stream in typed.network.streams:
        # One column stays: a frame without columns does not know how many rows it has.
        typed = _without(typed, stream, list(typed.arcs[stream].schema)[1:], shown)
    return typed


def _is_opaque(box: Box) -> bool:
    return box.in_driver or isinstance(box, Python) or runs_user_code(box)


def _without(typed: TypedNetwork, stream: str, columns: Sequence[str], shown: Collection[Producer]) -> TypedNetwork:
    """Without as many of the columns as may go: all of them, or those of either half."""
    if not columns:
        return typed
    found = _checked(typed, stream, columns, shown)
    if found is not None:
        return found
    if len(columns) == 1:
        return typed
    middle = len(columns) // 2
    return _without(_without(typed, stream, columns[:middle], shown), stream, columns[middle:], shown)


def _checked(
    typed: TypedNetwork, stream: str, columns: Collection[str], shown: Collection[Producer]
) -> TypedNetwork | None:
    network = copy(typed.network)
    kept = Schema({name: kind for name, kind in typed.arcs[stream].schema.items() if name not in columns})
    changed = network.streams[stream].model_copy(update={"columns": kept})
    network.streams = {**network.streams, stream: changed}
    try:
        found = typecheck(network)
    except NetworkError:
        return None
    same = all(found.arcs[producer] == typed.arcs[producer] for producer in (*typed.outputs.values(), *shown))
    return found if same else None
