"""Two streams interleaved, against walking through them tuple by tuple."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.boxes import interleaving
from aurora.boxes.interleaving import Interleaving
from aurora.boxes.order import Rows, merged_places
from tests.unit.boxes.drawn import ints


def rows_with(orders: list[int]) -> Rows:
    order = ints(sorted(orders))
    return Rows(pl.DataFrame({"__order": order, "__clock": 10 * order}), np.zeros_like(order), np.zeros_like(order))


numbers = st.lists(st.integers(0, 12), max_size=8)
far = st.lists(st.integers(-(2**40), 2**40), max_size=8)


@given(st.one_of(st.tuples(numbers, numbers), st.tuples(far, far)))
def test_places(orders: tuple[list[int], list[int]]) -> None:
    """Numbers close together and far apart, on both sides at once or several times on one."""
    one, other = map(rows_with, orders)
    made = Interleaving((one, other), (0, 0))
    places, order, clock = merged_places(one, other)
    assert [place.tolist() for place in made.places] == [place.tolist() for place in places]
    assert made.order.tolist() == order.tolist()
    assert made.clock.tolist() == clock.tolist()


@pytest.mark.parametrize(
    ("left", "right", "by_table"),
    [([1, 5], [3, 7], True), ([1], [], True), ([], [], False), ([1, 5], [5, 7], False), ([1], [1001], False)],
)
def test_the_table_serves_numbers_that_are_dense_and_occur_once(
    left: list[int], right: list[int], by_table: bool
) -> None:
    places = interleaving._by_table(rows_with(left), rows_with(right))
    assert (places is not None) == by_table


@st.composite
def two_sides(draw: st.DrawFn) -> tuple[list[list[int]], list[int], list[int]]:
    """New rows' numbers on both sides, how many rows were there before, and where the front begins among these."""
    taken = draw(st.lists(st.integers(0, 20), unique=True, max_size=10))
    cut = draw(st.integers(0, len(taken)))
    old = [draw(st.integers(0, 4)) for _ in range(2)]
    return [sorted(taken[:cut]), sorted(taken[cut:])], old, [draw(st.integers(0, before)) for before in old]


@given(two_sides(), st.randoms(use_true_random=False))
def test_pairs_come_out_with_the_later_row_and_by_the_age_of_the_other(sides: object, random: object) -> None:
    orders, old, first = sides  # type: ignore[misc]
    made = Interleaving([rows_with(own) for own in orders], old)
    sizes = [before + len(own) for before, own in zip(old, orders, strict=True)]
    pairs = [(left, right) for left in range(sizes[0]) for right in range(sizes[1])]
    random.shuffle(pairs)  # type: ignore[attr-defined]

    def completed(pair: tuple[int, int]) -> tuple[int, int]:
        """The number of the row that completed the pair, and which of its partners the other one is."""
        numbered = [-1 if row < old[side] else orders[side][row - old[side]] for side, row in enumerate(pair)]
        return (numbered[0], pair[1]) if numbered[0] > numbered[1] else (numbered[1], pair[0])

    in_front = [(left, right) for left, right in pairs if left >= first[0] and right >= first[1]]
    notes = [
        made.of_fronts(first, ints([p[0] - first[0] for p in in_front]), ints([p[1] - first[1] for p in in_front]))
    ]
    expected = [pair for pair in in_front if completed(pair)[0] >= 0]
    for side in (0, 1):
        behind = [p for p in pairs if p[side] >= old[side] and p[1 - side] < first[1 - side]]
        notes.append(
            made.with_old(side, ints([p[side] - old[side] for p in behind]), ints([p[1 - side] for p in behind]))
        )
        expected += behind
    left, right, at = made.ordered(np.concatenate(notes))
    expected.sort(key=completed)
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == expected
    assert made.order[at].tolist() == [completed(pair)[0] for pair in expected]
