"""The grid of value windows against going through all windows there could be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.boxes.grid import NEVER, Grid
from tests.unit.boxes.drawn import GREATEST, LEAST, doubles, ints

sizes = st.integers(1, 12)


def windows_holding(value: Any, size: Any, advance: Any) -> list[int]:
    """The numbers of all windows that hold the value, by looking at every one that could."""
    return [k for k in range(-200, 200) if k * advance <= value < k * advance + size]


def held(grid: Grid, values: Any) -> list[list[int]]:
    first, last = grid.windows_of_values(values)
    return [list(range(a, b + 1)) for a, b in zip(first.tolist(), last.tolist(), strict=True)]


@given(st.lists(st.integers(-60, 60), max_size=10), sizes, sizes)
def test_windows_of_whole_values(values: list[int], size: int, advance: int) -> None:
    """Below zero a division that truncates puts values one window too high; advance > size leaves gaps."""
    grid = Grid(size, advance, whole=True, panes=False)
    assert held(grid, ints(values)) == [windows_holding(value, size, advance) for value in values]


STEPS = [0.1, 0.2, 0.3, 0.7, 1.0, 1.1, 2.5]
BORDERS = [n * step for step in (0.1, 0.3, 1.1) for n in range(-40, 41)]


@pytest.mark.parametrize("size", STEPS)
@pytest.mark.parametrize("advance", STEPS)
def test_windows_of_doubles(size: float, advance: float) -> None:
    """Multiples of 0.1 lie a rounding error beside a border; a quotient alone gets some of them wrong."""
    grid = Grid(size, advance, whole=False, panes=False)
    first, last = grid.windows_of_values(doubles(BORDERS))
    for value, low, high in zip(BORDERS, first.tolist(), last.tolist(), strict=True):
        inside = [k for k in range(low - 2, high + 3) if k * advance <= value < k * advance + size]
        assert inside == list(range(low, high + 1))


@pytest.mark.parametrize("size", STEPS)
@pytest.mark.parametrize("advance", STEPS)
def test_last_closed_of_doubles(size: float, advance: float) -> None:
    grid = Grid(size, advance, whole=False, panes=False)
    for limit, last in zip(BORDERS, grid.last_closed(doubles(BORDERS)).tolist(), strict=True):
        assert last * advance + size <= limit < (last + 1) * advance + size


@given(st.lists(st.integers(-60, 60), max_size=10), sizes, sizes)
def test_panes_make_up_windows(values: list[int], size: int, advance: int) -> None:
    """Every window that holds a value holds its whole pane."""
    grid = Grid(size, advance, whole=True, panes=True)
    panes = grid.panes_of(ints(values))
    ends = grid.pane_ends(panes).tolist()
    first, last = grid.windows_of_cells(panes)
    for i, value in enumerate(values):
        assert list(range(first[i], last[i] + 1)) == windows_holding(value, size, advance)
        assert value < ends[i]
        assert windows_holding(ends[i] - 1, size, advance) == windows_holding(value, size, advance)


@given(st.integers(-60, 60), sizes, sizes)
def test_last_closed(limit: int, size: int, advance: int) -> None:
    grid = Grid(size, advance, whole=True, panes=True)
    expected = max(k for k in range(-200, 200) if k * advance + size <= limit)
    assert grid.last_closed(ints([limit])).tolist() == [expected]


@pytest.mark.parametrize("whole", [True, False])
def test_the_end_closes_all_and_the_start_none(whole: bool) -> None:
    grid = Grid(10, 5, whole=whole, panes=whole)
    assert grid.last_closed(doubles([np.inf, -np.inf])).tolist() == [-NEVER, NEVER]


def test_limits_at_the_ends_of_the_range() -> None:
    """The least integer stands for no progress at all; taking the size off it would wrap around."""
    grid = Grid(10, 5, whole=True, panes=True)
    low, high = grid.last_closed(ints([LEAST, GREATEST])).tolist()
    assert low == NEVER
    assert high == (GREATEST - 10) // 5


@given(st.lists(st.integers(-50, 50), max_size=8), sizes, sizes)
def test_bounds(windows: list[int], size: int, advance: int) -> None:
    for whole in (True, False):
        grid = Grid(size, advance, whole=whole, panes=whole)
        assert grid.starts(ints(windows)).tolist() == [k * advance for k in windows]
        assert grid.ends(ints(windows)).tolist() == [k * advance + size for k in windows]
