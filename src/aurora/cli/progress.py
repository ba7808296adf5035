"""Shows how far a run has come: a bar on a terminal, now and then a line elsewhere. Short runs show nothing."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TaskProgressColumn, TextColumn, TimeElapsedColumn

from aurora.cli.failure import say

_QUIET_AT_FIRST_S = 1.0
_LINE_EVERY_S = 10.0


class Meter:
    """Told after every train; shows something only where somebody looks and the run lasts."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._began_s = time.monotonic()
        self._line_s = self._began_s + _LINE_EVERY_S
        self._terminal = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, tuples: int, share: float | None) -> None:
        if not self._shown:
            return
        now_s = time.monotonic()
        rate = tuples / max(now_s - self._began_s, 1e-9)
        if self._terminal:
            if now_s - self._began_s >= _QUIET_AT_FIRST_S:
                self._draw(tuples, share, rate)
        elif now_s >= self._line_s:
            self._line_s = now_s + _LINE_EVERY_S
            done = "" if share is None else f", {share:.0%}"
            say(f"{tuples:,} tuples in{done}, {rate:,.0f} per second")

    def _draw(self, tuples: int, share: float | None, rate: float) -> None:
        if self._bar is None:
            self._bar = Progress(
                SpinnerColumn(),
                BarColumn(),
                TaskProgressColumn(),
                TextColumn("{task.fields[tuples]:,} tuples in, {task.fields[rate]:,.0f} per second"),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("run", total=None, tuples=0, rate=0.0)
            self._bar.start()
        assert self._task is not None
        total = None if share is None else 1.0
        self._bar.update(self._task, total=total, completed=share or 0.0, tuples=tuples, rate=rate)
