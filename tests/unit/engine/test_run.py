"""Runs: what they count, what they refuse, how they end, and what they hold against static data."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.engine.in_memory import run
from aurora.engine.statistics import Latencies
from aurora.errors import InputError
from aurora.model.document import loads
from aurora.testing import ManualClock, run_rows


def network(boxes: str, streams: str = "s: {schema: {t: int, x: int}}", points: str = "", out: str = "b") -> str:
    return (
        f"{{aurora: 1, network: n, streams: {{{streams}}}, boxes: {{{boxes}}}, connection_points: {{{points}}},"
        f" outputs: {{out: {{from: {out}}}}}}}"
    )


def table(*rows: tuple[Any, ...], columns: str = "tx") -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in rows]


PASS = network("b: {kind: filter, in: s, where: x > 0}")


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=60), st.sampled_from([0.01, 0.5, 0.9, 0.99, 1.0]))
def test_quantiles_of_latencies_are_exact_to_one_percent(latencies: list[int], q: float) -> None:
    noted = Latencies()
    for start in range(0, len(latencies), 7):
        noted.note(np.array(latencies[start : start + 7], np.int64), len(latencies[start : start + 7]))
    expected = float(np.quantile(latencies, q, method="inverted_cdf")) / 1e6
    # A microsecond counts as nothing.
    assert noted.quantile(q) == pytest.approx(expected, rel=0.01, abs=1.01e-6)


def test_no_tuples_have_no_latency() -> None:
    noted = Latencies()
    assert noted.quantile(0.5) is None
    noted.note(np.empty(0, np.int64), 0)
    assert noted.quantile(0.5) is None


@pytest.mark.parametrize("train", [1, 2, None])
def test_counts(train: int | None) -> None:
    boxes = (
        "f: {kind: filter, in: s, where: x > 0}, m: {kind: map, in: f, extend: {y: 10 // (x - 2)}},"
        " b: {kind: aggregate, in: m, order_by: t, late: true, window: {size: 10}, compute: {n: count(*)}}"
    )
    rows = table((1, 1), (2, 0), (12, 2), (5, 3), (25, 9), (30, None))
    found = run_rows(network(boxes), {"s": rows}, train=train).statistics
    assert found.inputs["s"].tuples == 6
    f, m, b = (found.boxes[name] for name in "fmb")
    assert (f.tuples_in, f.tuples_out) == (6, 4)
    assert (m.tuples_in, m.tuples_out, m.nulled) == (4, 4, 1)
    # Three windows and the late tuple.
    assert (b.tuples_in, b.tuples_out, b.late) == (4, 4, 1)
    assert found.outputs["out"].tuples == 3
    assert f.calls == (6 if train == 1 else 3 if train == 2 else 1)
    written = found.to_dict()
    assert written["boxes"]["b"]["late"] == 1
    assert written["outputs"]["out"]["tuples"] == 3


def test_latency_on_a_clock_column_is_from_the_earliest_member_to_the_closing_tuple() -> None:
    boxes = "b: {kind: tumble, in: s, window: {size: 3 tuples}, compute: {n: count(*)}}"
    rows = table((10, 0), (12, 0), (14, 0), (15, 0), (15, 0), (25, 0))
    written = run_rows(network(boxes), {"s": rows}, clock="t").statistics.to_dict()
    assert written["outputs"]["out"]["latency_s"]["p50"] == pytest.approx(4, rel=0.01)
    assert written["outputs"]["out"]["latency_s"]["p99"] == pytest.approx(10, rel=0.01)


def test_latency_without_a_clock_column_is_that_of_the_wall() -> None:
    """The second train comes 3 s after the first, which waited for it."""
    boxes = "b: {kind: tumble, in: s, window: {size: 2 tuples}, compute: {n: count(*)}}"
    wall = ManualClock(7)
    result = run(
        loads(network(boxes)),
        {"s": table((0, 0), (0, 0))},
        train=1,
        wall=wall,
        on_epoch=lambda _: wall.move_s(3),
    )
    assert result.statistics.outputs["out"].latencies.quantile(0.5) == pytest.approx(3, rel=0.01)


def test_latency_is_measured_when_an_output_is_delivered() -> None:
    """A clock that moves while a train is under way: by two seconds at each look."""

    class Moving(ManualClock):
        def now_us(self) -> int:
            self.move_s(2)
            return super().now_us()

    result = run_rows(PASS, {"s": table((0, 1))}, wall=Moving())
    assert result.statistics.outputs["out"].latencies.quantile(0.5) == pytest.approx(2, rel=0.01)


def test_timeouts_follow_the_wall_that_was_handed_in() -> None:
    boxes = "b: {kind: tumble, in: s, window: {size: 9 tuples, timeout: 5s}, compute: {n: count(*), o: timed_out()}}"
    wall = ManualClock()
    rows = table(*((i, 0) for i in range(4)))
    result = run(loads(network(boxes)), {"s": rows}, train=1, wall=wall, on_epoch=lambda _: wall.move_s(2))
    # Tuples at 0, 2, 4 and 6 s; at 5 s the window of the first three is over.
    assert result.rows("out") == [(3, True)]


def test_what_holds_for_the_end() -> None:
    boxes = "b: {kind: aggregate, in: s, order_by: t, window: {size: 10}, compute: {n: count(*)}}"
    rows = table((1, 0), (11, 0), (12, 0))
    assert run_rows(network(boxes), {"s": rows}, at_end="hold").rows("out") == [(0, 1)]
    assert run_rows(network(boxes), {"s": rows}, at_end="flush").rows("out") == [(0, 1), (10, 2)]


def test_a_flush_goes_box_after_box() -> None:
    """What the sort buffer lets go at the end still reaches the window behind it."""
    boxes = (
        "a: {kind: bsort, in: s, order_by: t, slack: 5 tuples},"
        " b: {kind: aggregate, in: a, order_by: t, window: {size: 10}, compute: {c: collect(t)}}"
    )
    rows = table((12, 0), (1, 0), (3, 0))
    assert run_rows(network(boxes), {"s": rows}, at_end="flush").rows("out") == [(0, [1, 3]), (10, [12])]
    assert run_rows(network(boxes), {"s": rows}, at_end="hold").rows("out") == []


def test_nothing_comes_of_nothing() -> None:
    result = run_rows(PASS, {})
    assert result.rows("out") == []
    assert result.outputs["out"].columns == ["t", "x"]
    assert result.statistics.to_dict()["outputs"]["out"]["latency_s"] == {"p50": None, "p99": None}


@pytest.mark.parametrize(
    ("inputs", "options", "message"),
    [
        ({"z": []}, {}, "the network has no stream or static data z; it has s"),
        ({"s": []}, {"clock": "u"}, "stream s has no column u"),
        ({"s": pl.DataFrame({"t": [1]})}, {}, "lacks the columns x; it has t"),
        ({"s": [{"t": "one", "x": 1}]}, {}, "does not fit"),
        ({"s": pl.DataFrame({"t": ["one"], "x": [1]})}, {}, "does not fit"),
    ],
)
def test_inputs_that_do_not_fit(inputs: Any, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        run_rows(PASS, inputs, **options)


def test_a_live_connection_point_takes_no_table() -> None:
    document = network("b: {kind: filter, in: s, where: x > 0}", points="c: {'on': b, keep: 2h}, " + POINT)
    with pytest.raises(InputError, match="the network has no stream or static data c; it has s, names"):
        run_rows(document, {"c": []})


def test_a_train_has_a_tuple_at_least() -> None:
    with pytest.raises(InputError, match="a train of 0 tuples is not possible"):
        run(loads(PASS), {}, train=0, wall=ManualClock())


NAMES = table((1, "one"), (2, "two"), (2, "zwei"), (None, "none"), columns="kn")
POINT = "names: {schema: {k: int, n: string}}"


def against_static(box: str, live: list[dict[str, Any]], static: Any, train: int | None) -> list[tuple[Any, ...]]:
    return run_rows(network(box, points=POINT), {"s": live, "names": static}, train=train).rows("out")


@pytest.mark.parametrize("train", [1, 2, None])
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_static_side(side: str, train: int | None) -> None:
    """Every live tuple in its place, matched in the order of the table; NULL matches nothing."""
    ports, on = ("[names, s]", "left.k = right.x") if side == "left" else ("[s, names]", "left.x = right.k")
    box = f"b: {{kind: join, in: {ports}, on: {on}, compute: {{t: t, n: n}}}}"
    live = table((10, 2), (11, 5), (12, 1), (13, None), (14, 2))
    expected = [(10, "two"), (10, "zwei"), (12, "one"), (14, "two"), (14, "zwei")]
    assert against_static(box, live, NAMES, train) == expected
    assert against_static(box, live, [], train) == []
    assert against_static(box, [], NAMES, train) == []


@pytest.mark.parametrize("train", [1, 2, None])
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_static_side_within_a_distance(side: str, train: int | None) -> None:
    """Live tuples come in any order, and none is late: the table does not move."""
    ports, orders = ("[names, s]", "k, right_order_by: x") if side == "left" else ("[s, names]", "x, right_order_by: k")
    box = f"b: {{kind: join, in: {ports}, within: 1, left_order_by: {orders}, compute: {{x: x, k: k, n: n}}}}"
    live = table((0, 3), (1, 0), (2, None), (3, 1))
    found = against_static(box, live, NAMES, train)
    expected = [(x, k, n) for _, x in map(dict.values, live) for k, n in map(dict.values, NAMES) if near(x, k)]
    assert found == expected
    assert len(expected) == 2 + 1 + 3
    assert against_static(box, live, [], train) == []


def near(x: int | None, k: int | None) -> bool:
    return x is not None and k is not None and abs(x - k) <= 1


def test_a_static_side_without_condition_pairs_with_everything() -> None:
    box = "b: {kind: join, in: [s, names], compute: {x: x, n: n}}"
    found = against_static(box, table((0, 3), (1, 0)), NAMES, 1)
    assert found == [(x, row["n"]) for x in (3, 0) for row in NAMES]


def test_a_static_side_has_the_live_tuples_arrival() -> None:
    boxes = (
        "j: {kind: join, in: [names, s], on: left.k = right.x, compute: {t: t}},"
        " b: {kind: map, in: j, compute: {late: arrival_time() = timestamp '1970-01-01 00:00:10Z'}}"
    )
    result = run_rows(network(boxes, points=POINT), {"s": table((10, 1)), "names": NAMES}, clock="t")
    assert result.rows("out") == [(True,)]
    assert result.statistics.outputs["out"].latencies.quantile(0.5) == 0.0


def test_a_static_side_without_data_is_an_error_of_the_input() -> None:
    box = "b: {kind: join, in: [s, names], on: left.x = right.k}"
    with pytest.raises(InputError, match="box b needs the data of the connection point names"):
        run_rows(network(box, points=POINT), {"s": []})
