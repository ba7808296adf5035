"""A recorded file, at the pace at which it was recorded or faster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.connectors.files import open_source
from aurora.connectors.live.failures import HopelessError
from aurora.connectors.live.inlet import Inlet
from aurora.connectors.rejected import Rejected, Rejection
from aurora.connectors.sources.files import read_once
from aurora.model.schema import Schema
from aurora.model.source_kinds import ReplaySource as Declared

_BATCH_TUPLES = 50_000
_LOOK_S = 0.1
_LEAST_S = 0.001


class ReplaySource:
    """Tuples come in the file's order. One whose time lies before that of the one in front of it comes with that."""

    def __init__(self, declared: Declared, path: Path, schema: Schema) -> None:
        self._declared = declared
        self._path = path
        self._schema = schema

    def run(self, inlet: Inlet) -> None:
        inlet.connected()
        while not inlet.halt.stopped:
            before = inlet.meter.count("tuples")
            with read_once(self._path):
                self._once(inlet)
            if not self._declared.repeat:
                return
            if inlet.meter.count("tuples") == before:
                raise HopelessError(f"{self._path} has no tuples that could be repeated")

    def _once(self, inlet: Inlet) -> None:
        start_us = inlet.clock.now_us()
        first_us: int | None = None
        latest_us = np.iinfo(np.int64).min
        for frame in self._frames(inlet):
            times_us = self._times_us(frame, latest_us)
            latest_us = int(times_us[-1])
            first_us = int(times_us[0]) if first_us is None else first_us
            due_us = start_us + np.rint((times_us - first_us) / self._declared.speed).astype(np.int64)
            self._pass_on(frame, due_us, inlet)
            if inlet.halt.stopped:
                return

    def _pass_on(self, frame: pl.DataFrame, due_us: npt.NDArray[np.int64], inlet: Inlet) -> None:
        done = 0
        while done < frame.height:
            now_us = inlet.clock.now_us()
            end = int(np.searchsorted(due_us, now_us, side="right"))
            if end > done:
                inlet.put(frame.slice(done, end - done))
                done = end
            if done < frame.height:
                wait_s = min(max(float(due_us[done] - now_us) / 1e6, _LEAST_S), _LOOK_S)
                if inlet.halt.wait(wait_s):
                    return

    def _times_us(self, frame: pl.DataFrame, latest_us: int) -> npt.NDArray[np.int64]:
        """When tuples were recorded, never going back. Numbers are seconds; a tuple without a time comes at once."""
        column = frame.get_column(self._declared.time)
        if column.dtype.is_float():
            column = (column.fill_nan(None) * 1e6).round()
        elif column.dtype.is_integer():
            column = column * 1_000_000
        numbers = column.cast(pl.Int64).fill_null(strategy="forward").fill_null(strategy="backward").fill_null(0)
        running: npt.NDArray[np.int64] = np.maximum.accumulate(np.maximum(numbers.to_numpy(), latest_us))
        return running

    def _frames(self, inlet: Inlet) -> Iterator[pl.DataFrame]:
        def reject(row: Rejected) -> None:
            inlet.reject([Rejection(row.line, row.reason, row.text)])

        if not self._path.exists():
            raise FileNotFoundError(f"{self._path} is not there")
        source = open_source(self._path, self._schema, stream=inlet.stream, on_reject=reject)
        try:
            for frame in source.batches(_BATCH_TUPLES):
                if frame.height:
                    yield frame
        finally:
            source.close()
