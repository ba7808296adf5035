"""Arithmetic on ints, doubles and durations, at the edges of what they can hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from aurora.expressions import analyse
from tests.unit.expressions.evaluation import SCOPE, evaluate, fault, value

MAX = 2**63 - 1
MIN = -(2**63)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7 / 2", 3.5),
        ("7 // 2", 3),
        ("-7 // 2", -3),
        ("7 // -2", -3),
        ("-7 // -2", 3),
        ("7 div 2", 3),
        ("div(7, 2)", 3),
        ("7 % 3", 1),
        ("-7 % 3", -1),
        ("7 % -3", 1),
        ("-7 % -3", -1),
        ("mod(7, 3)", 1),
        ("7.5 % 2", 1.5),
        ("-7.5 % 2", -1.5),
        ("1e18 % 3", 1.0),
        ("1 + 0.5", 1.5),
        ("2 * 3 - 1", 5),
        ("- (3 - 5)", 2),
        ("+5", 5),
        ("abs(-2.5)", 2.5),
        ("6 & 3 | 8", 10),
        ("1 << 63", MIN),
        ("-1 >> 63", -1),
        ("~0", -1),
        ("-9223372036854775808", MIN),
    ],
)
def test_numbers(text: str, expected: object) -> None:
    found = value(text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    "text",
    [
        "1 / 0",
        "1.5 / 0",
        "0 / 0",
        "1 / 0.0",
        "1 / -0.0",
        "1 // 0",
        "1 % 0",
        "1.5 % 0",
        f"{MAX} + 1",
        f"{MIN} - 1",
        f"{MAX} * 2",
        f"{MIN} // -1",
        f"-({MIN})",
        f"abs({MIN})",
        "1 << 64",
        "1 >> -1",
        "cast(1e19 as int)",
        "cast('nan' as double)::int",
        "interval '1' second / 0",
        "interval '1' second / interval '0' second",
        "interval '1' week * 1000000000000",
        "timestamp '2024-01-01' + interval '1' week * 14000000",
    ],
)
def test_what_cannot_be_represented_is_null_and_counted(text: str) -> None:
    assert fault(text) == (None, 1)


@pytest.mark.parametrize("text", ["null / 0", "1 / null", "null + 1", f"{MAX} + null", "-(null)", "null // 0"])
def test_null_operands_are_no_fault(text: str) -> None:
    assert fault(text) == (None, 0)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("i + 1", MIN, MAX - 1), ("1 + i", MIN, MAX - 1), ("i - 1", MIN + 1, MAX), ("i + j", -1, 1), ("i - j", -1, 1)],
)
def test_additions_fail_exactly_outside_their_range(text: str, low: int, high: int) -> None:
    edge = [MIN, MIN + 1, -1, 0, 1, MAX - 1, MAX, None]
    found, faults = evaluate(text, i=edge, j=[1] * 8)
    sign = -1 if "-" in text else 1
    for operand, result, count in zip(edge, found, faults, strict=True):
        exact = None if operand is None else operand + sign
        fits = exact is not None and MIN <= exact <= MAX
        assert result == (exact if fits else None)
        assert count == (0 if fits or operand is None else 1)


def test_chains_count_each_fault_once() -> None:
    found, faults = evaluate("(i * 2 + 1) * 3 - 4", i=[1, MAX, None])
    assert found == [5, None, None]
    assert faults == [0, 1, 0]


def test_faults_of_independent_parts_add_up() -> None:
    assert evaluate("(i / j) + (i // j) > 0", i=[1, 1], j=[0, 1]) == ([None, True], [2, 0])


@pytest.mark.parametrize(
    "text", ["x * y", "x + i", "hour(t) * 60 + minute(t)", "i % 7", "x / 2", "length(s) + 1", "i > 5", "i & j"]
)
def test_what_cannot_fail_has_no_fault_expression(text: str) -> None:
    assert analyse(text, SCOPE).compile().faults is None


def test_a_product_of_doubles_is_just_that() -> None:
    assert str(analyse("x * y", SCOPE).compile().value) == '[(col("x")) * (col("y"))]'


def test_doubles_follow_ieee() -> None:
    inf, nan = float("inf"), float("nan")
    found, faults = evaluate("x * 10", x=[1e308, -1e308, inf, nan, None])
    assert found[:3] == [inf, -inf, inf]
    assert found[3] != found[3]
    assert faults == [0] * 5


def test_times_and_durations() -> None:
    noon, midnight = datetime(2024, 1, 1, 12, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)
    hour = timedelta(hours=1)
    cases = {
        "t - u": 12 * hour,
        "u - t": -12 * hour,
        "t + d": noon + hour,
        "d + t": noon + hour,
        "t - d": noon - hour,
        "d + d": 2 * hour,
        "d - d": timedelta(0),
        "d * 3": 3 * hour,
        "3 * d": 3 * hour,
        "d * 1.5": 1.5 * hour,
        "0.5 * d": hour / 2,
        "d / 2": hour / 2,
        "d / interval '30' minute": 2.0,
        "-d": -hour,
        "abs(-d)": hour,
        "d + interval '1' second": hour + timedelta(seconds=1),
        "t + 1 * interval '1' minute": noon + timedelta(minutes=1),
    }
    for text, expected in cases.items():
        assert evaluate(text, t=[noon], u=[midnight], d=[hour]) == ([expected], [0]), text
