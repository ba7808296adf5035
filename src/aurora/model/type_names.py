"""What other systems call their types, and what to use in place of the types that no column has.

A document's schema takes Aurora's own names only; another name is answered with the one to write. Casts take the other
names too, because expressions are SQL.
"""

from __future__ import annotations

import re
from functools import reduce

from aurora.errors import did_you_mean
from aurora.model.types import BINARY, BOOL, DOUBLE, DURATION, INT, SCALARS, STRING, TIMESTAMP, Type, list_of

_NAMES: dict[Type, str] = {
    BOOL: "boolean logical",
    INT: "integer bigint long int8 int64 int4 int32 signed smallint short int2 int16 tinyint byte int1 "
    "utinyint uint8 usmallint uint16 uinteger uint uint32",
    DOUBLE: "float real float4 float8 float32 float64",
    STRING: "text varchar char character nvarchar nchar bpchar name clob str utf8",
    TIMESTAMP: "timestamptz timestampntz timestampltz timestamp_ntz timestamp_ltz datetime",
    DURATION: "interval timedelta",
    BINARY: "bytes bytea blob varbinary",
}
ALIASES: dict[str, Type] = {name: kind for kind, names in _NAMES.items() for name in names.split()}
ALIASES |= {"double precision": DOUBLE, "character varying": STRING, "char varying": STRING}
ALIASES |= {"timestamp with time zone": TIMESTAMP, "timestamp without time zone": TIMESTAMP}
"""Aurora's type by another system's name for it."""

RANGES: dict[str, tuple[int, int]] = {
    "smallint": (-(2**15), 2**15 - 1),
    "tinyint": (-(2**7), 2**7 - 1),
    "utinyint": (0, 2**8 - 1),
    "usmallint": (0, 2**16 - 1),
    "uint": (0, 2**32 - 1),
}
"""Narrow ints by sqlglot's names for them. A column of one is an int; a cast to one takes its range only."""

_WAYS_OUT = {
    "decimal numeric dec number money bigdecimal decimal32 decimal64 decimal128 decimal256": (
        "use double, or an int that counts the smallest unit, such as cents"
    ),
    "date date32 date64": "a date is a timestamp at midnight: use timestamp, or string for its text",
    "time time32 time64 timetz": "use a timestamp, or a duration since midnight",
    "uint64 ubigint uint128 uhugeint int128 hugeint int256": "use int (64 bits with a sign), double or string",
    "timestamp_s timestamp_ms timestamp_ns timestamp_us": "a timestamp counts microseconds: use timestamp",
    "struct row object record tuple": "use a column for each field; converters take a path into the record",
    "map dict dictionary": "use string, with the map as JSON",
    "array list": "write list<...>, such as list<int>",
    "json jsonb variant xml uuid enum category": "use string",
    "float16 half": "use double",
}
WAYS_OUT = {name: way_out for names, way_out in _WAYS_OUT.items() for name in names.split()}
"""What to use in place of types that no column has."""

DEEPEST_LIST = 5
"""How many lists a list's type may be nested in."""
_LIST = re.compile(r"(?:list|array)\s*[<(](?P<inner>.+)[>)]|(?P<element>.+)\[\]", re.DOTALL)
_PARAMETERS = re.compile(r"\s*[(<].*", re.DOTALL)


def meant(text: str) -> Type | None:
    """The type that somebody means who writes it in another system's words; None if no column has such a type.

    >>> meant("VARCHAR(10)"), meant("array<float>"), meant("decimal(10, 2)")
    (Type('string'), Type('list<double>'), None)
    """
    lists, text = 0, text.strip().lower()
    while lists < DEEPEST_LIST and (found := _LIST.fullmatch(text)):
        lists, text = lists + 1, (found["inner"] or found["element"]).strip()
    name = " ".join(_PARAMETERS.sub("", text).split())
    kind = SCALARS.get(name) or ALIASES.get(name)
    return None if kind is None else reduce(lambda item, _: list_of(item), range(lists), kind)


def advice(text: str) -> str:
    """The way out for a type's name that is not Aurora's.

    >>> advice("float"), advice("uuid"), advice("strin")
    ("did you mean 'double'?", 'use string', "did you mean 'string'?")
    """
    kind = meant(text)
    if kind is not None:
        return f"did you mean {str(kind)!r}?"
    name = _PARAMETERS.sub("", text.strip().lower())
    return WAYS_OUT.get(name) or did_you_mean(name, SCALARS) or "use one of the choices, or list<...> of one"
