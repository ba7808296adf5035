"""How the batches of a streaming DataFrame get into an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aurora.connectors.block_rows import BlockRows

if TYPE_CHECKING:
    from aurora.engine.engine import Engine
    from aurora.engine.run import Run


class Taker:
    """Takes the batches of a feed into an engine. Where there is state, a batch is run and committed at once."""

    def __init__(self, engine: Engine, stream: str) -> None:
        self._engine = engine
        self._stream = stream
        self._blocks = engine._workplace.blocks

    @property
    def _running(self) -> Run:
        assert self._engine._running is not None
        return self._engine._running

    def taken(self, query: str) -> int:
        return self._running.last_batch(self._stream, query)

    def folders(self) -> tuple[str, ...]:
        return self._blocks.folders()

    def take(self, query: str, batch: int, rows: BlockRows | None) -> None:
        with self._engine._exclusive(), self._running.batch(self._stream, query, batch):
            if rows is not None:
                blocks = rows.blocks
                self._blocks.note(blocks)
                self._engine._queued.note_offer(self._stream, len(rows))
                self._engine._queued.put_rows(self._stream, rows, len(rows), lambda: self._blocks.release(blocks))
            if self._engine._state is not None:
                self._running.drain()
