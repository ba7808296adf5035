"""Random networks with random sieves: the same as with drop boxes in these places, under every schedule and spread."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora import RunResult
from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.model.typed import Producer, TypedNetwork
from aurora.processors.local import LocalProcessor
from aurora.processors.plan import Execution, Processor, Result
from aurora.processors.sieve import NO_DROPS, Drops, Reason, Sieve
from aurora.processors.steps.processor import InlineRunner, StepProcessor
from aurora.scheduler.settings import SchedulerSettings
from aurora.shedding.places import Place, Places
from aurora.storage.blocks import BlockStore
from aurora.testing import run_rows
from oracle.keyed_chains import keyed_chains
from oracle.strategies import CLOCK, Example
from oracle.test_random_networks import CUTS, assert_same, problems
from oracle.test_schedules import STEPS, scheduled, schedules

pytestmark = pytest.mark.timeout(3600)

Shed = dict[tuple[Place, Reason], int]
CONDITIONS = ("i > 4", "h = 1", "d < 2.0", "g = 'a' or i is null", "b")
"""All arcs of a chain have the columns for these."""


class Sifting:
    """A processor with sieves that are always the same. What they drop is counted in ``shed``."""

    kind = "sifting"

    def __init__(self, processor: Processor, sieves: tuple[Sieve, ...], shed: Counter[tuple[Place, Reason]]) -> None:
        self._processor = processor
        self._sieves = sieves
        self._shed = shed
        self.resume, self.checkpoint, self.forget = processor.resume, processor.checkpoint, processor.forget
        self.close = processor.close

    def run(self, plan: Sequence[Execution]) -> list[Result]:
        results = self._processor.run([replace(execution, sieves=self._sieves) for execution in plan])
        for result in results:
            self._shed.update(result.shed)
        return results


@st.composite
def sieved_chains(draw: st.DrawFn) -> tuple[Example, tuple[Sieve, ...]]:
    example = draw(keyed_chains(most=4))
    for name in example.document["streams"]:
        # Somebody asks for the numbers of tuples, so that all of them have one.
        example.document["boxes"][f"of_{name}"] = {"kind": "latch", "in": name, "compute": {"n": "count(*)"}}
        example.document["outputs"][f"seen_{name}"] = {"from": f"of_{name}"}
        example.document["outputs"][f"raw_{name}"] = {"from": name}
    if problems(example):
        return example, ()
    places = [place for place in Places(_typed(example)) if not place.arc.name.startswith("of_")]
    chosen = draw(st.lists(st.sampled_from(places), unique=True, min_size=1, max_size=4))
    sieves = []
    for seed, place in enumerate(chosen):
        if draw(st.booleans()):
            sieves.append(Sieve(place, seed, where=draw(st.sampled_from(CONDITIONS))))
        else:
            sieves.append(Sieve(place, seed, keep=draw(st.sampled_from([0.0, 0.3, 0.7]))))
    return example, tuple(sieves)


def _typed(example: Example) -> TypedNetwork:
    return typecheck(Network.from_document(dict(example.document)))


def with_drops(example: Example, sieves: Sequence[Sieve]) -> Example:
    """The network with a drop box in every place: what sieves mean."""
    document = deepcopy(dict(example.document))
    boxes, outputs = document["boxes"], document["outputs"]
    typed = _typed(example)
    thinned: dict[Producer, str] = {}
    for number, sieve in enumerate(sieves):
        if sieve.place.reader is None:
            thinned[sieve.place.arc] = f"sieve{number}"
    for box in boxes.values():
        arcs = [box["in"]] if isinstance(box["in"], str) else list(box["in"])
        box["in"] = [thinned.get(typed.arcs.producer(arc), arc) for arc in arcs]
    for output in outputs.values():
        output["from"] = thinned.get(typed.arcs.producer(output["from"]), output["from"])
    for number, sieve in enumerate(sieves):
        drop: dict[str, Any] = {"kind": "drop", "seed": sieve.seed, "rate": 1 - sieve.keep}
        if sieve.where is not None:
            drop = {"kind": "drop", "where": sieve.where}
        arc, reader = sieve.place
        if reader is None:
            boxes[f"sieve{number}"] = {**drop, "in": str(arc)}
        else:
            boxes[f"sieve{number}"] = {**drop, "in": boxes[reader.box]["in"][reader.port]}
            boxes[reader.box]["in"][reader.port] = f"sieve{number}"
    return Example(document, example.inputs, example.fuzzy)


def expected(example: Example, sieves: Sequence[Sieve]) -> tuple[RunResult, Shed]:
    """What comes out behind drop boxes, and how many tuples each of them took away."""
    result = run_rows(with_drops(example, sieves).document, example.inputs, clock=CLOCK)
    shed: Shed = {}
    for number, sieve in enumerate(sieves):
        box = result.statistics.boxes.pop(f"sieve{number}")
        if box.tuples_in > box.tuples_out:
            shed[sieve.place, "random" if sieve.where is None else "semantic"] = box.tuples_in - box.tuples_out
    return result, shed


def sieved(
    example: Example, sieves: tuple[Sieve, ...], train: int | None = None, spread: tuple[int, int] | None = None
) -> tuple[RunResult, Shed]:
    """``spread`` is over how many parts, and how many parts may read whole streams."""
    with tempfile.TemporaryDirectory() as folder:

        def make(typed: TypedNetwork, statics: Mapping[str, pl.DataFrame]) -> Processor:
            if spread is None:
                return LocalProcessor(typed, statics)
            parts, readers = spread
            return StepProcessor(typed, InlineRunner(parts), BlockStore(None, folder, 0), folder, most_readers=readers)

        shed: Counter[tuple[Place, Reason]] = Counter()
        result = run_rows(
            example.document,
            example.inputs,
            clock=CLOCK,
            train=train,
            processor=lambda typed, statics: Sifting(make(typed, statics), sieves, shed),
        )
    return result, dict(shed)


@given(drawn=sieved_chains(), train=st.sampled_from([*CUTS, None]))
def test_a_sieve_is_a_drop_box_that_nobody_drew(drawn: tuple[Example, tuple[Sieve, ...]], train: int | None) -> None:
    example, sieves = drawn
    result, shed = sieved(example, sieves, train)
    answer, dropped = expected(example, sieves)
    assert_same(result, answer)
    assert shed == dropped


@given(
    drawn=sieved_chains(),
    train=st.sampled_from([*CUTS, None]),
    parts=st.integers(1, 4),
    readers=st.sampled_from([0, 4]),
)
def test_spread_over_parts_the_same_tuples_go(
    drawn: tuple[Example, tuple[Sieve, ...]], train: int | None, parts: int, readers: int
) -> None:
    example, sieves = drawn
    result, shed = sieved(example, sieves, train, (parts, readers))
    answer, dropped = expected(example, sieves)
    assert_same(result, answer)
    assert shed == dropped


@given(drawn=sieved_chains())
def test_a_sieve_that_keeps_everything_is_none(drawn: tuple[Example, tuple[Sieve, ...]]) -> None:
    example, sieves = drawn
    result, shed = sieved(example, tuple(replace(sieve, keep=1.0, where=None) for sieve in sieves), 7)
    assert_same(result, run_rows(example.document, example.inputs, clock=CLOCK))
    assert not shed


@given(drawn=sieved_chains(), schedule=schedules(), steps=STEPS)
def test_under_every_schedule_the_same_tuples_go(
    drawn: tuple[Example, tuple[Sieve, ...]], schedule: tuple[SchedulerSettings, int, int, int], steps: list[int]
) -> None:
    example, sieves = drawn
    answer, _ = expected(example, sieves)
    assert_same(scheduled(example, schedule, steps, "flush", [Drops(sieves)]), answer)


@given(drawn=sieved_chains(), schedule=schedules(), steps=STEPS)
def test_sieves_that_come_and_go_disturb_nothing_else(
    drawn: tuple[Example, tuple[Sieve, ...]], schedule: tuple[SchedulerSettings, int, int, int], steps: list[int]
) -> None:
    """Readers get queues of their own and go back to those of the arcs; all tuples come, and in order."""
    example, sieves = drawn
    idle = Drops(tuple(replace(sieve, keep=1 - 1e-12, where=None) for sieve in sieves))
    result = scheduled(example, schedule, steps, "flush", [NO_DROPS, idle, idle, NO_DROPS, NO_DROPS])
    assert_same(result, run_rows(example.document, example.inputs, clock=CLOCK))
