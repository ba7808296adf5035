"""aggregate: windows of tuples, windows of values, slack, and the functions."""

from __future__ import annotations

from conformance.cases import Case, at, check_engine, check_oracle, one, seconds

S = {"s": {"x": "int"}}
G = {"s": {"g": "string", "x": "int"}}
XY = {"s": {"x": "int", "y": "double"}}
QUOTES = [
    ("MSF", 60, 20.0),
    ("INT", 60, 16.0),
    ("IBM", 60, 24.0),
    ("IBM", 75, 20.0),
    ("IBM", 90, 23.0),
    ("MSF", 90, 24.0),
    ("INT", 90, 12.0),
    ("IBM", 105, 13.0),
    ("IBM", 120, 17.0),
    ("INT", 120, 16.0),
    ("MSF", 120, 22.0),
]
SWAPPED = [*QUOTES[:7], *QUOTES[8:], QUOTES[7]]
TICKER = {"s": {"ticker": "string", "time": "timestamp", "price": "double"}}
HOURLY = (
    "b: {{kind: aggregate, in: s, group_by: ticker, order_by: time, slack: {} tuples, "
    "window: {{size: 1h, advance: 1h}}, compute: {{price: avg(price)}}}}"
)


def quotes(rows: list[tuple[str, int, float]]) -> dict[str, list[tuple[object, ...]]]:
    return one(*((n, ticker, at(minute * 60), price) for n, (ticker, minute, price) in enumerate(rows)))


CASES = [
    Case(
        "hourly averages",
        TICKER,
        HOURLY.format(0),
        quotes(QUOTES),
        {"b": [("IBM", at(3600), 20.0), ("INT", at(3600), 14.0), ("MSF", at(3600), 22.0)]},
        columns={"b": ["ticker", "time", "price"]},
        late={"b": 0},
    ),
    Case(
        "hourly averages with slack",
        TICKER,
        HOURLY.format(1),
        quotes(SWAPPED),
        # What the slack holds back leaves at the end in order of time: it closes the three. Open windows follow in the
        # order in which the groups' first tuples came through the slack.
        {
            "b": [
                ("IBM", at(3600), 20.0),
                ("INT", at(3600), 14.0),
                ("MSF", at(3600), 22.0),
                ("IBM", at(7200), 17.0),
                ("MSF", at(7200), 22.0),
                ("INT", at(7200), 16.0),
            ]
        },
        late={"b": 0},
        at_end="flush",
    ),
    Case(
        "without slack the late tuple is lost",
        TICKER,
        HOURLY.format(0),
        quotes(SWAPPED),
        {"b": [("IBM", at(3600), 67 / 3), ("INT", at(3600), 14.0), ("MSF", at(3600), 22.0)]},
        late={"b": 1},
    ),
    Case(
        "tuple windows",
        G,
        "b: {kind: aggregate, in: s, group_by: g, window: {size: 3 tuples, advance: 2 tuples}, compute: {s: sum(x)}}",
        one((0, "a", 1), (1, "a", 2), (2, "b", 9), (3, "a", 3), (4, "a", 4), (5, "a", 5), (6, "a", 6)),
        {"b": [("a", 6), ("a", 12)]},
        columns={"b": ["g", "s"]},
        at_end="flush",
    ),
    Case(
        "tuple windows with gaps",
        S,
        "b: {kind: aggregate, in: s, window: {size: 1 tuple, advance: 3 tuples}, compute: {s: sum(x)}}",
        one(*enumerate((1, 2, 3, 4, 5, 6, 7))),
        {"b": [(1,), (4,), (7,)]},
    ),
    Case(
        "tuple windows in the order of a column",
        S,
        "b: {kind: aggregate, in: s, order_by: x, slack: 1 tuple, window: {size: 2 tuples}, compute: {c: collect(x)}}",
        one(*enumerate((3, 1, 2, 1, 5, 4))),
        {"b": [([1, 2],), ([3, 4],)]},
        late={"b": 1},
        at_end="flush",
    ),
    Case(
        "tuple windows with time slack",
        S,
        "b: {kind: aggregate, in: s, order_by: x, slack: 2, window: {size: 2 tuples}, compute: {c: collect(x)}}",
        one(*enumerate((3, 1, 2, 5, 2, 7, 9))),
        {"b": [([1, 2],), ([3, 5],)]},
        late={"b": 1},
    ),
    Case(
        "overlapping value windows",
        S,
        "b: {kind: aggregate, in: s, order_by: x, window: {size: 4, advance: 2}, compute: {n: count(*)}}",
        one(*enumerate((-1, 1, 2, 7))),
        # -1 lies in [-4, 0) and [-2, 2); 1 in [-2, 2) and [0, 4); 2 in [0, 4) and [2, 6); 7 in [4, 8) and [6, 10).
        {"b": [(-4, 1), (-2, 2), (0, 2), (2, 1), (4, 1), (6, 1)]},
        at_end="flush",
    ),
    Case(
        "value windows are half open",
        S,
        "b: {kind: aggregate, in: s, order_by: x, window: {size: 10}, compute: {n: count(*), e: window_end()}}",
        one(*enumerate((0, 9, 10))),
        {"b": [(0, 2, 10)]},
    ),
    Case(
        "value windows with gaps",
        S,
        "b: {kind: aggregate, in: s, order_by: x, window: {size: 2, advance: 5}, compute: {c: collect(x)}}",
        one(*enumerate((0, 1, 2, 4, 6, 8, 11))),
        {"b": [(0, [0, 1]), (5, [6])]},
        late={"b": 0},
    ),
    Case(
        "an order value of NULL is late",
        S,
        "b: {kind: aggregate, in: s, order_by: x, late: true, window: {size: 10}, compute: {n: count(*)}}",
        one((0, 1), (1, None), (2, 3), (3, 2)),
        {"b": [(0, 2)], "b.late": [(at(1), None), (at(3), 2)]},
        late={"b": 2},
        at_end="flush",
    ),
    Case(
        "time slack closes groups that have fallen silent",
        G,
        "b: {kind: aggregate, in: s, group_by: g, order_by: x, slack: 5, window: {size: 10}, compute: {n: count(*)}}",
        one((0, "a", 12), (1, "b", 8), (2, "c", 11), (3, "a", 14), (4, "b", 26), (5, "b", 20), (6, "c", 31)),
        {"b": [("b", 0, 1), ("a", 10, 2), ("c", 10, 1)]},
        late={"b": 1},
    ),
    Case(
        "flush closes by window start and then by first appearance",
        G,
        "b: {kind: aggregate, in: s, group_by: g, order_by: x, window: {size: 10}, compute: {n: count(*)}}",
        one((0, "b", 25), (1, "a", 25), (2, "c", 3), (3, None, 24)),
        {"b": [("c", 0, 1), ("b", 20, 1), ("a", 20, 1), (None, 20, 1)]},
        at_end="flush",
    ),
    Case(
        "empty windows stand between the first and the last",
        S,
        "b: {kind: aggregate, in: s, order_by: x, window: {size: 10, emit_empty: true},"
        " compute: {n: count(*), s: sum(x)}}",
        one((0, 5), (1, 35), (2, 47)),
        {"b": [(0, 1, 5), (10, 0, None), (20, 0, None), (30, 1, 35)]},
    ),
    Case(
        "align first",
        S,
        "b: {kind: aggregate, in: s, order_by: x, slack: 100, window: {size: 10, advance: 5, align: first},"
        " compute: {n: count(*)}}",
        one((0, 7), (1, 6), (2, 13), (3, 18)),
        {"b": [(7, 2), (12, 2), (17, 1)]},
        late={"b": 1},
        at_end="flush",
    ),
    Case(
        "first and last follow the order column",
        XY,
        "b: {kind: aggregate, in: s, order_by: x, slack: 5, window: {size: 10},"
        " compute: {f: first(y), l: last(y), d: delta(y), c: collect(y)}}",
        one((0, 5, 1.0), (1, 3, 2.0), (2, 5, 8.0), (3, 4, None), (4, 15, 0.0)),
        {"b": [(0, 2.0, 8.0, 6.0, [2.0, 1.0, 8.0])]},
    ),
    Case(
        "counting and picking",
        XY,
        "b: {kind: aggregate, in: s, window: {size: 4 tuples}, compute: {a: count(*), n: count(y),"
        " d: count(distinct y), lo: min(y), hi: max(y), r: max(x) - min(x), s: sum(x) filter (where y > 1)}}",
        one((0, 1, 2.0), (1, 5, None), (2, 3, 2.0), (3, 4, 1.0)),
        {"b": [(4, 3, 2, 1.0, 2.0, 4, 4)]},
    ),
    Case(
        "statistics",
        XY,
        "b: {kind: aggregate, in: s, window: {size: 4 tuples}, compute: {m: median(x), q: 'quantile(x, 0.25)',"
        " v: variance(y), d: stddev(y), one: 'variance(y) filter (where x = 1)'}}",
        one((0, 1, 2.0), (1, 5, None), (2, 3, 4.0), (3, 4, 6.0)),
        {"b": [(3.5, 2.5, 4.0, 2.0, None)]},
    ),
    Case(
        "aggregates of nothing are NULL",
        XY,
        "b: {kind: aggregate, in: s, window: {size: 1 tuple}, compute: {n: count(y), s: sum(y), a: avg(y),"
        " f: first(y), c: collect(y), b: bool_and(y > 0)}}",
        one((0, 1, None)),
        {"b": [(0, None, None, None, None, None)]},
    ),
    Case(
        "an integer sum that overflows is NULL",
        S,
        "b: {kind: aggregate, in: s, window: {size: 2 tuples}, compute: {s: sum(x)}}",
        one((0, 2**63 - 1), (1, 1), (2, 2**63 - 1), (3, -1)),
        {"b": [(None,), (2**63 - 2,)]},
    ),
    Case(
        "booleans",
        {"s": {"p": "bool"}},
        "b: {kind: aggregate, in: s, window: {size: 2 tuples}, compute: {a: bool_and(p), o: bool_or(p)}}",
        one((0, True), (1, None), (2, False), (3, True)),
        {"b": [(True, True), (False, True)]},
    ),
    Case(
        "durations and times",
        {"s": {"t": "timestamp", "d": "duration"}},
        "b: {kind: aggregate, in: s, order_by: t, window: {size: 10s}, compute: {s: sum(d), a: avg(d), w: delta(t)}}",
        one((0, at(1), seconds(2)), (1, at(9), seconds(4)), (2, at(10), seconds(1))),
        {"b": [(at(0), seconds(6), seconds(3), seconds(8))]},
    ),
    Case(
        "a group column beside aggregates",
        G,
        "b: {kind: aggregate, in: s, group_by: g, window: {size: 1 tuple}, compute: {h: upper(g), n: count(*) + 1}}",
        one((0, "a", 1), (1, None, 1)),
        {"b": [("a", "A", 2), (None, None, 2)]},
    ),
    Case(
        "empty windows come when they close and a later window is known",
        S,
        "b: {kind: aggregate, in: s, order_by: x, window: {size: 10, emit_empty: true}, compute: {n: count(*)}}",
        one((0, 5), (1, 35)),
        {"b": [(0, 1), (10, 0), (20, 0)]},
    ),
    Case(
        "a tuple in a gap does not make empty windows",
        S,
        "b: {kind: aggregate, in: s, order_by: x, window: {size: 2, advance: 10, emit_empty: true},"
        " compute: {n: count(*)}}",
        one((0, 1), (1, 35)),
        {"b": [(0, 1)]},
        at_end="flush",
    ),
    Case(
        "a tuple past a gap does",
        S,
        "b: {kind: aggregate, in: s, order_by: x, window: {size: 2, advance: 10, emit_empty: true},"
        " compute: {n: count(*)}}",
        one((0, 1), (1, 15), (2, 31)),
        {"b": [(0, 1), (10, 0), (20, 0), (30, 1)]},
        at_end="flush",
    ),
    Case(
        "empty windows of several groups stand where their group closes them",
        G,
        "b: {kind: aggregate, in: s, group_by: g, order_by: x, window: {size: 9, advance: 3, emit_empty: true},"
        " compute: {n: count(*)}}",
        one((0, None, -1), (1, "a", 7), (2, "a", 18), (3, None, 20)),
        {
            "b": [
                ("a", 0, 1),
                ("a", 3, 1),
                ("a", 6, 1),
                ("a", 9, 0),
                (None, -9, 1),
                (None, -6, 1),
                (None, -3, 1),
                (None, 0, 0),
                (None, 3, 0),
                (None, 6, 0),
                (None, 9, 0),
            ]
        },
    ),
    Case(
        "windows over doubles time out",
        XY,
        "b: {kind: aggregate, in: s, order_by: y, window: {size: 0.5, timeout: 5s}, compute: {n: collect(x)}}",
        one((0, 1, 0.25), (1, 2, 0.0), (2, 3, 0.25), (9, 4, 0.75)),
        {"b": [(0.0, [1, 3])]},
        late={"b": 1},
    ),
    Case(
        "no tuples at all",
        XY,
        "b: {kind: aggregate, in: s, order_by: y, window: {size: 0.5, timeout: 5s}, compute: {n: collect(x)}}",
        one(),
        {"b": []},
        at_end="flush",
    ),
    Case(
        "a group of which only late tuples came has no first window yet",
        G,
        "b: {kind: aggregate, in: s, group_by: g, order_by: x, slack: 0, window: {size: 4, align: first},"
        " compute: {n: count(*)}}",
        one((0, "b", 10), (1, "z", 9), (2, "a", 12), (3, "z", 13), (4, "c", 14)),
        {"b": [("b", 10, 1), ("a", 12, 1), ("z", 13, 1), ("c", 14, 1)]},
        late={"b": 1},
        at_end="flush",
    ),
    Case(
        "the same when the windows of such a group overlap",
        G,
        "b: {kind: aggregate, in: s, group_by: g, order_by: x, slack: 0, window: {size: 4, advance: 2, align: first},"
        " compute: {n: count(*)}}",
        one((0, "b", 10), (1, "z", 9), (2, "a", 12), (3, "z", 13), (4, "z", 17)),
        {"b": [("b", 10, 1), ("a", 12, 1), ("z", 13, 1)]},
        late={"b": 1},
    ),
    Case(
        "empty windows that closed before come out when their group goes on",
        G,
        "b: {kind: aggregate, in: s, group_by: g, order_by: x, slack: 0, window: {size: 5, emit_empty: true},"
        " compute: {n: count(*)}}",
        one((0, "f", 1), (1, "t", 20), (2, "f", 20), (3, "t", 21)),
        {"b": [("f", 0, 1), ("f", 5, 0), ("f", 10, 0), ("f", 15, 0)]},
    ),
    Case(
        "empty windows wait for a later window, past the timeouts in between",
        G,
        "b: {kind: aggregate, in: s, group_by: g, order_by: x, slack: 2,"
        " window: {size: 5, emit_empty: true, timeout: 1s}, compute: {n: count(*), o: timed_out()}}",
        one((0, "f", 65), (4, "t", 61), (5, "t", 95), (20, "f", 110)),
        # 61 is late. Progress passes f's empty windows at 95, but only 110 shows that f goes on.
        {
            "b": [
                ("f", 65, 1, True),
                ("t", 95, 1, True),
                *(("f", start, 0, False) for start in range(70, 105, 5)),
            ]
        },
        late={"b": 1},
    ),
]


def test_engine(case: Case, train: int | None) -> None:
    check_engine(case, train)


def test_oracle(case: Case) -> None:
    check_oracle(case)
