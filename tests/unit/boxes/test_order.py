"""Order and slack against simulations that take one tuple at a time."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.boxes import order
from aurora.boxes.order import CountBuffer, CountSlack, Gate, Highest, Rows, TimeSlack
from tests.unit.boxes.drawn import GREATEST, LEAST, cuts, identities, ints, real, rows_of, small, whole

Released = list[tuple[int, int, int]]
"""(row, number and clock of the row that let it go), in order."""

END, END_CLOCK = 10_001, 77_777


@st.composite
def streams(draw: st.DrawFn, values: st.SearchStrategy[Any], groups: int = 3) -> tuple[Any, list[Rows]]:
    """A stream as (codes, values), and the same cut into trains of rows."""
    rows = draw(st.lists(st.tuples(st.integers(0, groups - 1), values), max_size=25))
    codes, numbers = [row[0] for row in rows], [row[1] for row in rows]
    dtype = np.float64 if any(isinstance(number, float) for number in numbers) else np.int64
    trains = [rows_of(codes[cut], numbers[cut], dtype, cut.start) for cut in cuts(draw, len(rows))]
    return (codes, numbers), trains


class SlowBuffer:
    """A heap of n + 1 rows per group."""

    def __init__(self, slack: int) -> None:
        self.slack = slack
        self.heaps: dict[int, list[tuple[Any, int]]] = {}

    def push(self, row: int, code: int, value: Any) -> tuple[Any, int] | None:
        heap = self.heaps.setdefault(code, [])
        heapq.heappush(heap, (value, row))
        return heapq.heappop(heap) if len(heap) > self.slack else None

    def flush(self) -> list[tuple[Any, int]]:
        return sorted(entry for heap in self.heaps.values() for entry in heap)


def slow_count_slack(codes: list[int], values: list[Any], slack: int) -> tuple[Released, Released]:
    """(taken, late) with count slack, up to the end and flushed."""
    buffer = SlowBuffer(slack)
    highest: dict[int, Any] = {}
    taken: Released = []
    late: Released = []

    def deliver(row: int, value: Any, order: int, clock: int) -> None:
        behind = codes[row] in highest and value < highest[codes[row]]
        (late if behind else taken).append((row, order, clock))
        highest[codes[row]] = max(highest.get(codes[row], value), value)

    for row, (code, value) in enumerate(zip(codes, values, strict=True)):
        released = buffer.push(row, code, value)
        if released is not None:
            deliver(released[1], released[0], 2 * row + 1, 10 * row)
    for value, row in buffer.flush():
        deliver(row, value, END, END_CLOCK)
    return taken, late


def drained(make: Callable[[], Any], trains: list[Rows], restart: bool) -> tuple[Released, Released]:
    """What a delivery takes and what is late, over all trains and the flush; restarted after every train if asked."""
    delivery = make()
    taken: Released = []
    late: Released = []
    for rows in trains:
        now, behind = delivery.push(rows)
        taken += identities(now)
        late += identities(behind)
        if restart:
            state, delivery = delivery.state(), make()
            delivery.load(state)
    flushed = delivery.flush(END, END_CLOCK)
    if flushed is not None:
        taken += identities(flushed[0])
        late += identities(flushed[1])
    assert delivery.flush(END, END_CLOCK) is None
    return taken, late


class BufferAlone(CountBuffer):
    """A count buffer in the form of a delivery: nothing is late."""

    def push(self, rows: Rows) -> Any:
        return super().push(rows), rows.at(ints([]))

    def flush(self, order: int, clock: int) -> Any:
        rows = super().flush(order, clock)
        return None if rows is None else (rows, rows.at(ints([])))


@given(streams(st.one_of(small, whole)), st.integers(0, 4), st.booleans())
def test_count_buffer(stream: tuple[Any, list[Rows]], slack: int, restart: bool) -> None:
    """Ties leave as they came, also when those that came first were held over from an earlier train."""
    (codes, values), trains = stream
    buffer = SlowBuffer(slack)
    expected: Released = []
    for row, (code, value) in enumerate(zip(codes, values, strict=True)):
        released = buffer.push(row, code, value)
        if released is not None:
            expected.append((released[1], 2 * row + 1, 10 * row))
    expected += [(row, END, END_CLOCK) for _, row in buffer.flush()]
    assert drained(lambda: BufferAlone(slack), trains, restart)[0] == expected


@given(streams(small), st.integers(0, 4), st.booleans())
def test_count_slack(stream: tuple[Any, list[Rows]], slack: int, restart: bool) -> None:
    (codes, values), trains = stream
    assert drained(lambda: CountSlack(slack, np.int64), trains, restart) == slow_count_slack(codes, values, slack)


@given(streams(st.one_of(real, st.sampled_from([0.25, 0.5]))), st.integers(0, 3))
def test_count_slack_of_doubles(stream: tuple[Any, list[Rows]], slack: int) -> None:
    (codes, values), trains = stream
    if trains and trains[0].values.dtype == np.float64:
        assert drained(lambda: CountSlack(slack, np.float64), trains, False) == slow_count_slack(codes, values, slack)


@given(streams(small), st.integers(0, 4))
def test_count_slack_is_what_the_definition_says(stream: tuple[Any, list[Rows]], slack: int) -> None:
    """A tuple is late exactly when more than n tuples of its group that came before it have a larger value."""
    (codes, values), trains = stream
    late = {
        row
        for row in range(len(codes))
        if sum(codes[i] == codes[row] and values[i] > values[row] for i in range(row)) > slack
    }
    _, behind = drained(lambda: CountSlack(slack, np.int64), trains, False)
    assert {row for row, _, _ in behind} == late


@given(streams(st.one_of(small, whole)), st.booleans())
def test_highest(stream: tuple[Any, list[Rows]], restart: bool) -> None:
    (codes, values), trains = stream
    highest, best, found = Highest(np.int64), dict[int, int](), []
    for rows in trains:
        found += highest.late(rows.codes, rows.values).tolist()
        if restart:
            state, highest = highest.state(), Highest(np.int64)
            highest.load(state)
    expected = []
    for code, value in zip(codes, values, strict=True):
        expected.append(value < best.get(code, value))
        best[code] = max(best.get(code, value), value)
    assert found == expected
    assert {code: highest.values[code] for code in best} == best


@given(streams(st.one_of(small, whole)), st.one_of(st.integers(0, 5), st.sampled_from([2**62, GREATEST])))
def test_gate(stream: tuple[Any, list[Rows]], slack: int) -> None:
    """Progress stops at the least integer; a difference that wraps around would make everything late."""
    (_, values), trains = stream
    gate, found = Gate(slack, np.int64), []
    assert gate.progress == LEAST
    for rows in trains:
        found += gate.progress_at(rows.values).tolist()
        state, gate = gate.state(), Gate(slack, np.int64)
        gate.load(state)
    expected = [max(LEAST, max(values[: row + 1]) - slack) for row in range(len(values))]
    assert found == expected
    assert not values or gate.progress == expected[-1]


@given(
    streams(st.one_of(small, whole)),
    st.one_of(st.integers(0, 5), st.sampled_from([2**62, GREATEST])),
    st.lists(st.one_of(small, whole), max_size=6),
    st.integers(1, 3),
    st.sampled_from([0, 2]),
)
def test_passage_finds_the_rows_that_progress_of_every_row_shows(
    stream: tuple[Any, list[Rows]], slack: int, ends: list[int], block: int, few: int
) -> None:
    """With blocks of few rows: late rows and reaching rows lie inside blocks, at their rims and in a short last one."""
    plain, quick = Gate(slack, np.int64), Gate(slack, np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order, "_BLOCK_ROWS", block)
        patch.setattr(order, "_FEW", few)
        for rows in stream[1]:
            progress = plain.progress_at(rows.values)
            passage = quick.passed(rows.values)
            assert passage.late().tolist() == np.flatnonzero(rows.values < progress).tolist()
            assert passage.rows_reaching(ints(ends)).tolist() == np.searchsorted(progress, ints(ends)).tolist()
            assert quick.progress == plain.progress


def test_passage_of_doubles_takes_the_difference_before_it_compares() -> None:
    """0.3 - 0.1 is a little less than 0.2, so the first row does not reach it, though 0.2 + 0.1 is above 0.3."""
    passage = Gate(0.1, np.float64).passed(np.array([0.3, 0.1, 0.31]))
    assert passage.rows_reaching(np.array([0.2, 0.21, 5.0])).tolist() == [2, 2, 3]
    assert passage.late().tolist() == [1]


def test_gate_of_doubles() -> None:
    gate = Gate(0.5, np.float64)
    assert gate.progress == -np.inf
    assert gate.progress_at(np.array([1.0, 0.25, 2.0])).tolist() == [0.5, 0.5, 1.5]
    assert gate.progress_at(np.empty(0)).tolist() == []
    assert gate.progress_at(np.array([0.0])).tolist() == [1.5]


def slow_time_slack(values: list[Any], slack: Any) -> tuple[Released, Released]:
    """(taken, late) with time slack: after each tuple everything that progress has reached leaves, by value."""
    highest = None
    held: list[tuple[Any, int]] = []
    taken: Released = []
    late: Released = []
    for row, value in enumerate(values):
        highest = value if highest is None else max(highest, value)
        progress = max(highest - slack, LEAST)
        if value < progress:
            late.append((row, 2 * row + 1, 10 * row))
            continue
        held.append((value, row))
        for entry in sorted(entry for entry in held if entry[0] <= progress):
            held.remove(entry)
            taken.append((entry[1], 2 * row + 1, 10 * row))
    taken += [(row, END, END_CLOCK) for _, row in sorted(held)]
    return taken, late


@given(streams(small, groups=1), st.integers(0, 5), st.booleans())
def test_time_slack(stream: tuple[Any, list[Rows]], slack: int, restart: bool) -> None:
    (_, values), trains = stream
    assert drained(lambda: TimeSlack(slack, np.int64), trains, restart) == slow_time_slack(values, slack)


@given(streams(st.sampled_from([0.0, 0.5, 1.25, 2.0, 2.5, 7.0]), groups=1), st.sampled_from([0.0, 0.75, 3.0]))
def test_time_slack_of_doubles(stream: tuple[Any, list[Rows]], slack: float) -> None:
    (_, values), trains = stream
    if values:
        assert drained(lambda: TimeSlack(slack, np.float64), trains, True) == slow_time_slack(values, slack)


@pytest.mark.parametrize("values", [[LEAST, GREATEST, LEAST], [GREATEST, LEAST, GREATEST]])
def test_time_slack_at_the_ends_of_the_range(values: list[int]) -> None:
    trains = [rows_of([0] * 3, values)]
    assert drained(lambda: TimeSlack(2, np.int64), trains, False) == slow_time_slack(values, 2)


def test_rows_keep_their_arrays_together() -> None:
    rows = rows_of([0, 1, 0], [5, 6, 7])
    back = Rows.from_frame(rows.to_frame())
    assert back.frame.equals(rows.frame)
    assert (back.codes.tolist(), back.values.tolist()) == ([0, 1, 0], [5, 6, 7])
    picked = Rows.concat([rows.only(rows.values > 5), rows.at(ints([0]))])
    assert picked.frame["id"].to_list() == [1, 2, 0]
    assert (picked.codes.tolist(), picked.values.tolist()) == ([1, 0, 0], [6, 7, 5])
