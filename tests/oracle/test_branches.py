"""Random networks in steps, branch by branch: whatever is chosen for a step, the answers are the same."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora import RunResult
from aurora.engine.branched import Branched
from aurora.engine.run import AtEnd
from aurora.model.typed import TypedNetwork
from aurora.processors.sieve import NO_DROPS, Drops, Sieve
from aurora.processors.steps.processor import InlineRunner, StepProcessor
from aurora.scheduler.settings import POLICIES, SchedulerSettings
from aurora.scheduler.train_rules import TrainRule
from aurora.storage.blocks import BlockStore
from oracle.keyed_chains import keyed_chains
from oracle.strategies import Example, examples
from oracle.test_random_networks import assert_same, problems
from oracle.test_schedules import STEPS, entered, whole
from oracle.test_sieves import expected, sieved_chains

pytestmark = pytest.mark.timeout(3600)

Spread = tuple[SchedulerSettings, int, int, int]


@st.composite
def spreads(draw: st.DrawFn) -> Spread:
    """Settings, parts, how many parts may read whole streams, and tuples in a train as it enters.

    Trains of a few tuples cut what has entered at any number.
    """
    policy = draw(st.sampled_from(POLICIES))
    tuples = draw(st.sampled_from([None, 1, 3])) if policy != "tuple_at_a_time" else None
    settings = SchedulerSettings(
        policy=policy,
        train=None if tuples is None else TrainRule(tuples=tuples),
        horizon=draw(st.sampled_from([1, 3, 32])),
        partitions=draw(st.sampled_from([1, 4])),
    )
    return settings, draw(st.integers(1, 3)), draw(st.sampled_from([0, 4])), draw(st.sampled_from([1, 2, 7, 100]))


def side_by_side(one: Example, other: Example) -> Example:
    """Both networks in one, over the same streams: at least two branches."""
    boxes = {f"{name}_too": _renamed(box, other.document) for name, box in other.document["boxes"].items()}
    outputs = {
        f"{name}_too": {**given, "from": _too(given["from"], other.document)}
        for name, given in other.document["outputs"].items()
    }
    document = {
        **one.document,
        "boxes": {**one.document["boxes"], **boxes},
        "outputs": {**one.document["outputs"], **outputs},
    }
    fuzzy = {**one.fuzzy, **{f"{name}_too": columns for name, columns in other.fuzzy.items()}}
    return Example(document, one.inputs, fuzzy)


def _renamed(box: dict[str, object], document: dict[str, object]) -> dict[str, object]:
    arcs = box["in"]
    if isinstance(arcs, list):
        return {**box, "in": [_too(arc, document) for arc in arcs]}
    return {**box, "in": _too(str(arcs), document)}


def _too(arc: str, document: dict[str, object]) -> str:
    name, dot, port = arc.partition(".")
    boxes = document["boxes"]
    assert isinstance(boxes, dict)
    return f"{name}_too{dot}{port}" if name in boxes else arc


def branched(
    example: Example, spread: Spread, steps: list[int], at_end: AtEnd, drops: Sequence[Drops] = (NO_DROPS,)
) -> RunResult:
    settings, parts, readers, train = spread
    with tempfile.TemporaryDirectory() as folder:

        def processor(typed: TypedNetwork) -> StepProcessor:
            blocks = BlockStore(None, folder, 0)
            return StepProcessor(typed, InlineRunner(parts), blocks, folder, most_readers=readers, apart=True)

        return entered(example, processor, lambda some: Branched(some, settings), train, steps, at_end, drops)


@pytest.mark.parametrize("at_end", ["flush", "hold"])
@given(one=examples(), spread=spreads(), steps=STEPS)
def test_every_choice_of_branches_gives_the_same(at_end: AtEnd, one: Example, spread: Spread, steps: list[int]) -> None:
    assert_same(branched(one, spread, steps, at_end), whole(one, at_end))


@pytest.mark.parametrize("at_end", ["flush", "hold"])
@given(one=keyed_chains(), spread=spreads(), steps=STEPS)
def test_a_network_beside_itself(at_end: AtEnd, one: Example, spread: Spread, steps: list[int]) -> None:
    if not problems(one):
        both = side_by_side(one, one)
        assert_same(branched(both, spread, steps, at_end), whole(both, at_end))


@given(drawn=sieved_chains(), spread=spreads(), steps=STEPS)
def test_the_same_tuples_are_dropped(
    drawn: tuple[Example, tuple[Sieve, ...]], spread: Spread, steps: list[int]
) -> None:
    example, sieves = drawn
    answer, _ = expected(example, sieves)
    assert_same(branched(example, spread, steps, "flush", [Drops(sieves)]), answer)
