"""What somebody probably meant who wrote SQL that expressions do not have, or not in this sense."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from aurora.errors import did_you_mean

_FUNCTIONS = {
    "isnull": "write x is null, or coalesce(x, y)",
    "notnull": "write x is not null",
    "nvl2": "write if(x is not null, a, b)",
    "decode": "write case x when a then b end",
    "date": "a date is a timestamp: write date_trunc('day', t), or timestamp '2024-12-31'",
    "to_date": "a date is a timestamp: write date_trunc('day', to_timestamp(text, format))",
    "dateadd": "write t + interval '1' day, or add_months(t, n)",
    "date_add": "write t + interval '1' day, or add_months(t, n)",
    "date_sub": "write t - interval '1' day, or add_months(t, -n)",
    "to_number": "write cast(text as double)",
    "random": "results must not depend on chance; a drop box takes a share of the tuples",
    "rand": "results must not depend on chance; a drop box takes a share of the tuples",
    "uuid": "results must not depend on chance; make a key of columns, as with md5(concat(a, b))",
    "gen_random_uuid": "results must not depend on chance; make a key of columns, as with md5(concat(a, b))",
    "sha1": "write md5(x) or sha256(x)",
    "row_number": "a resample, slide or latch box sees more than one tuple; there are no over clauses",
    "lag": "a slide box sees the tuples before; there are no over clauses",
    "lead": "a slide box sees more than one tuple; there are no over clauses",
    "json_extract": "a json converter takes values from paths into the text",
}
"""Functions of other systems for which there is another way here."""

_SYNTAX: dict[type[exp.Expr], str] = {
    exp.Window: "use an aggregate box for windows",
    exp.Placeholder: "write the value itself",
    exp.Parameter: "write the value itself",
    exp.Star: "name the columns; * stands in count(*) only",
    exp.ArrayOverlaps: "the logical and is written: a and b",
    exp.Slice: "write substring(text, start, length) for a part of a text; lists have single elements only: list[1]",
}
OR_OR = "|| joins texts; the logical or is written: a or b. Numbers alone are joined with concat(a, b)"
CHAIN = (
    "join the comparisons with and: a < b and b < c; to compare truth values, put them in parentheses. "
    "The logical or is written or, not ||"
)


def for_function(name: str, names: Iterable[str]) -> str:
    """The way out for a function that does not exist; ``names`` are those that do."""
    otherwise = "the reference lists all functions; your own are registered in a module named with --functions"
    return _FUNCTIONS.get(name) or did_you_mean(name, sorted(names)) or otherwise


def for_syntax(tree: exp.Expr) -> str:
    found = tree.find(exp.Slice) if isinstance(tree, exp.Bracket) else None
    return _SYNTAX.get(type(found or tree), "see the reference of expressions for what can be written")
