"""The rules of random expressions: what each operator and function is called in Aurora and in DuckDB.

Macros named ``au_`` are the differences in meaning that ``differences.py`` lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """How a value of a kind is made of others: ``{0}`` stands for the first of them, on either side.

    ``rounded``: libraries of mathematics differ in the last digit here, so it only stands at the top of an expression.
    """

    kind: str
    parts: tuple[str, ...]
    aurora: str
    sql: str
    rounded: bool = False


KINDS = ("bool", "int", "double", "string", "timestamp", "duration")
ORDERED = ("int", "double", "string", "timestamp", "duration")


def _same(kind: str, parts: str, text: str, *, rounded: bool = False) -> Rule:
    """Written alike on both sides."""
    return Rule(kind, tuple(parts.split()), text, text, rounded)


def _for_every_kind() -> Iterator[Rule]:
    for kind in KINDS:
        yield _same(kind, f"bool {kind} {kind}", "(case when {0} then {1} else {2} end)")
        yield _same(kind, f"bool {kind}", "(case when {0} then {1} end)")
        yield Rule(kind, ("bool", kind, kind), "if({0}, {1}, {2})", "(case when {0} then {1} else {2} end)")
        yield _same(kind, f"{kind} {kind}", "coalesce({0}, {1})")
        yield _same(kind, f"{kind} {kind}", "nullif({0}, {1})")
        yield _same("bool", kind, "({0} is null)")
        yield _same("bool", kind, "({0} is not null)")
        yield _same("bool", f"{kind} {kind}", "({0} is distinct from {1})")
        yield _same("bool", f"{kind} {kind}", "({0} is not distinct from {1})")
        yield _same("bool", f"{kind} {kind}", "({0} = {1})")
        yield _same("bool", f"{kind} {kind}", "({0} <> {1})")
    for kind in ORDERED:
        for operator in ("<", "<=", ">", ">="):
            yield _same("bool", f"{kind} {kind}", f"({{0}} {operator} {{1}})")
        yield _same("bool", f"{kind} {kind} {kind}", "({0} between {1} and {2})")
        yield _same("bool", f"{kind} {kind} {kind}", "({0} in ({1}, {2}))")
        yield _same("bool", f"{kind} {kind} {kind}", "({0} not in ({1}, {2}))")
        yield _same(kind, f"{kind} {kind} {kind}", "greatest({0}, {1}, {2})")
        yield _same(kind, f"{kind} {kind}", "least({0}, {1})")
        yield _same(kind, f"{kind} {kind} {kind} {kind}", "(case {0} when {1} then {2} else {3} end)")


LOGIC = (
    _same("bool", "bool bool", "({0} and {1})"),
    _same("bool", "bool bool", "({0} or {1})"),
    _same("bool", "bool", "(not {0})"),
    _same("bool", "bool", "({0} is true)"),
    _same("bool", "bool", "({0} is not true)"),
    _same("bool", "bool", "({0} is false)"),
    _same("bool", "int double", "({0} < {1})"),
    _same("bool", "double int", "({0} = {1})"),
    _same("bool", "double", "isnan({0})"),
    _same("bool", "double", "isinf({0})"),
)

INTEGERS = (
    Rule("int", ("int", "int"), "({0} + {1})", "au_add({0}, {1})"),
    Rule("int", ("int", "int"), "({0} - {1})", "au_subtract({0}, {1})"),
    Rule("int", ("int", "int"), "({0} * {1})", "au_multiply({0}, {1})"),
    Rule("int", ("int", "int"), "({0} // {1})", "au_quotient({0}, {1})"),
    Rule("int", ("int", "int"), "({0} % {1})", "au_remainder({0}, {1})"),
    Rule("int", ("int",), "(- {0})", "au_subtract(0, {0})"),
    Rule("int", ("int",), "abs({0})", "au_absolute({0})"),
    _same("int", "int int", "({0} & {1})"),
    _same("int", "int int", "({0} | {1})"),
    Rule("int", ("int", "int"), "({0} ^ {1})", "xor({0}, {1})"),
    _same("int", "int", "(~ {0})"),
    Rule("int", ("int", "places"), "({0} << {1})", "au_left_shift({0}, {1})"),
    Rule("int", ("int", "int"), "({0} << {1})", "au_left_shift({0}, {1})"),
    Rule("int", ("int", "places"), "({0} >> {1})", "au_right_shift({0}, {1})"),
    Rule("int", ("int", "int"), "({0} >> {1})", "au_right_shift({0}, {1})"),
    Rule("int", ("int",), "sign({0})", "sign({0})::BIGINT"),
    Rule("int", ("double",), "cast({0} as int)", "au_truncate_to_int({0})"),
    Rule("int", ("bool",), "cast({0} as int)", "cast({0} as BIGINT)"),
    Rule("int", ("string",), "cast({0} as int)", "au_text_to_int({0})"),
)

DOUBLES = (
    _same("double", "double double", "({0} + {1})"),
    _same("double", "double double", "({0} - {1})"),
    _same("double", "double double", "({0} * {1})"),
    Rule("double", ("double", "double"), "({0} / {1})", "au_divide({0}, {1})"),
    Rule("double", ("int", "int"), "({0} / {1})", "au_divide({0}, {1})"),
    Rule("double", ("int", "double"), "({0} + {1})", "({0}::DOUBLE + {1})"),
    Rule("double", ("double", "int"), "({0} * {1})", "({0} * {1}::DOUBLE)"),
    Rule("double", ("double", "double"), "({0} % {1})", "au_double_remainder({0}, {1})"),
    _same("double", "double", "(- {0})"),
    _same("double", "double", "abs({0})"),
    _same("double", "double", "floor({0})"),
    _same("double", "double", "ceil({0})"),
    _same("double", "double", "trunc({0})"),
    _same("double", "double", "round({0})"),
    Rule("double", ("double", "digits"), "round({0}, {1})", "round({0}, {1}::INTEGER)", rounded=True),
    Rule("double", ("double",), "sign({0})", "au_sign({0})"),
    Rule("double", ("double",), "sqrt({0})", "au_sqrt({0})"),
    Rule("double", ("int",), "cast({0} as double)", "cast({0} as DOUBLE)"),
    Rule("double", ("string",), "cast({0} as double)", "au_text_to_double({0})"),
    Rule("double", ("double",), "cbrt({0})", "cbrt({0})", rounded=True),
    _same("double", "double", "exp({0})", rounded=True),
    Rule("double", ("double",), "ln({0})", "au_ln({0})", rounded=True),
    Rule("double", ("double",), "log10({0})", "au_log10({0})", rounded=True),
    Rule("double", ("double",), "log2({0})", "au_log2({0})", rounded=True),
    Rule("double", ("double", "double"), "pow({0}, {1})", "au_power({0}, {1})", rounded=True),
    _same("double", "double", "sin({0})", rounded=True),
    _same("double", "double", "cos({0})", rounded=True),
    _same("double", "double", "atan({0})", rounded=True),
    Rule("double", ("double",), "asin({0})", "au_asin({0})", rounded=True),
    Rule("double", ("double",), "acos({0})", "au_acos({0})", rounded=True),
    _same("double", "double double", "atan2({0}, {1})", rounded=True),
    _same("double", "double", "tanh({0})", rounded=True),
    _same("double", "double", "sinh({0})", rounded=True),
    _same("double", "double", "cosh({0})", rounded=True),
    _same("double", "double", "degrees({0})", rounded=True),
    _same("double", "double", "radians({0})", rounded=True),
)

TEXTS = (
    _same("string", "string string", "({0} || {1})"),
    Rule("string", ("string", "int"), "({0} || {1})", "({0} || {1}::VARCHAR)"),
    Rule("string", ("string", "string"), "concat({0}, {1})", "({0} || {1})"),
    Rule("string", ("separator", "string", "int"), "concat_ws({0}, {1}, {2})", "concat_ws({0}, {1}, {2})"),
    _same("string", "string", "upper({0})"),
    _same("string", "string", "lower({0})"),
    _same("string", "string", "trim({0})"),
    _same("string", "string string", "ltrim({0}, {1})"),
    _same("string", "string string", "rtrim({0}, {1})"),
    _same("string", "string string", "trim({0}, {1})"),
    _same("string", "string small", "substring({0}, {1})"),
    Rule("string", ("string", "small", "small"), "substring({0}, {1}, {2})", "au_substring({0}, {1}, {2})"),
    Rule("string", ("string", "int", "int"), "substring({0}, {1}, {2})", "au_substring({0}, {1}, {2})"),
    _same("string", "string small", "left({0}, {1})"),
    _same("string", "string small", "right({0}, {1})"),
    Rule("string", ("string", "small", "fill"), "lpad({0}, {1}, {2})", "lpad({0}, {1}::INTEGER, {2})"),
    Rule("string", ("string", "small", "fill"), "rpad({0}, {1}, {2})", "rpad({0}, {1}::INTEGER, {2})"),
    _same("string", "string small", "repeat({0}, {1})"),
    _same("string", "string", "reverse({0})"),
    _same("string", "string string string", "replace({0}, {1}, {2})"),
    Rule("string", ("string", "separator", "small"), "split_part({0}, {1}, {2})", "au_split_part({0}, {1}, {2})"),
    Rule(
        "string",
        ("string", "regex", "replacement"),
        "regexp_replace({0}, {1}, {2})",
        "regexp_replace({0}, {1}, {2}, 'g')",
    ),
    _same("string", "string regex", "regexp_extract({0}, {1})"),
    Rule("string", ("int",), "cast({0} as string)", "cast({0} as VARCHAR)"),
    Rule("string", ("bool",), "cast({0} as string)", "cast({0} as VARCHAR)"),
    Rule("string", ("timestamp",), "strftime({0}, '%Y-%m-%d %H:%M:%S')", "strftime({0}, '%Y-%m-%d %H:%M:%S')"),
    _same("int", "string", "length({0})"),
    Rule("int", ("string",), "octet_length({0})", "strlen({0})"),
    _same("int", "string", "ascii({0})"),
    # A literal text with a part from a column is open: Aurora then answers for the first row of the train alone.
    _same("int", "text_column string", "instr({0}, {1})"),
    _same("int", "string text_column", "position({0} in {1})"),
    _same("bool", "string pattern", "({0} like {1})"),
    _same("bool", "string pattern", "({0} not like {1})"),
    _same("bool", "string pattern", "({0} ilike {1})"),
    Rule("bool", ("string", "regex"), "({0} rlike {1})", "regexp_matches({0}, {1})"),
    _same("bool", "string string", "starts_with({0}, {1})"),
    _same("bool", "string string", "ends_with({0}, {1})"),
    _same("bool", "string string", "contains({0}, {1})"),
    Rule("int", ("string", "separator"), "cardinality(split({0}, {1}))", "len(string_split({0}, {1}))"),
    Rule("string", ("string", "separator", "small"), "split({0}, {1})[{2}]", "string_split({0}, {1})[{2}]"),
)

_FIELDS = (
    "year",
    "isoyear",
    "quarter",
    "month",
    "week",
    "day",
    "isodow",
    "dayofyear",
    "hour",
    "minute",
    "second",
    "millisecond",
    "microsecond",
)
_UNITS = ("microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year")

TIMES = (
    *(_same("int", "timestamp", f"{name}({{0}})") for name in _FIELDS),
    *(_same("timestamp", "timestamp", f"date_trunc('{unit}', {{0}})") for unit in _UNITS),
    *(
        _same("int", "timestamp timestamp", f"date_diff('{unit}', {{0}}, {{1}})")
        for unit in ("day", "hour", "month", "year")
    ),
    Rule("int", ("timestamp", "timestamp"), "date_diff('week', {0}, {1})", "au_weeks({0}, {1})"),
    *(
        Rule(
            "int",
            ("timestamp", "timestamp"),
            f"timestampdiff({unit}, {{0}}, {{1}})",
            f"date_sub('{unit}', {{0}}, {{1}})",
        )
        for unit in ("minute", "hour", "day", "month", "year")
    ),
    Rule("int", ("timestamp",), "dayofweek({0})", "au_dayofweek({0})"),
    _same("double", "timestamp", "epoch({0})"),
    Rule("double", ("duration",), "epoch({0})", "({0} / 1000000)"),
    Rule("int", ("timestamp",), "unix_micros({0})", "epoch_us({0})"),
    Rule("int", ("timestamp",), "unix_millis({0})", "au_unix_millis({0})"),
    Rule("int", ("timestamp",), "unix_seconds({0})", "floor(epoch_us({0}) / 1000000)::BIGINT"),
    Rule("int", ("duration",), "unix_micros({0})", "{0}"),
    Rule("timestamp", ("timestamp", "duration"), "({0} + {1})", "au_later({0}, {1})"),
    Rule("timestamp", ("timestamp", "duration"), "({0} - {1})", "au_later({0}, - {1})"),
    Rule("timestamp", ("timestamp", "small"), "add_months({0}, {1})", "({0} + to_months({1}::INTEGER))"),
    Rule("duration", ("timestamp", "timestamp"), "({0} - {1})", "(epoch_us({0}) - epoch_us({1}))"),
    Rule("duration", ("duration", "duration"), "({0} + {1})", "au_add({0}, {1})"),
    Rule("duration", ("duration", "duration"), "({0} - {1})", "au_subtract({0}, {1})"),
    Rule("duration", ("duration", "small"), "({0} * {1})", "au_multiply({0}, {1})"),
    Rule("double", ("duration", "duration"), "({0} / {1})", "au_divide({0}, {1})"),
    Rule("duration", ("duration",), "(- {0})", "au_subtract(0, {0})"),
    Rule("duration", ("duration",), "abs({0})", "au_absolute({0})"),
)

RULES = (*_for_every_kind(), *LOGIC, *INTEGERS, *DOUBLES, *TEXTS, *TIMES)
RULES_BY_KIND: Mapping[str, list[Rule]] = {kind: [rule for rule in RULES if rule.kind == kind] for kind in KINDS}
