"""Functions on text. Positions count characters from 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.expressions.functions.comparison import check_regex
from aurora.expressions.functions.declaration import Function, Signature, signature
from aurora.expressions.nodes import Build, Literal, Node, Value, Way
from aurora.expressions.vectors import by_numpy

GROUP = "text"
MAX_MADE = 1_000_000
"""How many characters functions make of fewer at most; beyond that is NULL and counted."""
_FAR = 2**31
_LEFT = "The first n characters; if n is negative, all but the last -n."
_RIGHT = "The last n characters; if n is negative, all but the first -n."


def _length(text: pl.Expr) -> pl.Expr:
    return text.str.len_chars().cast(pl.Int64)


def _slice(text: pl.Expr, start: pl.Expr, length: pl.Expr | None = None) -> pl.Expr:
    """Places before the first character count against the length, as in standard SQL; a negative start counts
    from the end."""
    start = start.clip(-_FAR, _FAR)
    begin = pl.when(start > 0).then(start - 1).when(start < 0).then(_length(text) + start).otherwise(-1)
    offset = pl.max_horizontal(begin, 0)
    if length is None:
        return pl.when(start.is_not_null()).then(text.str.slice(offset))
    count = pl.max_horizontal(begin + length.clip(0, _FAR) - offset, 0)
    return pl.when(start.is_not_null() & length.is_not_null()).then(text.str.slice(offset, count))


def _choose_slice(nodes: tuple[Node, ...]) -> Way:
    start = nodes[1]
    if isinstance(start, Literal) and isinstance(start.value, int) and start.value >= 1:
        offset = start.value - 1
        if len(nodes) == 2:
            return Way(lambda text, _: text.str.slice(offset))
        length = nodes[2]
        if isinstance(length, Literal) and isinstance(length.value, int):
            count = max(length.value, 0)
            return Way(lambda text, _, __: text.str.slice(offset, count))
    return Way(_slice, reuses=True)


def _left(text: pl.Expr, n: pl.Expr) -> pl.Expr:
    return text.str.head(n.clip(-_FAR, _FAR))


def _right(text: pl.Expr, n: pl.Expr) -> pl.Expr:
    return text.str.tail(n.clip(-_FAR, _FAR))


def _pad(at_start: bool) -> Any:
    def build(text: pl.Expr, length: pl.Expr, fill: str = " ") -> pl.Expr:
        size = pl.when(length <= MAX_MADE).then(pl.max_horizontal(length, 0))
        if not fill:
            return pl.when(size.is_not_null()).then(text.str.slice(0, size))
        missing = pl.max_horizontal(size - _length(text), 0)
        times = (missing + len(fill) - 1) // len(fill)
        filling = pl.lit(fill).repeat_by(times).list.join("").str.slice(0, missing)
        kept = text.str.slice(0, size)
        parts = (filling, kept) if at_start else (kept, filling)
        return pl.when(size.is_not_null()).then(pl.concat_str(parts))

    def choose(nodes: tuple[Node, ...]) -> Way:
        return Way(build, fallible=not _at_most(nodes[1], MAX_MADE), reuses=True)

    return signature("(text: string, length: int, [fill: string!]) -> string", choose=choose)


def _at_most(node: Node, limit: int) -> bool:
    return isinstance(node, Literal) and isinstance(node.value, int) and node.value <= limit


def _repeat(text: pl.Expr, times: pl.Expr) -> pl.Expr:
    fits = times.clip(0, None) * _length(text).clip(1, None) <= MAX_MADE
    count = pl.when(fits & (times <= MAX_MADE)).then(times.clip(0, None))
    return text.repeat_by(count).list.join("")


def _replace(text: pl.Expr, old: pl.Expr, new: pl.Expr) -> pl.Expr:
    found = text.str.split(old).list.len().cast(pl.Int64) - 1
    growth = pl.when(old == "").then(_length(new) * 0).otherwise(found * (_length(new) - _length(old)))
    text = pl.when((growth <= 0) | (_length(text) + growth <= MAX_MADE)).then(text)
    return pl.when(old == "").then(text).otherwise(text.str.split(old).list.join(new))


def _choose_replace(nodes: tuple[Node, ...]) -> Way:
    old, new = nodes[1], nodes[2]
    if not (isinstance(old, Literal) and isinstance(new, Literal) and old.value and isinstance(new.value, str)):
        return Way(_replace, fallible=True, reuses=True)
    before, after = str(old.value), new.value

    def plain(text: pl.Expr) -> pl.Expr:
        return text.str.replace_all(before, after, literal=True)

    if len(after) <= len(before):
        return Way(lambda text, _, __: plain(text))

    def careful(text: pl.Expr) -> pl.Expr:
        return _replace(text, pl.lit(before), pl.lit(after))

    return Way(lambda text, _, __: _unless_long(text, len(after), plain, careful), fallible=True)


def _unless_long(text: pl.Expr, growth: int, plain: Build, careful: Build) -> pl.Expr:
    """The plain formula if no text of the column is so long that it might grow beyond the limit, else the careful one.

    It costs a look at the lengths, where looking for what makes each text grow would double the cost of the formula.
    """
    column = pl.col("text")

    def run(columns: Sequence[pl.Series]) -> pl.Series:
        longest = columns[0].str.len_bytes().max()
        short = not isinstance(longest, int) or longest * growth <= MAX_MADE
        return columns[0].to_frame("text").select((plain if short else careful)(column)).to_series()

    return pl.map_batches([text], run, return_dtype=pl.String(), is_elementwise=True)


def _regexp_replace(text: pl.Expr, pattern: str, new: str) -> pl.Expr:
    """A match makes the text longer by the replacement at most, and by itself for each group that this names."""

    def plain(text: pl.Expr) -> pl.Expr:
        return text.str.replace_all(pattern, new)

    def careful(text: pl.Expr) -> pl.Expr:
        matches = text.str.count_matches(pattern).cast(pl.Int64)
        most = _length(text) * (1 + new.count("$")) + matches * len(new)
        return plain(pl.when(most <= MAX_MADE).then(text))

    # An empty match may stand before every character and behind the last one.
    return _unless_long(text, 2 * (1 + len(new)), plain, careful)


def _position(part: pl.Expr, text: pl.Expr) -> pl.Expr:
    before = _length(text.str.splitn(part, 2).struct.field("field_0"))
    found = text.str.contains(part, literal=True)
    return (
        pl.when(part == "").then(pl.when(text.is_not_null()).then(1)).when(found).then(before + 1).when(~found).then(0)
    )


def _split_part(text: pl.Expr, separator: str, n: pl.Expr) -> pl.Expr:
    index = pl.when(n > 0).then(n - 1).when(n < 0).then(n)
    part = text.str.split(separator).list.get(index.clip(-_FAR, _FAR), null_on_oob=True)
    return pl.when(index.is_not_null() & text.is_not_null()).then(part.fill_null(""))


def _choose_split_part(nodes: tuple[Node, ...]) -> Way:
    never_zero = isinstance(nodes[2], Literal) and nodes[2].value != 0
    return Way(_split_part, fallible=not never_zero, reuses=True)


def _not_empty(constants: tuple[Value, ...]) -> str | None:
    return "the separator is empty" if constants[0] == "" else None


def _extract(text: pl.Expr, pattern: str, group: int = 0) -> pl.Expr:
    return pl.when(text.is_not_null()).then(text.str.extract(pattern, group).fill_null(""))


def _check_extract(constants: tuple[Value, ...]) -> str | None:
    if wrong := check_regex(constants):
        return wrong
    groups = pl.select(pl.lit("").str.extract_groups(str(constants[0])).struct.unnest()).width
    group = constants[1] if len(constants) > 1 else 0
    if isinstance(group, int) and not 0 <= group <= groups:
        return f"there is no group {group}; the pattern has {groups}"
    return None


def _code(text: pl.Expr) -> pl.Expr:
    """The code point of the first character, put together from its UTF-8 bytes."""
    b = text.str.head(1).str.encode("hex").str.to_integer(base=16, strict=False)
    last, third, second = b % 0x40, (b // 0x100) % 0x40, (b // 0x10000) % 0x40
    return (
        pl.when(text == "")
        .then(0)
        .when(b < 0x80)
        .then(b)
        .when(b < 0x10000)
        .then((b // 0x100 % 0x20) * 0x40 + last)
        .when(b < 0x1000000)
        .then((b // 0x10000 % 0x10) * 0x1000 + third * 0x40 + last)
        .otherwise((b // 0x1000000 % 0x08) * 0x40000 + second * 0x1000 + third * 0x40 + last)
    )


def _characters(codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return codes.astype(np.uint32).view("<U1")


def _character(code: pl.Expr) -> pl.Expr:
    valid = code.is_between(1, 0x10FFFF) & ~code.is_between(0xD800, 0xDFFF)
    return by_numpy(_characters, pl.String(), pl.when(valid).then(code))


def _trim(strip: str) -> tuple[Signature, ...]:
    def build(text: pl.Expr, characters: pl.Expr | None = None) -> pl.Expr:
        method = getattr(text.str, strip)
        if characters is None:
            return method(" ")  # type: ignore[no-any-return]
        # Polars takes NULL to mean every kind of blank.
        return pl.when(characters.is_not_null()).then(method(characters))

    return (signature("(text: string, [characters: string]) -> string", build, reuses=True),)


def _one(
    name: str, build: Build, meaning: str, example: str, value: object, *aliases: str, returns: str = "string"
) -> Function:
    return Function(name, (signature(f"(text: string) -> {returns}", build),), GROUP, meaning, example, value, aliases)


def _two(
    name: str, parameters: str, build: Build, meaning: str, example: str, value: object, *aliases: str
) -> Function:
    return Function(name, (signature(parameters, build),), GROUP, meaning, example, value, aliases)


FUNCTIONS = (
    Function(
        "||",
        (signature("(value...: text) -> string", lambda *parts: pl.concat_str(parts)),),
        GROUP,
        "The values one after another, as the texts that a cast makes of them; NULL if one is NULL. One operand of || "
        "must be a string; concat takes any.",
        "'feed-' || 17",
        "feed-17",
        ("concat",),
        sign="a || b",
    ),
    Function(
        "concat_ws",
        (
            signature(
                "(separator: string!, value...: text) -> string",
                lambda separator, *parts: pl.concat_str(parts, separator=separator, ignore_nulls=True),
                strict=False,
            ),
        ),
        GROUP,
        "The values that are not NULL, as texts, with a separator between them.",
        "concat_ws('-', 'a', null, 7)",
        "a-7",
    ),
    _one("upper", lambda t: t.str.to_uppercase(), "In upper case.", "upper('aurora')", "AURORA", "ucase"),
    _one("lower", lambda t: t.str.to_lowercase(), "In lower case.", "lower('Aurora')", "aurora", "lcase"),
    _one("initcap", lambda t: t.str.to_titlecase(), "Each word capitalised.", "initcap('new york')", "New York"),
    Function(
        "length",
        (signature("(text: string) -> int", _length, range=(0, 2**32)),),
        GROUP,
        "How many characters the text has.",
        "length('añb')",
        3,
        ("char_length", "character_length", "len"),
    ),
    Function(
        "octet_length",
        (
            signature("(text: string) -> int", lambda t: t.str.len_bytes().cast(pl.Int64), range=(0, 2**32)),
            signature("(data: binary) -> int", lambda t: t.bin.size().cast(pl.Int64), range=(0, 2**32)),
        ),
        GROUP,
        "How many bytes the text (in UTF-8) or the binary value has.",
        "octet_length('añb')",
        4,
    ),
    Function(
        "trim",
        _trim("strip_chars"),
        GROUP,
        "Without blanks, or any of the given characters, at both ends; also trim(both 'x' from text).",
        "trim('  a ')",
        "a",
        ("btrim",),
    ),
    Function("ltrim", _trim("strip_chars_start"), GROUP, "As trim, at the start only.", "ltrim('xxa', 'x')", "a"),
    Function("rtrim", _trim("strip_chars_end"), GROUP, "As trim, at the end only.", "rtrim('a  ')", "a"),
    Function(
        "substring",
        (signature("(text: string, start: int, [length: int]) -> string", choose=_choose_slice),),
        GROUP,
        "The part from a position on, at most length characters; a negative start counts from the end.",
        "substring('aurora', 2, 3)",
        "uro",
        ("substr",),
    ),
    _two("left", "(text: string, n: int) -> string", _left, _LEFT, "left('aurora', -2)", "auro"),
    _two("right", "(text: string, n: int) -> string", _right, _RIGHT, "right('aurora', 2)", "ra"),
    Function(
        "lpad",
        (_pad(at_start=True),),
        GROUP,
        f"Filled at the start (with blanks), or cut, to a length; above {MAX_MADE:,} NULL and counted.",
        "lpad('7', 3, '0')",
        "007",
    ),
    Function("rpad", (_pad(at_start=False),), GROUP, "As lpad, at the end.", "rpad('7', 3, 'xy')", "7xy"),
    Function(
        "repeat",
        (signature("(text: string, times: int) -> string", _repeat, fallible=True, reuses=True),),
        GROUP,
        f"The text several times; more than {MAX_MADE:,} characters are NULL and counted.",
        "repeat('ab', 3)",
        "ababab",
    ),
    _one("reverse", lambda t: t.str.reverse(), "The characters in reverse.", "reverse('abc')", "cba"),
    Function(
        "replace",
        (signature("(text: string, old: string, new: string) -> string", choose=_choose_replace),),
        GROUP,
        f"Every occurrence of old replaced by new; what gets longer than {MAX_MADE:,} characters is NULL and counted.",
        "replace('a-b-c', '-', '+')",
        "a+b+c",
    ),
    Function(
        "position",
        (signature("(part: string, text: string) -> int", _position, reuses=True, range=(0, 2**32), subject=1),),
        GROUP,
        "Where a part first occurs in the text, 0 if nowhere; also position(part in text).",
        "position('r' in 'aurora')",
        3,
        ("locate",),
    ),
    Function(
        "instr",
        (
            signature(
                "(text: string, part: string) -> int", lambda t, p: _position(p, t), reuses=True, range=(0, 2**32)
            ),
        ),
        GROUP,
        "As position, with the text first.",
        "instr('aurora', 'r')",
        3,
        ("strpos",),
    ),
    Function(
        "split",
        (
            signature(
                "(text: string, separator: string!) -> list<string>", lambda t, s: t.str.split(s), check=_not_empty
            ),
        ),
        GROUP,
        "The parts between the separators, as a list.",
        "split('a,b', ',')",
        ["a", "b"],
    ),
    Function(
        "split_part",
        (
            signature(
                "(text: string, separator: string!, n: int) -> string", choose=_choose_split_part, check=_not_empty
            ),
        ),
        GROUP,
        "The n-th part, from 1, or from the end if negative; empty if there is none; part 0 is NULL and counted.",
        "split_part('a,b,c', ',', 2)",
        "b",
    ),
    _two(
        "starts_with",
        "(text: string, part: string) -> bool",
        lambda t, p: t.str.starts_with(p),
        "Whether the text starts with the part.",
        "starts_with('aurora', 'au')",
        True,
        "startswith",
    ),
    _two(
        "ends_with",
        "(text: string, part: string) -> bool",
        lambda t, p: t.str.ends_with(p),
        "Whether the text ends with the part.",
        "ends_with('aurora', 'ra')",
        True,
        "endswith",
        "suffix",
    ),
    _two(
        "contains",
        "(text: string, part: string) -> bool",
        lambda t, p: t.str.contains(p, literal=True),
        "Whether the part occurs in the text.",
        "contains('aurora', 'ror')",
        True,
    ),
    Function(
        "regexp_replace",
        (
            signature(
                "(text: string, pattern: string!, new: string!) -> string",
                _regexp_replace,
                check=check_regex,
                fallible=True,
            ),
        ),
        GROUP,
        "Every match of a regular expression replaced; ${1} in the replacement is the first group. "
        f"What might get longer than {MAX_MADE:,} characters is NULL and counted.",
        "regexp_replace('a1b22', '[0-9]+', '#')",
        "a#b#",
    ),
    Function(
        "regexp_extract",
        (
            signature(
                "(text: string, pattern: string!, [group: int!]) -> string", _extract, check=_check_extract, reuses=True
            ),
        ),
        GROUP,
        "The first match of a regular expression, or a group of it; empty if there is none.",
        "regexp_extract('feed-17', '([a-z]+)-([0-9]+)', 2)",
        "17",
    ),
    Function(
        "ascii",
        (signature("(text: string) -> int", _code, reuses=True, range=(0, 0x10FFFF)),),
        GROUP,
        "The code point of the first character, 0 of an empty text.",
        "ascii('A')",
        65,
        ("ord", "unicode"),
    ),
    Function(
        "chr",
        (signature("(code: int) -> string", _character, fallible=True, reuses=True),),
        GROUP,
        "The character with a code point; NULL and counted if there is none.",
        "chr(65)",
        "A",
        ("char",),
    ),
)
