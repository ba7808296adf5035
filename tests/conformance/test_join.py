"""join: pairs within a distance, whatever the interleaving."""

from __future__ import annotations

from conformance.cases import Case, at, check_engine, check_oracle

LR = {"l": {"t": "int", "k": "string"}, "r": {"t": "int", "v": "int", "k": "string"}}
LEFT = [(0, 1, "a"), (2, 2, None), (4, 4, "a"), (6, 3, "a")]
RIGHT = [(1, 2, 20, "a"), (3, 2, 21, None), (5, 3, 30, "a"), (7, 7, 70, "a")]
TWO = "kind: join, in: [l, r], left_order_by: t, right_order_by: t"
PICK = "compute: {l: left.t, v: v}"

CASES = [
    Case(
        "all columns, those on both sides prefixed",
        LR,
        f"b: {{{TWO}, 'on': left.k = right.k, within: 2}}",
        {"l": LEFT[:1], "r": RIGHT[:1]},
        {"b": [(at(0), 1, "a", at(1), 2, 20, "a")]},
        columns={"b": ["left_at", "left_t", "left_k", "right_at", "right_t", "v", "right_k"]},
    ),
    Case(
        "each pair once, when the later tuple comes",
        LR,
        f"b: {{{TWO}, 'on': left.k = right.k, within: 2, {PICK}}}",
        {"l": LEFT, "r": RIGHT},
        {"b": [(1, 20), (4, 20), (1, 30), (4, 30)]},
        late={"b": 1},
        columns={"b": ["l", "v"]},
    ),
    Case(
        "without a condition the distance alone decides, inclusive",
        LR,
        f"b: {{{TWO}, within: 1, {PICK}}}",
        {"l": [(0, 1, "a"), (4, 5, "b")], "r": [(1, 2, 20, "x"), (2, 3, 30, None), (5, 5, 50, None)]},
        {"b": [(1, 20), (5, 50)]},
    ),
    Case(
        "a NULL order value is late",
        LR,
        f"b: {{{TWO}, within: 5, {PICK}}}",
        {"l": [(0, None, "a"), (1, 1, "a")], "r": [(2, None, 1, "a"), (3, 2, 2, "a")]},
        {"b": [(1, 2)]},
        late={"b": 2},
    ),
    Case(
        "count slack lets a tuple come late",
        LR,
        f"b: {{{TWO}, within: 1, slack: 1 tuple, {PICK}}}",
        {"l": [(0, 3, "a"), (2, 1, "a"), (4, 4, "a")], "r": [(1, 2, 20, "a"), (3, 4, 40, "a")]},
        # Left delivers 1 and 3; right delivers 2 when 4 comes, and pairs then with the left 1; 3 follows.
        {"b": [(1, 20), (3, 20)]},
        late={"b": 0},
    ),
    Case(
        "what the slack holds back is joined at the end",
        LR,
        f"b: {{{TWO}, within: 1, slack: 1 tuple, {PICK}}}",
        {"l": [(0, 3, "a"), (2, 1, "a"), (4, 4, "a")], "r": [(1, 2, 20, "a"), (3, 4, 40, "a")]},
        # At the end left delivers 4, which finds nothing yet; then right delivers 4 and finds 3 and 4.
        {"b": [(1, 20), (3, 20), (3, 40), (4, 40)]},
        at_end="flush",
    ),
    Case(
        "time slack takes tuples at once",
        LR,
        f"b: {{{TWO}, within: 1, slack: 2, {PICK}}}",
        {"l": [(0, 5, "a"), (1, 3, "a"), (2, 2, "a")], "r": [(3, 4, 40, "a")]},
        {"b": [(5, 40), (3, 40)]},
        late={"b": 1},
    ),
    Case(
        "slack per side",
        LR,
        f"b: {{{TWO}, within: 0, left_slack: 9, {PICK}}}",
        {"l": [(0, 5, "a"), (1, 3, "a")], "r": [(2, 5, 50, "a"), (3, 3, 30, "a")]},
        {"b": [(5, 50)]},
        late={"b": 1},
    ),
    Case(
        "in time",
        {"l": {"t": "timestamp"}, "r": {"u": "timestamp"}},
        "{j: {kind: join, in: [l, r], left_order_by: t, right_order_by: u, within: 10m, compute: {t: t, u: u}},"
        " b: {kind: map, in: j, extend: {a: arrival_time()}}}",
        {"l": [(0, at(0)), (5, at(601))], "r": [(3, at(600)), (6, at(1202))]},
        {"b": [(at(0), at(600), at(0)), (at(601), at(600), at(3))]},
    ),
    Case(
        "late tuples can be had, each side on its own port",
        LR,
        f"b: {{{TWO}, within: 0, late: true, {PICK}}}",
        {"l": [(0, 5, "a"), (1, 3, "b")], "r": [(2, 5, 50, "a"), (3, None, 30, "c")]},
        {"b": [(5, 50)], "b.late_left": [(at(1), 3, "b")], "b.late_right": [(at(3), None, 30, "c")]},
        late={"b": 2},
    ),
]


def test_engine(case: Case, train: int | None) -> None:
    check_engine(case, train)


def test_oracle(case: Case) -> None:
    check_oracle(case)
