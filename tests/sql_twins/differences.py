"""Every known and intended difference of meaning between Aurora and DuckDB, each with its reason.

A difference is a macro for DuckDB that computes what Aurora means; generators write the macro in the SQL, so nothing is
left out of the comparison because of it. ``test_differences.py`` shows for each that it is a difference: without the
macro DuckDB says something else.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """``example`` is an expression of Aurora's, ``plain`` the same in DuckDB's words, ``twin`` with the macro."""

    macro: str
    reason: str
    example: str
    plain: str
    twin: str


OVERFLOW = "Integer overflow gives NULL and is counted; DuckDB ends the query."
BY_ZERO = "Division by zero gives NULL and is counted; DuckDB gives an infinity or NaN, or ends the query."
DOMAIN = "Outside its domain a function gives NULL and is counted; DuckDB gives NaN or an infinity."
SHIFT = "Places outside 0 to 63 give NULL and are counted, and bits that leave the 64 are lost; DuckDB ends the query."
CAST = "A cast that does not fit gives NULL and is counted; DuckDB ends the query."
MAX = 9_223_372_036_854_775_807

_POWER = "CASE WHEN isnan(pow(x, y)) AND NOT isnan(x) AND NOT isnan(y) THEN NULL ELSE pow(x, y) END"
_SHIFTED = "au_wrapped((a::HUGEINT & ((1::HUGEINT << (64 - b)) - 1)) * (1::HUGEINT << b))"
_WEEKS = "(epoch_us(date_trunc('week', b)) - epoch_us(date_trunc('week', a))) // 604800000000"
_INTEGER = "CASE WHEN regexp_full_match(trim(x), '[+-]?[0-9]+') THEN try_cast(x AS BIGINT) END"
_START = "CASE WHEN abs(start::HUGEINT) < 99 THEN start WHEN start < 0 THEN -99 WHEN start > 0 THEN 99 END"
_LENGTH = "CASE WHEN length < 0 THEN 0 WHEN length < 999 THEN length ELSE CASE WHEN length IS NOT NULL THEN 999 END END"
_EARLY = ("timestamp '1899-12-31 23:59'", "timestamp '1963-01-05'")

HELPERS = (
    "au_wrapped(a) AS CASE WHEN a > 9223372036854775807 THEN (a - 18446744073709551616)::BIGINT ELSE a::BIGINT END",
    "au_later(t, micros) AS make_timestamp(epoch_us(t) + micros)",
)
"""Macros that only say in SQL what both systems mean; durations are whole microseconds there, not intervals."""

_ALL = (
    (
        "au_add(a, b) AS try_cast(a::HUGEINT + b::HUGEINT AS BIGINT)",
        OVERFLOW,
        f"{MAX} + 1",
        f"{MAX} + 1",
        f"au_add({MAX}, 1)",
    ),
    (
        "au_subtract(a, b) AS try_cast(a::HUGEINT - b::HUGEINT AS BIGINT)",
        OVERFLOW,
        f"-{MAX} - 2",
        f"-{MAX} - 2",
        f"au_subtract(-{MAX}, 2)",
    ),
    (
        "au_multiply(a, b) AS try_cast(a::HUGEINT * b::HUGEINT AS BIGINT)",
        OVERFLOW,
        f"{MAX} * 2",
        f"{MAX} * 2",
        f"au_multiply({MAX}, 2)",
    ),
    (
        "au_absolute(a) AS try_cast(abs(a::HUGEINT) AS BIGINT)",
        OVERFLOW,
        f"abs(-{MAX} - 1)",
        f"abs(-{MAX} - 1)",
        f"au_absolute(-{MAX} - 1)",
    ),
    (
        "au_quotient(a, b) AS try_cast(a::HUGEINT // nullif(b, 0)::HUGEINT AS BIGINT)",
        BY_ZERO,
        f"(-{MAX} - 1) // -1",
        f"(-{MAX} - 1) // -1",
        f"au_quotient(-{MAX} - 1, -1)",
    ),
    (
        "au_remainder(a, b) AS (a::HUGEINT % nullif(b, 0)::HUGEINT)::BIGINT",
        BY_ZERO,
        "1 % 0",
        "1 % 0",
        "au_remainder(1, 0)",
    ),
    ("au_divide(a, b) AS a::DOUBLE / nullif(b::DOUBLE, 0)", BY_ZERO, "1.0 / 0", "1e0 / 0", "au_divide(1, 0)"),
    (
        "au_double_remainder(a, b) AS a % nullif(b, 0)",
        BY_ZERO,
        "1.0 % 0.0",
        "1e0 % 0e0",
        "au_double_remainder(1e0, 0e0)",
    ),
    (
        f"au_left_shift(a, b) AS CASE WHEN b BETWEEN 0 AND 63 THEN {_SHIFTED} END",
        SHIFT,
        "-1 << 2",
        "(-1)::BIGINT << 2",
        "au_left_shift((-1)::BIGINT, 2)",
    ),
    (
        "au_right_shift(a, b) AS CASE WHEN b BETWEEN 0 AND 63 THEN a >> b END",
        SHIFT,
        "1 >> 64",
        "1::BIGINT >> 64",
        "au_right_shift(1::BIGINT, 64)",
    ),
    (
        "au_truncate_to_int(x) AS try_cast(trunc(x) AS BIGINT)",
        "A double loses its fraction as an int; DuckDB rounds.",
        "cast(2.9 as int)",
        "2.9::DOUBLE::BIGINT",
        "au_truncate_to_int(2.9::DOUBLE)",
    ),
    (
        f"au_text_to_int(x) AS {_INTEGER}",
        f"{CAST} It also rounds a text with a fraction.",
        "cast('2.5' as int)",
        "'2.5'::BIGINT",
        "au_text_to_int('2.5')",
    ),
    (
        "au_text_to_double(x) AS try_cast(x AS DOUBLE)",
        CAST,
        "cast('a' as double)",
        "'a'::DOUBLE",
        "au_text_to_double('a')",
    ),
    (
        "au_sign(x) AS CASE WHEN x = 0 OR isnan(x) THEN x ELSE sign(x)::DOUBLE END",
        "The sign of a double is a double, and NaN and minus zero are their own; DuckDB gives an integer.",
        "sign(-2.5)",
        "sign(-2.5::DOUBLE)",
        "au_sign(-2.5::DOUBLE)",
    ),
    ("au_sqrt(x) AS CASE WHEN x < 0 THEN NULL ELSE sqrt(x) END", DOMAIN, "sqrt(-1)", "sqrt(-1e0)", "au_sqrt(-1e0)"),
    ("au_ln(x) AS CASE WHEN x <= 0 THEN NULL ELSE ln(x) END", DOMAIN, "ln(0)", "ln(0e0)", "au_ln(0e0)"),
    ("au_log10(x) AS CASE WHEN x <= 0 THEN NULL ELSE log10(x) END", DOMAIN, "log10(0)", "log10(0e0)", "au_log10(0e0)"),
    ("au_log2(x) AS CASE WHEN x <= 0 THEN NULL ELSE log2(x) END", DOMAIN, "log2(0)", "log2(0e0)", "au_log2(0e0)"),
    (f"au_power(x, y) AS {_POWER}", DOMAIN, "pow(-8, 0.5)", "pow(-8e0, 0.5)", "au_power(-8e0, 0.5)"),
    (
        "au_asin(x) AS CASE WHEN abs(x) <= 1 THEN asin(x) WHEN isnan(x) THEN x END",
        DOMAIN,
        "asin(2)",
        "asin(2e0)",
        "au_asin(2e0)",
    ),
    (
        "au_acos(x) AS CASE WHEN abs(x) <= 1 THEN acos(x) WHEN isnan(x) THEN x END",
        DOMAIN,
        "acos(2)",
        "acos(2e0)",
        "au_acos(2e0)",
    ),
    (
        "au_split_part(text, separator, n) AS CASE WHEN n <> 0 THEN split_part(text, separator, n) END",
        "Part 0 is NULL and counted; in DuckDB it is empty.",
        "split_part('a,b', ',', 0)",
        "split_part('a,b', ',', 0)",
        "au_split_part('a,b', ',', 0)",
    ),
    (
        f"au_substring(text, start, length) AS substring(text, {_START}, {_LENGTH})",
        "A negative length gives an empty text; DuckDB takes the characters before the start.",
        "substring('abc', 3, -2)",
        "substring('abc', 3, -2)",
        "au_substring('abc', 3, -2)",
    ),
    (
        "au_dayofweek(t) AS dayofweek(t) + 1",
        "Sunday is 1, as in Spark; in DuckDB it is 0.",
        "dayofweek(timestamp '2024-03-05')",
        "dayofweek(timestamp '2024-03-05')",
        "au_dayofweek(timestamp '2024-03-05')",
    ),
    (
        "au_unix_millis(t) AS floor(epoch_us(t) / 1000)::BIGINT",
        "Whole units since 1970 are rounded down, as seconds are; DuckDB rounds otherwise before 1970.",
        "unix_millis(timestamp '1969-12-31 23:59:59.9998')",
        "epoch_ms(timestamp '1969-12-31 23:59:59.9998')",
        "au_unix_millis(timestamp '1969-12-31 23:59:59.9998')",
    ),
    (
        f"au_weeks(a, b) AS {_WEEKS}",
        "Weeks are counted by their Mondays, also before 1970, where DuckDB is off by one.",
        f"date_diff('week', {_EARLY[1]}, {_EARLY[0]})",
        f"date_diff('week', {_EARLY[1]}, {_EARLY[0]})",
        f"au_weeks({_EARLY[1]}, {_EARLY[0]})",
    ),
)

DIFFERENCES = tuple(Difference(*fields) for fields in _ALL)
MACROS = (*HELPERS, *(difference.macro for difference in DIFFERENCES))
