"""Running a network over rows, on a clock that stands still unless the test moves it."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Mapping
from typing import Any

import polars as pl

from aurora.clock import Clock, ManualClock
from aurora.connectors.frames import Table
from aurora.engine.in_memory import ProcessorMaker, RunResult, run
from aurora.engine.run import DEFAULT_TRAIN, AtEnd, Run
from aurora.model.document import loads
from aurora.model.network import Network
from aurora.model.typed import TypedNetwork
from aurora.processors.plan import Processor
from aurora.processors.steps.processor import MOST_READERS, InlineRunner, StepProcessor
from aurora.storage.blocks import BlockStore


def run_rows(
    network: Network | Mapping[str, Any] | str,
    inputs: Mapping[str, Table],
    *,
    clock: str | None = None,
    train: int | None = None,
    at_end: AtEnd = "flush",
    snapshot_at: int | None = None,
    wall: Clock | None = None,
    parts: int | None = None,
    most_readers: int = MOST_READERS,
    processor: ProcessorMaker | None = None,
) -> RunResult:
    """Runs a network (a model, a document, or YAML text) over rows and gives back everything it put out.

    Without a clock column time stands still, at zero, unless ``wall`` is given. With ``snapshot_at``, after so many
    trains every kernel's state is moved into a fresh kernel, which must not change anything. With ``parts`` the
    network is spread over so many parts, as a cluster would do it, which must not change anything either; if these
    are more than ``most_readers``, streams are split first. ``processor`` makes another one for the boxes to run on.
    """
    if isinstance(network, str):
        network = loads(network)
    elif not isinstance(network, Network):
        network = Network.from_document(dict(network))

    trains = itertools.count(1)

    def move_state(running: Run) -> None:
        if next(trains) == snapshot_at:
            running.move_state()

    with tempfile.TemporaryDirectory() as folder:
        return run(
            network,
            inputs,
            clock=clock,
            train=train or DEFAULT_TRAIN,
            at_end=at_end,
            wall=wall or ManualClock(),
            on_epoch=move_state,
            processor=processor if parts is None else _spread(parts, most_readers, folder),
        )


def _spread(parts: int, most_readers: int, folder: str) -> ProcessorMaker:
    def make(typed: TypedNetwork, statics: Mapping[str, pl.DataFrame]) -> Processor:
        blocks = BlockStore(None, folder, 0)
        return StepProcessor(typed, InlineRunner(parts), blocks, folder, statics=statics, most_readers=most_readers)

    return make
