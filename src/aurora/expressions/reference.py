"""The data of the reference page of expressions: every function, operator, form and aggregate, with an example."""

from __future__ import annotations

from dataclasses import dataclass

from aurora.expressions.functions import ALL
from aurora.expressions.functions.declaration import Function


@dataclass(frozen=True)
class FunctionEntry:
    """One entry of the reference. ``value`` is what the example gives; an aggregate's over ``EXAMPLE_VALUES`` as x."""

    name: str
    aliases: tuple[str, ...]
    group: str
    signatures: tuple[str, ...]
    meaning: str
    example: str
    value: object


EXAMPLE_VALUES: tuple[int | None, ...] = (4, 1, None, 7, 4)
"""The column x, in arrival order, that the examples of aggregates run over."""

FORMS = (
    FunctionEntry("and", (), "logic", ("a and b",), "True if both are; false if one is false.", "true and null", None),
    FunctionEntry("or", (), "logic", ("a or b",), "True if one is; false if both are.", "true or null", True),
    FunctionEntry(
        "case",
        (),
        "conditional",
        (
            "case when condition then result ... [else result] end",
            "case x when value then result ... [else result] end",
        ),
        "The result of the first branch whose condition holds, or whose value equals x; else NULL.",
        "case when 1 > 2 then 'a' else 'b' end",
        "b",
    ),
    FunctionEntry(
        "if",
        ("iif",),
        "conditional",
        ("if(condition, a[, b])",),
        "a if the condition holds, else b.",
        "if(1 < 2, 3, 4)",
        3,
    ),
    FunctionEntry(
        "coalesce",
        ("ifnull", "nvl"),
        "conditional",
        ("coalesce(a, b, ...)",),
        "The first value that is not NULL.",
        "coalesce(null, 2, 3)",
        2,
    ),
    FunctionEntry("in", (), "comparison", ("x in (a, b, ...)",), "Whether x equals one.", "3 in (1, 2, 3)", True),
    FunctionEntry(
        "cast",
        ("try_cast",),
        "conversion",
        ("cast(x as type)", "x::type"),
        "x as bool, int, double, string, timestamp, duration or binary, or as what other systems call these: bigint, "
        "real, text, bytea and so on. A double loses its fraction as an int; varchar(n) keeps the first n characters; "
        "smallint, tinyint and the unsigned ones are ints within their range. What does not fit is NULL and counted.",
        "cast('12' as int) + cast(2.9 as int)",
        14,
    ),
    FunctionEntry(
        "[ ]",
        (),
        "lists",
        ("list[n]",),
        "As element_at: the n-th element, from 1, or from the end if negative; NULL if there is none. A text has no "
        "elements: substring(text, n, 1) is its n-th character.",
        "split('a,b', ',')[2]",
        "b",
    ),
    FunctionEntry(
        "interval",
        (),
        "time",
        ("interval '5' second", "interval '1 hour 30 minutes'", "interval '200ms'"),
        "A duration; the units are microsecond, millisecond, second, minute, hour, day and week.",
        "interval '90' second = interval '1m30s'",
        True,
    ),
    FunctionEntry(
        "timestamp",
        (),
        "time",
        ("timestamp '2024-12-31 23:59:59.5+01:00'",),
        "A time, in UTC unless a zone is given. A text compared with a time is read as one.",
        "timestamp '2024-01-01' < '2024-01-01T00:00:01Z'",
        True,
    ),
    FunctionEntry(
        "extract",
        ("date_part", "datepart"),
        "time",
        ("extract(field from t)", "date_part('field', t)"),
        "A field of a time; each is also a function: hour(t).",
        "extract(hour from timestamp '2024-01-01 13:00')",
        13,
    ),
    FunctionEntry(
        "arrival_time",
        (),
        "time",
        ("arrival_time() -> timestamp",),
        "When the tuple came; of a derived tuple, when the earliest of those it was made from came.",
        "arrival_time() >= timestamp '1970-01-01'",
        True,
    ),
)

AGGREGATE_ENTRIES = tuple(
    FunctionEntry(name, aliases, "aggregates", signatures, meaning, example, value)
    for name, aliases, signatures, meaning, example, value in (
        ("count", (), ("count(*) -> int", "count(x) -> int", "count(distinct x) -> int"),
         "How many tuples; how many whose x is not NULL; how many different x.", "count(distinct x)", 3),
        ("sum", (), ("sum(x int) -> int", "sum(x double) -> double", "sum(x duration) -> duration"),
         "The sum.", "sum(x)", 16),
        ("avg", ("mean",), ("avg(x number) -> double", "avg(x duration) -> duration"), "The mean.", "avg(x)", 4.0),
        ("min", (), ("min(x T) -> T",), "The least.", "min(x)", 1),
        ("max", (), ("max(x T) -> T",), "The greatest.", "max(x) filter (where x < 7)", 4),
        ("first", ("first_value",), ("first(x T) -> T",), "The first in the window's order.", "first(x)", 4),
        ("last", ("last_value",), ("last(x T) -> T",), "The last in the window's order.", "last(x)", 4),
        ("delta", (), ("delta(x number) -> number", "delta(x timestamp) -> duration"), "last(x) - first(x).",
         "delta(x)", 0),
        ("stddev", ("stddev_samp",), ("stddev(x number) -> double",),
         "The sample standard deviation; NULL of fewer than two values.", "round(stddev(x), 3)", 2.449),
        ("variance", ("var_samp",), ("variance(x number) -> double",),
         "The sample variance; NULL of fewer than two values.", "round(variance(x), 3)", 6.0),
        ("median", (), ("median(x number) -> double", "median(x timestamp) -> timestamp"),
         "The middle value, or the mean of the two.", "median(x)", 4.0),
        ("quantile", ("percentile",), ("quantile(x number, share constant double) -> double",),
         "The value below which a share of the values lies, interpolated linearly.", "quantile(x, 1.0)", 7.0),
        ("any_value", (), ("any_value(x T) -> T",), "Some value; which one is not said.", "any_value(x) > 0", True),
        ("bool_and", ("every",), ("bool_and(x bool) -> bool",), "Whether all are true.", "bool_and(x > 0)", True),
        ("bool_or", (), ("bool_or(x bool) -> bool",), "Whether one is true.", "bool_or(x > 6)", True),
        ("collect", ("collect_list", "array_agg"), ("collect(x T) -> list<T>",),
         "All values in the window's order.", "collect(x)", [4, 1, 7, 4]),
    )
)  # fmt: skip

WINDOW_ENTRIES = (
    FunctionEntry(
        "timed_out", (), "windows", ("timed_out() -> bool",), "Whether the window was emitted by its timeout.",
        "timed_out()", False,
    ),
    FunctionEntry(
        "window_start", (), "windows", ("window_start() -> T",), "The start of a window over a column's values.",
        "window_start()", 0,
    ),
    FunctionEntry(
        "window_end", (), "windows", ("window_end() -> T",), "The end, not part of the window itself.",
        "window_end()", 10,
    ),
)  # fmt: skip


def reference() -> list[FunctionEntry]:
    """Everything that an expression can be made of, by group and in the order of the table."""
    return [*FORMS, *map(_entry, ALL), *AGGREGATE_ENTRIES, *WINDOW_ENTRIES]


def _entry(function: Function) -> FunctionEntry:
    head = f"{function.sign}: " if function.sign else function.name
    signatures = tuple(f"{head}{signature}" for signature in function.signatures)
    return FunctionEntry(
        function.name,
        function.aliases,
        function.group,
        signatures,
        function.meaning,
        function.example,
        function.value,
    )
