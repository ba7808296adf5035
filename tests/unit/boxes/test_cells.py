"""Panes that rows fold into, against folding row by row; cells must not depend on how the rows were cut."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.boxes import cells as module
from aurora.boxes.aggregation import Aggregation
from aurora.boxes.cells import Cells, OpenPanes
from aurora.boxes.grid import Grid
from aurora.expressions import Scope, analyse_aggregates
from aurora.model.schema import Schema
from aurora.model.train import ARRIVAL
from aurora.model.types import INT
from tests.unit.boxes.drawn import cuts

SCHEMA = Schema.of(g="int", t="int", x="double")
PANE = 10


def aggregation() -> Aggregation:
    calls = {"s": "sum(x)", "n": "count(*)", "top": "max(x)", "f": "first(x)", "m": "median(x)"}
    return Aggregation(analyse_aggregates(calls, Scope.of(SCHEMA), grouping=["g"], window_type=INT), SCHEMA, ["g"])


def folded(rows: list[tuple[int, int, float, int]], parts: list[slice]) -> pl.DataFrame:
    """The cells of (group, time, value, arrival) rows that were folded in some pieces."""
    computed = aggregation()
    open_panes = OpenPanes(computed, Grid(PANE, PANE, whole=True, panes=True), Cells.none(computed))
    for part in parts:
        if not rows[part]:
            continue
        g, t, x, arrival = (np.array(column) for column in zip(*rows[part], strict=True))
        frame = pl.DataFrame({"g": g, "t": t, "x": x.astype(np.float64), ARRIVAL: arrival})
        groups = max(row[0] for row in rows[: part.stop]) + 1
        open_panes.fold(t, g, computed.lift(frame, t)[0], groups)
    return open_panes.cells().to_frame(computed)


def slowly(rows: list[tuple[int, int, float, int]]) -> list[tuple[int, int, int, float, int, float]]:
    held: dict[tuple[int, int], list[tuple[float, int]]] = {}
    for g, t, x, arrival in rows:
        held.setdefault((t // PANE, g), []).append((x, arrival))
    found = []
    for (cell, g), entries in sorted(held.items()):
        total = 0.0
        for x, _ in entries:
            total += x
        found.append((cell, g, min(a for _, a in entries), total, len(entries), max(x for x, _ in entries)))
    return found


@st.composite
def drawn(draw: st.DrawFn) -> tuple[list[tuple[int, int, float, int]], list[slice]]:
    far = draw(st.sampled_from([30, 10**6]))
    value = st.sampled_from([0.1, 0.2, 0.3, -0.0, 1e16, -1e16])
    row = st.tuples(st.integers(0, 4), st.integers(-far, far), value, st.integers(0, 3))
    rows = draw(st.lists(row, min_size=1, max_size=40))
    return rows, list(cuts(draw, len(rows)))


@given(drawn())
def test_cells_are_those_of_a_fold_row_by_row(case: tuple[list[tuple[int, int, float, int]], list[slice]]) -> None:
    rows, parts = case
    frame = folded(rows, parts)
    arrival, total, _, n, top, _ = frame.columns[:6]
    assert frame.select("cell", "code", arrival, total, n, top).rows() == slowly(rows)


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small blocks meet panes that one block lies in, and panes that it crosses."""
    random = np.random.default_rng(3)
    times = np.arange(200) - random.integers(0, 12, 200)
    rows = [
        (int(g), int(t), float(x), int(a))
        for g, t, x, a in zip(
            random.integers(0, 3, 200), times, random.random(200), random.integers(0, 50, 200), strict=True
        )
    ]
    whole = folded(rows, [slice(0, 200)])
    monkeypatch.setattr(module, "_BLOCK_ROWS", 7)
    assert folded(rows, [slice(0, 200)]).equals(whole)
    assert whole.height == len(slowly(rows))


def test_what_was_given_out_does_not_change_when_more_rows_come() -> None:
    computed = aggregation()
    open_panes = OpenPanes(computed, Grid(PANE, PANE, whole=True, panes=True), Cells.none(computed))
    row = pl.DataFrame({"g": [0], "t": [5], "x": [2.0], ARRIVAL: [9]})
    time, code = np.array([5]), np.array([0])
    open_panes.fold(time, code, computed.lift(row, time)[0], 1)
    before = open_panes.cells()
    frame = before.to_frame(computed)
    open_panes.fold(time, code, computed.lift(row, time)[0], 1)
    assert before.to_frame(computed).equals(frame)
    assert not open_panes.cells().to_frame(computed).equals(frame)
