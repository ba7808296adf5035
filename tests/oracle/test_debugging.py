"""Random networks under a debugger: taps, break-points and steps change no answer, and taps see the same everywhere."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora import Engine, StateError
from aurora.clock import ManualClock
from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.scheduler.settings import POLICIES, SchedulerSettings
from oracle.comparison import assert_same_bytes
from oracle.keyed_chains import keyed_chains
from oracle.parts import in_parts
from oracle.strategies import CLOCK, Example, examples
from oracle.test_random_networks import problems

pytestmark = pytest.mark.timeout(3600)

Frames = dict[str, pl.DataFrame]


def batches(example: Example, size: int) -> list[tuple[str, list[dict[str, Any]]]]:
    found = [
        (rows[start][CLOCK], name, rows[start : start + size])
        for name, rows in example.inputs.items()
        for start in range(0, len(rows), size)
    ]
    return [(name, rows) for _, name, rows in sorted(found, key=lambda entry: entry[:2])]


def engine(example: Example, processor: Any = "local", **options: Any) -> Engine:
    network = Network.from_document(dict(example.document))
    return Engine(network, processor=processor, clock=CLOCK, wall=ManualClock(), shedding="off", **options)


def answers(running: Engine) -> Frames:
    schemas = {name: running.typecheck().arcs[arc].schema for name, arc in running.typecheck().outputs.items()}
    return {
        name: pl.concat([pl.DataFrame(schema=schema.to_polars()), *running.dequeue(name)])
        for name, schema in schemas.items()
    }


def undisturbed(example: Example, size: int, *, flush: bool = True) -> Frames:
    with engine(example) as running:
        for name, rows in batches(example, size):
            running.enqueue(name, rows)
        running.flush() if flush else running.drain()
        return answers(running)


def assert_same_answers(one: Frames, other: Frames) -> None:
    assert one.keys() == other.keys()
    for name, frame in one.items():
        assert_same_bytes(frame, other[name])


SETTINGS = st.builds(SchedulerSettings, policy=st.sampled_from(POLICIES), push=st.booleans())
SIZES = st.sampled_from([1, 3, 50])


@given(example=examples() | keyed_chains(most=4), settings=SETTINGS, size=SIZES, choices=st.data())
def test_stepping_to_the_end_gives_what_running_gives(
    example: Example, settings: SchedulerSettings, size: int, choices: st.DataObject
) -> None:
    """Trains and single tuples, of boxes that the scheduler chooses and of others."""
    if problems(example):
        return
    boxes = st.sampled_from([None, *example.document["boxes"]])
    with engine(example, scheduler=settings, paused=True) as running:
        for name, rows in batches(example, size):
            running.enqueue(name, rows)
            for _ in range(choices.draw(st.integers(0, 3))):
                running.step(choices.draw(boxes), choices.draw(st.sampled_from([None, 1, 2])))
        while running.step(tuples=1):
            pass
        running.flush()
        assert_same_answers(answers(running), undisturbed(example, size))


@given(example=examples(), settings=SETTINGS, size=SIZES, workers=st.sampled_from([1, 1, 2]))
def test_stopping_everywhere_gives_what_running_gives(
    example: Example, settings: SchedulerSettings, size: int, workers: int
) -> None:
    with engine(example, scheduler=settings, workers=workers) as running:
        for arc in running.typecheck().arcs:
            running.break_at(arc)
        for name, rows in batches(example, size):
            running.enqueue(name, rows)
        while True:
            try:
                running.drain()
                break
            except StateError:
                running.resume() if running.paused and running.hits() else pytest.fail("no break-point stopped it")
        wanted = undisturbed(example, size, flush=False)
        assert_same_answers(answers(running), wanted)
        made = {known.arc: known.tuples for known in running.breakpoints()}
    of_arcs = {example.document["outputs"][name]["from"]: frame.height for name, frame in wanted.items()}
    found = {arc: made[str(running.typecheck().arcs.producer(arc))] for arc in of_arcs}
    assert found == of_arcs


@given(
    example=examples() | keyed_chains(most=4),
    size=SIZES,
    parts=st.integers(1, 3),
    most_readers=st.sampled_from([0, 4]),
    choices=st.data(),
)
def test_taps_see_the_same_in_parts_as_here_and_change_nothing(
    example: Example, size: int, parts: int, most_readers: int, choices: st.DataObject
) -> None:
    """With few outputs most arcs are inside segments, and many columns are needed by nobody but those who look."""
    if problems(example):
        return
    outputs = choices.draw(st.sets(st.sampled_from(sorted(example.document["outputs"])), min_size=1, max_size=2))
    few = {**example.document, "outputs": {name: example.document["outputs"][name] for name in sorted(outputs)}}
    example = Example(few, example.inputs, example.fuzzy)
    arcs = list(typecheck(Network.from_document(dict(few))).arcs)
    tapped = choices.draw(st.lists(st.sampled_from(arcs), min_size=1, max_size=3, unique=True))

    def looked_at(processor: str) -> tuple[Frames, Frames]:
        seen: dict[str, list[pl.DataFrame]] = {}
        with engine(example, processor) as running:
            for arc in tapped:
                schema = running.tap(arc, seen.setdefault(arc, []).append)
                seen[arc].append(pl.DataFrame(schema=schema.to_polars()))
            for name, rows in batches(example, size):
                running.enqueue(name, rows)
            running.flush()
            return {arc: pl.concat(frames) for arc, frames in seen.items()}, answers(running)

    here, right = looked_at("local")
    with in_parts(parts, most_readers):
        there, made = looked_at("spark")
    assert_same_answers(made, right)
    for arc in tapped:
        assert_same_bytes(there[arc], here[arc].select(there[arc].columns))


@given(example=keyed_chains(most=3), size=SIZES, parts=st.integers(1, 3), tuples=st.sampled_from([None, 1, 3]))
def test_steps_of_the_whole_network_show_every_box_and_give_the_same(
    example: Example, size: int, parts: int, tuples: int | None
) -> None:
    if problems(example):
        return
    with in_parts(parts, 0), engine(example, "spark", paused=True) as running:
        entered = 0
        for name, rows in batches(example, size):
            running.enqueue(name, rows)
        while step := running.step(tuples=tuples):
            assert step.whole
            entered += sum(seen.tuples for seen in step.entered)
            for box in step.boxes:
                for taken in box.taken:
                    made = [seen for other in step.boxes for seen in other.made if seen.arc == taken.arc]
                    came = [seen for seen in step.entered if seen.arc == taken.arc]
                    assert (made or came)[0].tuples == taken.tuples
        assert entered == example.length
        running.flush()
        assert_same_answers(answers(running), undisturbed(example, size))
