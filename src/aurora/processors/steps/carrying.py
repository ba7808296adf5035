"""Columns that are carried for arcs at which somebody looks, beside those that the outputs need.

Who looks at an arc should see all of its columns, also those that were pruned. But state must stay what it is: it is
committed, and a later run without onlookers goes on from it. So columns are carried only where no box would keep them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import polars as pl

from aurora.errors import StateError
from aurora.model.typed import Producer, TypedNetwork
from aurora.processors.steps.moving import check_movable
from aurora.processors.steps.pruning import pruned
from aurora.scheduler.segments import segments


class Carrying:
    """A network, ``lean`` as it is where nobody looks, with the ``segments`` that it then has for so many parts."""

    def __init__(
        self, full: TypedNetwork, parts: int, statics: Mapping[str, pl.DataFrame], *, apart: bool = False
    ) -> None:
        self._full = full
        self._parts = parts
        self._apart = apart
        self._statics = statics
        self.lean = pruned(full)
        self.segments = segments(self.lean, parts, apart=apart)

    def for_arcs(self, arcs: Collection[Producer]) -> TypedNetwork:
        """The network in which these arcs have all their columns, as far as that changes no state."""
        found = self.lean
        whole: list[Producer] = []
        for arc in sorted(arcs):
            if found.arcs[arc] != self._full.arcs[arc]:
                wider = pruned(self._full, [*whole, arc])
                if not self._has_the_same_state(wider):
                    continue
                found = wider
            whole.append(arc)
        return found

    def _has_the_same_state(self, typed: TypedNetwork) -> bool:
        cut = segments(typed, self._parts, apart=self._apart)
        if cut != self.segments:
            return False
        try:
            same = {name: name for name in typed.order}
            check_movable(self.lean, self.segments, typed, cut, self._statics, same)
        except StateError:
            return False
        return True
