"""The shedder as a whole: observations in, directions out."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from aurora.model.typed import TypedNetwork
from aurora.shedding.by_value import Trying
from aurora.shedding.controller import Controller
from aurora.shedding.detector import HEADROOM, Detector
from aurora.shedding.observation import Directions, Mode, Observation, Verdict


class Shedder:
    """A detector and a controller that know of each other. ``verdict`` is the latest one, None before the first.

    ``protected`` are outputs never to be shed, whatever their graphs say. Everything is a function of what is handed
    in; time is that of the observations.
    """

    def __init__(
        self,
        typed: TypedNetwork,
        *,
        mode: Mode = "auto",
        protected: Collection[str] = (),
        headroom: float = HEADROOM,
        trying: Trying | None = None,
    ) -> None:
        self._detector = Detector(typed, headroom=headroom)
        self._controller = Controller(typed, mode=mode, protected=protected, headroom=headroom, trying=trying)
        self.verdict: Verdict | None = None

    @property
    def directions(self) -> Directions:
        """Those in force; empty ones at first."""
        return self._controller.directions

    def note_values(self, output: str, values: pl.Series) -> None:
        """An output delivered tuples; ``values`` is what they have in the column of its value graph."""
        self._controller.note_values(output, values)

    def observe(self, observation: Observation) -> Directions | None:
        """New directions; None while those in force still hold."""
        self.verdict = self._detector.note(observation, self._controller.directions.kept)
        return self._controller.decide(observation, self.verdict)
