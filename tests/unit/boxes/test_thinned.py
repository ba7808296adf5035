"""Which windows a rule keeps, and which rule a window is under when rules come and go."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.boxes import selection as module
from aurora.boxes.selection import Selection
from aurora.boxes.thinned import (
    Weighted,
    WholeWindows,
    entrance_s,
    max_gap_of,
    overlap_of,
    rule_frame,
    rule_of,
    shed_form,
)
from aurora.model.document import loads
from aurora.model.window import Window
from tests.unit.boxes.drawn import ints

rules = st.builds(WholeWindows, st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.8, 1.0]), st.just(3), st.just(4))
overlaps = st.sampled_from([1, 2, 3, 7])


def gaps(kept: list[bool]) -> list[int]:
    return [len(list(run)) for stays, run in itertools.groupby(kept) if not stays]


@given(st.floats(0, 1), st.integers(0, 2**40), st.integers(1, 40), overlaps, st.integers(-(2**45), 2**45))
def test_share_and_gap(keep: float, seed: int, max_gap: int, overlap: int, first: int) -> None:
    rule = WholeWindows(keep, seed, max_gap)
    kept = rule.kept(np.arange(first, first + 200 * (max_gap + 1)), overlap)
    assert max(gaps(kept.tolist()), default=0) <= max_gap
    assert kept.mean() == pytest.approx(rule.share_of_windows, abs=0.02)


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 99), st.integers(1, 40), overlaps)
def test_a_smaller_share_keeps_some_of_the_same_windows(
    one: float, other: float, seed: int, max_gap: int, overlap: int
) -> None:
    """So the bound on gaps holds whenever the share changes."""
    windows = np.arange(-500, 500)
    less, more = (WholeWindows(keep, seed, max_gap).kept(windows, overlap) for keep in sorted((one, other)))
    assert not (less & ~more).any()


def test_all_are_kept_at_a_share_of_one() -> None:
    assert WholeWindows(1.0, 5, 3).kept(np.arange(-1000, 1000), 4).all()


def test_windows_do_not_go_in_step_with_time() -> None:
    """Of windows of an hour, at half of them, not always the same hours of the day."""
    hours = np.arange(24 * 60)[WholeWindows(0.5, max_gap=10).kept(np.arange(24 * 60), 1)] % 24
    assert np.bincount(hours, minlength=24).min() > 15


def test_another_seed_keeps_other_windows() -> None:
    windows = np.arange(300)
    assert (WholeWindows(0.5, 1).kept(windows, 1) != WholeWindows(0.5, 2).kept(windows, 1)).any()


@pytest.mark.parametrize("overlap", [1, 2, 5, 9])
def test_tuples_are_saved_as_promised(overlap: int) -> None:
    """Counted tuple by tuple: one goes only if all its windows do. Single windows would save nothing."""
    rule = WholeWindows(0.4, 7, max_gap=12)
    kept = rule.kept(np.arange(40_000), overlap)
    needed = [kept[at - overlap + 1 : at + 1].any() for at in range(overlap - 1, len(kept))]
    assert np.mean(needed) == pytest.approx(rule.share_of_tuples(overlap), abs=0.01)
    assert 0.4 - 0.01 <= rule.share_of_tuples(overlap) < 0.4 + 0.6 * overlap / 12


@pytest.mark.parametrize(("rule", "weighed"), [(None, True), (WholeWindows(0.5, 3, 7), False), (Weighted(0.25), True)])
def test_a_rule_comes_back_from_its_frame(rule: WholeWindows | Weighted | None, weighed: bool) -> None:
    assert rule_of(rule_frame(rule, weighed=weighed)) == rule


@pytest.mark.parametrize("keep", [-0.1, 1.1, float("nan")])
def test_shares_that_are_none(keep: float) -> None:
    with pytest.raises(ValueError, match="share"):
        WholeWindows(keep)
    with pytest.raises(ValueError, match="share"):
        Weighted(keep)
    with pytest.raises(ValueError, match="share"):
        Weighted(0.0)
    with pytest.raises(ValueError, match="gap of 0"):
        WholeWindows(0.5, 1, 0)


def test_overlap() -> None:
    assert overlap_of(Window(size="60s", advance="7s")) == 9
    assert overlap_of(Window(size="4 tuples", advance="1 tuple")) == 4


def test_the_entrance_costs_more_the_more_must_be_known() -> None:
    text = """
    aurora: 1
    network: demo
    streams: {s: {schema: {t: int, x: int}}}
    boxes:
      early: {kind: aggregate, in: s, order_by: t, slack: 0, window: {size: 5}, compute: {m: avg(x)}}
      grouped: {kind: aggregate, in: s, order_by: t, window: {size: 5}, compute: {m: avg(x)}}
      counted: {kind: slide, in: s, window: {size: 5 tuples}, compute: {m: avg(x)}}
    """
    boxes = loads(text).boxes
    assert entrance_s(boxes["early"]) < entrance_s(boxes["grouped"]) < entrance_s(boxes["counted"])
    assert [max_gap_of(box) for box in boxes.values()] == [10, 10, 10]


def test_what_may_go_before_a_box() -> None:
    text = """
    aurora: 1
    network: demo
    streams: {s: {schema: {t: int, x: int}}}
    boxes:
      few: {kind: filter, in: s, where: x > 1}
      record: {kind: latch, in: s, compute: {n: count(*)}}
      means: {kind: aggregate, in: s, order_by: t, window: {size: 5}, compute: {m: avg(x)}}
      sums: {kind: tumble, in: s, order_by: t, window: {size: 5}, shed: tuples, compute: {m: sum(x)}}
    """
    assert {name: shed_form(box) for name, box in loads(text).boxes.items()} == {
        "few": None,
        "record": "closed",
        "means": "windows",
        "sums": "tuples",
    }


class ByHand:
    """Every window of every group by itself: under the rule in force when it was opened."""

    def __init__(self, overlap: int, *, shared: bool) -> None:
        self.overlap, self.shared = overlap, shared
        self.changes: list[tuple[WholeWindows | None, dict[int, int]]] = []

    def change(self, rule: WholeWindows | None, opened: dict[int, int]) -> None:
        self.changes.append((rule, opened))

    def kept(self, window: int, group: int) -> bool:
        under = None
        for rule, opened in self.changes:
            if window > opened.get(0 if self.shared else group, -(2**60)):
                under = rule
        return under is None or bool(under.kept(ints([window]), self.overlap)[0])


steps = st.tuples(st.one_of(st.none(), rules), st.lists(st.integers(0, 6), min_size=4, max_size=4), st.integers(0, 2))


@given(st.lists(steps, max_size=8), st.booleans(), overlaps, st.data())
def test_windows_stay_under_the_rule_they_were_opened_under(
    changes: list[tuple[WholeWindows | None, list[int], int]], shared: bool, overlap: int, data: st.DataObject
) -> None:
    """Groups come up, move on by some windows, and some of their windows are closed."""
    chosen, by_hand = Selection(overlap, shared=shared, spread=False), ByHand(overlap, shared=shared)
    at, closed = [0], [-1]
    for rule, moves, new in changes:
        at = [here + move for here, move in zip(at, moves, strict=False)]
        closed = [data.draw(st.integers(low, high - 1)) for low, high in zip(closed, at, strict=True)]
        if not shared:
            at, closed = (at + [0] * new)[:4], (closed + [-1] * new)[:4]
        chosen.close(ints(closed))
        chosen.change(rule, ints(at))
        by_hand.change(rule, dict(enumerate(at)))
        if data.draw(st.booleans()):
            other = Selection(overlap, shared=shared, spread=False)
            other.load(chosen.state())
            chosen = other
    ends = list(zip(closed, at, strict=True)) + [(-1, 0)] * (4 - len(at))
    asked = [(w, g) for g in range(4) for low, high in [ends[0 if shared else g]] for w in range(low + 1, high + 12)]
    windows, codes = ints([w for w, _ in asked]), ints([g for _, g in asked])
    assert chosen.kept(windows, codes).tolist() == [by_hand.kept(w, g) for w, g in asked]
    last = windows + overlap - 1
    expected = [any(by_hand.kept(w + step, g) for step in range(overlap)) for w, g in asked]
    assert chosen.needed(windows, last, codes).tolist() == expected
    far = ints([10**12])
    both = chosen.needed(np.append(windows, far), np.append(last, far + 2), np.append(codes, 0)).tolist()
    assert both[:-1] == expected, "one by one, where windows are far apart"


def test_rules_of_closed_windows_are_forgotten() -> None:
    chosen = Selection(2, shared=True, spread=False)
    for number in range(50):
        chosen.change(WholeWindows(number / 50), ints([number]))
        chosen.close(ints([number - 2]))
        assert len(chosen._terms) <= 4
    chosen.change(None, ints([50]))
    assert not chosen.idle
    chosen.close(ints([50]))
    assert chosen.idle


def test_rules_before_any_window_leave_nothing_behind() -> None:
    chosen = Selection(1, shared=False, spread=False)
    chosen.change(WholeWindows(0.5), ints([]))
    chosen.change(None, ints([]))
    assert chosen.idle


def test_many_rules_are_merged_to_what_all_of_them_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A group that has fallen silent keeps its rule; windows may then be lost, but none is half full."""
    monkeypatch.setattr(module, "_MOST_RULES", 3)
    chosen, by_hand = Selection(1, shared=False, spread=False), ByHand(1, shared=False)
    for number, keep in enumerate([0.5, 0.2, 0.9, 0.4, 0.7, 0.3]):
        opened = [10 * number + 9, 9 * number]
        chosen.change(WholeWindows(keep, 1, 4), ints(opened))
        by_hand.change(WholeWindows(keep, 1, 4), dict(enumerate(opened)))
    assert len(chosen._terms) == 3
    for group in range(2):
        windows = np.arange(100)
        kept = chosen.kept(windows, np.full(100, group)).tolist()
        assert all(by_hand.kept(window, group) for window in windows[kept])
        assert max(gaps(kept)) <= 4


def test_groups_that_count_by_themselves_lose_different_windows() -> None:
    chosen = Selection(1, shared=False, spread=True)
    chosen.change(WholeWindows(0.5), ints([]))
    chosen.place(pl.DataFrame({"k": [f"group {n}" for n in range(40)]}))
    kept = chosen.kept(np.zeros(40, np.int64), np.arange(40))
    assert 10 < np.count_nonzero(kept) < 30
