"""Every aggregate: its value against plain Python, and the laws that let windows be folded piece by piece."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora.boxes.accumulators import Accumulator, State, concat, take
from aurora.boxes.aggregation import accumulator_for
from aurora.expressions import Scope, analyse_aggregates
from aurora.model.types import Type
from tests.unit.boxes.drawn import GREATEST, LEAST, cuts, ints, whole

Values = list[Any]

doubles = st.one_of(
    st.sampled_from([0.0, -0.0, 0.1, 0.2, 0.3, 1e16, -1e16, math.nan, math.inf, -math.inf]), st.floats(-1e6, 1e6)
)
DRAWN: dict[str, st.SearchStrategy[Any]] = {
    "int": whole,
    "double": doubles,
    "bool": st.booleans(),
    "string": st.sampled_from(["", "a", "A", "é", "z", "za"]),
    "binary": st.sampled_from([b"", b"\x00", b"a", b"\xff"]),
    "timestamp": st.integers(-(10**15), 10**15),
    "duration": st.one_of(st.integers(-(2**61), 2**61), st.integers(-100, 100)),
    "list<int>": st.lists(st.integers(0, 3), max_size=2),
}
"""Values as the numbers underneath where there are any."""


def column_of(kind: str, values: Values) -> pl.Series:
    dtype = Type.parse(kind).to_polars()
    if dtype.is_temporal():
        return pl.Series(values, dtype=pl.Int64).cast(dtype)
    return pl.Series(values, dtype=dtype, strict=True)


def plain(column: pl.Series) -> Values:
    return column.to_physical().to_list() if column.dtype.is_temporal() else column.to_list()


def greatness(value: Any) -> Any:
    """NaN is greater than every other double."""
    return (math.isnan(value), 0.0 if math.isnan(value) else value) if isinstance(value, float) else value


def folded(values: Values) -> float:
    total = 0.0
    for value in values:
        total += value
    return total


def fitting(value: int) -> int | None:
    return value if LEAST <= value <= GREATEST else None


def mean(values: Values) -> float:
    return float(Fraction(sum(values), len(values)))


def variance(values: Values) -> float | None:
    if len(values) < 2:
        return None
    if not all(map(math.isfinite, values)):
        return math.nan
    exact = [Fraction(value) for value in values]
    return float(statistics.variance(exact))


def quantile(q: float, *, real: bool = False) -> Callable[[Values], Any]:
    def of(values: Values) -> Any:
        ranked = sorted(values, key=greatness)
        place = Fraction(q) * (len(ranked) - 1)
        low, high = ranked[math.floor(place)], ranked[math.ceil(place)]
        if low == high or place.denominator == 1:
            return float(low) if real else low
        if isinstance(low, float) and not (math.isfinite(low) and math.isfinite(high)):
            return low + (high - low) * float(place % 1)
        return float(Fraction(low) + (Fraction(high) - Fraction(low)) * (place % 1))

    return of


def distinct(values: Values) -> int:
    return len({"nan" if isinstance(v, float) and math.isnan(v) else v for v in values})


@dataclass(frozen=True)
class Aggregate:
    """A call, the type of its argument, what it gives for values that are not NULL, and how closely."""

    call: str
    kind: str
    value: Callable[[Values], Any]
    tolerance: float = 0.0
    spread_tolerance: float = 0.0

    def __str__(self) -> str:
        return f"{self.call} of {self.kind}"

    def accumulator(self, *, by_key: bool = False) -> Accumulator:
        return _accumulator(self.call, self.kind, by_key)


@cache
def _accumulator(call: str, kind: str, by_key: bool) -> Accumulator:
    calls = analyse_aggregates({"v": call}, Scope({"x": Type.parse(kind)})).calls
    return accumulator_for(calls[0], by_key=by_key)


def of_each(call: str, kinds: list[str], value: Callable[[Values], Any]) -> list[Aggregate]:
    return [Aggregate(call, kind, value) for kind in kinds]


NUMBERS = ["int", "double", "timestamp", "duration"]
ALL = [*NUMBERS, "bool", "string", "binary"]
AGGREGATES = [
    *of_each("count(x)", [*ALL, "list<int>"], len),
    *of_each("count(distinct x)", ALL, distinct),
    *of_each("min(x)", [*NUMBERS, "string"], lambda values: min(values, key=greatness)),
    *of_each("max(x)", [*NUMBERS, "string"], lambda values: max(values, key=greatness)),
    *of_each("first(x)", [*ALL, "list<int>"], lambda values: values[0]),
    *of_each("last(x)", [*ALL, "list<int>"], lambda values: values[-1]),
    *of_each("any_value(x)", ["int"], lambda values: values[0]),
    *of_each("collect(x)", [*ALL, "list<int>"], list),
    *of_each("delta(x)", ["int", "timestamp", "duration"], lambda values: fitting(values[-1] - values[0])),
    *of_each("delta(x)", ["double"], lambda values: values[-1] - values[0]),
    *of_each("sum(x)", ["int", "duration"], lambda values: fitting(sum(values))),
    Aggregate("sum(x)", "double", folded),
    Aggregate("avg(x)", "double", lambda values: folded(values) / len(values)),
    Aggregate("avg(x)", "int", mean, 1e-15),
    Aggregate("avg(x)", "duration", lambda values: Fraction(sum(values), len(values)), 1e-15),
    *of_each("bool_and(x)", ["bool"], all),
    *of_each("bool_or(x)", ["bool"], any),
    *(Aggregate("median(x)", kind, quantile(0.5), 1e-14) for kind in NUMBERS),
    *(Aggregate("quantile(x, 0.3)", kind, quantile(0.3), 1e-14) for kind in NUMBERS),
    *(Aggregate(f"quantile(x, {q})", "int", quantile(q, real=True)) for q in (0.0, 1.0)),
    Aggregate("variance(x)", "double", variance, 1e-12, 1e-14),
    Aggregate("variance(x)", "int", variance, 1e-12, 1e-14),
]


@dataclass(frozen=True)
class Fold:
    """Values with NULLs among them, the slot and the order value of each, and a cut into trains."""

    accumulator: Accumulator
    kind: str
    values: Values
    keys: list[int]
    slots: list[int]
    trains: list[slice]

    @property
    def column(self) -> pl.Series:
        return column_of(self.kind, self.values)

    def lifted(self) -> State:
        return self.accumulator.lift(self.column, ints(self.keys))

    def nothing(self) -> State:
        return in_one_go(self.accumulator, self.column.clear(), [], [])

    def members(self, slot: int) -> list[int]:
        return [row for row in range(len(self.values)) if self.slots[row] == slot]

    def final(self, state: State) -> Values:
        return plain(self.accumulator.final(state))

    def of_rows(self, rows: list[int]) -> Any:
        """The value of the fold of these rows alone."""
        state = take(self.lifted(), ints(rows))
        return self.final(self.accumulator.combine(state, ints([0] * len(rows)), 1))[0]


@st.composite
def folds(draw: st.DrawFn, aggregate: Aggregate) -> Fold:
    drawn = DRAWN[aggregate.kind]
    row = st.tuples(st.one_of(st.none(), drawn, drawn), st.integers(0, 3), st.integers(0, 2))
    rows = draw(st.lists(row, max_size=14))
    by_key = draw(st.booleans())
    values, keys, slots = ([row[i] for row in rows] for i in range(3))
    accumulator = aggregate.accumulator(by_key=by_key)
    return Fold(accumulator, aggregate.kind, values, keys if by_key else [0] * len(rows), slots, cuts(draw, len(rows)))


def exact(values: Values) -> list[str]:
    """Values so that equal means equal to the last bit, with the one NaN there is and its sign left out."""
    return [repr(value).replace("-nan", "nan") for value in values]


def in_one_go(accumulator: Accumulator, column: pl.Series, keys: list[int], slots: list[int]) -> State:
    return accumulator.combine(accumulator.lift(column, ints(keys)), ints(slots), 3)


every_aggregate = pytest.mark.parametrize("aggregate", AGGREGATES, ids=str)
few = settings(max_examples=6)


@every_aggregate
@few
@given(st.data())
def test_value(aggregate: Aggregate, data: st.DataObject) -> None:
    fold = data.draw(folds(aggregate))
    found = fold.final(in_one_go(fold.accumulator, fold.column, fold.keys, fold.slots))
    for slot in range(3):
        rows = fold.members(slot)
        if aggregate.call.split("(")[0] in ("first", "last", "any_value", "delta", "collect"):
            rows = sorted(rows, key=lambda row: fold.keys[row])
        members = [fold.values[row] for row in rows if fold.values[row] is not None]
        empty = 0 if aggregate.call.startswith("count") else None
        expected = aggregate.value(members) if members else empty
        if expected is not None and aggregate.call == "collect(x)":
            expected = column_of(aggregate.kind, expected).to_list()
        if aggregate.tolerance and expected is not None and math.isfinite(expected):
            finite = [member for member in members if math.isfinite(member)]
            size = max(finite) - min(finite)
            off = aggregate.spread_tolerance * size * size + (1 if isinstance(found[slot], int) else 0)
            assert found[slot] == pytest.approx(float(expected), rel=aggregate.tolerance, abs=off)
        else:
            assert as_value(found[slot]) == as_value(expected)


def as_value(value: Any) -> Any:
    """Equal for equal values, whatever the sign of zero."""
    if isinstance(value, list):
        return [as_value(item) for item in value]
    return "nan" if isinstance(value, float) and math.isnan(value) else value


@every_aggregate
@few
@given(st.data())
def test_any_cut_gives_the_same(aggregate: Aggregate, data: st.DataObject) -> None:
    """What a window holds so far stands before the rows of the next train, and is folded with them. To the last bit:
    what comes out must not depend on the trains."""
    fold = data.draw(folds(aggregate))
    state = fold.nothing()
    for cut in fold.trains:
        new = fold.accumulator.lift(fold.column[cut], ints(fold.keys[cut]))
        state = fold.accumulator.combine(concat([state, new]), ints([0, 1, 2, *fold.slots[cut]]), 3)
    at_once = in_one_go(fold.accumulator, fold.column, fold.keys, fold.slots)
    assert exact(fold.final(state)) == exact(fold.final(at_once))


@every_aggregate
@few
@given(st.data())
def test_running_folds_are_folds_of_prefixes(aggregate: Aggregate, data: st.DataObject) -> None:
    """Each segment begins with what its group holds so far, which may be nothing. Several segments show that nothing
    leaks from one into the next."""
    fold = data.draw(folds(aggregate))
    places = [place for slot in range(3) for place in (slot, *(3 + row for row in fold.members(slot)))]
    starts = ints([places.index(slot) for slot in range(3)])
    running = fold.accumulator.scan(take(concat([fold.nothing(), fold.lifted()]), ints(places)), starts)
    found = fold.final(running)
    for slot in range(3):
        rows, begin = fold.members(slot), places.index(slot)
        expected = [fold.of_rows(rows[:n]) for n in range(len(rows) + 1)]
        assert exact(found[begin : begin + len(expected)]) == exact(expected)


@every_aggregate
@few
@given(st.data())
def test_running_folds_from_the_end_are_folds_of_suffixes(aggregate: Aggregate, data: st.DataObject) -> None:
    """First stays first and last stays last, though the fold meets them the other way round."""
    fold = data.draw(folds(aggregate))
    if not fold.accumulator.bounded:
        return
    places = [row for slot in range(3) for row in fold.members(slot)]
    present = [slot for slot in range(3) if fold.members(slot)]
    starts = ints([places.index(fold.members(slot)[0]) for slot in present])
    found = fold.final(fold.accumulator.scan(take(fold.lifted(), ints(places)), starts, reverse=True))
    for slot in present:
        rows = fold.members(slot)
        for n, row in enumerate(rows):
            value, expected = found[places.index(row)], fold.of_rows(rows[n:])
            if isinstance(expected, float) and math.isfinite(expected):
                # Sums of doubles round otherwise from the other end.
                assert value == pytest.approx(expected, rel=1e-9, abs=1e-6 + aggregate.spread_tolerance * 1e33)
            else:
                assert as_value(value) == as_value(expected)


@pytest.mark.parametrize("call", ["variance(x)", "stddev(x)"])
@given(
    st.lists(st.one_of(st.none(), st.integers(-1_000, 1_000)), max_size=20),
    st.sampled_from([0.0, 1e6, -1e12, 2.0**52]),
)
def test_spread_about_a_large_mean(call: str, offsets: list[int | None], centre: float) -> None:
    """The sum of squares minus the square of the sum would have lost every digit at 1e12."""
    aggregate = Aggregate(call, "double", variance)
    values = [None if offset is None else centre + offset for offset in offsets]
    accumulator = aggregate.accumulator()
    state = in_one_go(accumulator, column_of("double", values), [0] * len(values), [0] * len(values))
    found = plain(accumulator.final(state))[0]
    expected = variance([value for value in values if value is not None])
    if call == "stddev(x)" and expected is not None:
        expected = math.sqrt(expected)
    assert found is None if expected is None else found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20), st.lists(st.integers(0, 20), max_size=4))
def test_spread_of_windows_made_of_panes(values: list[float], borders: list[int]) -> None:
    """Each pane has a pivot of its own; combining panes must move them all to one."""
    accumulator = Aggregate("variance(x)", "double", variance).accumulator()
    slots = [sum(border <= row for border in borders) for row in range(len(values))]
    panes = accumulator.combine(accumulator.lift(pl.Series(values), ints([0] * len(values))), ints(slots), 5)
    window = accumulator.combine(panes, ints([0] * 5), 1)
    found = plain(accumulator.final(window))[0]
    size = max(abs(value - values[0]) for value in values)
    assert found == pytest.approx(variance(values), rel=1e-9, abs=1e-11 * (1 + size * size))


def test_spread_of_what_is_not_finite() -> None:
    accumulator = Aggregate("variance(x)", "double", variance).accumulator()
    for values in ([1.0, math.inf], [math.nan, 1.0], [math.inf, math.inf]):
        state = in_one_go(accumulator, pl.Series(values), [0, 0], [0, 0])
        assert math.isnan(plain(accumulator.final(state))[0])


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.sampled_from([0.0, 0.01, 0.25, 0.5, 0.9, 1.0]))
def test_quantile_is_that_of_numpy(values: list[float], q: float) -> None:
    accumulator = Aggregate(f"quantile(x, {q})", "double", quantile(q)).accumulator()
    state = in_one_go(accumulator, pl.Series(values), [0] * len(values), [0] * len(values))
    found = plain(accumulator.final(state))[0]
    assert found == pytest.approx(float(np.quantile(values, q)), rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("kind", ["timestamp", "duration"])
def test_quantiles_of_times_are_whole(kind: str) -> None:
    """A median of one value is that value: going through a double would lose the last digits."""
    accumulator = Aggregate("median(x)", kind, quantile(0.5)).accumulator()
    for values, expected in (([2**55 + 1], 2**55 + 1), ([2**55 + 1] * 2, 2**55 + 1), ([4, 10], 7)):
        state = in_one_go(accumulator, column_of(kind, values), [0] * len(values), [0] * len(values))
        assert plain(accumulator.final(state))[0] == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [([LEAST, GREATEST], None), ([GREATEST, LEAST], None), ([-1, GREATEST], None), ([-1, LEAST], LEAST + 1)],
)
def test_a_delta_that_leaves_the_range_is_null(values: list[int], expected: int | None) -> None:
    accumulator = Aggregate("delta(x)", "int", len).accumulator()
    state = in_one_go(accumulator, column_of("int", values), [0, 0], [0, 0])
    assert plain(accumulator.final(state))[0] == expected


def test_an_integer_sum_may_leave_the_range_on_its_way() -> None:
    """Only the total counts: overflow in the middle must neither wrap around nor stick."""
    accumulator = Aggregate("sum(x)", "int", sum).accumulator()
    values = [GREATEST, GREATEST, 5, LEAST, LEAST]
    state = in_one_go(accumulator, column_of("int", values), [0] * 5, [0] * 5)
    assert plain(accumulator.final(state))[0] == 3


@pytest.mark.parametrize("call", ["min(x)", "max(x)"])
@pytest.mark.parametrize("values", [[0.0, -0.0], [-0.0, 0.0], [-0.0], [-0.0] * 9 + [0.0], [0.0] * 9 + [-0.0]])
def test_the_least_and_the_greatest_zero_have_no_sign(call: str, values: list[float]) -> None:
    """The zeros are equal, so that which one is found would depend on how the rows lie."""
    accumulator = Aggregate(call, "double", min).accumulator()
    rows = [0] * len(values)
    at_once = accumulator.final(in_one_go(accumulator, pl.Series(values), rows, rows))
    running = accumulator.final(accumulator.scan(accumulator.lift(pl.Series(values), ints(rows)), ints([0])))
    for zero in (at_once[0], running[-1]):
        assert math.copysign(1.0, zero) == 1.0
