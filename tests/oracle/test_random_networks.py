"""Random networks over random streams: the engine against the oracle, and against itself.

The one-box networks find what is wrong with a box and shrink to something readable; the larger ones find what is
wrong between boxes: the order of arcs, time passing downstream, inherited groupings, the end of the input.
"""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aurora import RunResult
from aurora.engine.run import AtEnd
from aurora.model.check import check, typecheck
from aurora.model.network import Network
from aurora.testing import run_rows
from oracle import reference
from oracle.comparison import assert_agrees, assert_same_bytes
from oracle.drawn_boxes import count_slack
from oracle.keyed_chains import keyed_chains
from oracle.network import Simulation
from oracle.strategies import AWKWARD, CLOCK, EXTREME, Example, examples

pytestmark = pytest.mark.timeout(3600)  # the long profile draws for many minutes
ENDS = ("flush", "hold")
CUTS = (1, 2, 7, 100)


def engine(
    example: Example,
    train: int | None,
    at_end: AtEnd,
    snapshot_at: int | None = None,
    parts: int | None = None,
    most_readers: int = 0,
) -> RunResult:
    return run_rows(
        example.document,
        example.inputs,
        clock=CLOCK,
        train=train,
        at_end=at_end,
        snapshot_at=snapshot_at,
        parts=parts,
        most_readers=most_readers,
    )


def assert_like_the_oracle(example: Example, at_end: AtEnd) -> None:
    result = engine(example, None, at_end)
    answer = reference.run(example.document, example.inputs, clock=CLOCK, at_end=at_end)
    arcs = Simulation(example.document).arcs
    for output, declared in example.document["outputs"].items():
        try:
            assert_agrees(
                result.outputs[output], answer.outputs[output], arcs[declared["from"]].schema, example.fuzzy[output]
            )
        except AssertionError as error:
            raise AssertionError(f"output {output} at {at_end}: {error}") from None
    assert {box: n for box, n in result.late.items() if n} == {box: n for box, n in answer.late.items() if n}


def assert_same(one: RunResult, other: RunResult) -> None:
    assert one.outputs.keys() == other.outputs.keys()
    for output, frame in one.outputs.items():
        assert_same_bytes(frame, other.outputs[output])
    assert one.late == other.late


@given(examples())
def test_every_drawn_network_typechecks(example: Example) -> None:
    arcs = Simulation(example.document).arcs
    for name, arc in typecheck(Network.from_document(example.document)).arcs.items():
        assert {column: str(kind) for column, kind in arc.schema.items()} == arcs[name].schema
        assert tuple(arc.grouping) == arcs[name].grouping


@pytest.mark.parametrize("at_end", ENDS)
@given(example=examples(most=1))
def test_one_box(at_end: AtEnd, example: Example) -> None:
    assert_like_the_oracle(example, at_end)


@pytest.mark.parametrize("at_end", ENDS)
@given(example=examples())
def test_networks(at_end: AtEnd, example: Example) -> None:
    assert_like_the_oracle(example, at_end)


@pytest.mark.parametrize("at_end", ENDS)
@given(example=examples(EXTREME, tame=False))
def test_extreme_values(at_end: AtEnd, example: Example) -> None:
    assert_like_the_oracle(example, at_end)


@pytest.mark.parametrize("at_end", ENDS)
@given(example=examples(most=2, times=8))
def test_long_streams(at_end: AtEnd, example: Example) -> None:
    """Wide windows fill, groups and joins grow old, and trains of 100 are cuts too."""
    assert_like_the_oracle(example, at_end)
    assert_same(engine(example, 100, at_end), engine(example, None, at_end))
    assert_same(engine(example, 7, at_end), engine(example, None, at_end))


@pytest.mark.parametrize("at_end", ENDS)
@given(example=examples())
def test_trains_of_every_size_give_the_same(at_end: AtEnd, example: Example) -> None:
    whole = engine(example, None, at_end)
    for train in CUTS:
        assert_same(engine(example, train, at_end), whole)


@pytest.mark.parametrize("at_end", ENDS)
@given(example=examples(AWKWARD))
def test_trains_of_every_size_give_the_same_for_awkward_doubles(at_end: AtEnd, example: Example) -> None:
    """NaN, infinities and sums that round: what they give is open, but not that it hangs on the trains."""
    whole = engine(example, None, at_end)
    for train in CUTS:
        assert_same(engine(example, train, at_end), whole)


@pytest.mark.parametrize("at_end", ENDS)
@given(example=examples(), data=st.data())
def test_a_restored_snapshot_goes_on_as_if_nothing_had_happened(
    at_end: AtEnd, example: Example, data: st.DataObject
) -> None:
    train = data.draw(st.sampled_from(CUTS), label="train")
    trains = max(1, -(-example.length // train))
    cut = data.draw(st.integers(1, trains), label="the train after which all kernels are replaced")
    assert_same(engine(example, train, at_end, snapshot_at=cut), engine(example, train, at_end))


@pytest.mark.parametrize("at_end", ENDS)
@given(example=count_slack())
def test_count_slack_is_bsort_and_then_no_slack(at_end: AtEnd, example: Example) -> None:
    """The defining identity: the box with slack n equals the box without, fed by a bsort with slack n."""
    result = engine(example, None, at_end)
    assert_same_bytes(result.outputs["of_box_out"], result.outputs["of_plain_out"])
    assert result.late.get("box", 0) == result.late.get("plain", 0)


@pytest.mark.parametrize("at_end", ENDS)
@given(example=examples(), data=st.data())
def test_spread_over_parts_it_gives_the_same(at_end: AtEnd, example: Example, data: st.DataObject) -> None:
    """Whichever worker a key goes to, and wherever the state of a box is from step to step."""
    train = data.draw(st.sampled_from([*CUTS, None]), label="train")
    parts = data.draw(st.integers(1, 4), label="parts")
    readers = data.draw(st.sampled_from([0, 4]), label="so many parts read whole streams themselves")
    assert_same(engine(example, train, at_end, parts=parts, most_readers=readers), engine(example, None, at_end))


@pytest.mark.parametrize("at_end", ENDS)
@given(example=examples(most=2, times=8), parts=st.integers(2, 3))
def test_long_streams_spread_over_parts(at_end: AtEnd, example: Example, parts: int) -> None:
    whole = engine(example, None, at_end)
    assert_same(engine(example, None, at_end, parts=parts), whole)
    assert_same(engine(example, 20, at_end, parts=parts), whole)


@pytest.mark.parametrize("at_end", ENDS)
@given(example=examples(AWKWARD), parts=st.integers(2, 3))
def test_awkward_doubles_spread_over_parts(at_end: AtEnd, example: Example, parts: int) -> None:
    """Equal keys meet even where equal numbers have different bits."""
    assert_same(engine(example, 7, at_end, parts=parts), engine(example, None, at_end))


def problems(example: Example) -> set[str]:
    """Of a chain only this: an inherited grouping may have the name of what a box computes."""
    found = {problem.id for problem in check(Network.from_document(example.document)) if problem.severity == "error"}
    assert found <= {"duplicate-column"}
    return found


@pytest.mark.parametrize("at_end", ENDS)
@given(example=keyed_chains(), data=st.data())
def test_chains_of_keyed_boxes(at_end: AtEnd, example: Example, data: st.DataObject) -> None:
    """Bursts of tuples with one number reach boxes that group them by something else."""
    assume(not problems(example))
    whole = engine(example, None, at_end)
    assert_same(engine(example, data.draw(st.sampled_from([1, 2, 5, 9]), label="train"), at_end), whole)
    train = data.draw(st.sampled_from([None, None, 5, 20]), label="train over parts")
    parts = data.draw(st.integers(2, 4), label="parts")
    assert_same(engine(example, train, at_end, parts=parts), whole)
