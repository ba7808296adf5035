"""Huge and deep expressions end in a clear problem or in a result, never in a crash."""

from __future__ import annotations

import pytest

from tests.unit.expressions.evaluation import evaluate, problems


@pytest.mark.parametrize(
    "text",
    [
        "(" * 1000 + "i" + ")" * 1000,
        "(" * 40 + "i" + ")" * 40,
        "upper(" * 60 + "s" + ")" * 60,
        "case when p then " * 60 + "1" + " end" * 60,
        "not " * 2000 + "p",
        "- " * 2000 + "i",
        "i" + " + 1" * 5000,
        "[" * 500 + "]" * 500,
    ],
    ids=["parentheses", "forty", "calls", "cases", "nots", "minuses", "sum", "brackets"],
)
def test_too_deep(text: str) -> None:
    assert set(problems(text)) == {"too-deep"}


def test_too_long() -> None:
    assert set(problems("i + " + "1" * 200_000)) == {"too-long"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" and ".join(["i = 1"] * 2000), True),
        (" or ".join(f"i = {n}" for n in range(2000)), True),
        ("i in (" + ", ".join(map(str, range(5000))) + ")", True),
        ("case " + " ".join(f"when i = {n} then {n}" for n in range(100)) + " end", 1),
        ("i" + " + i" * 90, 91),
        ("x" + " / x" * 90, 1.0),
        ("x / (" * 20 + "x" + ")" * 20, 1.0),
        ("i // (" * 20 + "1" + ")" * 20, 1),
        (" || ".join(["s"] * 1000), "a" * 1000),
        ("coalesce(" + ", ".join(f"i + {n}" for n in range(50)) + ")", 1),
        ("not " * 48 + "p", True),
    ],
    ids=["and", "or", "in", "case", "sum", "quotients", "nested", "nested-ints", "concat", "coalesce", "not"],
)
def test_large_but_fine(text: str, expected: object) -> None:
    assert evaluate(text, i=[1], x=[1.0], s=["a"], p=[True]) == ([expected], [0])
