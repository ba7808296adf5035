"""What an engine offers those who look for a mistake: taps, break-points, steps, and tuples made by hand."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeVar

import polars as pl

from aurora.clock import Clock
from aurora.connectors.frames import Table, table_frame
from aurora.engine import taps
from aurora.engine.breakpoints import Breakpoint, Breakpoints, Hit
from aurora.engine.loop import Loop
from aurora.engine.modify import upstream
from aurora.engine.naming import unknown
from aurora.engine.outlets import Callback
from aurora.engine.run import Run
from aurora.engine.stepping import Recording, Step
from aurora.errors import ExpressionError, InputError, StateError
from aurora.model.schema import Schema
from aurora.model.typed import Producer, TypedNetwork

_SHOWN = 20
_SETTLE_S = 0.05

Made = TypeVar("Made")


class Debugged:
    """The part of an engine with which one looks into a network that runs."""

    if TYPE_CHECKING:
        _running: Run | None
        _loop: Loop | None
        _typed: TypedNetwork

        @property
        def _looping(self) -> Loop: ...
        def _exclusive(self) -> AbstractContextManager[Run]: ...
        def _unchanging(self) -> AbstractContextManager[None]: ...
        def _check_started(self) -> Run: ...
        def _check_open(self) -> Run: ...
        def enqueue(self, stream: str, table: Table) -> None: ...

    def __init__(self, wall: Clock) -> None:
        self._breakpoints = Breakpoints(wall, self._break)

    # Taps

    def tap(self, arc: str, callback: Callback) -> Schema:
        """Calls ``callback`` with what is put on any arc from now on, in the thread that ran the boxes; see ``untap``.

        Gives the columns that it will see. On Spark columns that no output needs are carried for it, but not where a
        box would have to keep them. What is there after ``modify`` is looked at on.
        """
        producer = self._check_arc(arc)
        self._check_started()
        with self._exclusive() as running:
            return taps.tap(running, producer, taps.Shown(callback))

    def untap(self, arc: str, callback: Callback) -> None:
        """The callback is called no more."""
        if self._running is not None:
            taps.untap(self._running, self._check_arc(arc), taps.Shown(callback))

    # Paused

    @property
    def paused(self) -> bool:
        """Whether nothing runs but by ``step``: it was paused, or a break-point was hit."""
        return self._loop is not None and self._loop.paused

    def pause(self) -> None:
        """Lets nothing run until ``resume``, but ``step``. Tuples can be enqueued meanwhile."""
        self._check_started()
        self._looping.pause()
        flow = self._check_started().flow
        if not flow.stopped:
            flow.hold()
        self._breakpoints.on_change()

    def resume(self) -> None:
        """Goes on. The tuples for which a break-point paused it do not do so again."""
        running = self._check_started()
        self._breakpoints.clear_hits()
        running.flow.go_on()
        self._looping.resume()

    def step(self, box: str | None = None, tuples: int | None = None, *, rows: int = _SHOWN) -> Step:
        """Takes what is enqueued and runs the next superbox: which boxes ran, and what went in and came out.

        ``box`` names one that is to run instead. With ``tuples`` one box runs, on about so many of the tuples that wait
        for it: those that one tuple made are not parted. If there is nothing to do, time passes. On Spark all boxes
        run in one step, on what is enqueued or on so many ``tuples`` of it. The answer has the first ``rows`` of
        what was on each arc.
        """
        self._check_step(self._check_started(), box, tuples)
        with self._exclusive() as running, running.stepwise():
            flow = running.flow
            flow.hold()
            self._breakpoints.clear_hits()
            recording = flow.recorder = Recording(running.processor, rows)
            try:
                worked = running.turn(box, tuples)
                if not worked and box is None and not flow.stopped:
                    running.tick()
            finally:
                flow.recorder = None
            if not self._looping.paused:
                flow.go_on()
        self._breakpoints.on_change()
        hits = self._breakpoints.hits
        return Step(worked, tuple(recording.took), tuple(recording.boxes), hits, whole=not flow.queues)

    def _check_step(self, running: Run, box: str | None, tuples: int | None) -> None:
        if box is not None and box not in self._typed.order:
            raise InputError(unknown("box", box, self._typed.order))
        if tuples is not None and tuples < 1:
            raise InputError(f"a step of {tuples} tuples is none; give 1 or more")
        if box is not None and not running.flow.queues:
            raise StateError("on Spark all boxes run as one superbox, and no box alone; step without naming one")

    # Break-points

    def break_at(self, arc: str, condition: str | None = None, *, enabled: bool = True) -> Breakpoint:
        """Pauses the engine when a tuple is put on an arc that fulfils a condition over its columns; or any tuple.

        What the box made with it waits then, and nothing more runs until ``resume`` or ``step``. On Spark it is the
        end of the step in which the tuple was made. While a network is modified or shut down, nothing is paused.
        """
        self._check_arc(arc)
        return self._undisturbed(lambda running: self._breakpoints.add(running, arc, condition, enabled=enabled))

    def breakpoints(self) -> list[Breakpoint]:
        """All there are, with how often each was hit."""
        return self._breakpoints.all()

    def enable_breakpoint(self, number: int, *, enabled: bool = True) -> Breakpoint:
        """Lets a break-point pause the engine, or not."""
        return self._undisturbed(lambda running: self._breakpoints.enable(running, number, enabled=enabled))

    def remove_breakpoint(self, number: int) -> None:
        self._breakpoints.remove(self._check_started(), number)

    def hits(self) -> list[Hit]:
        """What the engine is paused for; empty if it runs, or was paused by ``pause``."""
        return list(self._breakpoints.hits)

    def on_debugging(self, callback: Callable[[], None]) -> None:
        """Calls ``callback``, in any thread, when break-points change, or what it is paused for. There is one such."""
        self._breakpoints.on_change = callback

    def _break(self) -> None:
        """A break-point was hit, in the thread that runs boxes."""
        running = self._running
        if running is not None and not running.in_batch:
            running.flow.stop()
        self._looping.hold()

    def _check_through(self) -> None:
        """StateError if a break-point keeps tuples from coming through."""
        if self._check_started().flow.stopped:
            arcs = ", ".join(dict.fromkeys(hit.arc for hit in self._breakpoints.hits))
            raise StateError(f"a break-point was hit on {arcs}, and the engine is paused there; resume it first")

    # Tuples made by hand

    def inject(self, arc: str, table: Table) -> int:
        """Puts tuples on an arc, and tells how many: to a stream as ``enqueue`` does, else as if its box made them now.

        What entered before must have come through the boxes that make the arc, so that tuples keep their order: an
        engine that runs sees to it, a paused one refuses. On Spark it can be done to streams alone.
        """
        producer = self._check_arc(arc)
        self._check_open()
        kind = self._typed.arcs[producer]
        try:
            frame = table_frame(table, kind.schema)
        except InputError as error:
            raise InputError(f"cannot put tuples on {arc}: {error}") from error
        if producer.name in self._typed.network.streams:
            self.enqueue(producer.name, frame)
        elif kind.static:
            raise InputError(f"{arc} is static data, on which nothing is ever put; name the arc of a stream or a box")
        elif frame.height:
            with self._unchanging():
                self._undisturbed(lambda running: self._put_on(running, producer, frame))
            self._looping.wake()
        return frame.height

    def _put_on(self, running: Run, arc: Producer, frame: pl.DataFrame) -> None:
        if not running.flow.queues:
            raise StateError(
                f"{arc} is inside a superbox: on Spark boxes hand each other tuples within a task, and nobody else "
                "can; put your tuples on a stream"
            )
        typed = running.typed
        before = upstream(typed, [arc.name])
        with running.stepwise():
            for _ in running.epochs():
                pass
        while not self._looping.paused and not running.settle(before, _SETTLE_S):
            pass
        undone = running.flow.undone(before)
        if undone:
            raise StateError(
                f"tuples wait before {', '.join(undone)} that come before yours on {arc}; step or resume until these "
                "boxes have taken them"
            )
        running.inject(arc, frame, move_clock=not any(typed.network.boxes[name].keeps_time() for name in before))

    # Inside

    def _undisturbed(self, work: Callable[[Run], Made]) -> Made:
        """Does something while nothing runs. If it is refused the engine is what it was."""
        self._check_started()
        with self._exclusive() as running:
            try:
                return work(running)
            except (InputError, StateError, ExpressionError) as error:
                refused = error
        raise refused

    def _check_arc(self, arc: str) -> Producer:
        if arc not in self._typed.arcs:
            raise InputError(unknown("arc", arc, list(self._typed.arcs)))
        return self._typed.arcs.producer(arc)
