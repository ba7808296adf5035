"""Looking for a mistake in a hosted network: its break-points, steps through it, and who hears of both."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import polars as pl

from aurora.connectors.converters.registry import converter
from aurora.engine.breakpoints import Breakpoint, Hit
from aurora.engine.engine import Engine
from aurora.engine.stepping import BoxStep, Seen, Step
from aurora.errors import AuroraError, StateError
from aurora.model.schema import Schema

if TYPE_CHECKING:
    from aurora.server.hosted import Hosted


class Debugging:
    """What is known of one network. It stays when the engine is another."""

    def __init__(self, hosted: Hosted) -> None:
        self._hosted = hosted
        self._engine: Engine | None = None
        self._listeners: tuple[Callable[[], None], ...] = ()
        self._lock = threading.Lock()
        self._told: tuple[Hit, ...] = ()
        self._step: dict[str, Any] | None = None
        self._steps = 0

    def attach(self, engine: Engine) -> None:
        """An engine has been started; it gets the break-points of the one before."""
        known = [] if self._engine is None else self._engine.breakpoints()
        self._engine, self._step = engine, None
        for one in known:
            with suppress(AuroraError):  # the network may be another by now
                engine.break_at(one.arc, one.condition, enabled=one.enabled)
        engine.on_debugging(self._changed)
        self._changed()

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Calls ``listener`` in any thread when ``state`` has changed; it must not take long. Gives what ends it."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def leave() -> None:
            with self._lock:
                self._listeners = tuple(other for other in self._listeners if other is not listener)

        return leave

    def _changed(self) -> None:
        hits = () if self._engine is None else tuple(self._engine.hits())
        with self._lock:
            new = [hit for hit in hits if not any(hit is told for told in self._told)]
            self._told = hits
            listeners = self._listeners
        for hit in new:
            why = f": {hit.condition}" if hit.condition else ""
            self._hosted.events.note("breakpoint", f"Break-point hit on {hit.arc}{why}", "arc", hit.arc)
        for listener in listeners:
            listener()

    # What is done

    def add(self, arc: str, condition: str | None, *, enabled: bool = True) -> dict[str, Any]:
        return _breakpoint(self._hosted.engine.break_at(arc, condition, enabled=enabled))

    def enable(self, number: int, *, enabled: bool) -> dict[str, Any]:
        return _breakpoint(self._hosted.engine.enable_breakpoint(number, enabled=enabled))

    def remove(self, number: int) -> None:
        self._hosted.engine.remove_breakpoint(number)

    def step(self, box: str | None, tuples: int | None, rows: int) -> dict[str, Any]:
        """One step of a network that is paused."""
        engine = self._hosted.engine
        if not engine.paused:
            raise StateError(f"the network {self._hosted.name!r} is not paused; pause it, or set a break-point")
        step = engine.step(box, tuples, rows=rows)
        self._steps += 1
        self._step = {"number": self._steps, **self._plain_step(step)}
        self._changed()
        return self._step

    def resumed(self) -> None:
        """The network goes on; what was stepped is no news any more."""
        self._step = None
        self._changed()

    # What is known

    def breakpoints(self) -> list[dict[str, Any]]:
        return [] if self._engine is None else [_breakpoint(one) for one in self._engine.breakpoints()]

    def state(self) -> dict[str, Any]:
        """Whether it is paused and for which tuples, all break-points, and the last step since it was paused."""
        engine = self._engine
        return {
            "stage": self._hosted.stage,
            "breakpoints": self.breakpoints(),
            "hits": [] if engine is None else [self._plain_hit(hit) for hit in engine.hits()],
            "step": self._step,
        }

    def _plain_hit(self, hit: Hit) -> dict[str, Any]:
        return {
            "breakpoint": hit.breakpoint,
            "arc": hit.arc,
            "condition": hit.condition,
            "at_us": hit.at_us,
            "count": hit.count,
            "tuples": self._rows(hit.arc, hit.tuples),
            "numbers": list(hit.numbers),
        }

    def _plain_step(self, step: Step) -> dict[str, Any]:
        return {
            "worked": step.worked,
            "whole": step.whole,
            "entered": [self._plain_seen(seen) for seen in step.entered],
            "boxes": [self._plain_box(box) for box in step.boxes],
            "hits": [self._plain_hit(hit) for hit in step.hits],
        }

    def _plain_box(self, box: BoxStep) -> dict[str, Any]:
        state = box.state
        return {
            "box": box.box,
            "taken": [self._plain_seen(seen) for seen in box.taken],
            "made": [self._plain_seen(seen) for seen in box.made],
            "cost_s": box.cost_s,
            "late": box.late,
            "rejected": box.rejected,
            "state": None if state is None else {part: {"before": a, "after": b} for part, (a, b) in state.items()},
        }

    def _plain_seen(self, seen: Seen) -> dict[str, Any]:
        return {"arc": seen.arc, "tuples": seen.tuples, "first": self._rows(seen.arc, seen.first)}

    def _rows(self, arc: str, frame: pl.DataFrame) -> list[dict[str, Any]]:
        """Tuples as JSON has them, in the same forms as everywhere."""
        arcs = self._hosted.typed.arcs
        known = arcs[arc].schema if arc in arcs else Schema({})
        if not set(frame.columns) <= set(known):
            # The network was changed since.
            return [{name: str(value) for name, value in row.items()} for row in frame.to_dicts()]
        schema = Schema({name: known[name] for name in frame.columns})
        rows: list[dict[str, Any]] = json.loads(converter("json", schema, {"form": "array"}).encode(frame).data)
        return rows


def _breakpoint(known: Breakpoint) -> dict[str, Any]:
    return {
        "number": known.number,
        "arc": known.arc,
        "condition": known.condition,
        "enabled": known.enabled,
        "hits": known.hits,
        "tuples": known.tuples,
        "fault": known.fault,
    }
