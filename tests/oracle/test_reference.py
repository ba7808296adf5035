"""The oracle itself, against examples computed by hand from the semantics."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from oracle import reference

T0 = datetime(2024, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def clock_time(text: str) -> datetime:
    hours, minutes = text.split(":")
    return T0 + timedelta(hours=int(hours), minutes=int(minutes))


def answer(box: dict[str, Any], rows: dict[str, list[Any]], schema: dict[str, str], at_end: str = "hold") -> Any:
    """One box over streams of one schema; the clock counts the rows in the order given, in seconds."""
    document = {
        "streams": {name: {"schema": {**schema, "clock": "timestamp"}} for name in rows},
        "boxes": {"b": {"in": list(rows), **box}},
        "outputs": {"o": {"from": "b"}},
    }
    inputs = {
        name: [dict(zip([*schema, "clock"], (*row, at(second)), strict=True)) for second, row in entries]
        for name, entries in rows.items()
    }
    return reference.run(document, inputs, clock="clock", at_end=at_end)  # type: ignore[arg-type]


def values(result: Any, *columns: str) -> list[Any]:
    return [tuple(row[c] for c in columns) if len(columns) > 1 else row[columns[0]] for row in result.outputs["o"]]


def timed(*rows: Any) -> list[Any]:
    """Rows that enter one second after another."""
    return [(second, row if isinstance(row, tuple) else (row,)) for second, row in enumerate(rows)]


def test_bsort_of_the_semantics() -> None:
    box = {"kind": "bsort", "order_by": "x", "slack": "2 tuples"}
    rows = {"s": timed(1, 3, 1, 2, 4, 4, 8, 3, 4, 4)}
    assert values(answer(box, rows, {"x": "int"}), "x") == [1, 1, 2, 3, 4, 3, 4, 4]
    assert values(answer(box, rows, {"x": "int"}, "flush"), "x") == [1, 1, 2, 3, 4, 3, 4, 4, 4, 8]


QUOTES = [
    ("MSF", "1:00", 20.0),
    ("INT", "1:00", 16.0),
    ("IBM", "1:00", 24.0),
    ("IBM", "1:15", 20.0),
    ("IBM", "1:30", 23.0),
    ("MSF", "1:30", 24.0),
    ("INT", "1:30", 12.0),
    ("IBM", "1:45", 13.0),
    ("IBM", "2:00", 17.0),
    ("INT", "2:00", 16.0),
    ("MSF", "2:00", 22.0),
]


@pytest.mark.parametrize("slack", [0, 1])
def test_aggregate_of_the_semantics(slack: int) -> None:
    quotes = QUOTES if slack == 0 else [q for q in QUOTES if q[1] != "1:45"] + [QUOTES[7]]
    rows = timed(*((ticker, clock_time(when), price) for ticker, when, price in quotes))
    box = {
        "kind": "aggregate",
        "group_by": "ticker",
        "order_by": "time",
        "slack": f"{slack} tuples",
        "window": {"size": "1h"},
        "compute": {"price": "avg(price)"},
    }
    schema = {"ticker": "string", "time": "timestamp", "price": "double"}
    got = values(answer(box, {"s": rows}, schema, "flush"), "ticker", "time", "price")
    one = clock_time("1:00")
    assert sorted(got[:3]) == [("IBM", one, 20.0), ("INT", one, 14.0), ("MSF", one, 22.0)]
    if slack == 0:
        held = values(answer(box, {"s": rows}, schema), "ticker", "price")
        assert held == [("IBM", 20.0), ("INT", 14.0), ("MSF", 22.0)]
        for n, ticker in ((9, "IBM"), (10, "INT"), (11, "MSF")):
            so_far = values(answer(box, {"s": rows[:n]}, schema), "ticker")
            assert so_far[-1] == ticker
            assert len(so_far) == n - 8


def test_late_tuples_are_counted_per_group() -> None:
    box = {"kind": "latch", "group_by": "g", "order_by": "x", "compute": {"n": "count(*)"}}
    rows = {"s": timed(("a", 5), ("b", 1), ("a", 4), ("b", 1), ("a", None), ("a", 5))}
    result = answer(box, rows, {"g": "string", "x": "int"})
    assert values(result, "g", "n") == [("a", 1), ("b", 1), ("b", 2), ("a", 2)]
    assert result.late == {"b": 2}


def test_time_slack_closes_silent_groups_in_order_of_window_start() -> None:
    box = {
        "kind": "aggregate",
        "group_by": "g",
        "order_by": "x",
        "slack": 5,
        "window": {"size": 10},
        "compute": {"n": "count(*)"},
    }
    rows = {"s": timed(("a", 12), ("b", 8), ("c", 11), ("a", 14), ("b", 26), ("b", 20), ("c", 31))}
    result = answer(box, rows, {"g": "string", "x": "int"})
    # 26 brings progress to 21: windows [0, 10) and [10, 20) close; 20 is late. 31 brings it to 26: nothing.
    assert values(result, "g", "x", "n") == [("b", 0, 1), ("a", 10, 2), ("c", 10, 1)]
    assert result.late == {"b": 1}


def test_first_and_last_follow_the_order_column_with_time_slack() -> None:
    box = {
        "kind": "aggregate",
        "order_by": "x",
        "slack": 5,
        "window": {"size": 10},
        "compute": {"f": "first(y)", "l": "last(y)", "all": "collect(y)"},
    }
    rows = {"s": timed((5, "a"), (3, "b"), (5, "c"), (4, None), (15, "d"))}
    assert values(answer(box, rows, {"x": "int", "y": "string"}), "x", "f", "l", "all") == [
        (0, "b", "c", ["b", "a", "c"])
    ]


def test_a_window_times_out_with_what_it_has_and_later_tuples_are_ignored_for_it() -> None:
    box = {
        "kind": "aggregate",
        "group_by": "g",
        "window": {"size": "2 tuples", "timeout": "5s"},
        "compute": {"n": "count(*)", "late": "timed_out()"},
    }
    rows = {"s": [(0, ("a",)), (1, ("b",)), (2, ("b",)), (5, ("a",)), (6, ("a",)), (30, ("a",))]}
    # a's first window times out at 5, before the tuple whose clock is 5; that tuple is its second and is ignored.
    # The tuple at 6 opens a's next window, which times out at 11, before 30.
    result = answer(box, rows, {"g": "string"})
    assert values(result, "g", "n", "late") == [("b", 2, False), ("a", 1, True), ("a", 1, True)]


def test_a_timeout_moves_the_clock_of_what_is_downstream() -> None:
    document = {
        "streams": {"s": {"schema": {"clock": "timestamp"}}},
        "boxes": {
            "a": {
                "kind": "tumble",
                "in": "s",
                "window": {"size": "2 tuples", "timeout": "5s"},
                "compute": {"t": "max(clock)"},
            },
            "b": {
                "kind": "tumble",
                "in": "a",
                "window": {"size": "9 tuples", "timeout": "10s"},
                "compute": {"n": "count(*)", "o": "timed_out()"},
            },
            "u": {"kind": "map", "in": "s", "compute": {"n": "0", "o": "false"}},
            "both": {"kind": "union", "in": ["u", "b"]},
        },
        "outputs": {"o": {"from": "both"}},
    }
    rows = [{"clock": at(s)} for s in (0, 14, 15)]
    got = reference.run(document, {"s": rows}, clock="clock", at_end="flush").outputs["o"]
    # a times out at 5, so b's window opens at 5 and times out at 15, before the tuple whose clock is 15.
    assert [row["n"] for row in got] == [0, 0, 1, 0]


def test_emit_empty_stands_between_the_first_and_the_last_window() -> None:
    box = {
        "kind": "aggregate",
        "order_by": "x",
        "window": {"size": 10, "emit_empty": True},
        "compute": {"n": "count(*)", "s": "sum(x)"},
    }
    rows = {"s": timed(5, 35)}
    # 35 closes what ends at or before it, and shows that there is a window after the empty ones.
    assert values(answer(box, rows, {"x": "int"}), "x") == [0, 10, 20]
    got = values(answer(box, rows, {"x": "int"}, "flush"), "x", "n", "s")
    assert got == [(0, 1, 5), (10, 0, None), (20, 0, None), (30, 1, 35)]


def test_align_first() -> None:
    box = {
        "kind": "aggregate",
        "order_by": "x",
        "slack": 100,
        "window": {"size": 10, "advance": 5, "align": "first"},
        "compute": {"n": "count(*)"},
    }
    result = answer(box, {"s": timed(7, 6, 13, 18)}, {"x": "int"}, "flush")
    assert values(result, "x", "n") == [(7, 2), (12, 2), (17, 1)]
    assert result.late == {"b": 1}


def test_join_emits_each_pair_once_when_the_later_comes() -> None:
    document = {
        "streams": {
            "l": {"schema": {"t": "int", "k": "string", "clock": "timestamp"}},
            "r": {"schema": {"t": "int", "v": "int", "k": "string", "clock": "timestamp"}},
        },
        "boxes": {
            "j": {
                "kind": "join",
                "in": ["l", "r"],
                "on": "left.k = right.k",
                "within": 2,
                "left_order_by": "t",
                "right_order_by": "t",
            }
        },
        "outputs": {"o": {"from": "j"}},
    }
    left = [{"t": t, "k": k, "clock": at(c)} for t, k, c in [(1, "a", 0), (2, None, 2), (4, "a", 4), (3, "a", 6)]]
    right = [
        {"t": t, "v": v, "k": k, "clock": at(c)}
        for t, v, k, c in [(2, 20, "a", 1), (2, 21, None, 3), (3, 30, "a", 5), (7, 70, "a", 7)]
    ]
    result = reference.run(document, {"l": left, "r": right}, clock="clock")
    got = [(row["left_t"], row["right_t"], row["v"]) for row in result.outputs["o"]]
    assert got == [(1, 2, 20), (4, 2, 20), (1, 3, 30), (4, 3, 30)]
    assert list(result.outputs["o"][0]) == ["left_t", "left_k", "left_clock", "right_t", "v", "right_k", "right_clock"]
    assert result.late == {"j": 1}


def resample(parameters: dict[str, Any], pace: list[Any], data: list[Any], at_end: str = "hold") -> list[Any]:
    document = {
        "streams": {
            "p": {"schema": {"t": "int", "clock": "timestamp"}},
            "d": {"schema": {"t": "int", "g": "string", "v": "double", "clock": "timestamp"}},
        },
        "boxes": {"b": {"kind": "resample", "in": ["p", "d"], "order_by": "t", "within": 2, **parameters}},
        "outputs": {"o": {"from": "b"}},
    }
    inputs = {
        "p": [{"t": t, "clock": at(c)} for c, t in pace],
        "d": [{"t": t, "g": g, "v": v, "clock": at(c)} for c, (t, g, v) in data],
    }
    rows = reference.run(document, inputs, clock="clock", at_end=at_end).outputs["o"]  # type: ignore[arg-type]
    return [tuple(row.values()) for row in rows]


def test_resample_waits_for_the_first_tuple_past_the_window() -> None:
    data = [(1, (3, "a", 1.0)), (2, (7, "a", 2.0)), (3, (6, "b", 9.0)), (4, (8, "a", 3.0)), (5, (8, "b", 7.0))]
    box = {"group_by": "g", "compute": {"s": "sum(v)"}}
    assert resample(box, [(0, 5)], data) == [("a", 5, 3.0), ("b", 5, 9.0)]
    # The pace tuple comes when the data has passed it.
    assert resample(box, [(9, 5)], data) == [("a", 5, 3.0), ("b", 5, 9.0)]
    assert resample(box, [(9, 7)], data) == []
    assert resample(box, [(9, 7)], data, "flush") == [("a", 7, 5.0), ("b", 7, 16.0)]


def test_resample_interpolates() -> None:
    box = {"interpolate": "linear", "compute": {"v": "v"}}
    data = [(1, (4, "a", 1.0)), (2, (6, "a", 3.0)), (3, (10, "a", 4.0)), (4, (13, "a", 0.0))]
    assert resample(box, [(0, 5), (0, 6), (0, 8), (0, 9)], data) == [(5, 2.0), (6, 3.0), (8, 3.5), (9, None)]


def test_union_takes_ports_in_order_at_equal_keys() -> None:
    document = {
        "streams": {"s": {"schema": {"x": "int", "clock": "timestamp"}}},
        "boxes": {
            "m": {"kind": "map", "in": "s", "compute": {"x": "x + 0.5"}},
            "n": {"kind": "map", "in": "s", "compute": {"x": "x"}},
            "u": {"kind": "union", "in": ["m", "n"]},
        },
        "outputs": {"o": {"from": "u"}},
    }
    rows = [{"x": x, "clock": at(x)} for x in (1, 2)]
    got = reference.run(document, {"s": rows}, clock="clock").outputs["o"]
    assert [row["x"] for row in got] == [1.5, 1.0, 2.5, 2.0]
    assert all(isinstance(row["x"], float) for row in got)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9223372036854775807 + 1", None),
        ("x / 0", None),
        ("x / 2", 1.5),
        ("x // 2", 1),
        ("x = 3 or n = 1", True),
        ("n = 1 and x = 4", False),
        ("n = 1 or x = 4", None),
        ("x in (1, null)", None),
        ("x in (3, null)", True),
        ("x between 1 and n", None),
        ("x between 4 and n", False),
        ("case when n > 0 then 1 else 2.5 end", 2.5),
        ("coalesce(n, 2.0)", 2.0),
        ("s like 'a_c%'", True),
        ("upper(s) || '!'", "ABCD!"),
        ("n is null and x is not null", True),
        ("round(2.5)", 3.0),
        ("abs(-x)", 3),
    ],
)
def test_expressions(text: str, expected: object) -> None:
    box = {"kind": "map", "compute": {"y": text}}
    rows = {"s": timed((3, None, "abcd"))}
    got = values(answer(box, rows, {"x": "int", "n": "int", "s": "string"}), "y")
    assert got == [expected]
    assert type(got[0]) is type(expected)


def test_aggregate_functions() -> None:
    compute = {
        "all": "count(*)",
        "n": "count(x)",
        "d": "count(distinct x)",
        "pos": "sum(x) filter (where x > 1)",
        "range": "max(x) - min(x)",
        "m": "median(x)",
        "q": "quantile(x, 0.9)",
        "v": "variance(x)",
        "delta": "delta(x)",
        "none": "sum(x) filter (where x > 100)",
        "both": "bool_and(x > 0)",
    }
    box = {"kind": "tumble", "window": {"size": "5 tuples"}, "compute": compute}
    (row,) = answer(box, {"s": timed(1, 3, None, 3, 5)}, {"x": "int"}).outputs["o"]
    assert row == {
        "all": 5,
        "n": 4,
        "d": 3,
        "pos": 11,
        "range": 4,
        "m": 3.0,
        "q": pytest.approx(4.4),
        "v": pytest.approx(8 / 3),
        "delta": 4,
        "none": None,
        "both": True,
    }
