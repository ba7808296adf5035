"""Break-points: the engine pauses when a tuple that fulfils a condition is put on an arc.

A break-point looks at its arc as a tap does, in the thread that ran the box, before anybody takes what the box made.
So what waits behind the arc is what fulfilled the condition, and when the engine goes on it is not looked at again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from aurora.boxes.drop import Condition
from aurora.boxes.kernel import asks_arrival
from aurora.clock import Clock
from aurora.engine import taps
from aurora.engine.run import Run
from aurora.errors import AuroraError, InputError, StateError
from aurora.model.train import ARRIVAL, ORDER, Train, rows_where
from aurora.model.typed import Producer, TypedNetwork

_SHOWN = 100
"""So many tuples of a hit are kept to be shown."""


@dataclass(frozen=True)
class Hit:
    """Tuples that fulfilled a condition: on which arc, when, how many, and the first of them.

    ``numbers`` has the numbers of the tuples that made these come out, where tuples carry them.
    """

    breakpoint: int
    arc: str
    condition: str | None
    at_us: int
    count: int
    tuples: pl.DataFrame
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Breakpoint:
    """Where the engine pauses, and for which tuples: any, if there is no ``condition``.

    ``hits`` counts how often it did, ``tuples`` the tuples that fulfilled the condition. A ``fault`` says why a
    break-point was disabled: its condition could not be told.
    """

    number: int
    arc: str
    condition: str | None = None
    enabled: bool = True
    hits: int = 0
    tuples: int = 0
    fault: str = ""


@dataclass(eq=False)
class _Set:
    """A break-point at work. It is called with what is put on its arc."""

    known: Breakpoint
    arc: Producer
    condition: Condition | None
    note: Callable[[_Set, Train], None] = field(repr=False)

    def __call__(self, train: Train) -> None:
        self.note(self, train)

    def fulfilling(self, train: Train) -> Train:
        if self.condition is None:
            return train
        frame = train.frame
        if train.arrival_us is not None and asks_arrival([self.known.condition or ""]):
            frame = frame.with_columns(pl.lit(train.arrival_us, pl.Int64).alias(ARRIVAL))
        meant, _ = self.condition(frame)
        return replace(train, frame=rows_where(train.frame, meant))


class Breakpoints:
    """All break-points of an engine. ``stop`` is called, in the thread that ran boxes, when one is hit."""

    def __init__(self, wall: Clock, stop: Callable[[], None]) -> None:
        self._wall = wall
        self._stop = stop
        self._set: dict[int, _Set] = {}
        self._last = 0
        self._passing = 0
        self._lock = threading.Lock()
        self.hits: tuple[Hit, ...] = ()
        """What the engine is paused for."""
        self.on_change: Callable[[], None] = lambda: None
        """Called, in any thread, when something here has changed."""

    def all(self) -> list[Breakpoint]:
        with self._lock:
            return [made.known for made in self._set.values()]

    def add(self, running: Run, arc: str, condition: str | None, *, enabled: bool = True) -> Breakpoint:
        """Nothing may run meanwhile. ExpressionError if the condition is none over the arc's columns."""
        producer = running.typed.arcs.producer(arc)
        if running.typed.arcs[producer].static:
            raise InputError(f"{arc} is static data, on which nothing is ever put; name the arc of a stream or a box")
        known = Breakpoint(self._last + 1, str(producer), condition, enabled)
        made = _Set(known, producer, _compiled(running.typed, producer, condition), self._note)
        if enabled:
            _look(running, made)
        with self._lock:
            self._last += 1
            self._set[known.number] = made
        self.on_change()
        return known

    def remove(self, running: Run, number: int) -> None:
        made = self._found(number)
        with self._lock:
            del self._set[number]
        taps.untap(running, made.arc, made)
        self.on_change()

    def enable(self, running: Run, number: int, *, enabled: bool) -> Breakpoint:
        """Nothing may run meanwhile."""
        made = self._found(number)
        if enabled and not made.known.enabled:
            _look(running, made)
        elif not enabled:
            taps.untap(running, made.arc, made)
        with self._lock:
            made.known = replace(made.known, enabled=enabled, fault="")
        self.on_change()
        return made.known

    def clear_hits(self) -> None:
        """The engine goes on."""
        with self._lock:
            self.hits = ()
        self.on_change()

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Inside, nothing stops the engine."""
        with self._lock:
            self._passing += 1
        try:
            yield
        finally:
            with self._lock:
                self._passing -= 1

    def follow(self, running: Run, arcs: Mapping[Producer, Producer]) -> None:
        """The network was changed. ``arcs`` has those that mean what they did, by what they are now: what they were.

        A break-point stays on an arc of its name otherwise, if its condition can still be told; else it is no more.
        """
        names = {was: now for now, was in arcs.items()}
        for number, made in list(self._set.items()):
            taps.untap(running, names.get(made.arc, made.arc), made)
            arc = names.get(made.arc, made.arc)
            try:
                if str(arc) not in running.typed.arcs:
                    raise StateError(f"the arc {arc} is no more")
                moved = replace(made, arc=arc, condition=_compiled(running.typed, arc, made.known.condition))
                moved.known = replace(made.known, arc=str(arc))
                if moved.known.enabled:
                    _look(running, moved)
                with self._lock:
                    self._set[number] = moved
            except AuroraError:
                with self._lock:
                    del self._set[number]
        self.on_change()

    def _found(self, number: int) -> _Set:
        with self._lock:
            if number not in self._set:
                known = ", ".join(map(str, self._set)) or "none"
                raise InputError(f"there is no break-point {number}; there is {known}")
            return self._set[number]

    def _note(self, made: _Set, train: Train) -> None:
        if self._passing:
            return
        try:
            found = made.fulfilling(train)
        except Exception as error:
            # Code of the operator's may fail. The network goes on; who set the break-point hears of it.
            with self._lock:
                made.known = replace(made.known, enabled=False, fault=str(error))
            self.on_change()
            raise
        if not len(found):
            return
        numbers: tuple[int, ...] = ()
        if found.arrival_us is None:
            numbers = tuple((np.asarray(found.hidden(ORDER)[:_SHOWN]) >> 1).tolist())
        known = made.known
        first = found.visible[:_SHOWN]
        hit = Hit(known.number, known.arc, known.condition, self._wall.now_us(), len(found), first, numbers)
        with self._lock:
            made.known = replace(made.known, hits=made.known.hits + 1, tuples=made.known.tuples + len(found))
            self.hits = (*self.hits, hit)
        self._stop()
        self.on_change()


def _compiled(typed: TypedNetwork, arc: Producer, condition: str | None) -> Condition | None:
    return None if condition is None else Condition(condition, typed.arcs[arc])


def _look(running: Run, made: _Set) -> None:
    columns = taps.tap(running, made.arc, made)
    missing = [] if made.condition is None else sorted(set(made.condition.columns) - set(columns))
    if missing:
        taps.untap(running, made.arc, made)
        raise StateError(
            f"on Spark the arc {made.arc} does not carry {', '.join(missing)}, since no output needs it and a box "
            "would have to keep it; use other columns, or declare an output that has it"
        )
