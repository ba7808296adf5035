"""Every problem has its id, says what was found, and shows a way out; all are reported at once."""

from __future__ import annotations

import pytest

from aurora.errors import ExpressionError
from aurora.expressions import Scope, analyse
from aurora.model.schema import Schema
from aurora.model.types import BOOL, INT, TIMESTAMP
from tests.unit.expressions.evaluation import SCOPE, problems


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("i +", "syntax-error"),
        ("i j", "syntax-error"),
        ("", "syntax-error"),
        ("   ", "syntax-error"),
        ("(i", "syntax-error"),
        ("cast(i as int", "syntax-error"),
        ("'open", "syntax-error"),
        ("i; j", "syntax-error"),
        ("i as j", "syntax-error"),
        ("union", "syntax-error"),
        ("case when p then 1", "syntax-error"),
        ("select i", "syntax-error"),
        ("---5", "syntax-error"),
        ("prize > 1", "unknown-column"),
        ("left.i", "unknown-column"),
        ("I > 1", "unknown-column"),
        ("__arrival > 1", "unknown-column"),
        ("uper(s)", "unknown-function"),
        ("soundex(s)", "unknown-function"),
        ("s + 1", "type-mismatch"),
        ("t + t", "type-mismatch"),
        ("p + p", "type-mismatch"),
        ("s = 1", "type-mismatch"),
        ("t = i", "type-mismatch"),
        ("l = l", "type-mismatch"),
        ("l in (l)", "type-mismatch"),
        ("i || 1", "type-mismatch"),
        ("l || 'a'", "type-mismatch"),
        ("p || q", "type-mismatch"),
        ("s[1]", "type-mismatch"),
        ("i[1]", "type-mismatch"),
        ("i // 2.5", "type-mismatch"),
        ("upper(i)", "type-mismatch"),
        ("coalesce(i, s)", "type-mismatch"),
        ("upper()", "wrong-argument-count"),
        ("round(x, 1, 2)", "wrong-argument-count"),
        ("if(p)", "wrong-argument-count"),
        ("coalesce()", "wrong-argument-count"),
        ("arrival_time(1)", "wrong-argument-count"),
        ("sum(i)", "aggregate-not-allowed"),
        ("count(*) > 1", "aggregate-not-allowed"),
        ("sum(i) filter (where p)", "aggregate-not-allowed"),
        ("timed_out()", "aggregate-not-allowed"),
        ("window_end()", "aggregate-not-allowed"),
        ("i and p", "not-boolean"),
        ("not s", "not-boolean"),
        ("case when i then 1 end", "not-boolean"),
        ("if(i, 1, 2)", "not-boolean"),
        ("t > 'hello'", "bad-literal"),
        ("t in ('2024-01-01', 'hello')", "bad-literal"),
        ("timestamp '2024-02-30'", "bad-literal"),
        ("interval '1' month", "bad-literal"),
        ("interval '1' parsec", "bad-literal"),
        ("interval 'soon'", "bad-literal"),
        ("interval i second", "bad-literal"),
        ("99999999999999999999", "bad-literal"),
        ("1e999", "bad-literal"),
        ("1e", "bad-literal"),
        ("i > 1E", "bad-literal"),
        ("-1e", "bad-literal"),
        ("case i when 's' then 1 end", "bad-literal"),
        ("case when p then 1 else 's' end", "bad-literal"),
        ("i in (1, 's')", "bad-literal"),
        ("i = ''", "bad-literal"),
        ("x < 'high'", "bad-literal"),
        ("p = 'perhaps'", "bad-literal"),
        ("s rlike '('", "bad-literal"),
        ("regexp_extract(s, '(a)', 2)", "bad-literal"),
        ("extract(parsec from t)", "bad-literal"),
        ("split(s, '')", "bad-literal"),
        ("round(x, 99)", "bad-literal"),
        ("s like 'a' escape 'ab'", "bad-literal"),
        ("s like s", "not-constant"),
        ("s rlike s", "not-constant"),
        ("round(x, i)", "not-constant"),
        ("regexp_replace(s, null, 'a')", "not-constant"),
        ("i in (select 1)", "subquery-not-allowed"),
        ("exists (select 1)", "subquery-not-allowed"),
        ("(select 1) > 1", "subquery-not-allowed"),
        ("sum(i) over ()", "unsupported-syntax"),
        ("?", "unsupported-syntax"),
        ("$1", "unsupported-syntax"),
        (":name", "unsupported-syntax"),
        ("*", "unsupported-syntax"),
        ("upper(*)", "unsupported-syntax"),
        ("[1, 2]", "unsupported-syntax"),
        ("{'a': 1}", "unsupported-syntax"),
        ("l[1:2]", "unsupported-syntax"),
        ("p && q", "unsupported-syntax"),
        ("i < j < 5", "unsupported-syntax"),
        ("(i, j) = (1, 2)", "unsupported-syntax"),
        ("s collate nocase = 'a'", "unsupported-syntax"),
        ("t at time zone 'CET' > t", "unsupported-syntax"),
        ("s glob 'a*'", "unsupported-syntax"),
        ("s similar to 'a'", "unsupported-syntax"),
        ("s like any ('a', 'b')", "unsupported-syntax"),
        ("s -> 'a'", "unsupported-syntax"),
        ("i is 5", "unsupported-syntax"),
        ("now()", "unsupported-syntax"),
        ("current_timestamp", "unsupported-syntax"),
        ("upper(distinct s)", "unsupported-syntax"),
        ("upper(s) filter (where p)", "unsupported-syntax"),
        ("upper(text => s)", "unsupported-syntax"),
        ("a.b.c.d", "unsupported-syntax"),
    ],
)
def test_ids(text: str, id: str) -> None:
    found = problems(text)
    assert list(found) == [id]
    assert "way out: " in found[id]


def test_all_problems_at_once() -> None:
    with pytest.raises(ExpressionError) as caught:
        analyse("pri > 1 and uper(s) = 2 and s + 1 > 0 and i", SCOPE)
    assert [p.id for p in caught.value.problems] == [
        "unknown-column",
        "unknown-function",
        "type-mismatch",
        "not-boolean",
    ]


def test_an_unknown_column_shows_the_columns_and_a_guess() -> None:
    scope = Scope.of(Schema.of(price="double", ticker="string"))
    with pytest.raises(ExpressionError) as caught:
        analyse("prise > 1", scope)
    problem = caught.value.problems[0]
    assert problem.choices == ("price", "ticker")
    assert problem.way_out == "did you mean 'price'?"
    assert "did you mean 'price'?" in problems("PRICE > 1", scope)["unknown-column"]


def test_a_name_on_both_sides_of_a_join_is_ambiguous() -> None:
    scope = Scope.joined(Schema.of(id="int", a="int"), Schema.of(id="int", b="int"))
    assert set(problems("id = 1", scope)) == {"ambiguous-column"}
    assert analyse("a = b and left.id = right.id", scope).columns == {"left.a", "right.b", "left.id", "right.id"}
    assert set(problems("left.b = 1", scope)) == {"unknown-column"}


def test_what_is_expected() -> None:
    assert set(problems("i", expect=BOOL)) == {"not-boolean"}
    assert set(problems("s", expect=INT)) == {"type-mismatch"}
    assert analyse("null", SCOPE, expect=BOOL).type == BOOL
    assert analyse("'2024-01-01'", SCOPE, expect=TIMESTAMP).type == TIMESTAMP


@pytest.mark.parametrize("name", ["time", "timestamp", "left", "right", "date", "order", "end", "values", "key", "e"])
def test_columns_may_have_keywords_as_names(name: str) -> None:
    scope = Scope({name: INT})
    assert analyse(f'"{name}" + 1 > 2', scope).columns == {name}
    if name not in ("left", "right"):
        assert analyse(f"{name} + 1 > 2", scope).columns == {name}


def test_columns_with_odd_names_are_quoted() -> None:
    assert analyse('"a b" + "c.d"', Scope({"a b": INT, "c.d": INT})).columns == {"a b", "c.d"}
