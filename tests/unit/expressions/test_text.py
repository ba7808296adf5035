"""Text functions, with empty texts, characters of several bytes, and arguments that are not constants."""

from __future__ import annotations

import pytest

from tests.unit.expressions.evaluation import evaluate, fault, value, values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("upper('straße')", "STRASSE"),
        ("lower('ÄÖ')", "äö"),
        ("initcap('hello wORLD')", "Hello World"),
        ("length('')", 0),
        ("char_length('日本')", 2),
        ("octet_length('日本')", 6),
        ("trim(both 'x' from 'xxaxx')", "a"),
        ("trim(leading 'x' from 'xxaxx')", "axx"),
        ("trim(trailing 'x' from 'xxaxx')", "xxa"),
        ("trim('  a\t')", "a\t"),
        ("ltrim('  a ')", "a "),
        ("substring('aurora' from 2 for 3)", "uro"),
        ("substring('aurora' from 4)", "ora"),
        ("substr('aurora', -3)", "ora"),
        ("substr('aurora', -3, 2)", "or"),
        ("substr('aurora', 0, 3)", "au"),
        ("substr('aurora', 2, -1)", ""),
        ("substr('aurora', 99)", ""),
        ("substr('aurora', -99, 95)", "au"),
        ("substr('日本語', 2, 1)", "本"),
        ("left('aurora', -1)", "auror"),
        ("left('日本語', -2)", "日"),
        ("left('aurora', -6)", ""),
        ("left('aurora', -9223372036854775807 - 1)", ""),
        ("right('aurora', -2)", "rora"),
        ("right('aurora', -99)", ""),
        ("right('aurora', 99)", "aurora"),
        ("right('aurora', 0)", ""),
        ("lpad('aurora', 3)", "aur"),
        ("lpad('7', 4, 'ab')", "aba7"),
        ("rpad('7', 4, '日本')", "7日本日"),
        ("rpad('7', 4, '')", "7"),
        ("lpad('7', -1)", ""),
        ("repeat('ab', 0)", ""),
        ("repeat('ab', -2)", ""),
        ("reverse('日本')", "本日"),
        ("replace('aaa', 'a', 'b')", "bbb"),
        ("replace('a.c', '.', '-')", "a-c"),
        ("replace('abc', '', 'x')", "abc"),
        ("position('本' in '日本')", 2),
        ("position('x' in 'abc')", 0),
        ("position('' in 'abc')", 1),
        ("instr('aurora', 'ra')", 5),
        ("locate('ra', 'aurora')", 5),
        ("split_part('a--b--c', '--', 2)", "b"),
        ("split_part('a,b', ',', -1)", "b"),
        ("split_part('a,b', ',', 3)", ""),
        ("concat('a', 'b', 'c')", "abc"),
        ("'a' || null", None),
        ("'a' || 1 || 0.5 || true", "a10.5true"),
        ("'at ' || timestamp '2024-03-05 06:07:08'", "at 2024-03-05 06:07:08"),
        ("concat(1, 2)", "12"),
        ("concat(interval '90' second, ' ', 1 = 2)", "1m30s false"),
        ("cast('a' as binary) || 'b'", "ab"),
        ("concat_ws('/', 2024, null, 3)", "2024/3"),
        ("split('a b', ' ')[1]", "a"),
        ("split('a b', ' ')[-1]", "b"),
        ("split('a b', ' ')[0]", None),
        ("split('a b', ' ')[3]", None),
        ("concat_ws('-', null, null)", ""),
        ("starts_with('aurora', '')", True),
        ("contains('a.c', '.')", True),
        ("contains('abc', '.')", False),
        ("regexp_replace('John Smith', '(\\w+) (\\w+)', '${2} ${1}')", "Smith John"),
        ("regexp_extract('a1', '[0-9]+')", "1"),
        ("regexp_extract('a', '[0-9]+')", ""),
        ("ascii('')", 0),
        ("ascii('é')", 233),
        ("ascii('日')", 26085),
        ("ascii('😀')", 128512),
        ("chr(128512)", "😀"),
        ("array_join(split('a b', ' '), '+')", "a+b"),
        ("element_at(split('a b', ' '), 3)", None),
        ("element_at(split('a b', ' '), 0)", None),
        ("cardinality(split('a b', ' '))", 2),
    ],
)
def test_functions(text: str, expected: object) -> None:
    assert fault(text) == (expected, 0)


@pytest.mark.parametrize(
    "text",
    [
        "chr(0)",
        "chr(55296)",
        "chr(-1)",
        "repeat('ab', 1000000)",
        "lpad('a', 1000001)",
        "lpad('a', 1000001, '')",
        "split_part('a', ',', 1 - 1)",
    ],
)
def test_what_does_not_exist_is_null_and_counted(text: str) -> None:
    assert fault(text) == (None, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("substring(s, i, j)", ["uro", "日", None]),
        ("left(s, i)", ["au", "日", None]),
        ("left(s, -i)", ["auro", "", None]),
        ("right(s, 1 - i)", ["urora", "", None]),
        ("s || '-' || i", ["aurora-2", "日-1", None]),
        ("concat(i, j, s)", ["23aurora", "12日", None]),
        ("split(s, 'r')[i]", ["o", "日", None]),
        ("right(s, j)", ["ora", "日", None]),
        ("lpad(s, i + 6, '.')", ["..aurora", "......日", None]),
        ("repeat(s, i)", ["auroraaurora", "日", None]),
        ("replace(s, left(s, 1), 'X')", ["XurorX", "X", None]),
        ("position(right(s, 1) in s)", [1, 1, None]),
        ("split_part(s, 'r', i)", ["o", "日", None]),
        ("concat_ws('-', s, null, 'z')", ["aurora-z", "日-z", "z"]),
        ("starts_with(s, left(s, i))", [True, True, None]),
        ("reverse(upper(s))", ["ARORUA", "日", None]),
        ("array_contains(split(s, 'u'), 'rora')", [True, False, None]),
    ],
)
def test_arguments_from_columns(text: str, expected: list[object]) -> None:
    found, faults = evaluate(text, s=["aurora", "日", None], i=[2, 1, 1], j=[3, 2, 1])
    assert found == expected
    assert faults == [0, 0, 0]


@pytest.mark.parametrize(
    "text",
    [
        "replace(repeat(s, 20000), s, repeat('b', 100000))",
        "replace(repeat(s, 600000), 'a', 'bc')",
        "array_join(split(repeat(s, 20000), 'a'), repeat('b', 100000))",
        "regexp_replace(repeat(s, 400000), '.', '$0$0$0')",
    ],
)
def test_what_gets_too_long_is_null_and_counted_before_memory_is_taken_for_it(text: str) -> None:
    assert evaluate(text, s=["a", "a", None]) == ([None] * 3, [1, 1, 0])


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("replace(repeat(s, 1000000), 'a', 'b')", 1_000_000),
        ("replace(repeat(s, 500000), 'a', 'bc')", 1_000_000),
        ("replace(repeat(s, 1000000), s, '')", 0),
        ("regexp_replace(repeat(s, 100000), 'a', '${0}b')", 200_000),
        ("array_join(split(repeat(s, 1000), 'a'), repeat('b', 999))", 999_000),
    ],
)
def test_what_is_long_and_within_the_limit_is_made(text: str, length: int) -> None:
    assert evaluate(f"length({text})", s=["a", None]) == ([length, None], [0, 0])


@pytest.mark.parametrize("far", [2**63 - 1, -(2**63), 2**31, -(2**31) - 1, 2**32])
def test_a_place_far_outside_a_list_has_no_element(far: int) -> None:
    assert values("element_at(split(s, ','), i)", s=["a,b", None], i=[far, far]) == [None, None]
    assert values(f"element_at(l, {far})", l=[[1, 2], None]) == [None, None]


def test_null_in_any_argument_gives_null() -> None:
    assert values("trim(s, 'a' || nullif(s, s))", s=[" a "]) == [None]
    assert values("trim(trailing 'a' from s) || ltrim('a', s) || rtrim(s, s)", s=[None, "b"]) == [None, "ba"]
    assert values("replace(s, '', nullif(s, s))", s=["a"]) == [None]
    assert values("array_contains(l, i)", l=[[1, None], [1, None], [1], None], i=[None, 2, 1, 1]) == [
        None,
        False,
        True,
        None,
    ]
    assert values("substring(s, i, j)", s=["a", "a"], i=[None, 1], j=[1, None]) == [None, None]
    assert values("lpad(s, i)", s=["a"], i=[None]) == [None]
    assert values("replace(s, 'a', null)", s=["a"]) == [None]
    assert values("repeat(s, i)", s=["a"], i=[None]) == [None]
    assert values("position(s in 'a')", s=[None]) == [None]
    assert value("left(null, 2)") is None
