"""Intervals found by sending a sample through."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from aurora.expressions import Interval
from aurora.shedding.forward import find_interval


def square(tuples: pl.DataFrame) -> pl.DataFrame:
    return tuples.select(y=pl.col("x") * pl.col("x"))


def test_a_square_is_inverted_by_trial() -> None:
    sample = pl.DataFrame({"x": list(range(-50, 51))})
    found = find_interval(sample, "x", square, output_column="y", unwanted=(Interval(hi=100),))
    assert found is not None
    assert found.interval == Interval(-10, 10)
    assert (found.removed, found.lost) == (1.0, 0.0)
    assert found.runs < 40


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=80), st.integers(-1000, 1000), st.integers(0, 500))
def test_no_good_output_is_lost_and_the_interval_takes_all_that_an_invertible_box_allows(
    values: list[int], lo: int, width: int
) -> None:
    """Behind a rising function the unwanted values come of one interval, and it is found whole."""
    sample = pl.DataFrame({"x": values})
    unwanted = (Interval(lo**3, (lo + width) ** 3),)
    found = find_interval(
        sample, "x", lambda tuples: tuples.select(y=pl.col("x") ** 3), output_column="y", unwanted=unwanted
    )
    inside = [value for value in values if lo <= value <= lo + width]
    if not inside:
        assert found is None
    else:
        assert found is not None
        assert found.interval == Interval(min(inside), max(inside))
        assert (found.removed, found.lost) == (1.0, 0.0)


def test_some_loss_of_others_may_be_tolerated() -> None:
    """Values are spread by noise: to remove more of the low ones some high ones have to go."""
    sample = pl.DataFrame({"x": list(range(100)), "noise": [10 if x % 7 == 0 else 0 for x in range(100)]})

    def noisy(tuples: pl.DataFrame) -> pl.DataFrame:
        return tuples.select(y=pl.col("x") + pl.col("noise"))

    unwanted = (Interval(hi=50, hi_open=True),)
    strict = find_interval(sample, "x", noisy, output_column="y", unwanted=unwanted)
    loose = find_interval(sample, "x", noisy, output_column="y", unwanted=unwanted, tolerance=0.05)
    assert strict is not None
    assert loose is not None
    assert strict.lost == 0.0
    assert strict.removed < loose.removed == 1.0
    assert 0 < loose.lost <= 0.05


def test_through_windows() -> None:
    """An average cannot be inverted; tuples below 20 are where the low averages come from."""
    sample = pl.DataFrame({"t": list(range(80)), "x": [float(t) for t in range(80)]})

    def averages(tuples: pl.DataFrame) -> pl.DataFrame:
        return tuples.group_by(pl.col("t") // 4, maintain_order=True).agg(pl.col("x").mean().alias("y"))

    found = find_interval(sample, "x", averages, output_column="y", unwanted=(Interval(hi=20.0, hi_open=True),))
    assert found is not None
    assert found.interval == Interval(0.0, 19.0)
    assert found.removed == 1.0


def test_there_may_be_no_interval() -> None:
    sample = pl.DataFrame({"x": [1.0, 2.0, None, float("nan")]})

    def constant(tuples: pl.DataFrame) -> pl.DataFrame:
        return tuples.select(y=pl.lit(1.0).repeat_by(1).explode())

    assert find_interval(sample, "x", constant, output_column="y", unwanted=(Interval(),)) is None
    assert find_interval(sample.clear(), "x", square, output_column="y", unwanted=(Interval(),)) is None
