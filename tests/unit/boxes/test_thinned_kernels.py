"""Aggregates under rules for whole windows, against the same aggregate that is given no rule.

Whatever comes out must come out there as well: the same values, for the same tuple, at the same time.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora.boxes import selection
from aurora.boxes.aggregate import AggregateKernel
from aurora.boxes.thinned import Rule, WholeWindows
from aurora.errors import StateError
from aurora.model.check import typecheck
from aurora.model.document import loads
from aurora.model.train import ORDER, WHEN, Emission, Part, Progress, Train
from aurora.model.typed import TypedNetwork

GAP = 3
Rows = list[tuple[Any, ...]]

VALUE = {
    "tumbling": "order_by: t, slack: 3, window: {size: 5}",
    "sliding": "order_by: t, slack: 3, window: {size: 10, advance: 2}",
    "uneven": "order_by: t, slack: 2, window: {size: 7, advance: 3}",
    "apart": "order_by: t, slack: 3, window: {size: 3, advance: 5}",
    "from the first": "order_by: t, slack: 3, window: {size: 6, advance: 3, align: first}",
    "with empty ones": "order_by: t, slack: 3, window: {size: 3, emit_empty: true}",
    "empty from the first": "order_by: t, slack: 3, window: {size: 4, advance: 2, align: first, emit_empty: true}",
    "doubles": "order_by: d, slack: 3, window: {size: 1.3, advance: 0.4}",
    "timed": "order_by: t, slack: 3, window: {size: 6, advance: 2, timeout: 60us}",
    "timed with empty ones": "order_by: t, slack: 3, window: {size: 4, timeout: 60us, emit_empty: true}",
    "group by group": "order_by: t, window: {size: 5}",
    "sliding by group": "order_by: t, window: {size: 6, advance: 2}",
    "buffered": "order_by: t, slack: 2 tuples, window: {size: 6, advance: 2}",
    "buffered, from the first": "order_by: t, slack: 1 tuple, window: {size: 4, align: first}",
    "empty ones by group": "order_by: t, slack: 1 tuple, window: {size: 3, emit_empty: true}",
    "timed by group": "order_by: t, slack: 1 tuple, window: {size: 6, advance: 2, timeout: 60us}",
}
TUPLE = {
    "pairs": "window: {size: 2 tuples}",
    "sliding tuples": "window: {size: 3 tuples, advance: 1 tuple}",
    "panes": "window: {size: 6 tuples, advance: 4 tuples}",
    "large": "window: {size: 4 tuples}",
    "tuples apart": "window: {size: 2 tuples, advance: 3 tuples}",
    "wide": "window: {size: 30 tuples, advance: 1 tuple}",
    "timed tuples": "window: {size: 3 tuples, advance: 2 tuples, timeout: 60us}",
    "ordered tuples": "order_by: t, slack: 3, window: {size: 3 tuples, advance: 2 tuples}",
    "buffered tuples": "order_by: t, slack: 1 tuple, window: {size: 2 tuples, advance: 1 tuple}",
}
STEPS = {name: float(re.findall(r"(?:advance|size): ([0-9.]+)", box)[-1]) for name, box in VALUE.items()}
"""How far each window starts after the one before."""
COMPUTE = "n: count(*), s: sum(x), a: first(id), out: timed_out()"


@cache
def network(box: str, late: bool) -> TypedNetwork:
    text = f"""
    aurora: 1
    network: demo
    streams: {{s: {{schema: {{id: int, g: string, t: int, d: double, x: int}}}}}}
    boxes: {{b: {{kind: aggregate, in: s, group_by: g, late: {str(late).lower()}, compute: {{{COMPUTE}}}, {box}}}}}
    outputs: {{out: {{from: b}}}}
    """
    return typecheck(loads(text))


def kernel(box: str, *, late: bool = False, ranked: bool = False) -> AggregateKernel:
    typed = network(box, late)
    made = typed.network.boxes["b"].kernel(typed.input_types("b"), {})
    assert isinstance(made, AggregateKernel)
    if ranked:
        made.rank()
    return made


@dataclass(frozen=True)
class Step:
    """Rows as (group, time), the rule they come under, and whether the kernel is replaced by a restored one before."""

    rows: Sequence[tuple[int, int]]
    rule: Rule | None = None
    restored: bool = False


class Run:
    """A kernel that is given steps; what comes out on each port, with all that is hidden."""

    def __init__(self, box: str, steps: Sequence[Step], *, ruled: bool, late: bool = False, parts: int = 0) -> None:
        self.out: dict[str, Rows] = {"out": [], "late": []}
        self.count: Counter[str] = Counter()
        kernels = [kernel(box, late=late, ranked=parts > 0) for _ in range(max(parts, 1))]
        number = 0
        for step in steps:
            for place in range(len(kernels)):
                if step.restored:
                    fresh = kernel(box, late=late, ranked=parts > 0)
                    fresh.restore(kernels[place].snapshot())
                    kernels[place] = fresh
                if ruled:
                    kernels[place].thin(step.rule)
            train = train_of(step.rows, number)
            progress = Progress(number + len(train) - 1, 10 * (number + len(train)), number, train.hidden("__clock"))
            for place, one in enumerate(kernels):
                if len(train):
                    self._note(one.process(0, train if not parts else part_of(train, place, parts, number)))
                self._note(one.advance(progress))
            number += len(train)
        for one in kernels:
            self._note(one.advance(Progress.standing(number - 1, 10 * number, end=True)))
        self.kernels = kernels

    def _note(self, emission: Emission) -> None:
        for port, train in emission.trains.items():
            ranks = [name for name in train.frame.columns if name.startswith("__rank")]
            self.out[port] += [tuple(map(str, row)) for row in train.frame.drop(ranks).rows()]
        self.count.update(late=emission.late, shed=emission.shed, estimated=emission.estimated)


def train_of(rows: Sequence[tuple[int, int]], first: int) -> Train:
    numbers = np.arange(first, first + len(rows))
    t = np.array([t for _, t in rows], np.int64)
    visible = pl.DataFrame({"id": numbers, "g": [f"g{g}" for g, _ in rows], "t": t, "d": t / 3, "x": 7 * numbers - t})
    return Train.of(visible.cast({"g": pl.String}), 2 * numbers + 1, 10 * numbers, 10 * numbers)


def part_of(train: Train, part: int, parts: int, first: int) -> Train:
    """The rows of some of the groups, as they come where a stream is split."""
    mine = np.flatnonzero([int(g[1:]) % parts == part for g in train.frame.get_column("g")])
    at_once = np.zeros(len(mine), np.int64)
    ranks = [pl.Series(name, rank) for name, rank in zip(WHEN, (mine + first, at_once, at_once), strict=True)]
    whole = train.frame.select("t", "d", ORDER, "__clock")
    return Train(train.frame[mine].hstack(ranks), part=Part(mine, first, whole))


rules = st.one_of(
    st.none(), st.builds(WholeWindows, st.sampled_from([0.0, 0.2, 0.5, 0.7, 1.0]), st.just(5), st.just(GAP))
)


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    """Times go on by and large, some faster than others, with some disorder."""
    found, now = [], 0
    for _ in range(draw(st.integers(1, 7))):
        rows = []
        for _ in range(draw(st.integers(0, 12))):
            now += draw(st.sampled_from([0, 0, 1, 1, 2, 9]))
            group = draw(st.integers(0, 2))
            rows.append((group, now - draw(st.sampled_from([0, 0, 0, 1, 2, 5])) - 20 * (group == 2)))
        found.append(Step(rows, draw(rules), draw(st.sampled_from([False, False, True]))))
    return found


def examples(number: int) -> int:
    """There are many kinds of window, so each gets few examples, unless time is no object."""
    return number if settings.default is None or settings.default.max_examples < 1_000 else 10 * number


def is_subsequence(some: Rows, of: Rows) -> bool:
    rest = iter(of)
    return all(row in rest for row in some)


@pytest.mark.parametrize("name", [*VALUE, *TUPLE])
@settings(max_examples=examples(14))
@given(steps(), st.booleans(), st.sampled_from([2, 16]))
def test_what_comes_out_is_exact_and_gaps_are_bounded(
    name: str, given_steps: list[Step], late: bool, most_rules: int
) -> None:
    """Also where there are so many rules that some are merged; only groups that thereby lose their first window may
    then do without the empty ones that follow it."""
    box = (VALUE | TUPLE)[name]
    most_rules = 16 if "empty" in name else most_rules
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "_MOST_RULES", most_rules)
        full, some = Run(box, given_steps, ruled=False, late=late), Run(box, given_steps, ruled=True, late=late)
    assert some.out["late"] == full.out["late"]
    assert some.count["late"] == full.count["late"]
    there = Counter(some.out["out"])
    assert there <= Counter(full.out["out"])
    for group in ("g0", "g1", "g2"):
        mine, all_of_it = ([row for row in run.out["out"] if row[0] == group] for run in (some, full))
        assert is_subsequence(mine, all_of_it)
        numbered = enumerate(all_of_it) if name in TUPLE else [(round(float(r[1]) / STEPS[name]), r) for r in all_of_it]
        assert longest_gap(dict(sorted(numbered)), there) <= GAP


def longest_gap(windows: dict[int, tuple[Any, ...]], there: Counter[tuple[Any, ...]]) -> int:
    """The most windows missing in a row whose numbers follow each other."""
    longest, missing, last = 0, 0, -(2**60)
    for number, row in windows.items():
        missing = 0 if row in there else missing + 1 if number == last + 1 else 1
        longest, last = max(longest, missing), number
    return longest


@pytest.mark.parametrize("box", [*VALUE.values(), *TUPLE.values()], ids=[*VALUE, *TUPLE])
@settings(max_examples=examples(4))
@given(steps())
def test_a_share_of_one_changes_nothing(box: str, given_steps: list[Step]) -> None:
    kept = [Step(step.rows, step.rule and WholeWindows(1.0, 5, GAP), step.restored) for step in given_steps]
    full, some = Run(box, kept, ruled=False), Run(box, kept, ruled=True)
    assert sorted(some.out["out"]) == sorted(full.out["out"])
    assert some.count["shed"] == 0


@pytest.mark.parametrize("name", ["tumbling", "group by group", "sliding", "timed"])
@settings(max_examples=examples(10))
@given(steps(), st.sampled_from([0.0, 0.3, 0.6]))
def test_windows_and_tuples_that_go_are_those_the_rule_says(name: str, given_steps: list[Step], keep: float) -> None:
    """With one rule from the start: a tuple goes if none of its windows is kept, and all other windows come out."""
    box = VALUE[name]
    size = {"tumbling": 5, "group by group": 5, "sliding": 10, "timed": 6}[name]
    advance = size if name in ("tumbling", "group by group") else 2
    rule = WholeWindows(keep, 5, GAP)
    ruled = [Step(step.rows, rule, step.restored) for step in given_steps]
    full, some = Run(box, ruled, ruled=False), Run(box, ruled, ruled=True)
    overlap = -(-size // advance)
    kept = [row for row in full.out["out"] if rule.kept(np.array([int(row[1]) // advance]), overlap)[0]]
    assert sorted(some.out["out"]) == sorted(kept)
    late = Run(box, ruled, ruled=False, late=True)
    left_out = {int(row[0]) for row in late.out["late"]}
    numbered = enumerate(itertools.chain.from_iterable(step.rows for step in ruled))
    shed = 0
    for number, (_, t) in numbered:
        windows = np.arange((t - size) // advance + 1, t // advance + 1)
        shed += number not in left_out and not rule.kept(windows, overlap).any()
    assert some.count["shed"] == shed


@pytest.mark.parametrize("name", [*VALUE, "pairs", "panes", "timed tuples"])
@settings(max_examples=examples(6))
@given(steps())
def test_parts_do_the_same(name: str, given_steps: list[Step]) -> None:
    """Where a stream is split, parts under one rule drop what one place would drop."""
    box = (VALUE | TUPLE)[name]
    rule = WholeWindows(0.4, 5, GAP)
    ruled = [Step(step.rows, rule, step.restored) for step in given_steps]
    one, parts = Run(box, ruled, ruled=True), Run(box, ruled, ruled=True, parts=2)
    assert sorted(parts.out["out"]) == sorted(one.out["out"])
    assert parts.count == one.count


@pytest.mark.parametrize("box", [VALUE["tumbling"], VALUE["sliding by group"], TUPLE["panes"]])
def test_when_the_rule_is_gone_everything_is_as_before(box: str) -> None:
    rows = [[(n % 2, 5 * step + n // 4) for n in range(20)] for step in range(12)]
    rule = WholeWindows(0.3, 5, GAP)
    given_steps = [Step(some, rule if 2 <= number < 6 else None) for number, some in enumerate(rows)]
    full, some = Run(box, given_steps, ruled=False), Run(box, given_steps, ruled=True)
    assert some.count["shed"] > 0
    assert len(some.out["out"]) < len(full.out["out"])
    assert some.out["out"][-8:] == full.out["out"][-8:]
    assert [name for name in some.kernels[0].state() if name.startswith(AggregateKernel.optional)] == []


def test_a_rule_that_is_told_again_changes_nothing() -> None:
    """A worker that takes over tells its kernels the rule that their snapshots hold already."""
    one = kernel(VALUE["tumbling"])
    one.thin(WholeWindows(0.5, 5, GAP))
    one.process(0, train_of([(0, t) for t in range(20)], 0))
    other = kernel(VALUE["tumbling"])
    other.restore(one.snapshot())
    before = other.snapshot()
    other.thin(WholeWindows(0.5, 5, GAP))
    assert other.snapshot() == before


def test_snapshots_of_other_kernels_are_still_refused() -> None:
    with pytest.raises(StateError, match="keeps"):
        kernel(VALUE["tumbling"]).restore(kernel(TUPLE["pairs"]).snapshot())
