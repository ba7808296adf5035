"""Conjuncts, intervals and equalities, read off a condition without running it."""

from __future__ import annotations

import pytest

from aurora.expressions import Interval, Scope, analyse, columns_used, conjuncts, equalities, interval
from aurora.model.schema import Schema
from tests.unit.expressions.evaluation import SCOPE, frame, run

WHOLE = Interval()
NONE = Interval(empty=True)
DAY_US = 86_400_000_000


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("i > 5", "i", Interval(lo=5, lo_open=True)),
        ("i >= 5", "i", Interval(lo=5)),
        ("5 > i", "i", Interval(hi=5, hi_open=True)),
        ("i = 5", "i", Interval(5, 5)),
        ("i > 5", "j", WHOLE),
        ("i > j", "i", WHOLE),
        ("i <> 5", "i", WHOLE),
        ("i between 1 and 3", "i", Interval(1, 3)),
        ("i between j and 3", "i", Interval(hi=3)),
        ("i in (3, 1, 2)", "i", Interval(1, 3)),
        ("i in (3, null)", "i", Interval(3, 3)),
        ("i in (3, j)", "i", WHOLE),
        ("i > 1 and i < 9 and j = 2", "i", Interval(1, 9, True, True)),
        ("i > 1 or i > 5", "i", Interval(lo=1, lo_open=True)),
        ("i = 1 or i = 5", "i", Interval(1, 5)),
        ("i > 1 or j > 5", "i", WHOLE),
        ("(i > 1 or i < -1) and i >= 7", "i", Interval(lo=7)),
        ("i > 5 and i < 3", "i", NONE),
        ("i > 5 and i <= 5", "i", NONE),
        ("i = null", "i", NONE),
        ("false", "i", NONE),
        ("false or i = 3", "i", Interval(3, 3)),
        ("not (i > 5)", "i", Interval(hi=5)),
        ("not (i <= 5)", "i", Interval(lo=5, lo_open=True)),
        ("not (i = 5)", "i", WHOLE),
        ("(i > 5) is true", "i", Interval(lo=5, lo_open=True)),
        ("i > 2 * 3 - 1", "i", Interval(lo=5, lo_open=True)),
        ("i > -(2 + 3)", "i", Interval(lo=-5, lo_open=True)),
        ("i > 5 / 2", "i", WHOLE),
        ("i < 2.5", "i", Interval(hi=2.5, hi_open=True)),
        ("x < 2", "x", Interval(hi=2.0, hi_open=True)),
        ("i + 1 > 5", "i", WHOLE),
        ("s >= 'a' and s < 'b'", "s", Interval("a", "b", False, True)),
        ("s like 'a%'", "s", WHOLE),
        ("t >= '1970-01-02' and t < timestamp '1970-01-03'", "t", Interval(DAY_US, 2 * DAY_US, False, True)),
        ("t < timestamp '1970-01-02' + interval '1' day", "t", Interval(hi=2 * DAY_US, hi_open=True)),
        ("d <= interval '1' second", "d", Interval(hi=1_000_000)),
        ("case when p then i > 5 else true end", "i", WHOLE),
        ("p", "p", WHOLE),
        ("i = 9007199254740993.0", "i", WHOLE),
    ],
)
def test_intervals(text: str, column: str, expected: Interval) -> None:
    assert interval(analyse(text, SCOPE), column) == expected


@pytest.mark.parametrize(
    "text", ["i > 1 and not (i > 7)", "i in (2, 9) or i = 4", "i between 3 and 5 or i > 8", "not (i < 2) and 6 >= i"]
)
def test_values_that_satisfy_the_condition_are_in_the_interval(text: str) -> None:
    scalar = analyse(text, SCOPE)
    numbers = list(range(-2, 12))
    bounds = interval(scalar, "i")
    for number, holds in zip(numbers, run(scalar, frame(i=numbers))[0], strict=True):
        assert not holds or bounds.contains(number)


def test_conjuncts_are_conditions_of_their_own() -> None:
    parts = conjuncts(analyse("i > 1 and (p or q) and (x < 2 and not p)", SCOPE))
    assert [sorted(columns_used(part)) for part in parts] == [["i"], ["p", "q"], ["x"], ["p"]]
    assert run(parts[0], frame(i=[1, 2]))[0] == [False, True]
    assert len(conjuncts(analyse("p or q", SCOPE))) == 1


JOINED = Scope.joined(Schema.of(a="int", b="double", s="string"), Schema.of(a="int", c="int", s="string"))


@pytest.mark.parametrize(
    ("text", "pairs", "rest"),
    [
        ("left.a = right.a", (("left.a", "right.a"),), None),
        ("right.c = left.a and left.s = right.s", (("left.a", "right.c"), ("left.s", "right.s")), None),
        ("left.a = right.a and b > 2", (("left.a", "right.a"),), {"left.b"}),
        ("b = right.c", (), {"left.b", "right.c"}),
        ("left.a = 5", (), {"left.a"}),
        ("left.a = left.a and right.c = 1 and right.a = c", (), {"left.a", "right.c", "right.a"}),
        ("left.a = right.a or left.s = right.s", (), {"left.a", "right.a", "left.s", "right.s"}),
        ("left.a + 1 = right.a", (), {"left.a", "right.a"}),
    ],
)
def test_equalities(text: str, pairs: tuple[tuple[str, str], ...], rest: set[str] | None) -> None:
    found, remaining = equalities(analyse(text, JOINED))
    assert found == pairs
    assert (None if remaining is None else remaining.columns) == rest
