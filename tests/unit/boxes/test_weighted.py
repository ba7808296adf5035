"""Counts, sums and averages estimated from a sample, and how good they say they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora.boxes.aggregate import AggregateKernel
from aurora.boxes.thinned import Rule, Weighted
from aurora.errors import NetworkError
from aurora.model.check import check, typecheck
from aurora.model.document import loads
from aurora.model.train import Emission, Progress, Train
from tests.unit.boxes.drawn import cuts

COMPUTE = (
    "n: count(*), few: count(x) filter (where x > 0), s: sum(x), r: sum(d), m: avg(d), k: avg(x), top: max(x), "
    "lasted: sum(w), f: first(d), pace: sum(x) / count(*)"
)
WINDOWS = {
    "tumbling": "slack: 2, window: {size: 10}",
    "sliding": "slack: 2, window: {size: 10, advance: 5}",
    "timed": "slack: 2, window: {size: 10, timeout: 1ms}",
    "by group": "window: {size: 10}",
}


def network(window: str, compute: str = COMPUTE, more: str = "shed: tuples") -> str:
    return f"""
    aurora: 1
    network: demo
    streams: {{s: {{schema: {{g: string, t: int, x: int, d: double, w: duration}}}}}}
    boxes: {{b: {{kind: aggregate, in: s, group_by: g, order_by: t, {window}, {more}, compute: {{{compute}}}}}}}
    outputs: {{out: {{from: b}}}}
    """


def kernel(window: str, compute: str = COMPUTE) -> AggregateKernel:
    typed = typecheck(loads(network(window, compute)))
    made = typed.network.boxes["b"].kernel(typed.input_types("b"), {})
    assert isinstance(made, AggregateKernel)
    return made


def train_of(rows: Sequence[tuple[int, int, int | None, float]], first: int = 0) -> Train:
    numbers = np.arange(first, first + len(rows))
    columns = {
        "g": pl.Series([f"g{g}" for g, *_ in rows], dtype=pl.String),
        "t": pl.Series([t for _, t, *_ in rows], dtype=pl.Int64),
        "x": pl.Series([x for *_, x, _ in rows], dtype=pl.Int64),
        "d": pl.Series([d for *_, d in rows], dtype=pl.Float64),
    }
    visible = pl.DataFrame(columns).with_columns(w=pl.col("x").cast(pl.Duration("us")))
    return Train.of(visible, 2 * numbers + 1, 10 * numbers, 10 * numbers)


def run(
    made: AggregateKernel, trains: Sequence[Train], rules: Sequence[Rule | None]
) -> tuple[pl.DataFrame, list[Emission]]:
    """All that comes out; ``rules`` are told before each train."""
    emissions, number = [], 0
    for train, rule in zip(trains, rules, strict=True):
        made.thin(rule)
        number += len(train)
        emissions += [made.process(0, train), made.advance(Progress.standing(number - 1, 10 * number))]
    emissions.append(made.advance(Progress.standing(number - 1, 10 * number, end=True)))
    frames = [emission.trains["out"].visible for emission in emissions if "out" in emission.trains]
    return pl.concat(frames), emissions


rows = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.integers(0, 3),
        st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.integers(-9, 9)),
        st.floats(-1e9, 1e9),
    ),
    min_size=1,
    max_size=30,
).map(lambda drawn: [(g, 3 * n // 2 + t, x, d) for n, (g, t, x, d) in enumerate(drawn)])


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
@settings(max_examples=10)
@given(rows, st.data())
def test_a_weight_of_one_changes_no_bit(window: str, drawn: list[Any], data: st.DataObject) -> None:
    """Even of sums that no double can hold, and when estimates begin with windows open."""
    trains = [train_of(drawn[cut], cut.start) for cut in cuts(data.draw, len(drawn))]
    at = data.draw(st.integers(0, len(trains)))
    rules: list[Rule | None] = [None] * at + [Weighted(1.0)] * (len(trains) - at)
    plain, _ = run(kernel(window), trains, [None] * len(trains))
    weighted, emissions = run(kernel(window), trains, rules)
    assert weighted.equals(plain)
    assert sum(emission.error for emission in emissions) == 0


def by_hand(window: list[tuple[float, int, float]]) -> dict[str, Any]:
    """What is estimated of (weight, x, d)."""
    total = sum(w for w, _, _ in window)
    return {
        "n": round(total),
        "few": round(sum(w for w, x, _ in window if x > 0)),
        "s": round(sum(w * x for w, x, _ in window)),
        "r": sum(w * d for w, _, d in window),
        "m": sum(w * d for w, _, d in window) / total,
        "k": sum(w * x for w, x, _ in window) / total,
        "top": max(x for _, x, _ in window),
        "f": window[0][2],
    }


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_every_tuple_has_the_weight_it_was_folded_with(window: str) -> None:
    """The kernel is replaced by a restored one after each train."""
    draw = np.random.default_rng(7)
    drawn = [(0, n // 10, int(draw.integers(-50, 100)), float(draw.normal())) for n in range(400)]
    keeps = [1.0, 0.5, 0.2, 1.0, 0.9, 0.4, 1.0, 1.0]
    one, found = kernel(window), []
    for number, keep in enumerate(keeps):
        cut = slice(50 * number, 50 * number + 50)
        other = kernel(window)
        other.restore(one.snapshot())
        one = other
        one.thin(Weighted(keep) if keep < 1 else None)
        train = train_of(drawn[cut], cut.start)
        found += [one.process(0, train), one.advance(Progress.standing(cut.stop - 1, 10 * cut.stop))]
    found.append(one.advance(Progress.standing(399, 4000, end=True)))
    out = pl.concat([e.trains["out"].visible for e in found if "out" in e.trains])
    weights = [1 / keeps[n // 50] for n in range(400)]
    assert out.height >= 4
    for row in out.iter_rows(named=True):
        inside = [(weights[n], x, d) for n, (_, t, x, d) in enumerate(drawn) if row["t"] <= t < row["t"] + 10]
        for name, expected in by_hand(inside).items():
            assert row[name] == pytest.approx(expected, rel=1e-9), name
        assert row["lasted"].total_seconds() * 1e6 == pytest.approx(row["s"])
    assert out.schema["n"] == pl.Int64
    assert out.schema["s"] == pl.Int64
    assert sum(e.estimated for e in found) == out.height


def test_estimates_are_unbiased_and_know_their_error() -> None:
    """Many samples of the same tuples: estimates lie about the truth as far as they say."""
    draw = np.random.default_rng(11)
    size, trials, keep = 400, 300, 0.25
    x, d = draw.integers(1, 20, size), draw.gamma(2.0, size=size)
    truth = {"n": size, "s": int(x.sum()), "r": float(d.sum()), "m": float(d.mean())}
    found: dict[str, list[float]] = {name: [] for name in truth}
    errors = dict.fromkeys(truth, 0.0)
    calls = {"n": "count(*)", "s": "sum(x)", "r": "sum(d)", "m": "avg(d)"}
    # One group for each trial; the estimates of a call by themselves, so that its error is not hidden by another's.
    came = [np.flatnonzero(draw.random(size) < keep) for _ in range(trials)]
    sample = [(trial, 0, int(x[n]), float(d[n])) for trial in range(trials) for n in came[trial]]
    for name, call in calls.items():
        out, emissions = run(
            kernel("slack: 0, window: {size: 10}", f"{name}: {call}"), [train_of(sample)], [Weighted(keep)]
        )
        assert out.height == trials
        found[name] = out.get_column(name).to_list()
        assert sum(e.estimated for e in emissions) == trials
        errors[name] = sum(e.error for e in emissions) / trials
    for name, expected in truth.items():
        spread = float(np.std(found[name]))
        assert abs(np.mean(found[name]) - expected) < 4 * spread / np.sqrt(trials), name
        assert errors[name] == pytest.approx(spread / expected, rel=0.2), name


def test_sums_that_overflow_when_scaled_become_null() -> None:
    out, emissions = run(
        kernel("slack: 0, window: {size: 10}", "s: sum(x), n: count(*)"),
        [train_of([(0, 0, 2**62, 0.0), (1, 0, 2**61, 0.0), (2, 0, None, 0.0)])],
        [Weighted(0.5)],
    )
    assert out.rows() == [("g0", 0, None, 2), ("g1", 0, 2**62, 2), ("g2", 0, None, 2)]
    assert sum(emission.nulled for emission in emissions) == 1


@pytest.mark.parametrize(
    ("more", "window", "problem"),
    [
        ("shed: tuples", "window: {size: 5 tuples}", "shed-tuples-of-tuple-window"),
        ("shed: tuples, max_gap: 4", "window: {size: 5}", "gap-without-windows"),
        ("max_gap: 0", "window: {size: 5}", "bad-value"),
        ("shed: groups", "window: {size: 5}", "bad-value"),
    ],
)
def test_parameters_that_make_no_sense(more: str, window: str, problem: str) -> None:
    with pytest.raises(NetworkError) as found:
        typecheck(loads(network(window, "n: count(*)", more)))
    assert [problem.id for problem in found.value.problems] == [problem]


@pytest.mark.parametrize("more", ["shed: windows, max_gap: 3", "max_gap: 1", "shed: tuples"])
def test_parameters_that_do(more: str) -> None:
    assert not check(loads(network("window: {size: 5}", "n: count(*)", more)))
