"""Mathematical functions, and what happens outside their domains."""

from __future__ import annotations

import math

import pytest

from tests.unit.expressions.evaluation import evaluate, fault, value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ceil(2)", 2),
        ("ceil(-1.5)", -1.0),
        ("floor(1.5)", 1.0),
        ("round(2.5)", 3.0),
        ("round(-2.5)", -3.0),
        ("round(1234.567, -2)", 1200.0),
        ("round(1234.567, 2)", 1234.57),
        ("round(7)", 7),
        ("trunc(1.9)", 1.0),
        ("sign(-2.5)", -1.0),
        ("sqrt(2)", math.sqrt(2)),
        ("cbrt(-8)", -2.0),
        ("exp(1)", math.e),
        ("ln(e())", 1.0),
        ("log(e())", 1.0),
        ("log(10, 1000)", math.log(1000) / math.log(10)),
        ("log2(536870912)", 29.0),
        ("power(2, 0.5)", math.sqrt(2)),
        ("pow(-8, 3)", -512.0),
        ("sin(pi() / 2)", 1.0),
        ("atan2(1, 1)", math.pi / 4),
        ("asin(1)", math.pi / 2),
        ("acos(-1)", math.pi),
        ("degrees(pi())", 180.0),
        ("radians(180)", math.pi),
        ("isnan(1.5)", False),
        ("isnan(null)", None),
    ],
)
def test_functions(text: str, expected: object) -> None:
    found = value(text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    "text",
    ["sqrt(-1)", "ln(0)", "ln(-1)", "log(-1)", "log(1, 5)", "log(-2, 8)", "log10(0)", "log2(-1)", "asin(1.5)",
     "acos(-2)", "pow(-8, 0.5)", "pow(0, -1)", "cot(0)"],
)  # fmt: skip
def test_outside_the_domain_is_null_and_counted(text: str) -> None:
    assert fault(text) == (None, 1)


def test_nan_stays_nan_and_null_stays_null() -> None:
    for name in ("sqrt", "ln", "log10", "log2", "asin", "acos", "sin", "exp"):
        found, faults = evaluate(f"{name}(x)", x=[float("nan"), None])
        assert math.isnan(found[0]), name
        assert found[1] is None
        assert faults == [0, 0]
    found, faults = evaluate("pow(x, y)", x=[float("nan"), 1.0, None], y=[1.0, float("nan"), 0.0])
    assert math.isnan(found[0])
    assert found[1:] == [1.0, None]
    assert faults == [0, 0, 0]


def test_division_by_a_constant_is_exact_whatever_the_number_of_rows() -> None:
    numbers = [n / 7 for n in range(1, 200)]
    for divisor in (3.0, 49.0, 0.1, 2.0, 1e6):
        assert evaluate(f"x / {divisor}", x=numbers)[0] == [n / divisor for n in numbers]
        assert evaluate(f"x / (0 + {divisor})", x=numbers)[0] == [n / divisor for n in numbers]
        assert evaluate(f"(x + 0) / {divisor}", x=numbers[:1])[0] == [numbers[0] / divisor]
