"""Where in an expression a problem stands: the part that is to be underlined."""

from __future__ import annotations

import pytest

from aurora.errors import ExpressionError, Problem
from aurora.expressions import Scope, analyse, analyse_aggregates
from aurora.model.schema import Schema
from aurora.model.types import BOOL

SCOPE = Scope.of(Schema.of(ticker="string", price="double", volume="int"))


def _problems(text: str) -> list[Problem]:
    with pytest.raises(ExpressionError) as caught:
        analyse(text, SCOPE, expect=BOOL)
    return list(caught.value.problems)


@pytest.mark.parametrize(
    ("text", "underlined"),
    [
        ("price > 10 and tiker = 'IBM'", "tiker"),
        ("price > 10 and rond(price) = 1", "rond"),
        ("price > 10 and round(price, 1, 2) = 1", "round"),
        ("price > 'a lot'", "price > 'a lot'"),
        ("price > 10 and volume", "volume"),
        ("not price", "price"),
        ("price > 99999999999999999999", "99999999999999999999"),
        ("price > 1 and max(volume) > 2", "max(volume"),
        ("case when volume then true else false end", "volume"),
        ("price >\n  10 and tiker = 'IBM'", "tiker"),
        ("price > 10 ticker", "ticker"),
        ("price >", ">"),
        ("(price > 10", "("),
        ("price > 10)", ")"),
        ("ticker = 'IBM", "'IBM"),
        ("ticker = 'it''s' and ticker = 'IBM", "'IBM"),
        ("price > 1 /* why", "/* why"),
        ("'é🙂' = ticker and tiker = ''", "tiker"),
    ],
)
def test_the_part_that_is_wrong_is_pointed_at(text: str, underlined: str) -> None:
    (problem,) = _problems(text)
    assert problem.span is not None
    start, end = problem.span
    assert text[start:end] == underlined


def test_each_problem_has_its_own_place() -> None:
    text = "prise > 10 and volum < 3"
    assert [text[slice(*problem.span or (0, 0))] for problem in _problems(text)] == ["prise", "volum"]


def test_what_is_wrong_with_all_of_it_has_no_place() -> None:
    (problem,) = _problems("price * 2")
    assert (problem.id, problem.span) == ("not-boolean", None)


def test_aggregates_are_pointed_at_too() -> None:
    text = "max(price) - min(prise)"
    with pytest.raises(ExpressionError) as caught:
        analyse_aggregates({"spread": text}, SCOPE)
    (problem,) = caught.value.problems
    assert text[slice(*problem.span or (0, 0))] == "prise"
    assert problem.path == ("spread",)
