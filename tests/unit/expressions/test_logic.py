"""Three-valued logic, comparison with NULL, and which branches count their faults."""

from __future__ import annotations

import itertools

import pytest

from tests.unit.expressions.evaluation import evaluate, fault, value, values

TRUTH = [True, False, None]
PAIRS = list(itertools.product(TRUTH, TRUTH))
P, Q = [p for p, _ in PAIRS], [q for _, q in PAIRS]


def conjunction(p: bool | None, q: bool | None) -> bool | None:
    return False if p is False or q is False else None if p is None or q is None else True


def negation(p: bool | None) -> bool | None:
    return None if p is None else not p


def test_and_or_not_by_truth_table() -> None:
    assert values("p and q", p=P, q=Q) == [conjunction(p, q) for p, q in PAIRS]
    assert values("p or q", p=P, q=Q) == [negation(conjunction(negation(p), negation(q))) for p, q in PAIRS]
    assert values("not p", p=TRUTH) == [False, True, None]
    assert values("p = q", p=P, q=Q) == [None if p is None or q is None else p == q for p, q in PAIRS]
    assert values("p is not distinct from q", p=P, q=Q) == [p is q for p, q in PAIRS]
    assert values("p is distinct from q", p=P, q=Q) == [p is not q for p, q in PAIRS]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p is true", [True, False, False]),
        ("p is not true", [False, True, True]),
        ("p is false", [False, True, False]),
        ("p is not false", [True, False, True]),
        ("p is null", [False, False, True]),
        ("p is not null", [True, True, False]),
    ],
)
def test_is(text: str, expected: list[bool]) -> None:
    assert values(text, p=TRUTH) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i in (1, 2)", [True, False, None]),
        ("i not in (1, 2)", [False, True, None]),
        ("i in (1, null)", [True, None, None]),
        ("i not in (1, null)", [False, None, None]),
        ("i in (1.0, 2.5)", [True, False, None]),
        ("i in (j, 1)", [True, True, None]),
        ("i + 0 in (j, 1)", [True, True, None]),
        ("i in (null)", [None, None, None]),
        ("i between 1 and 2", [True, False, None]),
        ("i not between 1 and 2", [False, True, None]),
        ("i between null and 2", [None, False, None]),
        ("i = 1", [True, False, None]),
        ("i <> 1", [False, True, None]),
        ("i != 1", [False, True, None]),
        ("i < 1.5", [True, False, None]),
        ("i = null", [None, None, None]),
        ("nullif(i, 1)", [None, 3, None]),
        ("nullif(i, null)", [1, 3, None]),
        ("coalesce(i, 7)", [1, 3, 7]),
        ("ifnull(i, 7)", [1, 3, 7]),
        ("greatest(i, 2)", [2, 3, 2]),
        ("least(i, 2.5)", [1.0, 2.5, 2.5]),
        ("if(i > 1, 'big', 'small')", ["small", "big", "small"]),
        ("iif(i > 1, 1.5, 0)", [0.0, 1.5, 0.0]),
        ("if(i > 1, 'big')", [None, "big", None]),
        ("case i when 1 then 'one' when 3 then 'three' end", ["one", "three", None]),
        ("case i + 0 when 1.0 then 'one' else 'other' end", ["one", "other", "other"]),
        ("case i when null then 1 else 2 end", [2, 2, 2]),
        ("case when i = 1 then 1 when i = 3 then 2.5 end", [1.0, 2.5, None]),
        ("case when i = 1 then null when i = 3 then 's' end", [None, "s", None]),
    ],
)
def test_null_in_comparison_and_choice(text: str, expected: list[object]) -> None:
    assert values(text, i=[1, 3, None], j=[5, 3, 3]) == expected


def test_nan_is_the_greatest_and_equals_itself() -> None:
    nan, inf = float("nan"), float("inf")
    assert values("x = x", x=[nan, inf]) == [True, True]
    assert values("x > 1e308", x=[nan, inf]) == [True, True]
    assert values("isnan(greatest(x, 1))", x=[nan, inf]) == [True, False]
    assert values("least(x, 1)", x=[nan, inf]) == [1.0, 1.0]
    assert values("-0.0 = x", x=[0.0]) == [True]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("case when j = 0 then 0 else i / j end", [0, 0, 0]),
        ("case when j = 0 then i / j else 0 end", [0, 1, 0]),
        ("case when i / j > 1 then 1 when i // j > 1 then 2 else 3 end", [0, 2, 0]),
        ("case i // j when 1 then 1 else 2 end", [0, 1, 0]),
        ("case i when i // j then 1 else 2 end", [0, 1, 0]),
        ("if(j <> 0, i / j, 0)", [0, 0, 0]),
        ("j <> 0 and i / j > 0", [0, 0, 0]),
        ("i / j > 0 and j <> 0", [0, 1, 0]),
        ("j = 0 or i / j > 0", [0, 0, 0]),
        ("j <> 0 or i / j > 0", [0, 1, 0]),
        ("j is null or j <> 0 or i / j > 0", [0, 1, 0]),
        ("j = 0 and (i / j > 0 and i // j > 0)", [0, 2, 0]),
        ("coalesce(j, i / j)", [0, 0, 0]),
        ("coalesce(i / j, i // j)", [0, 2, 0]),
        ("i // j in (1, 2)", [0, 1, 0]),
        ("i // j between 1 and i % j", [0, 2, 0]),
        ("greatest(i // j, i % j)", [0, 2, 0]),
        ("nullif(i // j, 1)", [0, 1, 0]),
        ("(i / j) is null", [0, 1, 0]),
    ],
)
def test_only_what_was_evaluated_counts(text: str, faults: list[int]) -> None:
    assert evaluate(text, i=[6, 6, 6], j=[2, 0, None])[1] == faults


def test_null_on_the_left_of_and_does_not_decide() -> None:
    assert fault("(null = 1) and 1 / 0 > 1") == (None, 1)
    assert fault("(1 = 2) and 1 / 0 > 1") == (False, 0)
    assert fault("(1 = 1) or 1 / 0 > 1") == (True, 0)


def test_strings_order_and_match() -> None:
    text = ["Boston", "boston", "", None, "a\nb", "100%"]
    assert values("s like 'B%'", s=text) == [True, False, False, None, False, False]
    assert values("s ilike 'b%n'", s=text) == [True, True, False, None, False, False]
    assert values("s not like '%o%'", s=text) == [False, False, True, None, True, True]
    assert values("s like 'a_b'", s=text) == [False, False, False, None, True, False]
    assert values("s like '%'", s=text) == [True, True, True, None, True, True]
    assert values("s like ''", s=text) == [False, False, True, None, False, False]
    assert values("s like '100!%' escape '!'", s=text) == [False] * 3 + [None, False, True]
    assert values("s ~ '^[Bb]os'", s=text) == [True, True, False, None, False, False]
    assert values("s !~ '^[Bb]os'", s=text) == [False, False, True, None, True, True]
    assert values("s rlike 'n$'", s=text) == [True, True, False, None, False, False]
    assert values("s < 'a'", s=text) == [True, False, True, None, False, True]
    assert value("'it''s' = 'it' || chr(39) || 's'") is True


def test_a_constant_has_one_value_per_tuple() -> None:
    assert values("1 + 1", i=[1, 2, 3]) == [2, 2, 2]
    assert evaluate("1 / 0", i=[1, 2, 3]) == ([None] * 3, [1, 1, 1])
    assert values("null", i=[1, 2]) == [None, None]
    assert values("3 in (1, 2)", i=[]) == []


def test_a_fault_counts_whatever_it_is_combined_with() -> None:
    """A NULL beside it, or far above it in a long chain, does not hide that the sum overflowed."""
    largest = 2**63 - 1
    assert evaluate("x = i + i", x=[None], i=[largest]) == ([None], [1])
    assert evaluate("i + i + j", i=[largest], j=[None]) == ([None], [1])
    chain = "(i" + " + i" * 9 + " + j)" + " * i" * 3
    assert evaluate(chain, i=[1, largest, None, largest], j=[1, 1, 1, None]) == ([11, None, None, None], [0, 1, 0, 1])


def test_long_conditions_count_what_was_evaluated() -> None:
    text = "j <> 0 and " + " and ".join(f"i / j > {n}" for n in range(9))
    assert evaluate(text, i=[90, 1, 3, 1], j=[1, 0, 1, None]) == ([True, False, False, None], [0, 0, 0, 0])
    text = "j = 0 and " + " and ".join(f"(i / j > {n}) is not true" for n in range(9))
    assert evaluate(text, i=[90, 1], j=[1, 0]) == ([False, True], [0, 9])


def test_a_constant_left_of_a_column_of_nulls() -> None:
    """Polars would answer with one row."""
    assert values("0.0 = i + i", i=[None, None]) == [None, None]
    assert values("0.0 < i + i", i=[None, None]) == [None, None]
    assert values("0.0 is distinct from i + i", i=[None, None]) == [True, True]
    assert values("1.0 between i + i and j", i=[None, None], j=[1, 0]) == [None, False]
    assert values("1.0 in (i + i, 2.5)", i=[None, None]) == [None, None]
    assert values("nullif(1.0, i + i)", i=[None, None]) == [1.0, 1.0]
    assert values("case 1.0 when i + i then 1 else 2 end", i=[None, None]) == [2, 2]
